// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestRun starts the agent as a user does and ends it as a host does.
func TestRun(t *testing.T) {
	bin, err := localcluster.Tools()
	if err != nil {
		t.Skip(err)
	}
	c, err := localcluster.Start(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	kubeconfig := filepath.Join(t.TempDir(), "config")
	err = clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"c": {Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData}},
		AuthInfos:      map[string]*api.AuthInfo{"u": {Token: c.Config.BearerToken}},
		Contexts:       map[string]*api.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--kubeconfig=" + kubeconfig, "--leader-election-namespace=default"}
	if err := run(t.Context(), args); err == nil || !strings.Contains(err.Error(), "install the CustomResourceDefinitions") {
		t.Errorf("without any kind: %v", err)
	}

	installCRDs(t, c.Config)
	metrics, probes := freeAddress(t), freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, append(args, "--metrics-bind-address="+metrics, "--health-probe-bind-address="+probes))
	}()
	for _, url := range []string{"http://" + probes + "/readyz", "http://" + metrics + "/metrics"} {
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			res, err := http.Get(url)
			if err == nil {
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					break
				}
				err = fmt.Errorf("status %d", res.StatusCode)
			}
			select {
			case err := <-done:
				t.Fatalf("ended: %v", err)
			default:
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", url, err)
			}
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// installCRDs installs what the agent cannot do without.
func installCRDs(t *testing.T, cfg *rest.Config) {
	t.Helper()
	cl, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{v1.ModelDeploymentCRD()}
	for _, name := range []string{"workloads", "localqueues", "clusterqueues", "resourceflavors", "admissionchecks"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config/components/crd/bases/kueue.x-k8s.io_"+name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &u.Object); err != nil {
			t.Fatal(err)
		}
		if err := cl.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if err := cl.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
				t.Fatal(err)
			}
			if conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions"); slices.ContainsFunc(conditions, func(c any) bool {
				m, _ := c.(map[string]any)
				return m["type"] == "Established" && m["status"] == "True"
			}) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s is not established", u.GetName())
			}
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestRun starts the agent as a user does and ends it as a host does.
func TestRun(t *testing.T) {
	c := localcluster.ForTest(t)
	kubeconfig := filepath.Join(t.TempDir(), "config")
	err := clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"c": {Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData}},
		AuthInfos:      map[string]*api.AuthInfo{"u": {Token: c.Config.BearerToken}},
		Contexts:       map[string]*api.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--kubeconfig=" + kubeconfig, "--leader-election-namespace=default"}
	if err := run(t.Context(), append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0")); err == nil || !strings.Contains(err.Error(), "install the CustomResourceDefinitions") {
		t.Errorf("without any kind: %v", err)
	}

	if err := c.InstallKueueAPI(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.ApplyYAML(t.Context(), v1.ModelDeploymentCRD()); err != nil {
		t.Fatal(err)
	}
	free := localcluster.FreeAddresses(t, 2)
	metrics, probes := free[0], free[1]
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, append(args, "--metrics-bind-address="+metrics, "--health-probe-bind-address="+probes))
	}()
	for _, url := range []string{"http://" + probes + "/readyz", "http://" + metrics + "/metrics"} {
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
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

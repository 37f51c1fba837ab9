// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"gpustack.ai/mdc/cmd/agent/localcluster/tools"
)

// kueueConfig has the defaults of a release but for what this package needs: no
// certificates of its own making, one replica, and no throttle that tests would
// wait for.
const kueueConfig = `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: %d, certDir: %s}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
clientConnection: {qps: 1000, burst: 2000}
controller:
  groupKindConcurrency:
    Pod: 5
    Workload.kueue.x-k8s.io: 5
    LocalQueue.kueue.x-k8s.io: 1
    Cohort.kueue.x-k8s.io: 1
    ClusterQueue.kueue.x-k8s.io: 1
    ResourceFlavor.kueue.x-k8s.io: 1
integrations: {frameworks: [pod]}
`

// installKueue installs its namespace and its CustomResourceDefinitions.
func (c *Cluster) installKueue(ctx context.Context, port int) error {
	objects, err := c.kueueManifest(tools.KueueCRDs, port)
	if err != nil {
		return err
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "kueue-system"},
	}}
	return c.Apply(ctx, append(objects, namespace)...)
}

// startKueue starts its manager, which serves webhooks at one port and its
// health at another.
func (c *Cluster) startKueue(port, health int) (*process, error) {
	certs := filepath.Join(c.Dir, "kueue-certs")
	if err := os.Mkdir(certs, 0o700); err != nil {
		return nil, err
	}
	for link, file := range map[string]string{"tls.crt": c.credentials.certFile, "tls.key": c.credentials.keyFile} {
		if err := os.Symlink(file, filepath.Join(certs, link)); err != nil {
			return nil, err
		}
	}
	config := filepath.Join(c.Dir, "kueue.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, kueueConfig, health, port, certs), 0o600); err != nil {
		return nil, err
	}
	return c.run("kueue",
		"--kubeconfig="+c.Kubeconfig,
		"--config="+config,
		"--feature-gates=VisibilityOnDemand=false", // it serves an aggregated API, which cannot reach it here
		"--zap-log-level=2",
	)
}

// installKueueWebhooks makes the API server ask Kueue, which must be ready: from
// then on no Pod is created without its answer.
func (c *Cluster) installKueueWebhooks(ctx context.Context, port int) error {
	objects, err := c.kueueManifest(tools.KueueWebhooks, port)
	if err != nil {
		return err
	}
	var hooks []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() != "Service" {
			hooks = append(hooks, o)
		}
	}
	return c.Apply(ctx, hooks...)
}

// kueueManifest reads a manifest and lets the API server reach Kueue on this
// machine instead of through a Service.
func (c *Cluster) kueueManifest(name string, port int) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(filepath.Join(c.bin, name))
	if err != nil {
		return nil, err
	}
	objects, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, o := range objects {
		redirect(o.Object, address("https", port), base64.StdEncoding.EncodeToString(c.credentials.ca))
	}
	return objects, nil
}

// redirect replaces the Service of every clientConfig below v.
func redirect(v any, to, ca string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			redirect(e, to, ca)
		}
	case map[string]any:
		if config, ok := v["clientConfig"].(map[string]any); ok {
			if path, found, _ := unstructured.NestedString(config, "service", "path"); found {
				v["clientConfig"] = map[string]any{"url": to + path, "caBundle": ca}
			}
		}
		for _, e := range v {
			redirect(e, to, ca)
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster/tools"
)

const (
	// nodeLease is how long a node counts as alive after its last sign, and
	// nodeGrace how long after it the controller manager gives it up, which is more
	// than a busy machine stalls. A real cluster takes 40 s and 50 s.
	nodeLease = 4 * time.Second
	nodeGrace = 30 * time.Second
)

// startParts starts what makes a cluster of an API server.
func (c *Cluster) startParts(ctx context.Context) error {
	// The garbage collector looks for kinds when it starts, and then only now and
	// again: all kinds are there before it.
	for _, text := range v1.CRDs() {
		if err := c.ApplyYAML(ctx, text); err != nil {
			return err
		}
	}
	// The kinds of Kueue name the port that converts them, which is held until they
	// are installed.
	converts, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer converts.Close()
	webhooks := converts.Addr().(*net.TCPAddr).Port
	if err := c.installKueue(ctx, webhooks); err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	manager, scheduler, health := ports[0], ports[1], ports[2]
	if err := converts.Close(); err != nil {
		return err
	}
	parts := []struct {
		start func() (*process, error)
		ready string // where it says so; empty if it does not
	}{
		{func() (*process, error) { return c.startControllerManager(manager) }, address("https", manager) + "/healthz"},
		{func() (*process, error) { return c.startScheduler(scheduler) }, address("https", scheduler) + "/readyz"},
		{c.startKWOK, ""},
		{func() (*process, error) { return c.startKueue(webhooks, health) }, address("http", health) + "/readyz"},
	}
	var running []*process
	for _, part := range parts {
		p, err := part.start()
		if err != nil {
			return err
		}
		running = append(running, p)
	}
	for i, part := range parts {
		if part.ready == "" {
			continue
		}
		if err := untilReady(ctx, running[:i+1], healthy(part.ready)); err != nil {
			return err
		}
	}
	if err := c.installKueueWebhooks(ctx, webhooks); err != nil {
		return err
	}
	if err := c.probe(ctx); err != nil {
		for _, p := range running {
			if p.ended() {
				return p.failure("ended before the cluster was ready")
			}
		}
		return err
	}
	return nil
}

func (c *Cluster) startControllerManager(port int) (*process, error) {
	return c.run("kube-controller-manager",
		"--kubeconfig="+c.Kubeconfig,
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file="+c.credentials.certFile,
		"--tls-private-key-file="+c.credentials.keyFile,
		"--root-ca-file="+c.credentials.caFile,
		"--service-account-private-key-file="+c.credentials.accountKeyFile,
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--node-monitor-period=1s",
		fmt.Sprintf("--node-monitor-grace-period=%s", nodeGrace),
		"--node-eviction-rate=10",
		"--profiling=false",
	)
}

func (c *Cluster) startScheduler(port int) (*process, error) {
	config := filepath.Join(c.Dir, "scheduler.yaml")
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s, qps: 1000, burst: 2000}
leaderElection: {leaderElect: false}
podMaxBackoffSeconds: 1 # a card that is freed is taken at once
`, c.Kubeconfig)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return c.run("kube-scheduler",
		"--config="+config,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file="+c.credentials.certFile,
		"--tls-private-key-file="+c.credentials.keyFile,
	)
}

// startKWOK starts the simulator of nodes.
func (c *Cluster) startKWOK() (*process, error) {
	nodes, err := os.ReadFile(filepath.Join(c.bin, tools.NodeStages))
	if err != nil {
		return nil, err
	}
	config := filepath.Join(c.Dir, "kwok.yaml")
	if err := os.WriteFile(config, append(append(nodes, "\n---\n"...), podStages...), 0o600); err != nil {
		return nil, err
	}
	return c.run("kwok",
		"--kubeconfig="+c.Kubeconfig,
		"--config="+config,
		"--manage-nodes-with-label-selector="+labelSimulated+"=true",
		fmt.Sprintf("--node-lease-duration-seconds=%.0f", nodeLease.Seconds()),
		"--cidr=10.64.0.1/16",
	)
}

func (c *Cluster) run(name string, args ...string) (*process, error) {
	return c.processes.run(filepath.Join(c.bin, name), args...)
}

// Run starts another program, which ends with the cluster and reaches it by the
// variable KUBECONFIG. It returns the file with its output.
func (c *Cluster) Run(path string, args ...string) (log string, err error) {
	p, err := c.processes.run(path, args...)
	if err != nil {
		return "", err
	}
	return p.log, nil
}

// healthy asks an address, whose answer tells nothing that a certificate would
// have to protect.
func healthy(url string) func(context.Context) error {
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		if err := answer.Body.Close(); err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, answer.Status)
		}
		return nil
	}
}

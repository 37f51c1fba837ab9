// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Package localcluster runs a real Kubernetes control plane on this machine,
// without containers, for tests that must not guess what a cluster does: either
// an API server alone, or the API server with the controller manager, the
// scheduler, Kueue, and simulated nodes.
package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"gpustack.ai/mdc/cmd/agent/localcluster/tools"
)

const (
	// startTimeout of an attempt is generous: the machine may be building
	// something else.
	startTimeout = 3 * time.Minute
	// attempts at free ports, which somebody else may take before we do.
	attempts = 3
)

// Cluster is a running control plane.
type Cluster struct {
	// Config reaches the API server as cluster administrator.
	Config *rest.Config
	// Kubeconfig is a file with the same.
	Kubeconfig string
	// Dir holds its files, logs included, until Stop.
	Dir string
	// FieldManager is who applies what is applied from now on.
	FieldManager string
	// Client is for the kinds of Kubernetes, Dynamic for all.
	Client  kubernetes.Interface
	Dynamic dynamic.Interface

	bin         string
	credentials *credentials
	processes   *processes
	kinds       kinds
}

// Tools returns the directory with the programs of an API server. Its error says
// how to build them; a test skips with it.
func Tools() (string, error) { return tools.Find(tools.APIServer) }

// AllTools is Tools for a whole cluster.
func AllTools() (string, error) { return tools.Find(tools.All) }

// Start starts an API server, and nothing that acts on its objects, from the
// programs in bin. It shares nothing with any other: its ports are free ones and
// its files are in a temporary directory. Whatever becomes of this process, its
// programs end with it.
func Start(ctx context.Context, bin string) (*Cluster, error) {
	return retry(ctx, func(ctx context.Context) (*Cluster, error) { return start(ctx, bin, false) })
}

// StartAll is Start for a whole cluster: the controller manager, the scheduler,
// Kueue, which manages Pods, and the simulator of nodes, without a node or a
// queue. The CustomResourceDefinitions of mdc and Kueue are installed. When it
// returns, a Pod in a queue has been gated, admitted, bound, run and removed.
func StartAll(ctx context.Context, bin string) (*Cluster, error) {
	return retry(ctx, func(ctx context.Context) (*Cluster, error) {
		c, err := start(ctx, bin, true)
		if err != nil {
			return nil, err
		}
		if err := c.startParts(ctx); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
		return c, nil
	})
}

func retry(ctx context.Context, start func(context.Context) (*Cluster, error)) (*Cluster, error) {
	for attempt := 1; ; attempt++ {
		ctx, cancel := context.WithTimeout(ctx, startTimeout)
		c, err := start(ctx)
		cancel()
		if err == nil || attempt == attempts || !errors.Is(err, errPortTaken) {
			return c, err
		}
	}
}

// Stop ends the programs and removes the files.
func (c *Cluster) Stop() error { return c.processes.stop() }

// start starts etcd and kube-apiserver.
func start(ctx context.Context, bin string, whole bool) (_ *Cluster, err error) {
	dir, err := os.MkdirTemp("", "mdc-cluster-")
	if err != nil {
		return nil, err
	}
	p, err := watch(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	credentials, err := newCredentials(dir)
	if err != nil {
		return nil, err
	}
	etcdURL, peerURL := address("http", ports[0]), address("http", ports[1])
	etcd, err := p.run(filepath.Join(bin, "etcd"),
		"--name=default",
		"--data-dir="+filepath.Join(dir, "etcd"),
		"--listen-client-urls="+etcdURL,
		"--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peerURL,
		"--initial-advertise-peer-urls="+peerURL,
		"--initial-cluster=default="+peerURL,
		"--unsafe-no-fsync", // the data is thrown away
		"--log-level=warn",
	)
	if err != nil {
		return nil, err
	}
	args := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", ports[2]),
		"--endpoint-reconciler-type=none", // nothing reaches a loopback address through an Endpoints object
		"--cert-dir=" + dir,
		"--tls-cert-file=" + credentials.certFile,
		"--tls-private-key-file=" + credentials.keyFile,
		"--token-auth-file=" + credentials.tokenFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + credentials.accountKeyFile,
		"--service-account-signing-key-file=" + credentials.accountKeyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true",
		"--profiling=false",
	}
	if !whole {
		args = append(args, "--disable-admission-plugins=ServiceAccount") // no controller creates the accounts
	}
	server, err := p.run(filepath.Join(bin, "kube-apiserver"), args...)
	if err != nil {
		return nil, err
	}
	config := &rest.Config{
		Host:            address("https", ports[2]),
		BearerToken:     credentials.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: credentials.ca},
		QPS:             -1, // no throttle: the server has no other client
	}
	c := &Cluster{Config: config, Dir: dir, bin: bin, credentials: credentials, processes: p}
	if c.Kubeconfig, err = writeKubeconfig(filepath.Join(dir, kubeconfigName), config); err != nil {
		return nil, err
	}
	if err := c.connect(); err != nil {
		return nil, err
	}
	if err := c.serves(ctx, etcd, server); err != nil {
		return nil, err
	}
	return c, nil
}

// serves waits until the API server says so and serves a list.
func (c *Cluster) serves(ctx context.Context, programs ...*process) error {
	return untilReady(ctx, programs, func(ctx context.Context) error {
		for _, path := range []string{"/readyz", "/api/v1/namespaces/default", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"} {
			if err := c.Client.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).Error(); err != nil {
				return err
			}
		}
		return nil
	})
}

// untilReady asks until the answer is nil or one of the programs ends, the last
// of which is the one that is asked. An answer does not count once one has ended:
// it may come from whoever took its port.
func untilReady(ctx context.Context, programs []*process, ask func(context.Context) error) error {
	for {
		err := ask(ctx)
		var ended []error
		for _, p := range programs {
			if p.ended() {
				ended = append(ended, p.failure("ended before the cluster was ready"))
			}
		}
		if len(ended) > 0 {
			return errors.Join(ended...)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			asked := programs[len(programs)-1]
			return asked.failure(fmt.Sprintf("was not ready in time (%v; last answer: %v)", ctx.Err(), err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func address(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }

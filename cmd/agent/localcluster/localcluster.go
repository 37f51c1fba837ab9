// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Package localcluster runs a real control plane on this machine, without
// containers: etcd and kube-apiserver, for tests that must not guess what an
// API server does.
package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"gpustack.ai/mdc/cmd/agent/localcluster/tools"
)

const (
	// startTimeout is generous: the machine may be building something else.
	startTimeout = 2 * time.Minute
	// attempts at free ports, which somebody else may take before we do.
	attempts = 3
)

// Cluster is a running control plane.
type Cluster struct {
	// Config reaches the API server as cluster administrator.
	Config *rest.Config
	// Dir holds its files, logs included, until Stop.
	Dir string

	processes *processes
}

// Tools returns the directory with the programs of a control plane. Its error
// says how to build them; a test skips with it.
func Tools() (string, error) { return tools.Find() }

// Start starts a control plane of the programs in bin. It shares nothing with
// any other: its ports are free ones and its files are in a temporary directory.
// Whatever becomes of this process, its programs end with it.
func Start(ctx context.Context, bin string) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		c, err := start(ctx, bin)
		if err == nil || attempt == attempts || !errors.Is(err, errPortTaken) {
			return c, err
		}
	}
}

// Stop ends the programs and removes the files.
func (c *Cluster) Stop() error { return c.processes.stop() }

func start(ctx context.Context, bin string) (_ *Cluster, err error) {
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
	server, err := p.run(filepath.Join(bin, "kube-apiserver"),
		"--etcd-servers="+etcdURL,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", ports[2]),
		"--endpoint-reconciler-type=none", // nothing reaches a loopback address through an Endpoints object
		"--cert-dir="+dir,
		"--tls-cert-file="+credentials.certFile,
		"--tls-private-key-file="+credentials.keyFile,
		"--token-auth-file="+credentials.tokenFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+credentials.accountKeyFile,
		"--service-account-signing-key-file="+credentials.accountKeyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount", // no controller creates the accounts
		"--allow-privileged=true",
		"--profiling=false",
	)
	if err != nil {
		return nil, err
	}
	config := &rest.Config{
		Host:            address("https", ports[2]),
		BearerToken:     credentials.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: credentials.ca},
		QPS:             -1, // no throttle: the server has no other client
	}
	if err := ready(ctx, config, etcd, server); err != nil {
		return nil, err
	}
	return &Cluster{Config: config, Dir: dir, processes: p}, nil
}

// ready waits until the server says so and serves a list, or until one of the
// programs ends.
func ready(ctx context.Context, config *rest.Config, programs ...*process) error {
	client, err := rest.UnversionedRESTClientFor(plainConfig(config))
	if err != nil {
		return err
	}
	for {
		err := client.Get().AbsPath("/readyz").Do(ctx).Error()
		if err == nil {
			err = client.Get().AbsPath("/api/v1/namespaces/default").Do(ctx).Error()
		}
		if err == nil {
			err = client.Get().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").Do(ctx).Error()
		}
		if err == nil {
			return nil
		}
		for _, p := range programs {
			if p.ended() {
				return p.failure("ended before the API server was ready")
			}
		}
		select {
		case <-ctx.Done():
			server := programs[len(programs)-1]
			return server.failure(fmt.Sprintf("was not ready in time (%v; last answer: %v)", ctx.Err(), err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// plainConfig is for plain paths of the server.
func plainConfig(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.GroupVersion = &schema.GroupVersion{}
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme.Scheme).WithoutConversion()
	return c
}

func address(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }

// lastLines of a log, for an error message.
func lastLines(file string, n int) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

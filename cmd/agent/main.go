// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Command agent keeps the Pods of ModelDeployments in a cluster: as many as are
// declared, each a copy of its role's compiled PodTemplate.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/controller"
	"gpustack.ai/mdc/cmd/agent/observe"
)

// leaseName is the Lease that one agent of a cluster holds.
const leaseName = "mdc-agent"

// The API server has queues of its own; these only keep a fault from flooding
// it.
const (
	requestsPerSecond = 100
	burst             = 200
)

// settings are what the flags say.
type settings struct {
	metrics, probes string
	election        bool
	leaseNamespace  string
	namespaces      []string
	runtimeLabels   observe.RuntimeLabels
}

func main() {
	err := run(ctrl.SetupSignalHandler(), os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func parse(args []string) (s settings, err error) {
	f := flag.NewFlagSet("agent", flag.ContinueOnError)
	config.RegisterFlags(f)
	f.StringVar(&s.metrics, "metrics-bind-address", ":8080", "address that serves metrics; 0 serves none")
	f.StringVar(&s.probes, "health-probe-bind-address", ":8081", "address that serves /healthz and /readyz; 0 serves none")
	f.BoolVar(&s.election, "leader-elect", true, "wait until no other agent is at work; needed with more than one replica")
	f.StringVar(&s.leaseNamespace, "leader-election-namespace", "", "namespace of the lease; that of the agent by default")
	namespaces := f.String("namespaces", "", "namespaces to work in, separated by commas; all by default. What waits in another for an AdmissionCheck of this agent waits for ever")
	labels := f.String("runtime-version-labels", observe.DefaultRuntimeLabels,
		"node labels that tell the version of the driver's runtime where no InstanceType does, best first, separated by commas; a+b joins the values of two by a dot")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	for _, n := range strings.Split(*namespaces, ",") {
		if n = strings.TrimSpace(n); n != "" {
			s.namespaces = append(s.namespaces, n)
		}
	}
	s.runtimeLabels, err = observe.ParseRuntimeLabels(*labels)
	return s, err
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	logger := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, nil))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger) // client-go's
	cfg, err := config.GetConfig()
	if err != nil {
		return err
	}
	cfg.QPS, cfg.Burst = requestsPerSecond, burst
	if err := refuseOther(ctx, cfg); err != nil {
		return err
	}
	err = manage(ctx, cfg, s)
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("install the CustomResourceDefinitions of mdc and Kueue (%s) first: %w", kueue.GroupVersion, err)
	}
	return err
}

// manage works until the context ends.
func manage(ctx context.Context, cfg *rest.Config, s settings) error {
	mgr, err := newManager(cfg, s)
	if err != nil {
		return err
	}
	counters, err := controller.NewMetrics(metrics.Registry)
	if err != nil {
		return err
	}
	if err := controller.Setup(ctx, mgr, controller.Options{RuntimeLabels: s.runtimeLabels, Metrics: counters}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(cfg *rest.Config, s settings) (manager.Manager, error) {
	sch, err := newScheme()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		Scheme:                        sch,
		Cache:                         observe.CacheOptions(s.namespaces),
		Metrics:                       server.Options{BindAddress: s.metrics},
		HealthProbeBindAddress:        s.probes,
		LeaderElection:                s.election,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       s.leaseNamespace,
		LeaderElectionReleaseOnCancel: true, // the process ends when the manager does
	})
	if err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
}

// newScheme knows what the agent reads and writes.
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, kueue.AddToScheme, v1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

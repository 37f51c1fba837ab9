// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Command sandbox starts a local cluster to try mdc on: with the hardware of
// all examples, one compiled example, and the agent. It stays until it is
// interrupted, and then leaves nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"gpustack.ai/mdc/cmd/agent/localcluster"
	"gpustack.ai/mdc/cmd/agent/localcluster/tools"
)

func main() {
	var s sandbox
	flag.StringVar(&s.example, "example", "vllm", "the directory of examples/ to apply")
	flag.IntVar(&s.cards, "cards", 32, "cards of each InstanceType, eight to a node")
	flag.Parse()
	// A second interrupt does not wait.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := s.run(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// sandbox is one run.
type sandbox struct {
	example string
	cards   int

	root    string // of the repository
	cluster *localcluster.Cluster
}

func (s *sandbox) run(ctx context.Context) (err error) {
	bin, err := localcluster.AllTools()
	if err != nil {
		return err
	}
	pins, err := tools.Pins()
	if err != nil {
		return err
	}
	s.root = filepath.Join(pins, "..", "..")
	examples, err := s.compile()
	if err != nil {
		return err
	}
	begin := time.Now()
	fmt.Println("Starting the cluster ...")
	if s.cluster, err = localcluster.StartAll(ctx, bin); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.cluster.Stop()) }()
	log, err := s.startAgent(ctx) // first: a queue admits nothing before its check is answered
	if err != nil {
		return err
	}
	if err := s.addHardware(ctx, examples); err != nil {
		return err
	}
	s.cluster.FieldManager = "kubectl" // which so can change it
	if err := s.apply(ctx, examples[s.example]); err != nil {
		return err
	}
	fmt.Printf("The cluster is up after %s, with %d cards of each InstanceType and examples/%s applied.\n",
		time.Since(begin).Round(time.Second), s.cards, s.example)
	fmt.Printf("The agent runs; its log is %s.\n", log)
	s.explain(examples[s.example].namespace())
	<-ctx.Done()
	fmt.Println("\nStopping the cluster.")
	return nil
}

// explain prints what to do next.
func (s *sandbox) explain(namespace string) {
	fmt.Printf(`
  export KUBECONFIG=%s

  kubectl get modeldeployments,pods,workloads -A     # what there is
  kubectl get clusterqueues,nodes                    # the pools and their cards
  kubectl get pods -A --watch                        # what happens
  mdc status -A --watch                              # the same, deployment by deployment

  # Edit the example, and watch one replica after another turn over.
  mdc build examples/%s | kubectl apply --server-side -f -
`, s.cluster.Kubeconfig, s.example)
	fmt.Printf(`
  # Give a deployment another number of replicas.
  kubectl edit modeldeployments -n %[1]s
  # Take cards away: new replicas wait, and those of several roles for each other.
  kubectl edit clusterqueues NAME
  # Let a Pod hang, or end uncleanly, when it is deleted; let it crash.
  kubectl annotate pod -n %[1]s NAME localcluster.gpustack.ai/stop=never    # or 20s
  kubectl annotate pod -n %[1]s NAME localcluster.gpustack.ai/exit=143
  kubectl annotate pod -n %[1]s NAME localcluster.gpustack.ai/ready=crash   # or never
  # Cut the power of a node.
  kubectl label node NAME localcluster.gpustack.ai/simulated-

The logs are in %[2]s. Ctrl-C ends everything.
`, namespace, s.cluster.Dir)
}

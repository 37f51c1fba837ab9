// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

const (
	agentNamespace = "mdc-system"
	agentName      = "mdc-agent"
)

// agentAccount is bound to what the agent may do, which it brings itself.
const agentAccount = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: mdc-agent, namespace: mdc-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: mdc-agent}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: mdc-agent}
subjects:
- {kind: ServiceAccount, name: mdc-agent, namespace: mdc-system}
`

// startAgent builds the agent and starts it with no more rights than it has in
// any cluster. It returns a sentence about it,
// and whether it runs.
func (s *sandbox) startAgent(ctx context.Context) (about string, runs bool, err error) {
	dir := filepath.Join(s.root, "cmd", "agent")
	if _, err := os.Stat(filepath.Join(dir, "main.go")); err != nil {
		return "The agent does not exist yet, so nothing creates Pods.", false, nil
	}
	program := filepath.Join(s.cluster.Dir, agentName)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/agent")
	build.Dir = s.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Sprintf("The agent does not build, so nothing creates Pods:\n%s", out), false, nil
	}
	rights, err := os.ReadFile(filepath.Join(dir, "manifests", "rbac.yaml"))
	if err != nil {
		return "", false, err
	}
	objects, err := localcluster.Parse(append(rights, "\n---\n"+agentAccount...))
	if err != nil {
		return "", false, err
	}
	for _, o := range objects {
		if o.GetKind() == "Role" {
			o.SetNamespace(agentNamespace)
		}
	}
	if err := s.cluster.AddNamespace(ctx, agentNamespace); err != nil {
		return "", false, err
	}
	if err := s.cluster.Apply(ctx, objects...); err != nil {
		return "", false, err
	}
	kubeconfig, err := s.cluster.KubeconfigAs(ctx, agentNamespace, agentName)
	if err != nil {
		return "", false, err
	}
	log, err := s.cluster.Run(program,
		"--kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--metrics-bind-address=0",
		"--health-probe-bind-address=0",
	)
	if err != nil {
		return "", false, err
	}
	return fmt.Sprintf("The agent runs; its log is %s.", log), true, nil
}

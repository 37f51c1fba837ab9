// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"gpustack.ai/mdc/compiler/emit"

	"gpustack.ai/mdc/cmd/agent/manifests"
)

const (
	agentNamespace = manifests.Namespace
	agentName      = manifests.Name
)

// startAgent builds the agent and starts it with no more rights than it has in
// any cluster. It returns the file of its log.
func (s *sandbox) startAgent(ctx context.Context) (log string, err error) {
	program := filepath.Join(s.cluster.Dir, agentName)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/agent")
	build.Dir = s.root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the agent: %w\n%s", err, out)
	}
	objects, err := manifests.Rights(agentNamespace)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := emit.YAML(&text, objects); err != nil {
		return "", err
	}
	for _, objects := range [][]byte{text.Bytes(), manifests.AdmissionCheck} {
		if err := s.cluster.ApplyYAML(ctx, objects); err != nil {
			return "", err
		}
	}
	kubeconfig, err := s.cluster.KubeconfigAs(ctx, agentNamespace, agentName)
	if err != nil {
		return "", err
	}
	return s.cluster.Run(program,
		"--kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--metrics-bind-address=0",
		"--health-probe-bind-address=0",
	)
}

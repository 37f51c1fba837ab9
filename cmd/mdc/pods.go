// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/replica"
)

func newPods(a *app) *cobra.Command {
	var (
		flags  inputFlags
		format string
	)
	c := &cobra.Command{
		Use:   "pods [PATH...]",
		Short: "Print the Pods that the agent would create",
		Long: `Print the Pod of every ordinal and member of every role. Values that only the
cluster knows are shown as their token, unless they are among the facts. The
Pods are for reading: the agent creates them, nobody applies them.`,
		Example: `  mdc pods deployment.yaml --facts facts/`,
		RunE: func(_ *cobra.Command, paths []string) error {
			out, err := a.output(&flags, paths)
			if err != nil {
				return err
			}
			pods, err := pods(out)
			if err != nil {
				return err
			}
			return a.print(format, pods)
		},
	}
	flags.add(a, c)
	formatFlag(c, &format, "yaml", "json")
	return c
}

// pods stamps every seat of every role, in order.
func pods(out *compiler.Output) ([]emit.Object, error) {
	var objects []emit.Object
	for _, d := range out.Deployments {
		templates := map[string]*corev1.PodTemplate{}
		for _, t := range d.Templates {
			templates[t.Name] = t
		}
		for _, role := range d.ModelDeployment.Spec.Roles {
			t := templates[v1.TemplateName(d.ModelDeployment.Name, role.Name)]
			for ordinal := range role.Replicas {
				for member := range role.Size {
					pod, err := replica.Stamp(t, replica.Seat{Ordinal: ordinal, Member: member}, nil)
					if err != nil {
						return nil, fmt.Errorf("stamping: %w", err)
					}
					objects = append(objects, emit.New(pod, d.ModelDeployment.Name))
				}
			}
		}
	}
	return objects, nil
}

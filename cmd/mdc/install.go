// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"gpustack.ai/mdc/cmd/agent/manifests"
)

func newInstall(a *app) *cobra.Command {
	var (
		o      manifests.Options
		format string
	)
	c := &cobra.Command{
		Use:   "install",
		Short: "Print the manifests to install the agent",
		Long: `Print what a cluster needs for the agent, which makes the Pods of
ModelDeployments: a Namespace, the CustomResourceDefinition of ModelDeployment,
the rights of the agent and its ServiceAccount, its Deployment, and the
AdmissionCheck that lets several roles start together. The ClusterRoles mdc-view
and mdc-edit let whoever may view or edit a namespace do so with PodTemplates and
ModelDeployments too.

No image of the agent is published. Build one whose entrypoint is the program of
cmd/agent, which needs nothing beside it:

  CGO_ENABLED=0 GOOS=linux go build -o agent ./cmd/agent

  FROM scratch
  COPY agent /agent
  ENTRYPOINT ["/agent"]

Install Kueue first. Without its CustomResourceDefinitions the AdmissionCheck
cannot be applied, and the agent ends with an error until they are there. Where
Kueue manages what names no queue (manageJobsWithoutQueueName), exclude the
namespace of the agent, or Kueue holds the agent too.

A cluster has one agent, however many replicas: one works, the others stand by.
Beside the GPUStack operator's own controller of ModelDeployments it is not
supported; where that operator serves the API, the agent refuses to start.

The CustomResourceDefinitions of kinds that the agent only reads, such as
InstanceType, belong to the operator that writes them. Where there is none,
--with-read-crds prints them too.

There is no webhook: the CustomResourceDefinition carries the rules that it can
hold.`,
		Example: `  mdc install --image registry.example/mdc-agent:1 | kubectl apply --server-side -f -
  mdc install --image registry.example/mdc-agent:1 --replicas 2 > clusters/production/mdc.yaml`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return o.Validate() },
		RunE: func(*cobra.Command, []string) error {
			objects, err := manifests.Install(o)
			if err != nil {
				return err
			}
			return a.print(format, objects)
		},
	}
	c.Flags().StringVar(&o.Image, "image", "", "image of the agent (required)")
	c.Flags().StringVar(&o.PullSecret, "image-pull-secret", "", "Secret in the namespace that opens the registry of the image")
	c.Flags().StringVarP(&o.Namespace, "namespace", "n", manifests.Namespace, "namespace of the agent")
	c.Flags().Int32Var(&o.Replicas, "replicas", 1, "agents; a second stands by")
	c.Flags().BoolVar(&o.ReadCRDs, "with-read-crds", false, "also print the CustomResourceDefinitions of the kinds that the agent only reads")
	must(c.RegisterFlagCompletionFunc("namespace", cobra.NoFileCompletions))
	formatFlag(c, &format, "yaml", "json")
	return c
}

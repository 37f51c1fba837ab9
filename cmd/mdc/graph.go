// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler/graph"
)

var drawers = map[string]func(w io.Writer, graphs []*graph.Graph) error{
	"mermaid": graph.Mermaid,
	"dot":     graph.DOT,
	"svg":     graph.SVG,
}

func newGraph(a *app) *cobra.Command {
	var (
		flags  inputFlags
		format string
	)
	c := &cobra.Command{
		Use:   "graph [PATH...]",
		Short: "Draw deployments as a picture",
		Long: `Draw what a deployment runs and how it is connected: its roles with their
instances, hardware and Kueue queue, the router with the ways that requests take,
the shared KV cache, the direct transfer from prefill to decode, and where the
weights come from. Values that only the cluster knows are drawn dashed, as "?".
The SVG is drawn by mdc itself.`,
		Example: `  mdc graph deployment.yaml --facts facts/
  mdc graph . -o svg > deployment.svg
  mdc graph . -o dot | dot -Tpdf > deployment.pdf`,
		RunE: func(_ *cobra.Command, paths []string) error {
			out, err := a.output(&flags, paths)
			if err != nil {
				return err
			}
			var graphs []*graph.Graph
			for _, d := range out.Deployments {
				graphs = append(graphs, graph.New(d))
			}
			return drawers[format](a.stdout, graphs)
		},
	}
	flags.add(a, c)
	formatFlag(c, &format, "mermaid", "dot", "svg")
	return c
}

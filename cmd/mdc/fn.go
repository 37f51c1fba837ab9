// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
	"gpustack.ai/mdc/fn"
)

func newFn(a *app) *cobra.Command {
	var flags inputFlags
	c := &cobra.Command{
		Use:   "fn",
		Short: "Run as a KRM function of kustomize or kpt",
		Long: `Read a ResourceList from standard input, compile the ModelDeployments among its
items and in its functionConfig, and write the ResourceList with what was
generated. Findings become results; on an error the items are unchanged and the
exit code is 1.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loader := source.Loader{FS: a.fs}
			p := &fn.Processor{
				Version:          version(),
				Namespace:        flags.namespace,
				WarningsAsErrors: flags.warningsAsErrors,
				LoadFacts: func(paths []string) ([]*source.Object, diag.List, error) {
					set, err := loader.Load(paths...)
					if err != nil {
						return nil, nil, err
					}
					return set.Objects, set.Findings, nil
				},
			}
			if len(flags.facts) > 0 {
				objects, findings, err := p.LoadFacts(flags.facts)
				if err != nil {
					return err
				}
				p.Facts, p.FactFindings = objects, findings
			}
			var out bytes.Buffer
			if err := p.Run(a.stdin, &out); err != nil {
				return err
			}
			if _, err := out.WriteTo(a.stdout); err != nil {
				return err
			}
			if err := (diag.Text{Color: a.color}).Print(a.stderr, p.Findings); err != nil {
				return err
			}
			if p.Findings.HasErrors() {
				return errFindings
			}
			return nil
		},
	}
	flags.add(a, c)
	return c
}

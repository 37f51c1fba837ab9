// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// findingPrinters print findings. Those for programs go to stdout whatever was
// found.
var findingPrinters = map[string]func(a *app, in *input, l diag.List) error{
	"text": (*app).report,
	"json": func(a *app, _ *input, l diag.List) error { return diag.JSON(a.stdout, l) },
	"sarif": func(a *app, in *input, l diag.List) error {
		return diag.SARIF{Version: version(), Doc: ruleDoc, Line: in.line}.Print(a.stdout, l)
	},
	"github": func(a *app, in *input, l diag.List) error { return diag.GitHub(a.stdout, l, in.line) },
}

func newValidate(a *app) *cobra.Command {
	var (
		flags  inputFlags
		format string
		old    []string
		empty  = emptiness{judging: true}
	)
	c := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Judge deployments by the rules of admission",
		Long: `Judge the ModelDeployments in the given files or directories by the rules that
also hold in the API server, and render nothing. With --old each deployment is
judged as an update of the one of the same namespace and name there, otherwise
as a new one.`,
		Example: `  mdc validate deployment.yaml --facts facts/
  mdc validate . --old ../main
  mdc validate . -o json
  mdc validate . -o sarif > mdc.sarif`,
		RunE: func(_ *cobra.Command, paths []string) error {
			return a.validate(&flags, paths, old, format, empty)
		},
	}
	flags.add(a, c)
	formatFlag(c, &format, "text", "json", "sarif", "github")
	c.Flags().StringArrayVar(&old, "old", nil, "file or directory of the stored deployments (repeatable)")
	empty.allowEmptyFlag(c)
	must(c.MarkFlagFilename("old", "yaml", "yml", "json"))
	return c
}

func (a *app) validate(flags *inputFlags, paths, oldPaths []string, format string, empty emptiness) error {
	stored := &source.Set{}
	if len(oldPaths) > 0 {
		var err error
		if stored, err = (&source.Loader{FS: a.fs, Stdin: a.stdin}).Load(oldPaths...); err != nil {
			return err
		}
	}
	in, err := a.read(flags, paths, besides(oldPaths, paths)...)
	if err != nil {
		return err
	}
	findings := compiler.Validate(in.compilerInput(), stored.Objects)
	findings = in.withReadFindings(slices.Concat(stored.Findings, findings)...)
	findings = append(findings, empty.judge(in.judged(), findings)...)
	if flags.warningsAsErrors {
		findings = findings.Escalate()
	}
	findings = findings.Sorted()
	if err := findingPrinters[format](a, in, findings); err != nil {
		return err
	}
	if findings.HasErrors() {
		return errFindings
	}
	return nil
}

// besides are the paths that are not given as input too: stored deployments
// that lie within the input are not judged, unless they are all of it.
func besides(old, paths []string) (out []string) {
	for _, p := range old {
		if !slices.ContainsFunc(paths, func(q string) bool { return samePlace(p, q) }) {
			out = append(out, p)
		}
	}
	return out
}

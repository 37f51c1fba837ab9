// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler/emit"
)

func newBuild(a *app) *cobra.Command {
	var (
		flags      inputFlags
		format     string
		dir        string
		check      bool
		allowEmpty bool
	)
	c := &cobra.Command{
		Use:   "build [PATH...]",
		Short: "Compile deployments and print the manifests",
		Long: `Compile the ModelDeployments in the given files or directories (the current
directory by default, - for standard input) and print the manifests to apply.
Objects that are not ModelDeployments pass through; objects marked
config.kubernetes.io/local-config and those given with --facts are read only.`,
		Example: `  mdc build deployment.yaml --facts facts/
  mdc build . --output-dir manifests
  mdc build . --output-dir manifests --check
  cat deployment.yaml facts.yaml | mdc build -`,
		PreRunE: func(*cobra.Command, []string) error {
			if check && dir == "" {
				return errors.New("--check needs --output-dir")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, paths []string) error {
			var exclude []string
			if dir != "" {
				exclude = []string{dir}
			}
			in, err := a.read(&flags, paths, exclude...)
			if err != nil {
				return err
			}
			out, err := a.compile(in, allowEmpty)
			if err != nil {
				return err
			}
			if dir != "" {
				return outputDir{app: a, path: dir, format: format}.run(out.Objects, check)
			}
			w := bufio.NewWriterSize(a.stdout, 1<<16)
			if err := printers[format](w, out.Objects); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	flags.add(c)
	formatFlag(c, &format, "yaml", "json")
	c.Flags().StringVar(&dir, "output-dir", "", "write one file per object into this directory instead of printing")
	c.Flags().BoolVar(&check, "check", false, "with --output-dir: write nothing, print the difference and fail if there is any")
	c.Flags().BoolVar(&allowEmpty, "allow-empty", false, "succeed when the input has no ModelDeployment")
	must(c.MarkFlagDirname("output-dir"))
	return c
}

var printers = map[string]func(w io.Writer, objects []emit.Object) error{
	"yaml": emit.YAML,
	"json": emit.JSON,
}

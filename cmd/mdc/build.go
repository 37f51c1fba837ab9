// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler/emit"
)

func newBuild(a *app) *cobra.Command {
	var (
		flags  inputFlags
		format string
		dir    string
		check  bool
		empty  emptiness
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
  (cat deployment.yaml; echo ---; cat facts.yaml) | mdc build -`,
		PreRunE: func(c *cobra.Command, paths []string) error {
			switch given := c.Flags().Changed("output-dir"); {
			case given && dir == "":
				return errors.New("--output-dir is empty")
			case check && !given:
				return errors.New("--check needs --output-dir")
			}
			if len(paths) == 0 {
				paths = []string{"."}
			}
			for _, p := range paths {
				if dir != "" && samePlace(p, dir) {
					return fmt.Errorf("%s is the input, so it cannot be the output directory too; choose one below it", p)
				}
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
			out, err := a.compile(in, empty)
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
	empty.allowEmptyFlag(c)
	must(c.MarkFlagDirname("output-dir"))
	return c
}

var printers = map[string]func(w io.Writer, objects []emit.Object) error{
	"yaml": emit.YAML,
	"json": emit.JSON,
}

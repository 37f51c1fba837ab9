// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// buildOptions are the flags of the command.
type buildOptions struct {
	flags  inputFlags
	format string
	dir    string
	check  bool
	empty  emptiness
}

func newBuild(a *app) *cobra.Command {
	o := &buildOptions{}
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
			return o.validate(c.Flags().Changed("output-dir"), paths)
		},
		RunE: func(_ *cobra.Command, paths []string) error { return a.build(o, paths) },
	}
	o.flags.add(a, c)
	formatFlag(c, &o.format, "yaml", "json")
	c.Flags().StringVar(&o.dir, "output-dir", "", "write one file per object into this directory instead of printing")
	c.Flags().BoolVar(&o.check, "check", false, "with --output-dir: write nothing, print the difference and fail if there is any")
	o.empty.allowEmptyFlag(c)
	must(c.MarkFlagDirname("output-dir"))
	return c
}

// validate refuses flags that do not go together. given: there is an --output-dir.
func (o *buildOptions) validate(given bool, paths []string) error {
	switch {
	case given && o.dir == "":
		return errors.New("--output-dir is empty")
	case o.check && !given:
		return errors.New("--check needs --output-dir")
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, p := range paths {
		if o.dir != "" && samePlace(p, o.dir) {
			return fmt.Errorf("%s is the input, so it cannot be the output directory too; choose one below it", p)
		}
	}
	return nil
}

func (a *app) build(o *buildOptions, paths []string) error {
	var exclude []string
	if o.dir != "" {
		exclude = []string{o.dir}
	}
	in, err := a.read(&o.flags, paths, exclude...)
	if err != nil {
		return err
	}
	out, err := a.compile(in, o.empty)
	if err != nil {
		return err
	}
	if o.dir != "" {
		return outputDir{app: a, path: o.dir, format: o.format}.run(out.Objects, o.check)
	}
	return a.print(o.format, out.Objects)
}

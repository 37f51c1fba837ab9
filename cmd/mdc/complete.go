// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler/source"
)

// completeNamespaces offers the namespaces of the input.
func (a *app) completeNamespaces(c *cobra.Command, paths []string, _ string) ([]string, cobra.ShellCompDirective) {
	facts, _ := c.Flags().GetStringArray("facts")
	return a.namespaces(paths, facts), cobra.ShellCompDirectiveNoFileComp
}

// namespaces are those that the objects of the input are in or declare, sorted.
// What cannot be read has none: it is not the time to complain.
func (a *app) namespaces(paths, facts []string) (out []string) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, p := range slices.Concat(paths, facts) {
		if p == "-" {
			continue // that would wait for the one who presses the key
		}
		set, err := source.Loader{FS: a.fs}.Load(p)
		if err != nil {
			continue
		}
		for _, o := range set.Objects {
			switch {
			case o.Kind == "Namespace" && o.APIVersion == "v1":
				out = append(out, o.Name)
			case o.Namespace != "":
				out = append(out, o.Namespace)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

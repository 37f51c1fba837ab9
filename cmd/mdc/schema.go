// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler/api/jsonschema"
)

func newSchema(a *app) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "schema [KIND]",
		Short: "Print JSON schemas for editors and CI",
		Long: `Print the JSON schema of a kind, ModelDeployment by default. With --output-dir
write the schemas of all kinds as <group>/<kind>_<version>.json, the layout that
editors and kubeconform look for.

Scenario is the file that "mdc simulate --scenario" reads, Simulation what
"mdc simulate -o json" and Plan what "mdc plan -o json" prints; they are plain
documents without apiVersion and kind. An editor completes a scenario that begins with

  # yaml-language-server: $schema=schemas/mdc.gpustack.ai/scenario_v1.json`,
		Example: `  mdc schema > modeldeployment.json
  mdc schema simulation > simulation.json
  mdc schema --output-dir schemas
  kubeconform -schema-location default \
    -schema-location 'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' .`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			schemas, err := jsonschema.Schemas()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return kinds(schemas), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if dir != "" && len(args) > 0 {
				return fmt.Errorf("schema: --output-dir writes the schemas of all kinds; leave out %s, or --output-dir to print its schema", args[0])
			}
			schemas, err := jsonschema.Schemas()
			if err != nil {
				return err
			}
			if dir != "" {
				return a.writeSchemas(dir, schemas)
			}
			kind := "modeldeployment"
			if len(args) == 1 {
				kind = strings.ToLower(args[0])
			}
			for file, text := range schemas {
				if kindOf(file) == kind {
					_, err := fmt.Fprintf(a.stdout, "%s\n", text)
					return err
				}
			}
			return fmt.Errorf("no schema of kind %q; there are %s", kind, strings.Join(kinds(schemas), ", "))
		},
	}
	c.Flags().StringVar(&dir, "output-dir", "", "write all schemas into this directory")
	must(c.MarkFlagDirname("output-dir"))
	return c
}

func (a *app) writeSchemas(dir string, schemas map[string][]byte) error {
	for _, file := range slices.Sorted(maps.Keys(schemas)) {
		target := filepath.Join(dir, filepath.FromSlash(file))
		if err := a.fs.MkdirAll(filepath.Dir(target)); err != nil {
			return err
		}
		if err := a.fs.WriteFile(target, append(schemas[file], '\n')); err != nil {
			return err
		}
	}
	return nil
}

// kindOf reads the kind off a schema's file name.
func kindOf(file string) string {
	kind, _, _ := strings.Cut(path.Base(file), "_")
	return kind
}

func kinds(schemas map[string][]byte) []string {
	var out []string
	for file := range schemas {
		out = append(out, kindOf(file))
	}
	slices.Sort(out)
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler/check"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/explain"
)

func newExplain(a *app) *cobra.Command {
	var recursive bool
	c := &cobra.Command{
		Use:   "explain [RULE|FIELD]",
		Short: "Explain a rule or a field of the API",
		Long: `Print the page of a rule: what it refuses, why, how to fix it, and an example.
Print the documentation of a field of the API: type, default and bounds. Without
an argument list all rules.`,
		Example: `  mdc explain owned-arg
  mdc explain modeldeployment.spec.roles.size
  mdc explain md.spec --recursive`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			out := explain.Complete(typed)
			directive := cobra.ShellCompDirectiveNoFileComp
			if len(out) == 1 && strings.HasSuffix(out[0], ".") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			return out, directive
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if recursive {
					return errors.New("explain: --recursive is about the fields below one; name a field")
				}
				return explain.List(a.stdout)
			}
			if p, ok := explain.Find(strings.ToLower(args[0])); ok {
				if recursive {
					return fmt.Errorf("explain: --recursive is about the fields below one; %s is a rule", args[0])
				}
				_, err := io.WriteString(a.stdout, p.Text)
				return err
			}
			f, err := explain.FindField(args[0])
			if err != nil {
				return err
			}
			return f.Print(a.stdout, recursive)
		},
	}
	c.Flags().BoolVar(&recursive, "recursive", false, "print all fields below as a tree")
	return c
}

// ruleDoc is the page of a rule as programs read it.
func ruleDoc(rule string) diag.RuleDoc {
	p, _ := explain.Find(rule)
	severity := diag.Error
	if i := slices.IndexFunc(check.Rules, func(r check.Rule) bool { return r.Slug == rule }); i >= 0 {
		severity = check.Rules[i].Severity
	}
	return diag.RuleDoc{
		Summary:     p.Summary(),
		Description: p.Section(explain.SectionWhat),
		Help:        p.Text,
		Severity:    severity,
	}
}

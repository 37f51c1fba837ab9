// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/impact"
)

var planPrinters = map[string]func(*impact.Plan, io.Writer) error{
	"text":     (*impact.Plan).Text,
	"json":     (*impact.Plan).JSON,
	"markdown": (*impact.Plan).Markdown,
}

// planOptions are the flags of the command.
type planOptions struct {
	flags    inputFlags
	old      []string
	base     string
	format   string
	exitCode bool
}

func newPlan(a *app) *cobra.Command {
	o := &planOptions{}
	c := &cobra.Command{
		Use:   "plan [PATH...]",
		Short: "Tell what an edit does to the running replicas",
		Long: `Compile the deployments as they were and as they are, and tell for each role
which replicas turn over, and because of which fields of their Pods; which are
added or removed; which stay as they are; and which objects in Git differ. An
edit that the API server would refuse is refused here.

The deployments as they were are in --old, or what PATH and --facts were at the
revision --base of the git repository around them. With --old, --facts is for
both sides, so an edit of a fact is seen with --base only.`,
		Example: `  mdc plan deployments --facts facts --base origin/main
  mdc plan deployments --facts facts --base origin/main -o markdown > comment.md
  mdc plan deployment.yaml --old deployed.yaml --facts facts.yaml --exit-code`,
		RunE: func(c *cobra.Command, paths []string) error { return a.plan(c.Context(), o, paths) },
	}
	o.flags.add(a, c)
	formatFlag(c, &o.format, "text", "json", "markdown")
	c.Flags().StringArrayVar(&o.old, "old", nil, "file or directory of the deployments as they were (repeatable)")
	c.Flags().StringVar(&o.base, "base", "", "git revision of the deployments as they were")
	c.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 1 when a replica turns over")
	must(c.MarkFlagFilename("old", "yaml", "yml", "json"))
	return c
}

func (a *app) plan(ctx context.Context, o *planOptions, paths []string) error {
	if (o.base == "") == (len(o.old) == 0) {
		return errors.New("plan: give either --base or --old")
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	in, err := a.read(&o.flags, paths, besides(o.old, paths)...)
	if err != nil {
		return err
	}
	var before *edition
	if o.base != "" {
		before, err = a.atRevision(ctx, o, paths)
	} else {
		before, err = a.former(&o.flags, o.old, strings.NewReplacer())
	}
	if err != nil {
		return err
	}
	// That all go is an edit too.
	after, findings := a.findings(in, emptiness{allowed: before.out != nil && len(before.out.Deployments) > 0})
	if err := a.report(in, findings); err != nil {
		return err
	}
	result := &impact.Plan{Deployments: []impact.Deployment{}}
	if !findings.HasErrors() {
		if result, err = impact.Of(before.out, after); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		findings = nil // the warnings have been printed
		if before.out != nil {
			if findings, err = a.judgeEdit(in, before.judged()); err != nil {
				return err
			}
		}
	}
	result.Refuse(findings)
	if o.format != "text" || !findings.HasErrors() {
		if err := planPrinters[o.format](result, a.stdout); err != nil {
			return err
		}
	}
	if findings.HasErrors() || o.exitCode && result.Rolls() {
		return errFindings
	}
	return nil
}

// former compiles the deployments as they were. What mdc warned of then is of no
// interest; what it refuses now is, with files under other names.
func (a *app) former(flags *inputFlags, paths []string, names *strings.Replacer) (*edition, error) {
	in, err := a.read(flags, paths)
	if err != nil {
		return nil, err
	}
	out, findings := compiler.Compile(in.compilerInput())
	findings = in.withReadFindings(findings...).Sorted()
	if !findings.HasErrors() {
		return &edition{in, out}, nil
	}
	files := map[string]string{}
	var errs diag.List
	for _, f := range findings {
		if f.Severity == diag.Error {
			name := names.Replace(f.File)
			files[name], f.File = f.File, name
			f.Message = names.Replace(f.Message)
			errs = append(errs, f)
		}
	}
	fmt.Fprintln(a.stderr, "the deployments as they were do not compile:")
	line := func(p diag.Position) (string, bool) {
		p.File = files[p.File]
		return in.line(p)
	}
	if err := (diag.Text{Color: a.color, Line: line}).Print(a.stderr, errs); err != nil {
		return nil, err
	}
	return nil, errFindings
}

// atRevision compiles the deployments as they were at a revision.
func (a *app) atRevision(ctx context.Context, o *planOptions, paths []string) (*edition, error) {
	dir, err := os.MkdirTemp("", "mdc-plan-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tree, err := checkOut(ctx, paths[0], o.base, dir)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	flags := o.flags
	flags.facts = nil
	for _, f := range o.flags.facts {
		then, err := tree.paths([]string{f})
		switch {
		case errors.Is(err, errOutside): // the same on both sides
			then = []string{f}
		case err != nil:
			return nil, fmt.Errorf("plan: %w", err)
		}
		flags.facts = append(flags.facts, then...)
	}
	old, err := tree.paths(paths)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if len(old) < len(paths) {
		fmt.Fprintf(a.stderr, "mdc: not all of %s is in %s; what is not, also what was renamed, counts as new: give a directory above\n", strings.Join(paths, ", "), o.base)
	}
	if len(old) == 0 {
		return &edition{in: &input{flags: &o.flags}}, nil
	}
	return a.former(&flags, old, strings.NewReplacer(tree.root+string(filepath.Separator), o.base+":"))
}

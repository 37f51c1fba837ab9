// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// app is what the commands share.
type app struct {
	fs             filesys.FileSystem
	stdin          io.Reader
	stdout, stderr io.Writer
	color          bool
	// hints: somebody is there to read what else may be done.
	hints bool
}

// inputFlags are the flags of every command that reads deployments.
type inputFlags struct {
	facts            []string
	namespace        string
	warningsAsErrors bool
}

func (f *inputFlags) add(a *app, c *cobra.Command) {
	c.Flags().StringArrayVar(&f.facts, "facts", nil, "file or directory of objects that are read and not emitted, or - (repeatable)")
	c.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace of objects that state none")
	c.Flags().BoolVar(&f.warningsAsErrors, "warnings-as-errors", false, "treat warnings as errors")
	must(c.MarkFlagFilename("facts", "yaml", "yml", "json"))
	must(c.RegisterFlagCompletionFunc("namespace", a.completeNamespaces))
}

// formatFlag adds -o, --output.
func formatFlag(c *cobra.Command, target *string, formats ...string) {
	c.Flags().StringVarP(target, "output", "o", formats[0], "format: "+strings.Join(formats, "|"))
	must(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains(formats, *target) {
			return fmt.Errorf("unknown output format %q; use %s", *target, strings.Join(formats, ", "))
		}
		if check != nil {
			return check(c, args)
		}
		return nil
	}
}

// must is for the wiring of flags, which is right or wrong for good.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// input is what was read for one run.
type input struct {
	objects, facts *source.Set
	flags          *inputFlags
}

// read loads the paths, the current directory by default, and the facts. What
// lies below exclude is not read.
func (a *app) read(flags *inputFlags, paths []string, exclude ...string) (*input, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	loader := source.Loader{FS: a.fs, Stdin: a.stdin}
	given := &source.Set{}
	var err error
	if len(flags.facts) > 0 {
		if given, err = loader.Load(flags.facts...); err != nil {
			return nil, err
		}
	}
	loader.Exclude = exclude
	// Facts that lie within the input are facts, unless they are all of it.
	for _, f := range flags.facts {
		if !slices.ContainsFunc(paths, func(p string) bool { return samePlace(p, f) }) {
			loader.Exclude = append(loader.Exclude, f)
		}
	}
	objects, err := loader.Load(paths...)
	if err != nil {
		return nil, err
	}
	ownFacts(objects, given)
	return &input{objects: objects, facts: given, flags: flags}, nil
}

// ownFacts takes from the objects the facts of files that were given as facts:
// those are read and not emitted, whatever else leads to them. What a
// kustomization made of one counts, because it goes with the deployments.
func ownFacts(objects, given *source.Set) {
	if len(given.Objects) == 0 {
		return
	}
	// Where the files of the facts are. Looking takes a while.
	places := map[string]string{}
	at := func(o *source.Object) string {
		if _, known := places[o.File]; !known {
			places[o.File] = place(o.File)
		}
		return places[o.File]
	}
	files := map[string]bool{}
	for _, f := range given.Objects {
		files[at(f)] = true
	}
	var kept, own []*source.Object
	type id struct{ file, kind, name string }
	replaced := map[id]bool{}
	for _, o := range objects.Objects {
		if !facts.IsFact(o) || !files[at(o)] {
			kept = append(kept, o)
			continue
		}
		own = append(own, o)
		replaced[id{at(o), o.Kind, cmp.Or(o.PreviousName, o.Name)}] = true
	}
	given.Objects = slices.DeleteFunc(given.Objects, func(f *source.Object) bool {
		return replaced[id{at(f), f.Kind, f.Name}]
	})
	given.Objects = append(given.Objects, own...)
	objects.Objects = kept
}

// samePlace reports whether two paths are one place, however they are spelled.
func samePlace(p, q string) bool { return place(p) == place(q) }

// place is where a path leads; its links are followed if it exists.
func place(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	return p
}

// compile compiles what was read. Findings are printed; the error is
// errFindings when any of them is an error.
func (a *app) compile(in *input, empty emptiness) (*compiler.Output, error) {
	out, findings := a.findings(in, empty)
	if err := a.report(in, findings); err != nil {
		return nil, err
	}
	if findings.HasErrors() { // also what a compile does not judge
		return nil, errFindings
	}
	return out, nil
}

// findings compiles what was read, and prints nothing.
func (a *app) findings(in *input, empty emptiness) (*compiler.Output, diag.List) {
	out, findings := compiler.Compile(in.compilerInput())
	findings = in.withReadFindings(findings...)
	findings = append(findings, empty.judge(in.judged(), findings)...)
	if in.flags.warningsAsErrors {
		findings = findings.Escalate()
	}
	return out, findings.Sorted()
}

// judged are the objects of the input, and the deployments that configure mdc
// within a kustomization.
func (in *input) judged() []*source.Object {
	objects := slices.Clone(in.objects.Objects)
	for _, o := range in.objects.Skipped {
		if compiler.IsModelDeployment(o) {
			objects = append(objects, o)
		}
	}
	return objects
}

func (in *input) compilerInput() compiler.Input {
	return compiler.Input{Objects: in.judged(), Facts: in.facts.Objects, Namespace: in.flags.namespace, Version: version()}
}

// withReadFindings puts what was found while reading before more findings.
func (in *input) withReadFindings(more ...diag.Finding) diag.List {
	return slices.Concat(in.objects.Findings, in.facts.Findings, more)
}

// emptiness says what a command makes of an input without any deployment.
type emptiness struct {
	// allowed: it is fine.
	allowed bool
	// flag is how a user allows it; empty when the command has no such flag.
	flag string
	// judging: the command emits nothing, so that nothing can be lost.
	judging bool
}

// allowEmptyFlag adds --allow-empty.
func (e *emptiness) allowEmptyFlag(c *cobra.Command) {
	e.flag = "allow-empty"
	c.Flags().BoolVar(&e.allowed, e.flag, false, "succeed when the input has no ModelDeployment")
}

// judge refuses an input without any deployment: a path is wrong more often
// than a repository is empty.
func (e emptiness) judge(objects []*source.Object, findings diag.List) diag.List {
	if e.allowed || findings.HasErrors() || slices.ContainsFunc(objects, compiler.IsModelDeployment) {
		return nil
	}
	remedy := "correct the path"
	if e.flag != "" {
		remedy += ", or give --" + e.flag
	}
	f := diag.Finding{
		Rule: "no-deployment", Severity: diag.Error,
		Message: "there is no ModelDeployment in the input, and a GitOps host deletes everything when the output is empty",
		Remedy:  remedy,
	}
	if e.judging {
		f.Severity, f.Message = diag.Warning, "there is no ModelDeployment in the input, so nothing was judged"
	}
	return diag.List{f}
}

// output reads and compiles for a command that shows what a compile gives.
func (a *app) output(flags *inputFlags, paths []string) (*compiler.Output, error) {
	in, err := a.read(flags, paths)
	if err != nil {
		return nil, err
	}
	return a.compile(in, emptiness{})
}

var printers = map[string]func(w io.Writer, objects []emit.Object) error{
	"yaml": emit.YAML,
	"json": emit.JSON,
}

// print prints objects for programs.
func (a *app) print(format string, objects []emit.Object) error {
	w := bufio.NewWriterSize(a.stdout, 1<<16)
	if err := printers[format](w, objects); err != nil {
		return err
	}
	return w.Flush()
}

// report prints findings for people.
func (a *app) report(in *input, findings diag.List) error {
	if err := (diag.Text{Color: a.color, Line: in.line}).Print(a.stderr, findings); err != nil {
		return err
	}
	if a.hints && findings.HasErrors() {
		fmt.Fprintln(a.stderr, `run "mdc explain RULE" for more`)
	}
	return nil
}

// line returns a line of what was read.
func (in *input) line(p diag.Position) (string, bool) {
	if line, ok := in.objects.Line(p); ok {
		return line, true
	}
	return in.facts.Line(p)
}

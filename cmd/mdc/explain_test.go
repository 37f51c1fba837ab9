// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler/explain"
)

// Files of an example with a meaning.
const (
	factsFile        = "facts.yaml"
	storedFile       = "stored.yaml"
	resourceListFile = "resourcelist.yaml"
	kustomization    = "kustomization.yaml"
)

// TestPageExamples runs the examples of every page as a user would: the failing
// one yields the rule of the page and nothing else, the passing one no error.
func TestPageExamples(t *testing.T) {
	for _, rule := range explain.Rules("") {
		t.Run(rule, func(t *testing.T) {
			p, _ := explain.Find(rule)
			if files := p.Examples(explain.SectionFails); len(files) > 0 {
				if got := runExample(t, p, files); len(got) == 0 || slices.ContainsFunc(got, func(s string) bool { return s != rule }) {
					t.Errorf("the failing example yields %q", got)
				}
			}
			if files := p.Examples(explain.SectionPasses); len(files) > 0 {
				if got := runExample(t, p, files); len(got) > 0 {
					t.Errorf("the passing example yields %q", got)
				}
			}
		})
	}
}

// runExample returns the rules of the findings.
func runExample(t *testing.T, p explain.Page, files []explain.Example) []string {
	t.Helper()
	dir := t.TempDir()
	facts, err := filepath.Abs("../../compiler/explain/testdata/facts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path, stored, stdin := filepath.Join(dir, "deployment.yaml"), "", ""
	for _, f := range files {
		at := filepath.Join(dir, f.File)
		if err := os.WriteFile(at, []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		switch f.File {
		case factsFile:
			facts = at
		case storedFile:
			stored = at
		case kustomization:
			path = dir
		case resourceListFile:
			stdin = f.Text
		}
	}
	switch {
	case stdin != "":
		_, stderr := runExampleCommand(t, stdin, "fn")
		return rulesOfText(stderr)
	case p.Group == "compile":
		_, stderr := runExampleCommand(t, "", "build", path, "--facts", facts)
		return rulesOfText(stderr)
	}
	args := []string{"validate", "-o", "json", path, "--facts", facts}
	if stored != "" {
		args = append(args, "--old", stored)
	}
	stdout, _ := runExampleCommand(t, "", args...)
	var got struct{ Findings []findingJSON }
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, f := range got.Findings {
		rules = append(rules, f.Rule)
	}
	return rules
}

// runExampleCommand runs a command that ends with findings or without, and returns what it
// prints.
func runExampleCommand(t *testing.T, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot(&app{fs: filesys.MakeFsOnDisk(), stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs}, "mdc")
	root.SetArgs(args)
	if err := root.Execute(); err != nil && !errors.Is(err, errFindings) {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

var ruleInText = regexp.MustCompile(`(?m)(?:error|warning): .* \[([a-z-]+)\]$`)

func rulesOfText(text string) (out []string) {
	for _, m := range ruleInText.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestHint: only a terminal is told what else may be done, and only when
// something failed.
func TestHint(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, hints := range []bool{true, false} {
		var out, errs bytes.Buffer
		root := newRoot(&app{fs: filesys.MakeFsOnDisk(), stdout: &out, stderr: &errs, hints: hints}, "mdc")
		root.SetArgs([]string{"validate", file})
		if err := root.Execute(); !errors.Is(err, errFindings) {
			t.Fatal(err)
		}
		if got := strings.HasSuffix(errs.String(), "1 error, 0 warnings\nrun \"mdc explain RULE\" for more\n"); got != hints {
			t.Errorf("hints %v: %s", hints, errs.String())
		}
	}
}

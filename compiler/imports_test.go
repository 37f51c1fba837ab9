// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "gpustack.ai/mdc"

// passes are the packages of a compile in the order of its flow. A package
// imports only packages of an earlier line; one on its own line may also import
// what stands before it on that line.
var passes = [][]string{
	{"compiler/api"},
	{"compiler/diag"},
	{"compiler/source"},
	{"compiler/facts"},
	{"compiler/argv"},
	{"compiler/check", "compiler/engine", "compiler/router", "compiler/replica", "compiler/render", "compiler/emit", "compiler/explain"},
	{"compiler", "compiler/impact", "compiler/graph"},
	{"fn"},
	{"cmd"},
}

// decisions are the parts of the agent that decide from plain values.
var decisions = []string{"cmd/agent/converge", "cmd/agent/joint", "cmd/agent/model", "cmd/agent/report", "cmd/agent/simulate"}

// place returns where a package stands; a package stands with its parent unless
// it is named itself.
func place(path string) (line, column int, ok bool) {
	for name := strings.TrimPrefix(path, module+"/"); ; {
		for i, names := range passes {
			if j := slices.Index(names, name); j >= 0 {
				return i, j, true
			}
		}
		parent, _, found := cutLast(name, "/")
		if !found || parent == "compiler" {
			return 0, 0, false
		}
		name = parent
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) (out []goPackage) {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"/...")
	var stderr strings.Builder
	list.Stderr = &stderr
	text, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	if len(out) < 10 {
		t.Fatalf("only %d packages found", len(out))
	}
	return out
}

func within(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		t.Run(strings.TrimPrefix(p.ImportPath, module+"/"), func(t *testing.T) {
			forbidden := []string{}
			switch {
			case within(p.ImportPath, module+"/compiler"):
				// A compile has no client and no command line.
				forbidden = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/spf13/cobra", module + "/cmd", module + "/fn"}
			case within(p.ImportPath, module+"/fn"):
				forbidden = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", module + "/cmd"}
			case slices.ContainsFunc(decisions, func(name string) bool { return within(p.ImportPath, module+"/"+name) }):
				// Without a client a decision is the same in the agent, in its model
				// and in a simulation.
				forbidden = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"}
			}
			for _, dep := range p.Deps {
				for _, f := range forbidden {
					if within(dep, f) {
						t.Errorf("depends on %s", dep)
					}
				}
				if within(p.ImportPath, module+"/compiler/api") && within(dep, module) && !within(dep, module+"/compiler/api") {
					t.Errorf("depends on %s, and the API depends on nothing of ours", dep)
				}
			}

			line, column, ok := place(p.ImportPath)
			if !ok {
				t.Fatal("has no place in the order of the passes: add it there")
			}
			for _, dep := range p.Imports {
				if !within(dep, module) {
					continue
				}
				l, c, ok := place(dep)
				if ok && (l > line || l == line && c > column) {
					t.Errorf("imports %s, which comes after it", dep)
				}
			}
		})
	}
}

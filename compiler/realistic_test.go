// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// TestRealistic compiles shapes that people run under other systems. The golden
// file of each has the findings and, when it is not refused, the manifests.
func TestRealistic(t *testing.T) {
	const root = "../testdata/realistic"
	files, err := filepath.Glob(root + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g := goldie.New(t, goldie.WithFixtureDir(root+"/golden"), goldie.WithNameSuffix(".txt"))
	compiled := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "facts" || name == "host-access" {
			continue
		}
		compiled++
		t.Run(name, func(t *testing.T) {
			paths := []string{root + "/facts.yaml"}
			if name == "air-gapped" {
				paths = append(paths, root+"/host-access.yaml")
			}
			loader := source.Loader{FS: filesys.MakeFsOnDisk()}
			facts, err := loader.Load(paths...)
			if err != nil {
				t.Fatal(err)
			}
			set, err := loader.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			out, findings := compiler.Compile(compiler.Input{Objects: set.Objects, Facts: facts.Objects, Version: "test"})
			var b bytes.Buffer
			if err := (diag.Text{}).Print(&b, append(set.Findings, findings...)); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "-refused") != (out == nil) {
				t.Errorf("refused: %v\n%s", out == nil, &b)
			}
			if out != nil {
				b.Write(printed(t, out.Objects))
			}
			g.Assert(t, name, b.Bytes())
		})
	}
	if compiled < 10 {
		t.Fatalf("only %d shapes found", compiled)
	}
}

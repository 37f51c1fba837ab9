// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/sebdah/goldie/v2"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/emit"
)

const examplesDir = "../examples"

// examples lists the directories of examples/.
func examples(t testing.TB) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(examplesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	if len(out) < 7 {
		t.Fatalf("only %d examples found", len(out))
	}
	return out
}

// compileExample compiles one example the way its README says.
func compileExample(t testing.TB, name string) *compiler.Output {
	t.Helper()
	dir := filepath.Join(examplesDir, name)
	return mustCompile(t, dir, filepath.Join(dir, "facts.yaml"))
}

func printed(t testing.TB, objects []emit.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := emit.YAML(&b, objects); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExamples(t *testing.T) {
	g := goldie.New(t, goldie.WithFixtureDir("../testdata/examples"), goldie.WithNameSuffix(".yaml"))
	for _, name := range examples(t) {
		t.Run(name, func(t *testing.T) {
			g.Assert(t, name, printed(t, compileExample(t, name).Objects))
		})
	}
}

func jsonOf(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

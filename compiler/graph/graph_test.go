// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/source"
)

const (
	examplesDir = "../../examples"
	casesDir    = "../../testdata/graph"
)

var formats = map[string]func(io.Writer, []*Graph) error{
	".mmd": Mermaid,
	".dot": DOT,
	".svg": SVG,
}

// load reads objects.
func load(t testing.TB, exclude, path string) []*source.Object {
	t.Helper()
	set, err := source.Loader{FS: filesys.MakeFsOnDisk(), Exclude: []string{exclude}}.Load(path)
	if err != nil || set.Findings.HasErrors() {
		t.Fatal(err, set.Findings)
	}
	return slices.DeleteFunc(slices.Concat(set.Objects, set.Skipped), func(o *source.Object) bool {
		return o.Name == "" // what configures a build
	})
}

// graphs compiles a file or directory with facts.
func graphs(t testing.TB, path, facts string, order func([]*source.Object)) (out []*Graph) {
	t.Helper()
	in := compiler.Input{Objects: load(t, facts, path), Facts: load(t, "", facts)}
	if order != nil {
		order(in.Objects)
		order(in.Facts)
	}
	compiled, findings := compiler.Compile(in)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	for _, d := range compiled.Deployments {
		out = append(out, New(d))
	}
	if len(out) == 0 {
		t.Fatal("no deployment")
	}
	return out
}

func named(t testing.TB, name string) []*Graph {
	return graphs(t, filepath.Join(casesDir, name+".yaml"), filepath.Join(casesDir, "facts.yaml"), nil)
}

func example(t testing.TB, name string) []*Graph {
	dir := filepath.Join(examplesDir, name)
	return graphs(t, dir, filepath.Join(dir, "facts.yaml"), nil)
}

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

var cases = []string{"large", "names", "several"}

// all are the graphs of every example and case.
func all(t testing.TB) map[string][]*Graph {
	out := map[string][]*Graph{}
	for _, name := range examples(t) {
		out["example "+name] = example(t, name)
	}
	for _, name := range cases {
		out[name] = named(t, name)
	}
	return out
}

func printed(t testing.TB, print func(io.Writer, []*Graph) error, graphs []*Graph) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := print(&b, graphs); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestExamples compares with the picture that the README of each example shows;
// -update draws it.
func TestExamples(t *testing.T) {
	for _, name := range examples(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(examplesDir, name)
			g := example(t, name)
			goldie.New(t, goldie.WithFixtureDir(dir), goldie.WithNameSuffix(".svg")).Assert(t, "graph", printed(t, SVG, g))
			readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(readme, []byte("](graph.svg)")) {
				t.Error("the README does not show graph.svg")
			}
			for _, format := range []string{".mmd", ".dot"} {
				if len(printed(t, formats[format], g)) == 0 {
					t.Errorf("nothing printed as %s", format)
				}
			}
		})
	}
}

func TestGoldens(t *testing.T) {
	inputs := map[string][]*Graph{"pair-cache": example(t, "pair-cache")}
	for _, name := range cases {
		inputs[name] = named(t, name)
	}
	for name, g := range inputs {
		for suffix, print := range formats {
			if name == "pair-cache" && suffix == ".svg" {
				continue // shown by its README
			}
			t.Run(name+suffix, func(t *testing.T) {
				goldie.New(t, goldie.WithFixtureDir(casesDir), goldie.WithNameSuffix(suffix)).Assert(t, name, printed(t, print, g))
			})
		}
	}
}

func TestDeterminism(t *testing.T) {
	for _, name := range cases {
		path, facts := filepath.Join(casesDir, name+".yaml"), filepath.Join(casesDir, "facts.yaml")
		for suffix, print := range formats {
			want := printed(t, print, graphs(t, path, facts, nil))
			if got := printed(t, print, graphs(t, path, facts, slices.Reverse)); !bytes.Equal(got, want) {
				t.Errorf("%s%s depends on the order of the input", name, suffix)
			}
		}
	}
}

// TestSVGStructure reads what was printed as XML again: no name may end a text
// or open an element, and nothing may be loaded from elsewhere.
func TestSVGStructure(t *testing.T) {
	known := map[string]bool{"svg": true, "title": true, "rect": true, "path": true, "text": true}
	for name, g := range all(t) {
		out := printed(t, SVG, g)
		if bytes.Count(out, []byte("http")) != bytes.Count(out, []byte(`xmlns="http`)) {
			t.Errorf("%s: the picture refers to something else", name)
		}
		for d := xml.NewDecoder(bytes.NewReader(out)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e, ok := token.(xml.StartElement); ok && !known[e.Name.Local] {
				t.Errorf("%s: element %s", name, e.Name.Local)
			}
		}
	}
}

func TestEscaping(t *testing.T) {
	const model = "a\"]|b <i>&c</i> `d` #e; \\ [x](y)\n1. z 模"
	g := named(t, "several")[0]
	g.Model = model
	mermaid := string(printed(t, Mermaid, []*Graph{g}))
	const want = `a#34;#93;#124;b #60;i#62;#38;c#60;/i#62; #96;d#96; #35;e#59; #92; #91;x#93;(y) 1. z 模`
	if !strings.Contains(mermaid, want) {
		t.Errorf("Mermaid lacks %s:\n%s", want, mermaid)
	}
	dot := string(printed(t, DOT, []*Graph{g}))
	if want := `a\"]|b <i>&amp;c</i> ` + "`d`" + ` #e; \\ [x](y)\n1. z 模`; !strings.Contains(dot, want) {
		t.Errorf("DOT lacks %s:\n%s", want, dot)
	}
	svg := string(printed(t, SVG, []*Graph{g}))
	if strings.Contains(svg, "<i>") || !strings.Contains(svg, "&lt;i&gt;&amp;c&lt;/i&gt;") {
		t.Errorf("SVG does not escape:\n%s", svg)
	}
}

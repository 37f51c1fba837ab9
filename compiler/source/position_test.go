// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"gpustack.ai/mdc/compiler/diag"
)

func TestPosition(t *testing.T) {
	const in = `# first
---
apiVersion: v1
kind: A
metadata:
  labels: # some
    a.b/c: x
    d: "y"
spec:
  # about roles
  roles:
  - name: é  # é
    args: [é, "two"]
    empty:
  - {name: b}
  list: []
`
	for _, lines := range []string{"\n", "\r\n"} {
		s := load(t, map[string]string{"a.yaml": object("X", "x") + "---\n" + strings.ReplaceAll(in, "\n", lines)}, "a.yaml")
		o := s.Objects[1]
		for field, want := range map[string]string{
			"":                        "a.yaml:8:1",
			"kind":                    "a.yaml:9:7",
			"metadata.labels[a.b/c]":  "a.yaml:12:12",
			"metadata.labels[d]":      "a.yaml:13:8",
			"metadata.labels[e]":      "a.yaml:11:3",
			"metadata.name":           "a.yaml:10:1",
			"spec.roles":              "a.yaml:17:3",
			"spec.roles[0].name":      "a.yaml:17:11",
			"spec.roles[0].args[1]":   "a.yaml:18:16",
			"spec.roles[0].args[2]":   "a.yaml:18:5",
			"spec.roles[0].args[1].x": "a.yaml:18:16",
			"spec.roles[0].empty":     "a.yaml:19:11",
			"spec.roles[0].size":      "a.yaml:17:5",
			"spec.roles[1]":           "a.yaml:20:5",
			"spec.roles[1].size":      "a.yaml:20:5",
			"spec.roles[2].size":      "a.yaml:16:3",
			"spec.roles.x":            "a.yaml:16:3",
			"spec.roles[":             "a.yaml:16:3",
			"spec.list":               "a.yaml:21:9",
			"status.x":                "a.yaml:8:1",
		} {
			if got := o.Position(field).String(); got != want {
				t.Errorf("%q: got %s, want %s", field, got, want)
			}
		}
		if line, ok := s.Line(o.Position("spec.roles[0].name")); !ok || line != "  - name: é  # é" {
			t.Errorf("line %q", line)
		}
	}
}

// The YAML scanner breaks lines where editors do not.
func TestPositionAfterOddLineBreaks(t *testing.T) {
	s := load(t, map[string]string{"a.yaml": "apiVersion: v1\nkind: A\nt: \"a\u2028 b\"\nx: 1\n"}, "a.yaml")
	if len(s.Objects) != 1 {
		t.Fatal(s.Findings)
	}
	if got := s.Objects[0].Position("x").String(); got != "a.yaml:4:4" {
		t.Error(got)
	}
}

func TestLine(t *testing.T) {
	s := load(t, map[string]string{"a.yaml": "apiVersion: v1\r\nkind: A"}, "a.yaml")
	for line, want := range map[int]string{1: "apiVersion: v1", 2: "kind: A"} {
		if got, ok := s.Line(diag.Position{File: "a.yaml", Line: line}); !ok || got != want {
			t.Errorf("line %d: %q", line, got)
		}
	}
	for _, p := range []diag.Position{{File: "a.yaml"}, {File: "a.yaml", Line: 3}, {File: "b.yaml", Line: 1}} {
		if _, ok := s.Line(p); ok {
			t.Errorf("%s has a line", p)
		}
	}
}

// A minified file is one line; finding a place must not start over each time.
func TestPositionInOneLongLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"apiVersion":"v1","kind":"List","items":[`)
	for i := range 20_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"apiVersion":"v1","kind":"A","metadata":{"name":"é"},"x":"` + strings.Repeat("x", 300) + `"}`)
	}
	b.WriteString("]}")
	s := load(t, map[string]string{"a.json": b.String()}, "a.json")
	for _, o := range s.Objects {
		p := o.Position("metadata.name")
		if got := b.String()[p.Column-1 : p.Column+3]; got != `"é"` {
			t.Fatalf("%s: %s", p, got)
		}
	}
}

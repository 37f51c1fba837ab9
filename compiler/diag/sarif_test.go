// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gpustack.ai/mdc/compiler/diag"
)

// printSARIF prints findings and validates them with the schema of SARIF 2.1.0
// as OASIS publishes it.
func printSARIF(t *testing.T, s diag.SARIF, l diag.List) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := s.Print(&b, l); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(out); err != nil {
		t.Errorf("%v\n%s", err, b.String())
	}
	var again bytes.Buffer
	if err := s.Print(&again, l); err != nil || again.String() != b.String() {
		t.Errorf("%v: printed again it differs", err)
	}
	return out.(map[string]any)["runs"].([]any)[0].(map[string]any)
}

var docs = diag.SARIF{Version: "v1.2.3", Doc: func(rule string) diag.RuleDoc {
	d := diag.RuleDoc{Summary: "About " + rule + ".", Description: "More.", Help: "# " + rule}
	if rule == "arg-typo" {
		d.Severity = diag.Warning
	}
	return d
}}

// at walks through maps and lists.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v: no object at %q: %v", path, p, v)
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				t.Fatalf("%v: no item %d: %v", path, p, v)
			}
			v = l[p]
		}
	}
	return v
}

func TestSARIFClean(t *testing.T) {
	run := printSARIF(t, docs, nil)
	if l, ok := run["results"].([]any); !ok || len(l) != 0 {
		t.Errorf("results are %v", run["results"])
	}
	if got := at(t, run, "tool", "driver", "name"); got != "mdc" {
		t.Errorf("the tool is %v", got)
	}
	if got := at(t, run, "tool", "driver", "version"); got != "v1.2.3" {
		t.Errorf("the version is %v", got)
	}
}

func TestSARIF(t *testing.T) {
	s := docs
	s.Line = func(diag.Position) (string, bool) { return "ééé: x", true }
	run := printSARIF(t, s, diag.List{
		{Rule: "owned-arg", Severity: diag.Error, Kind: "ModelDeployment", Namespace: "team-a", Name: "chat", Field: "spec.roles[0]", Message: "not yours", Remedy: "remove it", Position: diag.Position{File: "./a/b c:d.yaml", Line: 3, Column: 7}},
		{Rule: "arg-typo", Severity: diag.Warning, Name: "chat", Message: "odd", Position: diag.Position{File: `a\b.yaml`, Line: 3}},
		{Rule: "owned-arg", Severity: diag.Error, Name: "chat", Message: "m", Position: diag.Position{File: "<stdin>", Line: 3, Column: 1}},
		{Rule: "schema-yaml", Severity: diag.Error, Message: "m", Position: diag.Position{File: "/abs/a.yaml"}},
		{Rule: "no-deployment", Severity: diag.Error, Message: "m"},
	})
	for _, test := range []struct {
		path []any
		want any
	}{
		{[]any{"results", 0, "ruleId"}, "owned-arg"},
		{[]any{"results", 0, "level"}, "error"},
		{[]any{"results", 0, "message", "text"}, "not yours; to fix: remove it"},
		{[]any{"results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"}, "a/b%20c%3Ad.yaml"},
		{[]any{"results", 0, "locations", 0, "physicalLocation", "region", "startLine"}, json.Number("3")},
		{[]any{"results", 0, "locations", 0, "physicalLocation", "region", "startColumn"}, json.Number("4")},
		{[]any{"results", 0, "locations", 0, "logicalLocations", 0, "fullyQualifiedName"}, "team-a/chat"},
		{[]any{"results", 0, "locations", 0, "logicalLocations", 1, "fullyQualifiedName"}, "team-a/chat/spec.roles[0]"},
		{[]any{"results", 1, "level"}, "warning"},
		{[]any{"results", 1, "ruleIndex"}, json.Number("1")},
		{[]any{"results", 1, "locations", 0, "physicalLocation", "artifactLocation", "uri"}, "a/b.yaml"},
		{[]any{"results", 1, "locations", 0, "physicalLocation", "region", "startColumn"}, nil},
		{[]any{"results", 2, "ruleIndex"}, json.Number("0")},
		{[]any{"results", 2, "locations", 0, "physicalLocation"}, nil},
		{[]any{"results", 2, "locations", 0, "logicalLocations", 0, "name"}, "chat"},
		{[]any{"results", 3, "locations", 0, "physicalLocation", "artifactLocation", "uri"}, "file:///abs/a.yaml"},
		{[]any{"results", 3, "locations", 0, "physicalLocation", "region"}, nil},
		{[]any{"tool", "driver", "rules", 0, "id"}, "owned-arg"},
		{[]any{"tool", "driver", "rules", 0, "shortDescription", "text"}, "About owned-arg."},
		{[]any{"tool", "driver", "rules", 0, "help", "markdown"}, "# owned-arg"},
		{[]any{"tool", "driver", "rules", 0, "defaultConfiguration", "level"}, "error"},
		{[]any{"tool", "driver", "rules", 1, "defaultConfiguration", "level"}, "warning"},
	} {
		if got := at(t, run, test.path...); got != test.want {
			t.Errorf("%v is %v, want %v", test.path, got, test.want)
		}
	}
	if l := at(t, run, "tool", "driver", "rules").([]any); len(l) != 4 {
		t.Errorf("%d rules", len(l))
	}
	if l := at(t, run, "results", 4, "locations").([]any); len(l) != 0 {
		t.Errorf("a finding about nothing is at %v", l)
	}
}

func TestGitHub(t *testing.T) {
	var b strings.Builder
	err := diag.GitHub(&b, diag.List{
		{Rule: "owned-arg", Severity: diag.Error, Kind: "ModelDeployment", Namespace: "team-a", Name: "chat", Field: "spec.roles[0]", Message: "100%\r\nnot: yours, no", Remedy: "remove it", Position: diag.Position{File: "a,b:50%.yaml", Line: 3, Column: 7}},
		{Rule: "arg-typo", Severity: diag.Warning, Message: "odd", Position: diag.Position{File: "a.yaml", Line: 3}},
		{Rule: "owned-arg", Severity: diag.Error, Message: "m", Position: diag.Position{File: "<stdin>", Line: 3, Column: 1}},
		{Rule: "schema-yaml", Severity: diag.Error, Message: "m", Position: diag.Position{File: "a.yaml"}},
	}, nil)
	const want = `::error file=a%2Cb%3A50%25.yaml,line=3,col=7,title=owned-arg::100%25%0D%0Anot: yours, no; to fix: remove it%0Ain ModelDeployment team-a/chat, spec.roles[0]
::warning file=a.yaml,line=3,title=arg-typo::odd
::error title=owned-arg::m
::error file=a.yaml,title=schema-yaml::m
`
	if err != nil || b.String() != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, b.String(), want)
	}
}

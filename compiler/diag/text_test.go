// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag_test

import (
	"strings"
	"testing"

	"gpustack.ai/mdc/compiler/diag"
)

func TestText(t *testing.T) {
	at := func(column int) diag.Position { return diag.Position{File: "a.yaml", Line: 3, Column: column} }
	long := strings.Repeat("x", 300)
	for name, tc := range map[string]struct {
		findings diag.List
		line     string
		color    bool
		want     string
	}{
		"nothing": {nil, "", false, ""},
		"all there is": {
			diag.List{{
				Rule: "owned-arg", Severity: diag.Error, Kind: "ModelDeployment", Namespace: "ns", Name: "x", Field: "spec.roles[0].extraArgs[1]",
				Message: "not yours", Remedy: "remove it", Position: at(5),
			}},
			"    key: v", false,
			`a.yaml:3:5: error: not yours [owned-arg]
    3 |     key: v
      |     ^
  in ModelDeployment ns/x, spec.roles[0].extraArgs[1]
  fix: remove it
1 error, 0 warnings
`,
		},
		"nothing but a message": {
			diag.List{{Rule: "r", Severity: diag.Warning, Message: "m"}}, "", false,
			"warning: m [r]\n0 errors, 1 warning\n",
		},
		"a file": {
			diag.List{{Rule: "r", Severity: diag.Warning, Message: "m", Position: diag.Position{File: "a.yaml"}}}, "line", false,
			"a.yaml: warning: m [r]\n0 errors, 1 warning\n",
		},
		"a field alone": {
			diag.List{{Rule: "r", Severity: diag.Warning, Message: "m", Field: "spec"}}, "", false,
			"warning: m [r]\n  in spec\n0 errors, 1 warning\n",
		},
		"cluster-scoped": {
			diag.List{{Rule: "r", Severity: diag.Warning, Message: "m", Kind: "InstanceType", Name: "x"}}, "", false,
			"warning: m [r]\n  in InstanceType x\n0 errors, 1 warning\n",
		},
		"several": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m"}, {Rule: "r", Severity: diag.Error, Message: "n"}, {Rule: "s", Severity: diag.Warning, Message: "o"}}, "", false,
			"error: m [r]\nerror: n [r]\nwarning: o [s]\n2 errors, 1 warning\n",
		},
		"tabs stay tabs": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(3)}}, "\t\tkey", false,
			"a.yaml:3:3: error: m [r]\n    3 | \t\tkey\n      | \t\t^\n1 error, 0 warnings\n",
		},
		"columns count bytes, carets characters": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(len("é: ") + 1)}}, "é: v", false,
			"a.yaml:3:5: error: m [r]\n    3 | é: v\n      |    ^\n1 error, 0 warnings\n",
		},
		"behind the end": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(50)}}, "ab", false,
			"a.yaml:3:50: error: m [r]\n    3 | ab\n      |   ^\n1 error, 0 warnings\n",
		},
		"no column": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(0)}}, "ab", false,
			"a.yaml:3: error: m [r]\n    3 | ab\n1 error, 0 warnings\n",
		},
		"an empty line": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(1)}}, "", false,
			"a.yaml:3:1: error: m [r]\n    3 | \n      | ^\n1 error, 0 warnings\n",
		},
		"a long line is cut": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(201)}}, long[:200] + "y" + long, false,
			"a.yaml:3:201: error: m [r]\n    3 | " + long[:79] + "y" + long[:80] + "\n      | " + strings.Repeat(" ", 79) + "^\n1 error, 0 warnings\n",
		},
		"a line that is no text is not shown": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(1)}}, "\xff", false,
			"a.yaml:3:1: error: m [r]\n1 error, 0 warnings\n",
		},
		"a line does not command the terminal": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(2)}}, "a\x1b[2Jb", false,
			"a.yaml:3:2: error: m [r]\n    3 | a\ufffd[2Jb\n      |  ^\n1 error, 0 warnings\n",
		},
		"colours": {
			diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Field: "f", Position: at(1)}}, "ab", true,
			"\x1b[1ma.yaml:3:1: \x1b[0m\x1b[31;1merror:\x1b[0m m \x1b[2m[r]\x1b[0m\n    3 | ab\n      | \x1b[1m^\x1b[0m\n  \x1b[2min f\x1b[0m\n1 error, 0 warnings\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			text := diag.Text{Color: tc.color, Line: func(p diag.Position) (string, bool) { return tc.line, p.File == "a.yaml" }}
			if err := text.Print(&b, tc.findings); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s\n%q\n%q", got, tc.want, got, tc.want)
			}
		})
	}
	t.Run("no source", func(t *testing.T) {
		var b strings.Builder
		if err := (diag.Text{}).Print(&b, diag.List{{Rule: "r", Severity: diag.Error, Message: "m", Position: at(1)}}); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), "a.yaml:3:1: error: m [r]\n1 error, 0 warnings\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

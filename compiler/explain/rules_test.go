// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/check"
	"gpustack.ai/mdc/compiler/explain"
	"gpustack.ai/mdc/compiler/source"
)

// tabled are the slugs of all tables.
func tabled(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, r := range check.Rules {
		out[r.Slug] = true
	}
	for _, r := range compiler.Refusals {
		out[r] = true
	}
	for _, r := range []string{
		source.RuleYAML, source.RuleType, source.RuleUnknown, source.RuleTooLarge,
		source.RuleKustomizeRemote, source.RuleKustomizeBuild,
	} {
		out[r] = true
	}
	// The tables of the schema are those of a file.
	inspect(t, "../check/schema.go", func(n ast.Node) {
		if s := literal(n); strings.HasPrefix(s, "schema-") {
			out[s] = true
		}
	})
	return out
}

func inspect(t *testing.T, file string, visit func(ast.Node)) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if n != nil {
			visit(n)
		}
		return true
	})
}

// literal returns the string that a node is.
func literal(n ast.Node) string {
	l, ok := n.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return s
}

func TestEveryRuleHasAPage(t *testing.T) {
	rules := tabled(t)
	for rule := range rules {
		if _, ok := explain.Find(rule); !ok {
			t.Errorf("rule %s has no page", rule)
		}
	}
	for _, rule := range explain.Rules("") {
		if !rules[rule] {
			t.Errorf("page %s has no rule", rule)
		}
	}
}

var slug = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// TestNoRuleEscapes looks for slugs where findings are made: as the Rule of a
// finding, as an argument of Finding, refuse and add, and as a constant.
func TestNoRuleEscapes(t *testing.T) {
	found := map[string]string{}
	for _, root := range []string{"../../compiler", "../../fn", "../../cmd"} {
		err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			inspect(t, file, func(n ast.Node) {
				for _, e := range rulesIn(n) {
					if s := literal(e); slug.MatchString(s) {
						found[s] = file
					}
				}
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, rule := range compiler.Refusals {
		if found[rule] == "" {
			t.Errorf("no finding of the rule %q is made: take it out of compiler.Refusals and remove its page", rule)
		}
	}
	rules := tabled(t)
	for rule, file := range found {
		if !rules[rule] {
			t.Errorf("%s makes findings of the rule %q, which is in no table: add it to compiler.Refusals and write its page", file, rule)
		}
	}
}

// rulesIn returns the expressions of a node that name a rule.
func rulesIn(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if k, ok := n.Key.(*ast.Ident); ok && k.Name == "Rule" {
			return []ast.Expr{n.Value}
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		switch {
		case name == "Finding" && len(n.Args) > 1:
			return n.Args[1:2]
		case strings.HasPrefix(name, "refuse") && len(n.Args) > 0:
			return n.Args[:1]
		}
	case *ast.ValueSpec:
		if len(n.Names) == 1 && strings.HasPrefix(n.Names[0].Name, "Rule") && len(n.Values) == 1 {
			return n.Values
		}
	}
	return nil
}

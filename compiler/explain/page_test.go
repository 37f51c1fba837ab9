// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"gpustack.ai/mdc/compiler/explain"
)

// unreachable are the rules without a failing example: no accepted input hits
// them, or it would be too large.
var unreachable = []string{"input-too-large", "kind-engine", "role-name-dup", "router-metrics"}

// withoutPassing need no example of what is right.
var withoutPassing = []string{"input-too-large"}

var page = regexp.MustCompile(`(?s)^# ([a-z-]+)\n\n([^\n#]+)\n\n## What\n\n(.+)\n\n## Why\n\n(.+)\n\n## How to fix\n\n(.+)\n\n## Fails\n\n(.+)\n$`)

func TestPagesHaveOneStructure(t *testing.T) {
	for _, rule := range explain.Rules("") {
		t.Run(rule, func(t *testing.T) {
			p, ok := explain.Find(rule)
			if !ok {
				t.Fatal("not found")
			}
			m := page.FindStringSubmatch(p.Text)
			if m == nil {
				t.Fatalf("another structure:\n%s", p.Text)
			}
			if m[1] != rule {
				t.Errorf("the title is %q", m[1])
			}
			if s := p.Summary(); !strings.HasSuffix(s, ".") || len(s) > 80 {
				t.Errorf("the summary is %q", s)
			}
			if got := len(p.Examples(explain.SectionFails)) == 0; got != slices.Contains(unreachable, rule) {
				t.Errorf("without a failing example: %v", got)
			}
			if len(p.Examples(explain.SectionFails)) == 0 && !strings.HasPrefix(p.Section(explain.SectionFails), "No ") {
				t.Errorf("it does not say why there is no failing example")
			}
			if got := len(p.Examples(explain.SectionPasses)) == 0; got != slices.Contains(withoutPassing, rule) {
				t.Errorf("without a passing example: %v", got)
			}
			for line := range strings.SplitSeq(p.Text, "\n") {
				if strings.HasSuffix(line, " ") || len(line) > 80 && !strings.Contains(line, ": ") && !strings.Contains(line, "- ") {
					t.Errorf("untidy line %q", line)
				}
			}
		})
	}
}

func TestFindOnlyRules(t *testing.T) {
	for _, name := range []string{"", "..", "../rules/capacity", "*", "capacity.md", "CAPACITY"} {
		if p, ok := explain.Find(name); ok {
			t.Errorf("%q is %v", name, p.Rule)
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package apirules

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"gpustack.ai/mdc/compiler/check"
)

// admissionCase is a deployment as a user writes it, with what mdc says about
// it. The objects that mdc reads beside it are left out: an API server does not
// read them.
type admissionCase struct {
	ID, Name, Expect, Rule string
	Field                  []string
	Old, New               any
}

func (c admissionCase) refused() bool { return c.Expect == "refuse" }

func readCases(t *testing.T) (out []admissionCase) {
	t.Helper()
	path := os.Getenv("MDC_ADMISSION_CASES")
	if path == "" {
		path = "../../../testdata/admission/cases.jsonl"
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c admissionCase
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no cases")
	}
	return out
}

// tally counts, for one rule, the cases that mdc refuses.
type tally struct{ refused, byServer, notApplicable int }

func TestAdmissionCases(t *testing.T) {
	s := newServer(t)
	tallies := map[string]*tally{}
	for _, c := range readCases(t) {
		if tallies[c.Rule] == nil {
			tallies[c.Rule] = &tally{}
		}
		n := tallies[c.Rule]
		t.Run(c.ID, func(t *testing.T) {
			stored, err := s.judge(t, c.Name, c.Old, c.New)
			switch {
			case !stored:
				// mdc leaves alone what was stored before its rules were there.
				n.notApplicable++
				t.Skipf("the stored object is refused: %v", err)
			case !c.refused() && err != nil:
				t.Errorf("mdc accepts it, and the server says %v", err)
			case c.refused():
				n.refused++
				if c.byRule(err) {
					n.byServer++
				} else if enforced[c.Rule].extent == full {
					t.Errorf("the server does not refuse it as %s: %v", c.Rule, err)
				}
			}
		})
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RULE\tENFORCED\tREFUSED BY THE SERVER\tREASON")
	for _, rule := range slices.Sorted(maps.Keys(tallies)) {
		n, e := tallies[rule], enforced[rule]
		switch {
		case e.extent == not && n.byServer > 0:
			t.Errorf("%s counts as not enforced, and %d cases are refused by it", rule, n.byServer)
		case e.extent == partly && n.refused > 0 && n.byServer == 0:
			t.Errorf("%s counts as partly enforced, and no case is refused by it", rule)
		}
		if n.refused+n.notApplicable > 0 {
			fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\n", rule, e.extent, n.byServer, n.refused, e.reason)
		}
	}
	_ = w.Flush() // into memory
	t.Logf("\n%s", text.String())
}

// byRule reports whether a server's refusal is that of the case's rule. One in
// the words of Kubernetes must at least be about one of the case's fields.
func (c admissionCase) byRule(err error) bool {
	switch {
	case err == nil:
		return false
	case !enforced[c.Rule].schema:
		return names(err, c.Rule)
	}
	if len(c.Field) == 0 {
		return true
	}
	return slices.ContainsFunc(causes(err), func(cause string) bool {
		return slices.ContainsFunc(c.Field, func(field string) bool {
			if !strings.HasPrefix(field, "metadata.") && !strings.HasPrefix(field, "spec.") {
				field = "spec." + field
			}
			return strings.Contains(cause, field)
		})
	})
}

// TestEveryRuleHasAnExtent: a new rule is either in the CustomResourceDefinition
// or has a reason why not.
func TestEveryRuleHasAnExtent(t *testing.T) {
	for _, r := range check.Rules {
		if _, ok := enforced[r.Slug]; !ok {
			t.Errorf("%s is missing", r.Slug)
		}
	}
	for slug, e := range enforced {
		if (e.extent == full) != (e.reason == "") {
			t.Errorf("%s: enforced %s because %q", slug, e.extent, e.reason)
		}
	}
}

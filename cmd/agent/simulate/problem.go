// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/source"
)

// Problem is something wrong with a scenario.
type Problem struct {
	File         string
	Line, Column int
	// Field is the path, such as events[2].scale.role.
	Field   string
	Message string
}

func (p *Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteString(" ")
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	return b.String() + p.Message
}

// Problems are all that is wrong with a scenario.
type Problems []*Problem

// mostProblems is more than anybody reads.
const mostProblems = 20

func (l Problems) Error() string {
	var lines []string
	for i, p := range l {
		if i == mostProblems {
			lines = append(lines, fmt.Sprintf("and %d more", len(l)-i))
			break
		}
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// err is nil without problems.
func (l Problems) err() error {
	if len(l) == 0 {
		return nil
	}
	slices.SortStableFunc(l, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Field, b.Field))
	})
	return l
}

// places is where the fields of a file stand.
type places struct {
	file  string
	nodes map[string]*yaml.Node
}

// problem is one with a field, at the field or at the nearest around it.
func (p *places) problem(field, format string, args ...any) *Problem {
	out := &Problem{Field: field, Message: fmt.Sprintf(format, args...)}
	if p == nil {
		return out
	}
	out.File = p.file
	for at := field; ; at = at[:max(strings.LastIndexAny(at, ".["), 0)] {
		if n, ok := p.nodes[at]; ok {
			out.Line, out.Column = n.Line, n.Column
			return out
		}
		if at == "" {
			return out
		}
	}
}

// Problem is one with a field of the scenario.
func (s *Scenario) Problem(field, message string) Problems {
	return Problems{s.places.problem(field, "%s", message)}
}

// instead tells what could have been meant.
func instead(typed string, possible []string) string {
	if meant, ok := source.Suggest(typed, possible); ok {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	const most = 15
	if len(possible) > most {
		return fmt.Sprintf("there are %s and %d more", strings.Join(possible[:most], ", "), len(possible)-most)
	}
	if len(possible) == 1 {
		return "there is only " + possible[0]
	}
	return "there are " + strings.Join(possible, ", ")
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package diag holds findings: what a compile has to say about its input, the
// way a compiler says it. A finding names the object, the field, the place in
// the file, the reason and the remedy.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity tells whether a finding stops the compile.
type Severity string

const (
	// Error stops the compile: nothing is emitted.
	Error Severity = "error"
	// Warning is reported and changes nothing.
	Warning Severity = "warning"
)

// Position is a place in an input file. Line and Column are 1-based and count
// bytes; zero means that the place is not known.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String renders file:line:column, leaving out what is not known.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// Finding is one refusal or warning.
type Finding struct {
	// Rule is the stable slug of the rule, for example "owned-arg".
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// APIVersion, Kind, Namespace and Name tell the object; all are empty for a
	// finding about a file.
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	// Field is the full path of the field, for example
	// "spec.roles[0].extraArgs[1]"; empty for the object as a whole.
	Field string `json:"field,omitempty"`
	// Message says what is wrong and why, in one or two sentences.
	Message string `json:"message"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy,omitempty"`
	Position
}

// Error makes a single finding usable as an error.
func (f Finding) Error() string {
	s := string(f.Severity) + ": "
	if p := f.Position.String(); p != "" {
		s = p + ": " + s
	}
	s += f.Message
	if f.Remedy != "" {
		s += " (" + f.Remedy + ")"
	}
	return s + " [" + f.Rule + "]"
}

// List is the findings of one run.
type List []Finding

// HasErrors reports whether any finding stops the compile.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(f Finding) bool { return f.Severity == Error })
}

// Escalate returns the list with every warning made an error.
func (l List) Escalate() List {
	out := slices.Clone(l)
	for i := range out {
		out[i].Severity = Error
	}
	return out
}

// Sorted returns the findings by file, position, object, field, rule and
// message, each once. The order does not depend on the order of the input.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(out)
}

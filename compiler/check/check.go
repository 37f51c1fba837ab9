// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check holds the rules that judge a ModelDeployment. A rule is a pure
// function over the deployment, the stored one it replaces and the facts, so
// that the command line, a function and a webhook refuse the same things in the
// same words.
package check

import (
	"slices"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// Subject is one deployment under judgement, with every default written in.
type Subject struct {
	// Object is where the deployment was written.
	Object *source.Object
	// New is the deployment; nil when it cannot be read.
	New *v1.ModelDeployment
	// Old is the stored deployment that New replaces; nil on create.
	Old *v1.ModelDeployment
	// Deleting: the deployment is on its way out. What became of other objects
	// must then not hold up the update that lets it go.
	Deleting bool
	// Rendering: Pods are made of the deployment, so that what would only make
	// them invalid is refused too.
	Rendering bool
	// Facts are the other objects.
	Facts *facts.Index
	// Structure is what the schema has against the object as it was written.
	Structure diag.List

	now, before *deployment
}

// Fault is what a rule has against a deployment.
type Fault struct {
	// Field is the full path of the field.
	Field string
	// Message says what is wrong and why.
	Message string
	// Remedy says what to do about it.
	Remedy string
	// Where is the field to point at; empty points at Field.
	Where string
	// Invalid makes a warning an error where Pods are rendered: an API server
	// would refuse them.
	Invalid bool
}

// When says under which circumstances a rule is judged.
type When uint8

const (
	// Always is any time.
	Always When = 0
	// OnUpdate needs a stored object to compare with.
	OnUpdate When = 1 << iota
	// Live reads objects that may vanish before the deployment does; it is
	// skipped while the deployment is deleted.
	Live
	// Late is judged only when nothing has been refused.
	Late
	// Whole judges a block as one: a fault of the schema anywhere in it says
	// enough.
	Whole
)

// Rule judges one thing.
type Rule struct {
	// Slug is the stable name of the rule.
	Slug     string
	Severity diag.Severity
	When     When
	Judge    func(*Subject) []Fault
}

// Judge returns what the schema and all rules have against a deployment. A
// deployment that cannot be read, or is larger than any, is judged by the schema
// alone.
func Judge(s *Subject) diag.List {
	out := slices.Clone(s.Structure)
	if s.New == nil || absurd(s.New) {
		return echoes(out)
	}
	s.look()
	for _, r := range Rules {
		if !s.applies(r, out) {
			continue
		}
		for _, f := range r.Judge(s) {
			if s.covered(r, f) {
				continue
			}
			severity := r.Severity
			if f.Invalid && s.Rendering {
				severity = diag.Error
			}
			finding := s.Object.Finding(severity, r.Slug, f.Field, f.Message, f.Remedy)
			if f.Where != "" {
				finding.Position = s.Object.Position(f.Where)
			}
			out = append(out, finding)
		}
	}
	return echoes(out)
}

// absurd reports whether a list is so far beyond its bound, which the schema
// refuses, that rules which compare each item with each would take for ever.
func absurd(md *v1.ModelDeployment) bool {
	const most = 2048
	if len(md.Spec.Roles) > most {
		return true
	}
	return slices.ContainsFunc(md.Spec.Roles, func(r v1.Role) bool {
		return max(len(r.ExtraArgs), len(r.Command), len(r.Env), len(r.Ports), len(r.AdditionalVolumes)) > most
	})
}

func (s *Subject) applies(r Rule, before diag.List) bool {
	switch {
	case r.When&OnUpdate != 0 && s.Old == nil,
		r.When&Live != 0 && s.Deleting,
		r.When&Late != 0 && before.HasErrors():
		return false
	}
	return true
}

// covered reports whether the schema has already refused the field that a fault
// is about: one mistake is reported once.
func (s *Subject) covered(r Rule, f Fault) bool {
	return slices.ContainsFunc(s.Structure, func(v diag.Finding) bool {
		return v.Field == f.Field ||
			r.When&Whole != 0 && within(v.Field, f.Field) ||
			v.Rule == slugRequired && within(f.Field, v.Field)
	})
}

// broken reports whether the schema has refused a field or something in it.
func (s *Subject) broken(field string) bool {
	return slices.ContainsFunc(s.Structure, func(v diag.Finding) bool {
		return v.Field == field || within(v.Field, field)
	})
}

// misspelt reports whether a mapping has a field that the schema does not know.
// What is absent from it may only be spelled wrong.
func (s *Subject) misspelt(mapping string) bool {
	return slices.ContainsFunc(s.Structure, func(v diag.Finding) bool {
		_, ok := unknownIn(v, mapping)
		return ok
	})
}

// meant reports whether one of these names seems to be spelled wrong in a
// mapping, so that nobody knows its value.
func (s *Subject) meant(mapping string, names ...string) bool {
	return slices.ContainsFunc(s.Structure, func(v diag.Finding) bool {
		written, ok := unknownIn(v, mapping)
		if ok {
			_, ok = source.Suggest(written, names)
		}
		return ok
	})
}

// unknownIn returns the field of a mapping that a finding says the schema does
// not know.
func unknownIn(v diag.Finding, mapping string) (name string, ok bool) {
	if mapping != "" {
		mapping += "."
	}
	name, ok = strings.CutPrefix(v.Field, mapping)
	return name, ok && v.Rule == source.RuleUnknown && !strings.ContainsAny(name, ".[")
}

// echoes removes the findings of fields that are missing only because they are
// spelled wrong, which another finding says.
func echoes(l diag.List) diag.List {
	s := Subject{Structure: l}
	return slices.DeleteFunc(slices.Clone(l), func(f diag.Finding) bool {
		if f.Rule != slugRequired {
			return false
		}
		at := strings.LastIndexByte(f.Field, '.')
		return s.meant(f.Field[:max(at, 0)], f.Field[at+1:])
	})
}

// within reports whether a field lies inside a block.
func within(field, block string) bool {
	rest, ok := strings.CutPrefix(field, block)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check holds the rules that judge a ModelDeployment. A rule is a pure
// function over the deployment, the stored one it replaces and the facts.
package check

import (
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// Subject is one deployment under judgement, with every default written in.
type Subject struct {
	Object *source.Object
	New    *v1.ModelDeployment
	Facts  *facts.Index
}

// Fault is what a rule has against a deployment.
type Fault struct {
	// Field is the full path of the field.
	Field string
	// Message says what is wrong and why.
	Message string
	// Remedy says what to do about it.
	Remedy string
}

// Rule judges one thing.
type Rule struct {
	// Slug is the stable name of the rule.
	Slug     string
	Severity diag.Severity
	Judge    func(*Subject) []Fault
}

// Judge returns what all rules have against a deployment.
func Judge(s *Subject) diag.List {
	var out diag.List
	for _, r := range Rules {
		for _, f := range r.Judge(s) {
			out = append(out, s.Object.Finding(r.Severity, r.Slug, f.Field, f.Message, f.Remedy))
		}
	}
	return out
}

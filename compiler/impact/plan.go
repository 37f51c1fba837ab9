// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package impact

import (
	"cmp"
	"slices"

	"gpustack.ai/mdc/compiler/diag"
)

// Plan is what becomes of all deployments of an edit.
type Plan struct {
	Deployments []Deployment `json:"deployments"`
}

// Refusal is a finding about an edit that would be refused.
type Refusal struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	// Field is the path of the field in the ModelDeployment.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
	// File, Line and Column are where it stands, counted from 1.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Refuse replaces what would become of the deployments that errors are about by
// the errors.
func (p *Plan) Refuse(findings diag.List) {
	for _, f := range findings {
		if f.Severity != diag.Error {
			continue
		}
		i := slices.IndexFunc(p.Deployments, func(d Deployment) bool { return d.Namespace == f.Namespace && d.Name == f.Name })
		if i < 0 {
			p.Deployments = append(p.Deployments, Deployment{Namespace: f.Namespace, Name: f.Name})
			i = len(p.Deployments) - 1
		}
		d := &p.Deployments[i]
		d.Roles, d.Objects = []Role{}, []Object{}
		d.Refused = append(d.Refused, Refusal{
			Rule: f.Rule, Severity: string(f.Severity), Field: f.Field, Message: f.Message, Remedy: f.Remedy,
			File: f.File, Line: f.Line, Column: f.Column,
		})
	}
	p.sort()
}

func (p *Plan) sort() {
	slices.SortFunc(p.Deployments, func(a, b Deployment) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// Rolls reports whether any replica turns over.
func (p *Plan) Rolls() bool { return slices.ContainsFunc(p.Deployments, Deployment.Rolls) }

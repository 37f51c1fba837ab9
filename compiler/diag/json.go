// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"io"
)

// jsonFinding is a finding as programs read it. Its fields are a promise, so
// they are spelled out and do not follow Finding.
type jsonFinding struct {
	Rule      string   `json:"rule"`
	Severity  Severity `json:"severity"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name,omitempty"`
	Field     string   `json:"field,omitempty"`
	Message   string   `json:"message"`
	Remedy    string   `json:"remedy,omitempty"`
	Position
}

// JSON prints findings for programs, as one object on one line. Without
// findings its list is empty.
func JSON(w io.Writer, l List) error {
	out := struct {
		Findings []jsonFinding `json:"findings"`
	}{make([]jsonFinding, 0, len(l))}
	for _, f := range l {
		out.Findings = append(out.Findings, jsonFinding{
			Rule: f.Rule, Severity: f.Severity, Namespace: f.Namespace, Name: f.Name,
			Field: f.Field, Message: f.Message, Remedy: f.Remedy, Position: f.Position,
		})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/json"
	"io"
	"time"
)

// Stage is what a Pod is seen to be.
type Stage string

// The stages of a Pod.
const (
	Gated    Stage = "gated"
	Starting Stage = "starting"
	Ready    Stage = "ready"
	Draining Stage = "draining"
	Gone     Stage = "gone"
)

// Entry is one line of a timeline: a Pod that changes, or an event on the
// deployment, which has no role.
type Entry struct {
	At      string `json:"at"`
	Role    string `json:"role,omitempty"`
	Ordinal *int32 `json:"ordinal,omitempty"`
	Member  *int32 `json:"member,omitempty"`
	State   Stage  `json:"state,omitempty"`
	Event   string `json:"event,omitempty"`

	time time.Duration
}

// Summary is how one role fared.
type Summary struct {
	Role string `json:"role"`
	// Replicas and Ready are those at the end.
	Replicas int32 `json:"replicas"`
	Ready    int32 `json:"ready"`
	// LowestReady is the lowest number of Ready replicas since all were Ready
	// for the first time, LowestAt when it was first met; absent when they
	// never were.
	LowestReady *int32 `json:"lowestReady,omitempty"`
	LowestAt    string `json:"lowestAt,omitempty"`
	// Created and Deleted count Pods.
	Created int `json:"created"`
	Deleted int `json:"deleted"`
}

// Result is what became of one deployment.
type Result struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Timeline  []Entry   `json:"timeline"`
	Summary   []Summary `json:"summary"`
	// Settled is when the last thing changed; empty when the deployment had not
	// come to what is declared at the end.
	Settled string `json:"settled,omitempty"`
	Until   string `json:"until"`

	until time.Duration
	rows  []row
	size  map[string]int32
}

// row is one instance of a role over time.
type row struct {
	role    string
	ordinal int32
	spans   []span
}

// span is how long an instance was in a stage.
type span struct {
	stage    Stage
	from, to time.Duration
}

// JSON prints results.
func JSON(w io.Writer, results []*Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Deployments []*Result `json:"deployments"`
	}{results})
}

// clock spells a time as 1h02m03s, as far as needed.
func clock(d time.Duration) string { return d.Round(time.Second).String() }

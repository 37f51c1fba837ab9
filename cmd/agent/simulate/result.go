// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/json"
	"io"
	"time"
)

// Simulation is what mdc simulate -o json prints.
type Simulation struct {
	// Deployments are those of the scenario, or those that were applied.
	Deployments []*Result `json:"deployments"`
}

// Result is what became of one deployment.
type Result struct {
	// Namespace of the deployment; may be empty.
	Namespace string `json:"namespace"`
	// Name of the deployment.
	Name string `json:"name"`
	// Timeline is what happened, in order.
	Timeline []Entry `json:"timeline"`
	// Summary tells how each role fared, in the order of the deployment.
	Summary []Summary `json:"summary"`
	// Settled is when the last thing changed; absent when the deployment had not
	// come to what is declared at the end.
	Settled Time `json:"settled,omitempty"`
	// Until is when the simulation ended.
	Until Time `json:"until"`

	until time.Duration
	// waits tells people what is missing at the end.
	waits []string
	rows  []row
	size  map[string]int32
}

// Entry is one line of a timeline: a Pod whose state changes, or an event from
// outside, which has neither role nor state.
type Entry struct {
	// At is when it happened.
	At Time `json:"at"`
	// Role of the Pod.
	Role string `json:"role,omitempty"`
	// Ordinal is the number of the replica in its role, from 0.
	Ordinal *int32 `json:"ordinal,omitempty"`
	// Member is the number of the Pod in its replica, from 0.
	Member *int32 `json:"member,omitempty"`
	// State is what the Pod is from then on.
	State Stage `json:"state,omitempty"`
	// Event tells why, for people; its text is free to change.
	Event string `json:"event,omitempty"`

	time time.Duration
}

// Stage is what a Pod is seen to be: it waits for quota, runs and is not Ready,
// is Ready, is being deleted or has ended, or is not there any more.
//
// +kubebuilder:validation:Enum=gated;starting;ready;draining;gone
type Stage string

// The stages of a Pod.
const (
	Gated    Stage = "gated"
	Starting Stage = "starting"
	Ready    Stage = "ready"
	Draining Stage = "draining"
	Gone     Stage = "gone"
)

// Summary is how one role fared.
type Summary struct {
	// Role is the name of the role.
	Role string `json:"role"`
	// Replicas is the declared number of instances at the end.
	Replicas int32 `json:"replicas"`
	// Ready is the number of Ready instances at the end.
	Ready int32 `json:"ready"`
	// LowestReady is the lowest number of Ready instances since all were Ready
	// for the first time; absent when they never were.
	LowestReady *int32 `json:"lowestReady,omitempty"`
	// LowestAt is when LowestReady was first met.
	LowestAt Time `json:"lowestAt,omitempty"`
	// Created is the number of Pods that were created.
	Created int32 `json:"created"`
	// Deleted is the number of Pods that were deleted, or ended by themselves.
	Deleted int32 `json:"deleted"`
}

// Time is a time from the start, as a Go duration in whole seconds: 1h2m3s.
//
// +kubebuilder:validation:Pattern=`^(([0-9]+h)?[0-9]+m)?[0-9]+s$`
type Time string

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

// JSON prints results for programs.
func JSON(w io.Writer, results []*Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(Simulation{results})
}

// clock spells a time as 1h2m3s, as far as needed.
func clock(d time.Duration) Time { return Time(d.Round(time.Second).String()) }

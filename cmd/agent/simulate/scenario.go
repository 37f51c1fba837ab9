// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulate plays what the agent would do to a deployment, on a model of
// Kueue, kubelets and the API server, with the agent's own decisions.
package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"gpustack.ai/mdc/cmd/agent/model"
)

// Scenario is a file that tells what to play.
type Scenario struct {
	// Deployments and Facts are files or directories, relative to the scenario.
	Deployments []string `json:"deployments"`
	Facts       []string `json:"facts,omitempty"`
	// Running: everything is Ready at the start; otherwise it is created then.
	Running bool `json:"running,omitempty"`
	// Capacity is the number of cards of an InstanceType; one that is not named
	// never runs out.
	Capacity map[string]int `json:"capacity,omitempty"`
	Timing   Timing         `json:"timing,omitempty"`
	Events   []Event        `json:"events,omitempty"`
	Until    Duration       `json:"until,omitempty"`
}

// Timing is how long Pods take.
type Timing struct {
	// Load is from admission to Ready, Drain from deletion to the end.
	Load  Duration `json:"load,omitempty"`
	Drain Duration `json:"drain,omitempty"`
	// Roles says otherwise for single roles.
	Roles map[string]RoleTiming `json:"roles,omitempty"`
}

// RoleTiming is the timing of one role.
type RoleTiming struct {
	Load  Duration `json:"load,omitempty"`
	Drain Duration `json:"drain,omitempty"`
}

// Event is one thing that happens from outside. It has one field besides At.
type Event struct {
	At           Duration       `json:"at"`
	Edit         string         `json:"edit,omitempty"`
	Scale        *Scale         `json:"scale,omitempty"`
	DeletePod    *Seat          `json:"deletePod,omitempty"`
	FailPod      *Seat          `json:"failPod,omitempty"`
	Evict        *Seat          `json:"evict,omitempty"`
	Preempt      *Seat          `json:"preempt,omitempty"`
	NodeNotReady *Seat          `json:"nodeNotReady,omitempty"`
	NodeReady    *Seat          `json:"nodeReady,omitempty"`
	NodeRemoved  *Seat          `json:"nodeRemoved,omitempty"`
	Capacity     map[string]int `json:"capacity,omitempty"`
	Delete       bool           `json:"delete,omitempty"`
}

// Scale sets the replicas of a role.
type Scale struct {
	Role     string `json:"role"`
	Replicas int32  `json:"replicas"`
}

// Seat is a Pod of a role.
type Seat struct {
	Role    string `json:"role"`
	Ordinal int32  `json:"ordinal"`
	Member  int32  `json:"member,omitempty"`
}

// Duration is written as in "1h30m".
type Duration time.Duration

// UnmarshalJSON reads "5m".
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := yaml.Unmarshal(b, &text); err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a time such as 90s or 1h30m", text)
	}
	*d = Duration(v)
	return nil
}

// Parse reads a scenario.
func Parse(text []byte) (*Scenario, error) {
	s := &Scenario{}
	if err := yaml.UnmarshalStrict(text, s); err != nil {
		return nil, err
	}
	if len(s.Deployments) == 0 {
		return nil, fmt.Errorf("deployments: name at least one file or directory")
	}
	for i, e := range s.Events {
		if n := len(e.kinds()); n != 1 {
			return nil, fmt.Errorf("events[%d]: says what happens %d times, and must once", i, n)
		}
	}
	return s, nil
}

// action is an event on a Pod or its Workload.
type action struct {
	kind model.Kind
	seat *Seat
	text string
}

// actions are the events on Pods.
func (e *Event) actions() (out []action) {
	for _, a := range []action{
		{model.DeletePod, e.DeletePod, "deleted by hand"},
		{model.FailPod, e.FailPod, "evicted by the kubelet"},
		{model.Evict, e.Evict, "evicted by Kueue"},
		{model.Preempt, e.Preempt, "preempted"},
		{model.LoseNode, e.NodeNotReady, "node not ready"},
		{model.NodeBack, e.NodeReady, "node ready"},
		{model.NodeGone, e.NodeRemoved, "node removed"},
	} {
		if a.seat != nil {
			out = append(out, a)
		}
	}
	return out
}

// kinds are what an event says.
func (e *Event) kinds() (out []string) {
	for _, a := range e.actions() {
		out = append(out, fmt.Sprintf("%s: %s/%d", a.text, a.seat.Role, a.seat.Ordinal))
	}
	if e.Edit != "" {
		out = append(out, "edit "+e.Edit)
	}
	if e.Scale != nil {
		out = append(out, fmt.Sprintf("scale %s to %d", e.Scale.Role, e.Scale.Replicas))
	}
	if e.Capacity != nil {
		var changes []string
		for _, name := range slices.Sorted(maps.Keys(e.Capacity)) {
			changes = append(changes, fmt.Sprintf("%s %d", name, e.Capacity[name]))
		}
		out = append(out, "capacity: "+strings.Join(changes, ", "))
	}
	if e.Delete {
		out = append(out, "deployment deleted")
	}
	return out
}

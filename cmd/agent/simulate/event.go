// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gpustack.ai/mdc/cmd/agent/model"
)

// action is an event on a Pod or on its Workload.
type action struct {
	field string
	kind  model.Kind
	seat  *Seat
	text  string
}

// onPods are the fields of an event that are about Pods.
func (e *Event) onPods() []action {
	return []action{
		{"deletePod", model.DeletePod, e.DeletePod, "deleted by hand"},
		{"failPod", model.FailPod, e.FailPod, "evicted by the kubelet"},
		{"evict", model.Evict, e.Evict, "evicted by Kueue"},
		{"preempt", model.Preempt, e.Preempt, "preempted"},
		{"reactivate", model.Reactivate, e.Reactivate, "reactivated"},
		{"nodeNotReady", model.LoseNode, e.NodeNotReady, "node not ready"},
		{"nodeReady", model.NodeBack, e.NodeReady, "node ready"},
		{"nodeRemoved", model.NodeGone, e.NodeRemoved, "node removed"},
	}
}

// actions are the events on Pods that an event has.
func (e *Event) actions() []action {
	return slices.DeleteFunc(e.onPods(), func(a action) bool { return a.seat == nil })
}

// whole reports whether an action is about a replica and not about a Pod.
func (a *action) whole() bool {
	return a.kind == model.Evict || a.kind == model.Preempt || a.kind == model.Reactivate
}

// part is a field of an event that says what happens.
type part struct {
	field string
	set   bool
}

func (e *Event) parts() []part {
	all := []part{{"edit", e.Edit != ""}, {"scale", e.Scale != nil}, {"capacity", e.Capacity != nil}, {"delete", e.Delete}}
	for _, a := range e.onPods() {
		all = append(all, part{a.field, a.seat != nil})
	}
	return all
}

// fields are the names of what an event says.
func (e *Event) fields() (out []string) {
	for _, p := range e.parts() {
		if p.set {
			out = append(out, p.field)
		}
	}
	return out
}

// choice is what an event may say.
func choice() string {
	var names []string
	for _, p := range new(Event).parts() {
		names = append(names, p.field)
	}
	last := len(names) - 1
	return "one of " + strings.Join(names[:last], ", ") + " and " + names[last]
}

// common reports whether an event is about no deployment in particular.
func (e *Event) common() bool { return e.Edit != "" || e.Capacity != nil }

// text tells what happens, when that is about no Pod.
func (e *Event) text() string {
	switch {
	case e.Edit != "":
		return "edit " + e.Edit
	case e.Scale != nil:
		return fmt.Sprintf("scale %s to %d", e.Scale.Role, e.Scale.Replicas)
	case e.Capacity != nil:
		var changes []string
		for _, name := range slices.Sorted(maps.Keys(e.Capacity)) {
			changes = append(changes, fmt.Sprintf("%s %d", name, e.Capacity[name]))
		}
		return "capacity: " + strings.Join(changes, ", ")
	}
	return "deployment deleted"
}

// Order is that in which the events happen, by their place in the file.
func (s *Scenario) Order() []int {
	order := make([]int, len(s.Events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Events[a].At, s.Events[b].At) })
	return order
}

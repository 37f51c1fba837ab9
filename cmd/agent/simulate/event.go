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

// actions are the events on Pods that an event has.
func (e *Event) actions() []action {
	all := []action{
		{"deletePod", model.DeletePod, e.DeletePod, "deleted by hand"},
		{"failPod", model.FailPod, e.FailPod, "evicted by the kubelet"},
		{"evict", model.Evict, e.Evict, "evicted by Kueue"},
		{"preempt", model.Preempt, e.Preempt, "preempted"},
		{"reactivate", model.Reactivate, e.Reactivate, "reactivated"},
		{"nodeNotReady", model.LoseNode, e.NodeNotReady, "node not ready"},
		{"nodeReady", model.NodeBack, e.NodeReady, "node ready"},
		{"nodeRemoved", model.NodeGone, e.NodeRemoved, "node removed"},
	}
	return slices.DeleteFunc(all, func(a action) bool { return a.seat == nil })
}

// whole reports whether an action is about a replica and not about a Pod.
func (a *action) whole() bool {
	return a.kind == model.Evict || a.kind == model.Preempt || a.kind == model.Reactivate
}

// fields are the names of what an event says.
func (e *Event) fields() (out []string) {
	for _, a := range e.actions() {
		out = append(out, a.field)
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"edit", e.Edit != ""}, {"scale", e.Scale != nil}, {"capacity", e.Capacity != nil}, {"delete", e.Delete}} {
		if f.set {
			out = append(out, f.name)
		}
	}
	return out
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

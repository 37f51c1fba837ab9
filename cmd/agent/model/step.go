// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
)

// Kind is a kind of step.
type Kind uint8

// Steps of Kueue.
const (
	_ Kind = iota
	Compose
	StopUnmatched
	ReleaseInactive
	Trim
	Adopt
	Reserve
	Admit
	ClearReservation
	FinishDelete
	// Collect is garbage collection of a Workload without Pods.
	Collect
	// Steps of kubelets and nodes.
	BecomeReady
	ExitClean
	ExitSignal
	Remove
	// Steps that end a disturbance.
	NodeBack
	NodeGone
	RoomBack
	Fix
	Compile
	// Reactivate lets a parked Workload ask for quota again.
	Reactivate
	StoreBack
	WeightsBack
	ForeignLeaves
	// Park ends the wait of a Workload for the rest of its set.
	Park
	// Steps of the agent.
	SyncSpec
	SyncPods
	SyncWorkloads
	SyncAll
	Pass
	Recheck
	ReadWorkloads
	WriteOne
	FailOne
	Crash
	// Events from outside.
	Edit
	EditBroken
	Outrun
	Scale
	DeletePod
	FailPod
	Unready
	Evict
	Preempt
	DeleteWorkload
	LoseNode
	LoseStore
	BlockWeights
	DeleteDeployment
	ForeignPod
	kinds
)

var kindNames = [kinds]string{
	Compose:          "Kueue composes a Workload",
	StopUnmatched:    "Kueue stops Pods without a Workload",
	ReleaseInactive:  "Kueue releases dead Pods",
	Trim:             "Kueue takes an excess Pod away",
	Adopt:            "Kueue adds a Pod to the Workload",
	Reserve:          "Kueue reserves quota",
	Admit:            "Kueue admits",
	ClearReservation: "Kueue gives an evicted Workload's quota back",
	FinishDelete:     "Kueue lets a deleted Workload go",
	Collect:          "garbage collection deletes a Workload",
	BecomeReady:      "Pod becomes Ready",
	ExitClean:        "Pod exits with 0",
	ExitSignal:       "Pod exits with 143",
	Remove:           "Pod is removed",
	NodeBack:         "node comes back",
	NodeGone:         "node is removed",
	RoomBack:         "room comes back",
	Fix:              "edit: a version that works",
	Compile:          "the compile catches up",
	StoreBack:        "the store comes back",
	WeightsBack:      "the weights come back",
	ForeignLeaves:    "a foreign Pod leaves",
	Reactivate:       "a parked Workload is reactivated",
	Park:             "agent: parks a Workload",
	SyncSpec:         "agent sees the spec",
	SyncPods:         "agent sees Pods",
	SyncWorkloads:    "agent sees Workloads",
	SyncAll:          "agent's cache catches up",
	Pass:             "agent: pass",
	Recheck:          "agent: pass that reads for no need",
	ReadWorkloads:    "agent: reads Workloads and decides",
	WriteOne:         "agent: write",
	FailOne:          "agent: write fails",
	Crash:            "agent crashes",
	Edit:             "edit",
	EditBroken:       "edit: a version that never starts",
	Outrun:           "edit without a compile",
	Scale:            "scale",
	DeletePod:        "Pod is deleted by hand",
	FailPod:          "kubelet evicts a Pod",
	Unready:          "a container restarts",
	Evict:            "Workload is evicted",
	Preempt:          "Workload is preempted",
	DeleteWorkload:   "Workload is deleted by hand",
	LoseNode:         "node is lost",
	LoseStore:        "the store is lost",
	BlockWeights:     "the weights are blocked",
	DeleteDeployment: "deployment is deleted",
	ForeignPod:       "a foreign Pod takes a group's name",
}

// Step is one thing that may happen.
type Step struct {
	Kind          Kind
	Role, Ordinal int16
	Pod, Workload ID
	N             int16
}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

func (st Step) String() string {
	out := kindNames[st.Kind]
	switch st.Kind {
	case SyncSpec, SyncPods, SyncWorkloads, SyncAll, Pass, Recheck, ReadWorkloads, WriteOne, FailOne, Crash,
		LoseStore, StoreBack, BlockWeights, WeightsBack, DeleteDeployment, RoomBack:
		return out
	case Scale:
		return fmt.Sprintf("%s: role %d to %d", out, st.Role, st.N)
	case Edit, EditBroken, Fix, Outrun, Compile:
		return fmt.Sprintf("%s: role %d", out, st.Role)
	}
	out = fmt.Sprintf("%s: %d/%d", out, st.Role, st.Ordinal)
	if st.Pod != 0 {
		out += fmt.Sprintf(" Pod %d", st.Pod)
	}
	return out
}

// Steps appends what may happen next without anyone from outside.
func (w *World) Steps(s *State, out []Step) []Step {
	out = w.repairSteps(s, out)
	out = w.nature(s, out)
	return w.agentSteps(s, w.jointSteps(s, out))
}

// nature are the steps of the cluster.
func (w *World) nature(s *State, out []Step) []Step {
	return w.kueueSteps(s, w.kubeletSteps(s, out))
}

// Apply returns the state after a step, which must be possible.
func (w *World) Apply(s *State, st Step) (*State, error) {
	n := *s
	var err error
	switch {
	case st.Kind <= Collect:
		n.Pods, n.Workloads = slices.Clone(s.Pods), slices.Clone(s.Workloads)
		w.applyKueue(&n, st)
	case st.Kind <= Remove:
		n.Pods = slices.Clone(s.Pods)
		w.applyKubelet(&n, st)
	case st.Kind >= SyncSpec && st.Kind <= Crash:
		err = w.applyAgent(&n, st)
	default:
		n.Pods, n.Workloads = slices.Clone(s.Pods), slices.Clone(s.Workloads)
		w.applyEvent(&n, st)
	}
	n.settle()
	return &n, err
}

// settle removes Pods that nothing keeps, and what Workloads remember of Pods
// that are gone.
func (s *State) settle() {
	gone := func(p Pod) bool {
		return p.Deleting && !p.Held && (p.Phase == Gated || p.Phase == Failed)
	}
	if slices.ContainsFunc(s.Pods, gone) {
		s.Pods = slices.DeleteFunc(slices.Clone(s.Pods), gone)
	}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		known := 0
		for _, id := range w.Owners {
			if s.Pod(id) != nil {
				known++
			}
		}
		if known == 0 || known == len(w.Owners) {
			continue
		}
		s.Workloads = slices.Clone(s.Workloads)
		w = &s.Workloads[i]
		w.Owners = slices.DeleteFunc(slices.Clone(w.Owners), func(id ID) bool { return s.Pod(id) == nil })
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// WriteKind is a kind of write.
type WriteKind uint8

// The writes of a pass, in their order.
const (
	AddFinalizer WriteKind = iota
	WriteDeletePod
	WriteDeleteWorkload
	Create
	Release
)

// Write is one request to the API server.
type Write struct {
	Kind WriteKind
	// ID is the object to delete; nothing happens when it is gone.
	ID ID
	// The seat and the template of a Pod to create.
	Role, Ordinal, Member int16
	Version               uint8
	Uncached              bool
	// Cause is why an object is deleted.
	Cause converge.Cause
}

// Snapshot is what a pass decides from.
type Snapshot struct {
	Spec      Spec
	Pods      []Pod
	Workloads []Workload
	// Live: it was read past the cache.
	Live bool
}

// Decision is one decision of the agent.
type Decision struct {
	Snapshot
	Outcome
}

// agentSteps are those of one agent: its cache catches up with the API server,
// and a pass reads, decides and writes. A crash may end a pass anywhere.
func (w *World) agentSteps(s *State, out []Step) []Step {
	out = w.syncSteps(s, out)
	switch s.Agent.Stage {
	case Idle:
		d := w.decide(s)
		if d.NeedLive || len(d.Writes) > 0 {
			out = append(out, Step{Kind: Pass})
		}
		if w.FreshCache && !d.NeedLive && !d.Spec.Gone {
			out = append(out, Step{Kind: Recheck})
		}
	case Reading:
		out = append(out, Step{Kind: ReadWorkloads}, Step{Kind: Crash})
	case Writing:
		for i := range s.Agent.Writes {
			if w.next(s.Agent.Writes, i) {
				out = append(out, Step{Kind: WriteOne, N: int16(i)}, Step{Kind: FailOne, N: int16(i)})
			}
		}
		if len(s.Agent.Writes) > 1 {
			out = append(out, Step{Kind: Crash})
		}
	}
	return out
}

// next reports whether a pass may do its i-th write now. The members of an
// instance are always created one after the other.
func (w *World) next(writes []Write, i int) bool {
	if i == 0 || !w.AnyOrder || writes[i].Kind != writes[0].Kind {
		return i == 0
	}
	before := &writes[i-1]
	return writes[i].Kind != Create || before.Role != writes[i].Role || before.Ordinal != writes[i].Ordinal
}

func (w *World) syncSteps(s *State, out []Step) []Step {
	spec := s.Cache.Spec != s.Spec
	if w.FreshCache {
		if spec {
			out = append(out, Step{Kind: SyncSpec})
		}
		return out
	}
	pods := !slices.Equal(s.Cache.Pods, s.Pods)
	workloads := !slices.EqualFunc(s.Cache.Workloads, s.Workloads, equalWorkloads)
	if w.OneCache {
		if spec || pods || workloads {
			out = append(out, Step{Kind: SyncAll})
		}
		return out
	}
	if spec {
		out = append(out, Step{Kind: SyncSpec})
	}
	if pods {
		out = append(out, Step{Kind: SyncPods})
	}
	if workloads {
		out = append(out, Step{Kind: SyncWorkloads})
	}
	return out
}

func equalWorkloads(a, b Workload) bool {
	return a.ID == b.ID && a.Reserved == b.Reserved && a.Admitted == b.Admitted &&
		a.Evicted == b.Evicted && a.Deleting == b.Deleting && slices.Equal(a.Owners, b.Owners)
}

func (w *World) applyAgent(s *State, st Step) error {
	a := &s.Agent
	switch st.Kind {
	case SyncSpec:
		s.Cache.Spec = s.Spec
	case SyncPods:
		s.Cache.Pods = s.Pods
	case SyncWorkloads:
		s.Cache.Workloads = s.Workloads
	case SyncAll:
		s.Cache = s.View
	case Pass:
		d := w.decide(s)
		if d.NeedLive {
			*a = Agent{Stage: Reading, Spec: s.Cache.Spec, Pods: s.Pods}
			return nil
		}
		return w.start(s, d)
	case Recheck:
		*a = Agent{Stage: Reading, Spec: s.Cache.Spec, Pods: s.Pods}
	case ReadWorkloads:
		return w.start(s, w.decide(s))
	case WriteOne:
		write := a.Writes[st.N]
		if w.Writing != nil {
			if err := w.Writing(s, write); err != nil {
				return err
			}
		}
		w.write(s, write)
		a.done(st.N)
	case FailOne:
		if a.Writes[0].Kind == AddFinalizer {
			*a = Agent{} // nothing is created without
			return nil
		}
		a.done(st.N)
	case Crash:
		*a = Agent{}
	}
	return nil
}

// decide is what the agent would do where it stands.
func (w *World) decide(s *State) *Decision {
	d := &Decision{Snapshot: Snapshot{Spec: s.Cache.Spec, Pods: s.Cache.Pods, Workloads: s.Cache.Workloads}}
	if w.FreshCache {
		d.Pods, d.Workloads = s.Pods, s.Workloads
	}
	if s.Agent.Stage == Reading {
		d.Snapshot = Snapshot{Spec: s.Agent.Spec, Pods: s.Agent.Pods, Workloads: s.Workloads, Live: true}
	}
	if !d.Spec.Gone {
		d.Outcome = w.Decide(w, &d.Snapshot)
	}
	return d
}

func (w *World) start(s *State, d *Decision) error {
	s.Agent = Agent{}
	if len(d.Writes) > 0 {
		s.Agent = Agent{Stage: Writing, Writes: d.Writes}
	}
	if w.Decided != nil {
		return w.Decided(s, d)
	}
	return nil
}

// done takes a write off what a pass has in hand.
func (a *Agent) done(n int16) {
	if a.Writes = slices.Concat(a.Writes[:n], a.Writes[n+1:]); len(a.Writes) == 0 {
		*a = Agent{}
	}
}

// write does one write. One that is refused changes nothing, and one whose
// response is lost was done all the same.
func (w *World) write(s *State, write Write) {
	switch write.Kind {
	case AddFinalizer:
		if !s.Spec.Deleting && !s.Spec.Gone {
			s.Spec.Finalizer = true
		}
	case WriteDeletePod:
		s.Pods = slices.Clone(s.Pods)
		if p := s.Pod(write.ID); p != nil {
			p.Deleting = true
		}
	case WriteDeleteWorkload:
		s.Workloads = slices.Clone(s.Workloads)
		for i := range s.Workloads {
			if s.Workloads[i].ID == write.ID {
				s.Workloads[i].Deleting = true
			}
		}
	case Create:
		if w.Roles[write.Role].Size > 1 && w.named(s, write) {
			return // AlreadyExists
		}
		s.Pods = append(slices.Clone(s.Pods), Pod{
			ID: s.newID(), Role: write.Role, Ordinal: write.Ordinal, Member: write.Member,
			Version: write.Version, Uncached: write.Uncached, Held: true,
		})
	case Release:
		s.Spec.Finalizer = false
		s.Spec.Gone = s.Spec.Deleting
	}
}

// named reports whether a Pod of the name reads: above size 1 it is that of the
// seat.
func (w *World) named(s *State, write Write) bool {
	return slices.ContainsFunc(s.Pods, func(p Pod) bool {
		return !p.Foreign && p.Role == write.Role && p.Ordinal == write.Ordinal && p.Member == write.Member
	})
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
)

// The invariants, in words. All but the fifth hold in every state, at every
// decision and at every write.
const (
	oneGroupAtATime = "1: a Pod is created only when no Pod and no Workload of its group reads, at the moment of the read past the cache and at the write"
	oneTurnover     = "2: a pass turns over at most one replica per role, only one that it may, and never a second that serves"
	survivors       = "3: a scale leaves every surviving Pod as it is: no Pod goes that is declared, up to date and whole"
	foreignPods     = "4: a foreign Pod is never deleted, not with a Workload either"
	termination     = "5: from every state, once the cluster serves it, the declared state is reached, and then nothing is written"
	wholeWorkloads  = "6: a Workload is deleted only when none of its Pods is to stay"
	oneLivePod      = "7: there are never two live Pods of ours on one seat"
	lostNodes       = "8: the Workload of a Pod that may still run on a lost node is never deleted"
	lateCompile     = "9: while the template of a role is not that of its spec, no role grows and the role is not turned over"
)

// violation is an invariant that does not hold.
type violation struct{ invariant, detail string }

func (v *violation) Error() string { return v.invariant + "\n  " + v.detail }

func violated(invariant, format string, args ...any) error {
	return &violation{invariant, fmt.Sprintf(format, args...)}
}

// watch adds the invariants to a world.
func (w *World) watch() {
	w.Decided = w.judge
	w.Writing = w.judgeWrite
}

// judge looks at a decision. What the agent could know is in the decision's
// snapshot, what was true is in the state.
func (w *World) judge(s *State, d *Decision) error {
	drops := map[ID]bool{}
	for _, write := range d.Writes {
		if write.Kind == WriteDeletePod {
			drops[write.ID] = true
		}
	}
	for _, write := range d.Writes {
		var err error
		switch write.Kind {
		case Create:
			err = w.judgeCreate(s, d, write)
		case WriteDeletePod:
			if p := s.Pod(write.ID); p != nil && p.Foreign {
				err = violated(foreignPods, "Pod %d", p.ID)
			}
		case WriteDeleteWorkload:
			err = w.judgeFree(s, d, write.ID, drops)
		}
		if err != nil {
			return err
		}
	}
	for r := range w.Roles {
		if err := w.judgeDrops(d, int16(r), drops); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) judgeCreate(s *State, d *Decision, write Write) error {
	if !d.Live {
		return violated(oneGroupAtATime, "%d/%d: the cache alone was asked", write.Role, write.Ordinal)
	}
	for _, pods := range [][]Pod{d.Pods, s.Pods} {
		for i := range pods {
			if p := &pods[i]; p.Role == write.Role && p.Ordinal == write.Ordinal {
				return violated(oneGroupAtATime, "%d/%d: Pod %d reads", write.Role, write.Ordinal, p.ID)
			}
		}
	}
	if wl := s.Group(write.Role, write.Ordinal); wl != nil {
		return violated(oneGroupAtATime, "%d/%d: its Workload reads", write.Role, write.Ordinal)
	}
	for r := range w.Roles {
		if d.Spec.Roles[r].Stale && write.Ordinal >= d.Spec.Roles[write.Role].Settled {
			return violated(lateCompile, "%d/%d is created", write.Role, write.Ordinal)
		}
	}
	return nil
}

// judgeWrite looks at a write. Siblings of one instance are created one after
// the other.
func (w *World) judgeWrite(s *State, write Write) error {
	if write.Kind != Create {
		return nil
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if !p.Foreign && p.Role == write.Role && p.Ordinal == write.Ordinal && p.Member >= write.Member {
			return violated(oneGroupAtATime, "%d/%d: Pod %d reads when %d is created", write.Role, write.Ordinal, p.Member, write.Member)
		}
	}
	if wl := s.Group(write.Role, write.Ordinal); wl != nil && w.Roles[write.Role].Size == 1 {
		return violated(oneGroupAtATime, "%d/%d: its Workload reads when the Pod is created", write.Role, write.Ordinal)
	}
	return nil
}

func (w *World) judgeFree(s *State, d *Decision, id ID, drops map[ID]bool) error {
	for i := range s.Workloads {
		wl := &s.Workloads[i]
		if wl.ID != id {
			continue
		}
		for j := range s.Pods {
			p := &s.Pods[j]
			switch {
			case p.Role != wl.Role || p.Ordinal != wl.Ordinal || p.Deleting:
			case p.Foreign:
				return violated(foreignPods, "%d/%d: the Workload of foreign Pod %d", wl.Role, wl.Ordinal, p.ID)
			case !drops[p.ID]:
				return violated(wholeWorkloads, "%d/%d: Pod %d stays", wl.Role, wl.Ordinal, p.ID)
			}
		}
		for j := range d.Pods {
			if p := &d.Pods[j]; slices.Contains(wl.Owners, p.ID) && p.Lost && p.running() {
				return violated(lostNodes, "%d/%d: Pod %d", wl.Role, wl.Ordinal, p.ID)
			}
		}
	}
	return nil
}

// instance is one replica as a decision found it.
type instance struct {
	members                      int
	current, ready, ended, lost  bool
	admitted, dropped, duplicate bool
	// stranded: it is admitted for a Pod that leaves on a lost node.
	stranded bool
	seats    map[int16]bool
}

// judgeDrops looks at the Pods that a decision deletes.
func (w *World) judgeDrops(d *Decision, role int16, drops map[ID]bool) error {
	spec := d.Spec.Roles[role]
	if d.Spec.Deleting {
		return nil
	}
	uncached := w.Store && d.Spec.StoreLost && w.Roles[role].Managed
	instances := make([]instance, spec.Replicas)
	scaled := false
	for i := range d.Pods {
		p := &d.Pods[i]
		if p.Role != role || p.Deleting || p.Foreign {
			continue
		}
		if p.Ordinal >= spec.Replicas {
			scaled = scaled || drops[p.ID]
			continue
		}
		if p.Ordinal < 0 {
			continue
		}
		in := &instances[p.Ordinal]
		if in.seats == nil {
			in.seats, in.current, in.ready = map[int16]bool{}, true, true
		}
		in.duplicate = in.duplicate || in.seats[p.Member]
		in.seats[p.Member] = true
		in.members++
		in.current = in.current && p.Version == spec.Version && p.Uncached == uncached
		in.ready = in.ready && p.Phase == Ready
		in.ended = in.ended || p.Phase >= Succeeded
		in.lost = in.lost || p.Lost
		in.dropped = in.dropped || drops[p.ID]
	}
	for i := range d.Workloads {
		wl := &d.Workloads[i]
		if wl.Role != role || wl.Ordinal < 0 || wl.Ordinal >= spec.Replicas || !wl.Admitted || wl.Evicted || wl.Deleting {
			continue
		}
		for j := range d.Pods {
			p := &d.Pods[j]
			if p.Foreign || p.Ordinal != wl.Ordinal || p.Role != role || !slices.Contains(wl.Owners, p.ID) {
				continue
			}
			in := &instances[wl.Ordinal]
			in.admitted = in.admitted || !p.Deleting
			in.stranded = in.stranded || p.Deleting && p.Lost && p.running()
		}
	}
	turned := -1
	for n := range instances {
		in := &instances[n]
		whole := in.members == int(w.Roles[role].Size)
		switch {
		case !in.dropped, in.ended, in.duplicate:
			continue
		case whole && in.current:
			return violated(survivors, "%d/%d is deleted", role, n)
		case whole && spec.Stale:
			return violated(lateCompile, "%d/%d is turned over", role, n)
		case !d.Live:
			return violated(oneTurnover, "%d/%d: the cache alone was asked", role, n)
		case turned >= 0:
			return violated(oneTurnover, "%d/%d and %d are turned over", role, turned, n)
		case scaled:
			return violated(oneTurnover, "%d/%d is turned over beside a scale-down", role, n)
		}
		turned = n
		if whole {
			if err := w.judgeTurnover(instances, role, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeTurnover looks at the replica that a rollout takes.
func (w *World) judgeTurnover(instances []instance, role int16, victim int) error {
	v := &instances[victim]
	if v.lost {
		return violated(oneTurnover, "%d/%d is on a lost node", role, victim)
	}
	if !v.admitted && !v.ready {
		return nil
	}
	serving, lost := 0, false
	for n := range instances {
		in := &instances[n]
		whole := in.members == int(w.Roles[role].Size)
		if !in.admitted && !in.stranded {
			return violated(oneTurnover, "%d/%d is turned over while %d is not admitted", role, victim, n)
		}
		if v.ready && whole && in.current && !in.ready && !in.lost {
			return violated(oneTurnover, "%d/%d serves and is turned over while %d is not Ready", role, victim, n)
		}
		lost = lost || in.lost || in.stranded
		if n != victim && whole && in.ready {
			serving++
		}
	}
	if v.ready && lost && serving == 0 {
		return violated(oneTurnover, "%d/%d is the last that serves beside a lost node", role, victim)
	}
	return nil
}

// judgeState looks at a state.
func (w *World) judgeState(s *State) error {
	if w.duplicates {
		return nil
	}
	for i := range s.Pods {
		for j := range s.Pods[:i] {
			a, b := &s.Pods[i], &s.Pods[j]
			if !a.Deleting && !b.Deleting && !a.Foreign && !b.Foreign &&
				a.Role == b.Role && a.Ordinal == b.Ordinal && a.Member == b.Member {
				return violated(oneLivePod, "%d/%d/%d: Pods %d and %d", a.Role, a.Ordinal, a.Member, a.ID, b.ID)
			}
		}
	}
	return nil
}

// judgeRest looks at a state in which nothing happens any more.
func (w *World) judgeRest(s *State) error {
	if s.Agent.Stage != Idle {
		return violated(termination, "the agent is in the middle of a pass")
	}
	pods := map[[3]int16]int{}
	foreign := map[[2]int16]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Foreign {
			if p.Abandoned {
				return violated(termination, "Pod %d of an earlier deployment is left", p.ID)
			}
			foreign[[2]int16{p.Role, p.Ordinal}] = true
			continue
		}
		if s.Spec.Gone {
			return violated(termination, "Pod %d is left behind", p.ID)
		}
		spec := s.Spec.Roles[p.Role]
		uncached := w.Store && s.Spec.StoreLost
		if p.Phase != Ready || p.Deleting || p.Version != spec.Version || p.Uncached != uncached {
			return violated(termination, "%d/%d/%d: Pod %d is %v", p.Role, p.Ordinal, p.Member, p.ID, *p)
		}
		pods[[3]int16{p.Role, p.Ordinal, p.Member}]++
	}
	want := 0
	for r := range w.Roles {
		for n := range s.Spec.Roles[r].Replicas {
			if s.Spec.Deleting || s.Spec.Gone || foreign[[2]int16{int16(r), n}] {
				continue
			}
			wl := s.Group(int16(r), n)
			if wl == nil || !wl.Admitted || wl.Evicted || wl.Deleting {
				return violated(termination, "%d/%d is not admitted", r, n)
			}
			for m := range w.Roles[r].Size {
				if pods[[3]int16{int16(r), n, m}] != 1 {
					return violated(termination, "%d/%d/%d has no Pod", r, n, m)
				}
				want++
			}
		}
	}
	switch {
	case want != len(pods):
		return violated(termination, "%d Pods, want %d", len(pods), want)
	case s.Spec.Deleting && !s.Spec.Gone:
		return violated(termination, "the deployment does not end")
	case !s.Spec.Gone && !s.Spec.Finalizer:
		return violated(termination, "there is no finalizer")
	}
	for i := range s.Workloads {
		wl := &s.Workloads[i]
		if foreign[[2]int16{wl.Role, wl.Ordinal}] {
			continue
		}
		if wl.Ordinal >= s.Spec.Roles[wl.Role].Replicas || s.Spec.Gone {
			return violated(termination, "Workload %d/%d is left behind", wl.Role, wl.Ordinal)
		}
	}
	return nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
)

// group is what Kueue sees of one group: the Pods that carry its name, and its
// Workload.
type group struct {
	role, ordinal int16
	members       []int // of State.Pods
	workload      *Workload
	active        int
}

func (w *World) group(s *State, role, ordinal int16) group {
	g := group{role: role, ordinal: ordinal, workload: s.Group(role, ordinal)}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Role == role && p.Ordinal == ordinal {
			g.members = append(g.members, i)
			if p.active() {
				g.active++
			}
		}
	}
	return g
}

// kueueSteps are the rules of Kueue for serving groups, which never finish.
func (w *World) kueueSteps(s *State, out []Step) []Step {
	for i := range s.Pods {
		if p := &s.Pods[i]; !hasPod(s.Pods[:i], p.Role, p.Ordinal) {
			out = w.groupSteps(s, w.group(s, p.Role, p.Ordinal), out)
		}
	}
	for i := range s.Workloads {
		wl := &s.Workloads[i]
		again := slices.ContainsFunc(s.Workloads[:i], func(o Workload) bool { return o.Role == wl.Role && o.Ordinal == wl.Ordinal })
		if !again && !hasPod(s.Pods, wl.Role, wl.Ordinal) {
			out = w.groupSteps(s, w.group(s, wl.Role, wl.Ordinal), out)
		}
	}
	return out
}

// hasPod reports whether any of the Pods is of a group.
func hasPod(pods []Pod, role, ordinal int16) bool {
	return slices.ContainsFunc(pods, func(p Pod) bool { return p.Role == role && p.Ordinal == ordinal })
}

func (w *World) groupSteps(s *State, g group, out []Step) []Step {
	add := func(k Kind) { out = append(out, Step{Kind: k, Role: g.role, Ordinal: g.ordinal}) }
	size := int(w.Roles[g.role].Size)
	if g.active > size {
		add(Trim)
	}
	running, dying, dead := false, false, false
	for _, i := range g.members {
		p := &s.Pods[i]
		running = running || p.running() && !p.Deleting
		// A Pod on a lost node is past its grace at any time from now.
		dying = dying || p.running() && p.Deleting && !p.Lost
		dead = dead || !p.active() && p.Held
	}
	wl := g.workload
	switch {
	case wl == nil:
		if dead {
			add(ReleaseInactive)
		}
		switch {
		case running:
			add(StopUnmatched)
		case !dying && g.active == size:
			add(Compose)
		}
		return out
	case wl.Deleting:
		add(FinishDelete)
		return out
	}
	if dead && len(g.members) > size {
		add(ReleaseInactive)
	}
	owned := false
	for _, id := range wl.Owners {
		owned = owned || s.Pod(id) != nil
	}
	if !owned {
		add(Collect)
	}
	if g.active <= size {
		for _, i := range g.members {
			if p := &s.Pods[i]; p.active() && !slices.Contains(wl.Owners, p.ID) {
				out = append(out, Step{Kind: Adopt, Role: g.role, Ordinal: g.ordinal, Pod: p.ID})
			}
		}
	}
	switch {
	case !wl.Reserved && !wl.Parked && w.room(s, g.role):
		add(Reserve)
	case wl.Reserved && wl.Evicted && !running && !dying:
		add(ClearReservation)
	case wl.Reserved && !wl.Evicted && !wl.Admitted && w.open(s):
		add(Admit)
	}
	return out
}

// room reports whether the pool of a role has cards for one more instance.
func (w *World) room(s *State, role int16) bool {
	r := w.Roles[role]
	free := s.Capacity[r.Pool] - r.Size*r.Cards
	for i := range s.Workloads {
		if wl := &s.Workloads[i]; wl.Reserved && w.Roles[wl.Role].Pool == r.Pool {
			free -= w.Roles[wl.Role].Size * w.Roles[wl.Role].Cards
		}
	}
	return free >= 0
}

func (w *World) applyKueue(s *State, st Step) {
	g := w.group(s, st.Role, st.Ordinal)
	size := int(w.Roles[st.Role].Size)
	switch st.Kind {
	case Compose:
		wl := Workload{ID: s.newID(), Role: st.Role, Ordinal: st.Ordinal, Born: w.seconds()}
		for _, i := range g.members {
			if s.Pods[i].active() {
				wl.Owners = append(wl.Owners, s.Pods[i].ID)
			}
		}
		s.Workloads = append(s.Workloads, wl)
	case StopUnmatched:
		for _, i := range g.members {
			if s.Pods[i].running() {
				s.Pods[i].Deleting = true
			}
		}
	case ReleaseInactive:
		n := len(g.members)
		if g.workload != nil {
			n -= size // those that are replaced
		}
		release(s, g, n)
	case Trim:
		p := &s.Pods[g.excess(s)]
		p.Held, p.Deleting = false, true
	case Adopt:
		wl := g.workload
		wl.Owners = append(slices.Clone(wl.Owners), st.Pod)
		if wl.Admitted && !wl.Evicted {
			ungate(s, wl)
		}
	case Reserve:
		g.workload.Reserved, g.workload.Evicted = true, false
		g.workload.ReservedAt = w.seconds()
		if !w.Joint || len(w.Roles) < 2 {
			g.workload.Admitted = true
			ungate(s, g.workload)
		}
	case Admit:
		g.workload.Admitted = true
		ungate(s, g.workload)
	case ClearReservation:
		g.workload.Reserved, g.workload.Admitted = false, false
	case FinishDelete:
		for _, i := range g.members {
			s.Pods[i].Deleting, s.Pods[i].Held = true, false
		}
		s.Workloads = slices.DeleteFunc(s.Workloads, func(wl Workload) bool { return wl.Role == st.Role && wl.Ordinal == st.Ordinal })
	case Collect:
		g.workload.Deleting = true
	}
}

// excess is the member that Kueue keeps last.
func (g group) excess(s *State) int {
	last := -1
	for _, i := range g.members {
		if !s.Pods[i].active() {
			continue
		}
		if last < 0 || keptBefore(&s.Pods[last], &s.Pods[i]) {
			last = i
		}
	}
	return last
}

// keptBefore reports whether Kueue keeps a rather than b: holders of the
// finalizer first, then those not gated, then the oldest.
func keptBefore(a, b *Pod) bool {
	rank := func(p *Pod) int {
		n := 0
		if !p.Held {
			n += 2
		}
		if p.Phase == Gated {
			n++
		}
		return n
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID)) < 0
}

// release takes the finalizer off at most n dead members.
func release(s *State, g group, n int) {
	for _, i := range g.members {
		if p := &s.Pods[i]; n > 0 && !p.active() && p.Held {
			p.Held = false
			n--
		}
	}
}

// ungate starts the Pods of an admitted Workload.
func ungate(s *State, wl *Workload) {
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Phase == Gated && !p.Deleting && slices.Contains(wl.Owners, p.ID) {
			p.Phase = Starting
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"slices"
)

// knowledge is what a pass makes of the Pods that it has read.
type knowledge struct {
	// outcomes are the numbers of what is decided, for all Workloads that may be
	// read; writes is the first.
	outcomes []byte
	writes   []Write
	varies   bool
	// creates are the roles of which something may be created.
	creates uint16
	// violates: some of them must not be decided.
	violates bool
}

// alike returns the hand that stands for all from which the same is decided,
// whatever Workloads are read. A pass that has read the Pods does nothing with
// them but decide, so nothing can tell such hands apart: which writes a decision
// comes to is all that counts. A decision that does not depend on Workloads
// might as well be made at once. One that must not be made is reported as it was
// met.
func (p *parts) alike(n uint32) uint32 {
	a := p.hands.all[n].agent
	if a.Stage != Reading {
		return n
	}
	k, names := p.know(a)
	switch {
	case k.violates:
		return n
	case k.varies || slices.ContainsFunc(k.writes, p.nowhere):
		key := slices.Concat(names, k.outcomes)
		return p.classes.all[p.classes.number(key, func() uint32 { return n })]
	case len(k.writes) == 0:
		return p.handNumber(Agent{})
	}
	return p.handNumber(Agent{Stage: Writing, Writes: k.writes})
}

// know is what is decided by a hand, and the names of the versions that it would
// create, which make no other difference.
func (p *parts) know(a Agent) (k knowledge, names []byte) {
	versions := make([]renaming, len(p.w.Roles))
	for r := range versions {
		names = append(names, a.Spec.Roles[r].Version)
		for i := range versions[r] {
			versions[r][i] = 3
		}
	}
	a = renameAgent(a, versions)
	e := p.codec
	e.buf = e.buf[:0]
	e.agent(p.w, &a)
	known := p.known.number(slices.Clone(e.buf), func() (k knowledge) {
		s := &State{Agent: a}
		s.Pods = a.Pods
		p.tryWorkloads(s, 0, func() {
			d := p.w.decide(s)
			k.violates = k.violates || p.w.Decided != nil && p.w.Decided(s, d) != nil
			n := len(k.outcomes)
			k.outcomes = binary.LittleEndian.AppendUint16(k.outcomes, uint16(p.outcome(d.Writes)))
			if n == 0 {
				k.writes = d.Writes
			}
			for i := range d.Writes {
				if d.Writes[i].Kind == Create {
					k.creates |= 1 << d.Writes[i].Role
				}
			}
			k.varies = k.varies || !slices.Equal(k.outcomes[n:], k.outcomes[:2])
		})
		return k
	})
	k = p.known.all[known]
	for r := range names {
		if k.creates&(1<<r) == 0 {
			names[r] = 0
		}
	}
	return k, names
}

// tryWorkloads puts all combinations of Workloads into a state.
func (p *parts) tryWorkloads(s *State, at int, try func()) {
	if at == len(p.places) {
		try()
		return
	}
	before := s.Workloads
	p.tryWorkloads(s, at+1, try)
	for _, wl := range p.workloads(at) {
		s.Workloads = append(slices.Clip(before), wl)
		p.tryWorkloads(s, at+1, try)
	}
	s.Workloads = before
}

// nowhere reports whether a write is about no object that there can be.
func (p *parts) nowhere(write Write) bool {
	if write.Kind != WriteDeletePod && write.Kind != WriteDeleteWorkload {
		return false
	}
	at, _ := p.target(write.ID, write.Kind)
	return at < 0
}

// outcome is the number of what a decision comes to.
func (p *parts) outcome(writes []Write) uint32 {
	e := p.codec
	e.buf = e.buf[:0]
	writes = p.sorted(writes)
	for i := range writes {
		e.write(&writes[i])
	}
	return p.outcomes.number(e.buf, func() (_ struct{}) { return })
}

// workloads are all that a decision can tell apart in a place.
func (p *parts) workloads(at int) []Workload {
	if p.possible == nil {
		p.possible = make([][]Workload, len(p.places))
	}
	if p.possible[at] != nil {
		return p.possible[at]
	}
	place := p.places[at]
	size := p.w.Roles[place.role].Size
	var out []Workload
	for owners := 1; owners < 1<<size; owners++ {
		for flags := range 5 {
			wl := Workload{ID: place.workload(), Role: place.role, Ordinal: place.ordinal}
			for m := range size {
				if owners&(1<<m) != 0 {
					wl.Owners = append(wl.Owners, place.first+ID(m))
				}
			}
			if wl.Deleting = flags == 4; !wl.Deleting {
				wl.Admitted, wl.Evicted = flags&1 != 0, flags&2 != 0
			}
			out = append(out, wl)
		}
	}
	p.possible[at] = out
	return out
}

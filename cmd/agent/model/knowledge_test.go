// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"slices"
)

// alike returns the hand that stands for all from which the same is decided,
// whatever Workloads are read. A pass that has read the Pods does nothing with
// them but decide, so nothing can tell such hands apart: which writes a decision
// comes to is all that counts. Every Workload that there may be is tried. A
// decision that does not depend on them might as well be made at once.
func (p *parts) alike(n uint32) uint32 {
	a := p.hands.all[n].agent
	if a.Stage != Reading {
		return n
	}
	key := make([]byte, 0, 256)
	s := &State{Agent: a}
	s.Pods = a.Pods
	var first uint32
	var writes []Write
	varies := false
	var try func(at int) bool
	try = func(at int) bool {
		if at == len(p.places) {
			d := p.w.decide(s)
			if p.w.Decided != nil && p.w.Decided(s, d) != nil {
				return false
			}
			n := p.outcome(d.Writes)
			if len(key) == 0 {
				first, writes = n, d.Writes
			}
			varies = varies || n != first
			key = binary.AppendUvarint(key, uint64(n))
			return true
		}
		before := s.Workloads
		defer func() { s.Workloads = before }()
		if !try(at + 1) {
			return false
		}
		for _, wl := range p.workloads(at) {
			if s.Workloads = append(slices.Clip(before), wl); !try(at + 1) {
				return false
			}
		}
		return true
	}
	if !try(0) {
		return n // what is forbidden is reported as it was met
	}
	switch {
	case varies || slices.ContainsFunc(writes, p.nowhere):
	case len(writes) == 0:
		return p.handNumber(Agent{})
	default:
		return p.handNumber(Agent{Stage: Writing, Writes: writes})
	}
	return p.classes.all[p.classes.number(key, func() uint32 { return n })]
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

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

// key is a state as the numbers of its parts, from the low bits up: the ground,
// the agent, and a cell for every place.
type key uint64

const (
	groundBits = 13
	agentBits  = 21
	cellsFrom  = groundBits + agentBits
	// readBits are for what a decision reads of a cell.
	readBits = 14
)

// ground is what people and the cluster have to do with beside the groups: what
// is declared, what the cache knows of that, and the room there is.
type ground struct {
	spec, cache  Spec
	capacity     [MaxRoles]int16
	stolen, pool int16
	// declared is the number of the ground but for the cache, cached that of the
	// cache.
	declared, cached uint32
}

// hand is what a pass has in hand.
type hand struct {
	agent Agent
	// pending are, for every place, the objects that it is about to delete, next
	// the writes that may be done now.
	pending []uint8
	next    []nextWrite
	// creates tells at which places members are about to be created.
	creates uint8
}

// nextWrite is a write by its position, and where it goes; -1: to no place.
type nextWrite struct {
	n  int16
	at int
}

// cell is one group: its Pods and its Workload.
type cell struct {
	pods      []Pod
	workloads []Workload
	// seen is the number of what a decision reads of it, truth of what is read
	// late, and of what an invariant compares that with.
	seen, truth uint32
	// deletable are the objects that are not on their way out.
	deletable uint8
	// It waits for quota, or for the others, or holds quota.
	wants, waits, holds bool
}

// theWorkload is the bit of a Workload beside those of the Pods of its group.
const theWorkload = 1 << 7

// place is where a group may be.
type place struct {
	role, ordinal int16
	first         ID // of its Pods
}

func (p place) workload() ID { return 100 + p.first }

// parts takes states apart and puts them together again. Two states have the
// same parts when they differ only in what nothing can tell apart:
//
//   - IDs: there is at most one Pod on a seat, so the seat names it.
//   - Versions: of a Pod it matters whether it has that of the spec, that of the
//     spec in the cache, or neither, and whether it ever starts. An edit always
//     makes a new one.
//   - Of a Pod on its way out: neither its version nor whether it is Ready.
//   - What a pass remembers of Pods: only what a decision reads is kept.
//   - Deletes under way of what is gone or on its way out: they do nothing.
type parts struct {
	w      *World
	events Budget
	codec  *codec
	places []place
	// width is how many bits of a key a cell has.
	width   int
	grounds table[ground]
	hands   table[hand]
	cells   []table[cell] // by place
	// What is only numbered: see ground, cell and knowledge.
	declared, cached, outcomes table[struct{}]
	seen, truth                []table[struct{}]
	// Which hand stands for which: see alike.
	alikes  []uint32
	classes table[uint32]
	known   table[knowledge]
	// possible are the Workloads of each place.
	possible [][]Workload
	// drops are the hands after deletes have become void.
	drops map[[3]uint32]uint32
}

// table numbers values.
type table[T any] struct {
	all   []T
	index map[string]uint32
}

func (t *table[T]) number(key []byte, value func() T) uint32 {
	n, ok := t.index[string(key)]
	if !ok {
		if t.index == nil {
			t.index = map[string]uint32{}
		}
		n = uint32(len(t.all))
		t.all = append(t.all, value())
		t.index[string(key)] = n
	}
	return n
}

// newParts is for worlds with so many ordinals in each role.
func newParts(w *World, ordinals int16, events Budget) *parts {
	p := &parts{w: w, events: events, codec: newCodec(maphash.MakeSeed()), drops: map[[3]uint32]uint32{}}
	next := ID(1)
	for r, role := range w.Roles {
		for n := range ordinals {
			p.places = append(p.places, place{int16(r), n, next})
			next += ID(role.Size)
		}
	}
	p.width = (64 - cellsFrom) / len(p.places)
	n := len(p.places)
	p.cells, p.seen, p.truth = make([]table[cell], n), make([]table[struct{}], n), make([]table[struct{}], n)
	return p
}

func (p *parts) at(role, ordinal int16) int {
	return slices.IndexFunc(p.places, func(at place) bool { return at.role == role && at.ordinal == ordinal })
}

func (p *parts) ground(k key) uint32 { return uint32(k & (1<<groundBits - 1)) }

func (p *parts) hand(k key) uint32 { return uint32(k>>groundBits) & (1<<agentBits - 1) }

func (p *parts) cell(k key, at int) uint32 {
	return uint32(k>>(cellsFrom+at*p.width)) & (1<<p.width - 1)
}

func (p *parts) withGround(k key, g uint32) key { return k&^(1<<groundBits-1) | key(g) }

func (p *parts) withHand(k key, h uint32) key {
	return k&^((1<<agentBits-1)<<groundBits) | key(h)<<groundBits
}

func (p *parts) withCell(k key, at int, c uint32) key {
	shift := cellsFrom + at*p.width
	return k&^(key(1<<p.width-1)<<shift) | key(c)<<shift
}

// join is the state of a key.
func (p *parts) join(k key) *State {
	g := &p.grounds.all[p.ground(k)]
	s := &State{Capacity: g.capacity, Cache: View{Spec: g.cache}, Agent: p.hands.all[p.hand(k)].agent, Left: p.events, next: 1000}
	s.Spec = g.spec
	s.Left.Stolen, s.Left.Pool = g.stolen, g.pool
	for at := range p.places {
		l := &p.cells[at].all[p.cell(k, at)]
		s.Pods, s.Workloads = append(s.Pods, l.pods...), append(s.Workloads, l.workloads...)
	}
	return s
}

// split is the key of a state.
func (p *parts) split(s *State) (key, error) {
	versions := p.versions(s)
	ids := map[ID]ID{}
	cells := make([]cell, len(p.places))
	for _, pod := range s.Pods {
		at := p.at(pod.Role, pod.Ordinal)
		id := p.places[at].first + ID(pod.Member)
		if slices.ContainsFunc(cells[at].pods, func(other Pod) bool { return other.ID == id }) {
			return 0, violated(oneGroupAtATime, "two Pods on seat %d/%d/%d", pod.Role, pod.Ordinal, pod.Member)
		}
		ids[pod.ID] = id
		pod.ID, pod.Version = id, versions.of(pod.Role, pod.Version)
		if pod.Deleting {
			pod.Version = names[0]
			if pod.running() {
				pod.Phase = Starting
			}
		}
		cells[at].pods = append(cells[at].pods, pod)
	}
	for _, pod := range s.Agent.Pods {
		if ids[pod.ID] == 0 {
			ids[pod.ID] = p.places[p.at(pod.Role, pod.Ordinal)].first + ID(pod.Member)
		}
	}
	for _, wl := range s.Workloads {
		at := p.at(wl.Role, wl.Ordinal)
		ids[wl.ID] = p.places[at].workload()
		wl.ID = p.places[at].workload()
		wl.Owners = slices.Clone(wl.Owners)
		for i, id := range wl.Owners {
			wl.Owners[i] = p.owner(at, i, id, ids)
		}
		slices.Sort(wl.Owners)
		cells[at].workloads = append(cells[at].workloads, wl)
	}
	k := p.withGround(0, p.groundNumber(ground{
		spec: versions.spec(s.Spec), cache: versions.spec(s.Cache.Spec),
		capacity: s.Capacity, stolen: s.Left.Stolen, pool: s.Left.Pool,
	}))
	for at := range cells {
		slices.SortFunc(cells[at].pods, comparePods)
		k = p.withCell(k, at, p.cellNumber(at, cells[at].pods, cells[at].workloads))
	}
	agent := Agent{Stage: s.Agent.Stage}
	switch s.Agent.Stage {
	case Reading:
		agent.Spec = versions.spec(s.Agent.Spec)
		for _, pod := range s.Agent.Pods {
			match := pod.Version == s.Agent.Spec.Roles[pod.Role].Version
			if pod.ID = p.places[p.at(pod.Role, pod.Ordinal)].first + ID(pod.Member); match {
				pod.Version = agent.Spec.Roles[pod.Role].Version
			} else {
				pod.Version = 0
			}
			agent.Pods = append(agent.Pods, read(pod))
		}
		slices.SortFunc(agent.Pods, comparePods)
	case Writing:
		for _, write := range s.Agent.Writes {
			switch write.Kind {
			case Create:
				write.Version = versions.of(write.Role, write.Version)
			case WriteDeletePod, WriteDeleteWorkload:
				id, ok := ids[write.ID]
				if !ok {
					continue // it is gone
				}
				write.ID = id
			}
			agent.Writes = append(agent.Writes, write)
		}
		if len(agent.Writes) == 0 {
			agent = Agent{}
		}
	}
	k = p.withHand(k, p.handNumber(agent))
	for at := range p.places {
		k = p.drop(k, at)
	}
	return k, nil
}

// owner names the i-th owner of a Workload: by its seat, also when it is gone.
// Whether nobody remembers the seat makes no difference then.
func (p *parts) owner(at, i int, id ID, ids map[ID]ID) ID {
	if seat, ok := ids[id]; ok {
		return seat
	}
	if place, _ := p.target(id, WriteDeletePod); place == at {
		return id
	}
	return p.places[at].first + ID(i)
}

// target is the place and the bit of an object; the place is -1 when there can be
// no such object.
func (p *parts) target(id ID, kind WriteKind) (at int, bit uint8) {
	for at, place := range p.places {
		switch n := id - place.first; {
		case kind == WriteDeleteWorkload:
			if id == place.workload() {
				return at, theWorkload
			}
		case id >= place.first && n < ID(p.w.Roles[place.role].Size):
			return at, 1 << n
		}
	}
	return -1, 0
}

// drop takes the deletes that would do nothing out of what a pass has in hand.
func (p *parts) drop(k key, at int) key {
	h, deletable := p.hand(k), p.cells[at].all[p.cell(k, at)].deletable
	if p.hands.all[h].pending[at]&^deletable == 0 {
		return k
	}
	id := [3]uint32{h, uint32(at), uint32(deletable)}
	to, ok := p.drops[id]
	if !ok {
		a := p.hands.all[h].agent
		a.Writes = slices.DeleteFunc(slices.Clone(a.Writes), func(write Write) bool {
			if write.Kind != WriteDeletePod && write.Kind != WriteDeleteWorkload {
				return false
			}
			place, bit := p.target(write.ID, write.Kind)
			return place == at && deletable&bit == 0
		})
		if len(a.Writes) == 0 {
			a = Agent{}
		}
		to = p.handNumber(a)
		p.drops[id] = to
	}
	return p.withHand(k, to)
}

func (p *parts) groundNumber(g ground) uint32 {
	e := p.codec
	e.buf = e.buf[:0]
	e.spec(p.w, &g.cache)
	cached := p.cached.number(e.buf, func() (_ struct{}) { return })
	e.buf = e.buf[:0]
	e.spec(p.w, &g.spec)
	e.buf = append(e.buf, byte(g.stolen), byte(g.pool))
	declared := p.declared.number(e.buf, func() (_ struct{}) { return })
	e.spec(p.w, &g.cache)
	return p.grounds.number(e.buf, func() ground {
		g.declared, g.cached = declared, cached
		return g
	})
}

// handNumber is the number of a hand, or of one like it.
func (p *parts) handNumber(a Agent) uint32 {
	e := p.codec
	e.buf = e.buf[:0]
	a.Writes = p.sorted(a.Writes)
	e.agent(p.w, &a)
	n := p.hands.number(e.buf, func() hand { return p.newHand(a) })
	if int(n) == len(p.alikes) {
		p.alikes = append(p.alikes, n)
		like := p.alike(n)
		p.alikes[n] = like
	}
	return p.alikes[n]
}

// sorted brings writes that may be done in any order into one.
func (p *parts) sorted(writes []Write) []Write {
	writes = slices.Clone(writes)
	slices.SortStableFunc(writes, func(a, b Write) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Role, b.Role),
			cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Member, b.Member))
	})
	for i := range writes {
		writes[i].Cause = ""
	}
	return writes
}

func (p *parts) newHand(a Agent) hand {
	h := hand{agent: a, pending: make([]uint8, len(p.places))}
	for i, write := range a.Writes {
		at := -1
		switch write.Kind {
		case WriteDeletePod, WriteDeleteWorkload:
			var bit uint8
			at, bit = p.target(write.ID, write.Kind)
			h.pending[at] |= bit
		case Create:
			at = p.at(write.Role, write.Ordinal)
			h.creates |= 1 << at
		}
		if p.w.next(a.Writes, i) {
			h.next = append(h.next, nextWrite{int16(i), at})
		}
	}
	return h
}

func (p *parts) cellNumber(at int, pods []Pod, workloads []Workload) uint32 {
	e := p.codec
	e.buf = e.buf[:0]
	e.podBytes(pods)
	e.workloadBytes(workloads)
	return p.cells[at].number(slices.Clone(e.buf), func() cell {
		c := cell{pods: pods, workloads: workloads}
		var seen, truth []Pod
		for i := range pods {
			if !pods[i].Deleting {
				c.deletable |= 1 << (pods[i].ID - p.places[at].first)
			}
			seen = append(seen, read(pods[i]))
			truth = append(truth, Pod{ID: pods[i].ID, Deleting: pods[i].Deleting})
		}
		for i := range workloads {
			wl := &workloads[i]
			if c.holds = wl.Reserved; !wl.Deleting {
				c.deletable |= theWorkload
				c.wants, c.waits = !wl.Reserved, wl.Reserved && !wl.Admitted && !wl.Evicted
			}
		}
		number := func(t *table[struct{}], pods []Pod) uint32 {
			e.buf = e.buf[:0]
			e.podBytes(pods)
			e.workloadBytes(workloads)
			return t.number(e.buf, func() (_ struct{}) { return })
		}
		c.seen, c.truth = number(&p.seen[at], seen), number(&p.truth[at], truth)
		return c
	})
}

// read is what a decision reads of a Pod. Of one on its way out that is whether
// Kueue holds it, and whether it may still run on a lost node.
func read(p Pod) Pod {
	p.Preempted = false
	p.Held = p.Held && p.Deleting
	switch {
	case p.Deleting:
		p.Phase, p.Version, p.Uncached = Starting, 0, false
	case p.Phase == Gated:
		p.Phase = Starting
	case p.Phase == Succeeded:
		p.Phase = Failed
	}
	return p
}

// versions tells how versions are named: 3 is that of the spec, 2 that of the
// spec in the cache, 1 is any other.
type versions struct{ api, cache [MaxRoles]uint8 }

func (p *parts) versions(s *State) (v versions) {
	for r := range p.w.Roles {
		v.api[r], v.cache[r] = s.Spec.Roles[r].Version, s.Cache.Spec.Roles[r].Version
	}
	return v
}

func (v *versions) of(role int16, version uint8) uint8 {
	name := uint8(1)
	switch version {
	case v.api[role]:
		name = 3
	case v.cache[role]:
		name = 2
	}
	if version >= brokenFrom {
		name += brokenFrom
	}
	return name
}

func (v *versions) spec(s Spec) Spec {
	for r := range s.Roles {
		s.Roles[r].Version = v.of(int16(r), s.Roles[r].Version)
	}
	return s
}

// names are those that of returns.
var names = [...]uint8{1, 2, 3, 1 + brokenFrom, 2 + brokenFrom, 3 + brokenFrom}

// renaming is what becomes of the names of versions of one role.
type renaming [len(names)]uint8

func (r *renaming) of(version uint8) uint8 { return r[slices.Index(names[:], version)] }

// renameCell is a cell after its versions have got other names.
func (p *parts) renameCell(at int, n uint32, to []renaming) uint32 {
	pods := slices.Clone(p.cells[at].all[n].pods)
	for i := range pods {
		pods[i].Version = to[pods[i].Role].of(pods[i].Version)
	}
	return p.cellNumber(at, pods, p.cells[at].all[n].workloads)
}

// renameHand is what a pass has in hand after versions have got other names.
func (p *parts) renameHand(n uint32, to []renaming) uint32 {
	return p.handNumber(renameAgent(p.hands.all[n].agent, to))
}

func renameAgent(a Agent, to []renaming) Agent {
	if a.Stage == Reading {
		for r := range to {
			a.Spec.Roles[r].Version = to[r].of(a.Spec.Roles[r].Version)
		}
		a.Pods = slices.Clone(a.Pods)
		for i := range a.Pods {
			if a.Pods[i].Version != 0 {
				a.Pods[i].Version = a.Spec.Roles[a.Pods[i].Role].Version
			}
		}
	}
	a.Writes = slices.Clone(a.Writes)
	for i := range a.Writes {
		if w := &a.Writes[i]; w.Kind == Create {
			w.Version = to[w.Role].of(w.Version)
		}
	}
	return a
}

// holders tells which places hold quota.
func (p *parts) holders(k key) (mask uint8) {
	for at := range p.places {
		if p.cells[at].all[p.cell(k, at)].holds {
			mask |= 1 << at
		}
	}
	return mask
}

// overflow reports whether numbers have outgrown the key.
func (p *parts) overflow() bool {
	for at := range p.cells {
		if bits.Len(uint(len(p.cells[at].all))) > p.width || len(p.seen[at].all) >= 1<<readBits || len(p.truth[at].all) >= 1<<readBits {
			return true
		}
	}
	return len(p.outcomes.all) > math.MaxUint16 || bits.Len(uint(len(p.grounds.all))) > groundBits || bits.Len(uint(len(p.hands.all))) > agentBits
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// mirror is a way to exchange what is alike in a world: the members of an
// instance, or whole roles. Kueue, kubelets and nodes make no difference between
// them. The agent creates members in order, and what it decides may depend on
// their order; so what it would do in any mirror of a state counts as something
// that it may do. Then what may happen to a state and to its mirror is the same
// but for the names, and only one of them is gone through.
type mirror struct {
	// roles is what a role becomes, flips the places whose members are exchanged.
	roles []int16
	flips uint8
	// What the parts become, by their numbers.
	grounds, hands []uint32
	cells          [][]uint32
}

// newMirrors returns all mirrors of a world but the one that changes nothing.
func newMirrors(p *parts) (out []mirror) {
	straight := make([]int16, len(p.w.Roles))
	for r := range straight {
		straight[r] = int16(r)
	}
	orders := [][]int16{straight}
	if len(p.w.Roles) == 2 && p.w.Roles[0].Size == p.w.Roles[1].Size {
		orders = append(orders, []int16{1, 0})
	}
	for _, roles := range orders {
		for flips := range uint8(1 << len(p.places)) {
			pairs := true
			for at, place := range p.places {
				pairs = pairs && (flips&(1<<at) == 0 || p.w.Roles[place.role].Size == 2)
			}
			if pairs && (flips != 0 || !slices.Equal(roles, straight)) {
				out = append(out, mirror{roles: roles, flips: flips, cells: make([][]uint32, len(p.places))})
			}
		}
	}
	return out
}

// canonical is the least of a state and its mirrors.
func (m *moves) canonical(k key) key {
	least := k
	for i := range m.mirrors {
		if to, ok := m.mirror(k, i); ok && to < least {
			least = to
		}
	}
	return least
}

// mirror is a state in a mirror. While the members of an instance are created,
// which is in order, they are not alike.
func (m *moves) mirror(k key, i int) (key, bool) {
	r := &m.mirrors[i]
	g, h := m.ground(k), m.hand(k)
	if m.hands.all[h].creates&r.flips != 0 {
		return k, false
	}
	if !known(&r.grounds, g) {
		r.grounds[g] = m.mirrorGround(g, r)
	}
	if !known(&r.hands, h) {
		n := m.mirrorHand(h, r)
		r.hands[h] = n
	}
	to := m.withHand(m.withGround(0, r.grounds[g]), r.hands[h])
	for at, place := range m.places {
		n := m.cell(k, at)
		if !known(&r.cells[at], n) {
			r.cells[at][n] = m.mirrorCell(at, n, r)
		}
		to = m.withCell(to, m.at(r.roles[place.role], place.ordinal), r.cells[at][n])
	}
	return to, true
}

func (r *mirror) spec(s Spec) Spec {
	out := s
	for from, to := range r.roles {
		out.Roles[to] = s.Roles[from]
	}
	return out
}

// mirrorPod is a Pod in a mirror.
func (p *parts) mirrorPod(pod Pod, r *mirror) Pod {
	pod.ID = p.mirrorID(pod.ID, r)
	at := p.at(pod.Role, pod.Ordinal)
	pod.Role = r.roles[pod.Role]
	if r.flips&(1<<at) != 0 {
		pod.Member = 1 - pod.Member
	}
	return pod
}

// mirrorID is what the seat or the Workload that an ID names is in a mirror.
func (p *parts) mirrorID(id ID, r *mirror) ID {
	kind := WriteDeletePod
	if id > 100 {
		kind = WriteDeleteWorkload
	}
	at, bit := p.target(id, kind)
	to := p.places[p.at(r.roles[p.places[at].role], p.places[at].ordinal)]
	switch {
	case kind == WriteDeleteWorkload:
		return to.workload()
	case (r.flips&(1<<at) != 0) == (bit == 1):
		return to.first + 1
	}
	return to.first
}

func (p *parts) mirrorPods(pods []Pod, r *mirror) []Pod {
	pods = slices.Clone(pods)
	for i := range pods {
		pods[i] = p.mirrorPod(pods[i], r)
	}
	slices.SortFunc(pods, comparePods)
	return pods
}

func (p *parts) mirrorGround(n uint32, r *mirror) uint32 {
	g := p.grounds.all[n]
	g.spec, g.cache = r.spec(g.spec), r.spec(g.cache)
	return p.groundNumber(g)
}

func (p *parts) mirrorHand(n uint32, r *mirror) uint32 {
	a := p.hands.all[n].agent
	a.Spec = r.spec(a.Spec)
	a.Pods = p.mirrorPods(a.Pods, r)
	a.Writes = slices.Clone(a.Writes)
	for i := range a.Writes {
		switch w := &a.Writes[i]; w.Kind {
		case WriteDeletePod, WriteDeleteWorkload:
			w.ID = p.mirrorID(w.ID, r)
		case Create:
			w.Role = r.roles[w.Role]
		}
	}
	return p.handNumber(a)
}

func (p *parts) mirrorCell(at int, n uint32, r *mirror) uint32 {
	c := &p.cells[at].all[n]
	workloads := slices.Clone(c.workloads)
	for i := range workloads {
		wl := &workloads[i]
		wl.ID, wl.Role = p.mirrorID(wl.ID, r), r.roles[wl.Role]
		wl.Owners = slices.Clone(wl.Owners)
		for j := range wl.Owners {
			wl.Owners[j] = p.mirrorID(wl.Owners[j], r)
		}
		slices.Sort(wl.Owners)
	}
	place := p.places[at]
	return p.cellNumber(p.at(r.roles[place.role], place.ordinal), p.mirrorPods(c.pods, r), workloads)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// codec brings states into a form in which equal ones are equal: IDs are
// numbered by where they are first met.
type codec struct {
	seed            maphash.Seed
	buf             []byte
	pods, workloads numbering
	next            ID
}

func newCodec(seed maphash.Seed) *codec {
	return &codec{seed: seed}
}

func comparePods(a, b Pod) int {
	return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Member, b.Member), cmp.Compare(a.ID, b.ID))
}

func compareWorkloads(a, b Workload) int {
	return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.ID, b.ID))
}

// canonical renumbers a state.
func (c *codec) canonical(s *State) *State {
	c.pods, c.workloads, c.next = c.pods[:0], c.workloads[:0], 0
	n := *s
	n.View = c.view(s.View)
	if sameSlice(s.Cache.Pods, s.Pods) && s.Cache.Spec == s.Spec && sameSlice(s.Cache.Workloads, s.Workloads) {
		n.Cache = n.View
	} else {
		n.Cache = c.view(s.Cache)
	}
	n.Agent.Pods = c.podList(s.Agent.Pods)
	if len(s.Agent.Writes) > 0 {
		n.Agent.Writes = slices.Clone(s.Agent.Writes)
		for i := range n.Agent.Writes {
			w := &n.Agent.Writes[i]
			switch w.Kind {
			case WriteDeletePod:
				w.ID = c.number(&c.pods, w.ID)
			case WriteDeleteWorkload:
				w.ID = c.number(&c.workloads, w.ID)
			}
		}
	}
	n.next = c.next
	return &n
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// numbering is what a few IDs are renumbered to.
type numbering []struct{ old, new ID }

func (c *codec) number(m *numbering, id ID) ID {
	for _, e := range *m {
		if e.old == id {
			return e.new
		}
	}
	c.next++
	*m = append(*m, struct{ old, new ID }{id, c.next})
	return c.next
}

func (c *codec) view(v View) View {
	pods := c.podList(v.Pods)
	workloads := slices.Clone(v.Workloads)
	slices.SortFunc(workloads, compareWorkloads)
	for i := range workloads {
		w := &workloads[i]
		w.ID = c.number(&c.workloads, w.ID)
		w.Owners = slices.Clone(w.Owners)
		slices.Sort(w.Owners)
		for j := range w.Owners {
			w.Owners[j] = c.number(&c.pods, w.Owners[j])
		}
		slices.Sort(w.Owners)
	}
	return View{v.Spec, pods, workloads}
}

func (c *codec) podList(pods []Pod) []Pod {
	if len(pods) == 0 {
		return nil
	}
	pods = slices.Clone(pods)
	slices.SortFunc(pods, comparePods)
	for i := range pods {
		pods[i].ID = c.number(&c.pods, pods[i].ID)
	}
	return pods
}

// hash is that of a canonical state.
func (c *codec) hash(w *World, s *State) uint64 {
	c.buf = c.buf[:0]
	c.spec(w, &s.Spec)
	c.podBytes(s.Pods)
	c.workloadBytes(s.Workloads)
	c.spec(w, &s.Cache.Spec)
	c.podBytes(s.Cache.Pods)
	c.workloadBytes(s.Cache.Workloads)
	c.buf = append(c.buf, s.Left.Events, byte(s.Left.Stolen), byte(s.Left.Pool))
	c.buf = append(c.buf, s.Left.Of[:]...)
	for i := range w.Pools {
		c.buf = append(c.buf, byte(s.Capacity[i]))
	}
	c.agent(w, &s.Agent)
	return maphash.Bytes(c.seed, c.buf)
}

func (c *codec) agent(w *World, a *Agent) {
	c.buf = append(c.buf, byte(a.Stage))
	if a.Stage == Reading {
		c.spec(w, &a.Spec)
		c.podBytes(a.Pods)
	}
	for i := range a.Writes {
		c.write(&a.Writes[i])
	}
}

func (c *codec) write(w *Write) {
	c.buf = append(c.buf, byte(w.Kind), byte(w.ID), byte(w.Role), byte(w.Ordinal), byte(w.Member), w.Version, bit(w.Uncached))
}

// key is that of what a decision is made from.
func (c *codec) key(w *World, s *Snapshot) []byte {
	c.buf = append(c.buf[:0], bit(s.Live))
	c.spec(w, &s.Spec)
	c.podBytes(s.Pods)
	c.workloadBytes(s.Workloads)
	return c.buf
}

func (c *codec) spec(w *World, s *Spec) {
	for i := range w.Roles {
		r := &s.Roles[i]
		c.buf = append(c.buf, byte(r.Replicas), r.Version, byte(r.Settled), bit(r.Stale))
	}
	c.buf = append(c.buf, bit(s.Deleting, s.Gone, s.Finalizer, s.StoreLost, s.WeightsBlocked))
}

func (c *codec) podBytes(pods []Pod) {
	c.buf = append(c.buf, byte(len(pods)))
	for i := range pods {
		p := &pods[i]
		c.buf = append(c.buf, byte(p.ID), byte(p.Role), byte(p.Ordinal), byte(p.Member), p.Version, byte(p.Phase),
			bit(p.Uncached, p.Deleting, p.Held, p.Lost, p.Preempted, p.Foreign, p.Abandoned))
	}
}

func (c *codec) workloadBytes(workloads []Workload) {
	c.buf = append(c.buf, byte(len(workloads)))
	for i := range workloads {
		w := &workloads[i]
		c.buf = append(c.buf, byte(w.ID), byte(w.Role), byte(w.Ordinal), bit(w.Reserved, w.Admitted, w.Evicted, w.Deleting, w.Parked), byte(len(w.Owners)))
		for _, id := range w.Owners {
			c.buf = append(c.buf, byte(id))
		}
	}
}

func bit(flags ...bool) (b byte) {
	for i, f := range flags {
		if f {
			b |= 1 << i
		}
	}
	return b
}

// remember spares deciding twice from the same snapshot. It is for one
// goroutine.
func remember(decide Decider) Decider {
	known := map[string]Outcome{}
	c := newCodec(maphash.MakeSeed())
	return func(w *World, s *Snapshot) Outcome {
		key := c.key(w, s)
		if out, ok := known[string(key)]; ok {
			return out
		}
		k := string(key)
		out := decide(w, s)
		if len(known) > 2_000_000 {
			clear(known)
		}
		known[k] = out
		return out
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"strings"
	"sync"
)

// search goes through every state that can be reached, breadth first, one by
// one and without any reduction. It is what the product is held against, and for
// caches that lag kind by kind.
type search struct {
	world func() *World
	seed  maphash.Seed
	index map[uint64]uint32
	// Of every state: where it was reached from and how, and the state that the
	// good scheduler goes to.
	parents []uint32
	steps   []Step
	good    []uint32
	start   []*State
	// most ends the search when it has met so many states; zero: never.
	most int
	// cut: it has ended so.
	cut         bool
	transitions int
	// met is told every state; nil: nobody is.
	met func(*State)
}

const none = ^uint32(0)

// reached is a state and its number.
type reached struct {
	state *State
	n     uint32
}

// found is what one state leads to.
type found struct {
	from  uint32
	next  []*State
	hash  []uint64
	steps []Step
	good  uint64
	rest  bool
	err   error
}

// run explores from the given states. An error tells the steps that lead to it.
func (x *search) run(start ...*State) error {
	x.seed = maphash.MakeSeed()
	x.index = map[uint64]uint32{}
	c, w := newCodec(x.seed), x.world()
	var frontier []reached
	for _, s := range start {
		s = c.canonical(s)
		if n, fresh := x.add(c.hash(w, s), none, Step{}); fresh {
			frontier = append(frontier, reached{s, n})
			x.start = append(x.start, s)
		}
	}
	workers := runtime.GOMAXPROCS(0)
	jobs, results := make(chan []reached), make(chan []found, workers)
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			c, w := newCodec(x.seed), x.world()
			for batch := range jobs {
				out := make([]found, len(batch))
				for i, r := range batch {
					out[i] = expand(c, w, r)
				}
				results <- out
			}
		})
	}
	defer done.Wait()
	defer close(jobs)
	for len(frontier) > 0 {
		var next []reached
		var failed error
		sent, received := 0, 0
		batches := split(frontier, 256)
		for received < len(batches) {
			var job []reached
			send := jobs
			if sent < len(batches) {
				job = batches[sent]
			} else {
				send = nil
			}
			select {
			case send <- job:
				sent++
			case out := <-results:
				received++
				for i := range out {
					more, err := x.merge(&out[i])
					if failed == nil {
						failed = err
					}
					next = append(next, more...)
				}
			}
		}
		if failed != nil {
			return failed
		}
		if x.most > 0 && len(x.parents) > x.most {
			x.cut = true
			return nil
		}
		frontier = next
	}
	return x.terminates()
}

func split(all []reached, size int) (out [][]reached) {
	for len(all) > size {
		out = append(out, all[:size])
		all = all[size:]
	}
	return append(out, all)
}

func (x *search) add(hash uint64, from uint32, st Step) (n uint32, fresh bool) {
	if n, ok := x.index[hash]; ok {
		return n, false
	}
	n = uint32(len(x.parents))
	x.index[hash] = n
	x.parents = append(x.parents, from)
	x.steps = append(x.steps, st)
	x.good = append(x.good, none)
	return n, true
}

// expand takes every step from a state.
func expand(c *codec, w *World, r reached) (f found) {
	f.from = r.n
	if f.err = w.judgeState(r.state); f.err != nil {
		return f
	}
	steps := w.Steps(r.state, nil)
	good, busy := w.goodStep(r.state, steps)
	if f.rest = !busy; f.rest {
		if f.err = w.judgeRest(r.state); f.err != nil {
			return f
		}
	}
	steps = w.Events(r.state, steps)
	for _, st := range steps {
		s, err := w.Apply(r.state, st)
		if err != nil {
			f.err, f.steps = err, []Step{st}
			return f
		}
		s = c.canonical(s)
		hash := c.hash(w, s)
		f.next, f.hash, f.steps = append(f.next, s), append(f.hash, hash), append(f.steps, st)
		if busy && st == good {
			f.good = hash
		}
	}
	return f
}

func (x *search) merge(f *found) (fresh []reached, err error) {
	if f.err != nil {
		return nil, fmt.Errorf("%w\n%s", f.err, x.trace(f.from, f.steps...))
	}
	x.transitions += len(f.next)
	for i, s := range f.next {
		if n, is := x.add(f.hash[i], f.from, f.steps[i]); is {
			fresh = append(fresh, reached{s, n})
			if x.met != nil {
				x.met(s)
			}
		}
	}
	x.good[f.from] = f.from // at rest
	if !f.rest {
		x.good[f.from] = x.index[f.good]
	}
	return fresh, nil
}

// terminates follows the good scheduler from every state: it must come to rest.
func (x *search) terminates() error {
	const (
		unknown = iota
		walking
		fine
	)
	mark := make([]byte, len(x.good))
	var path []uint32
	for i := range x.good {
		path = path[:0]
		n := uint32(i)
		for mark[n] == unknown {
			mark[n] = walking
			path = append(path, n)
			if x.good[n] == n {
				break
			}
			n = x.good[n]
		}
		if x.good[n] != n && mark[n] == walking {
			return fmt.Errorf("%w\n%s", violated(termination, "the same steps repeat for ever"), x.trace(n))
		}
		for _, n := range path {
			mark[n] = fine
		}
	}
	return nil
}

// goodStep is what a cluster does that eventually serves everything: what is
// disturbed is mended, the cache catches up, Kueue and the kubelets do their
// work, and then the agent does its own.
func (w *World) goodStep(s *State, steps []Step) (Step, bool) {
	rank := func(k Kind) int {
		switch {
		case k >= NodeBack && k <= ForeignLeaves:
			return 1
		case k >= SyncSpec && k <= SyncAll:
			return 2
		case k < NodeBack:
			return 3
		case k == Pass || k == ReadWorkloads || k == WriteOne:
			return 4
		}
		return 9
	}
	best, at := 9, -1
	for i, st := range steps {
		if r := rank(st.Kind); r < best {
			best, at = r, i
		}
	}
	if at < 0 || steps[at].Kind == Pass && !w.writing(s) {
		return Step{}, false
	}
	return steps[at], true
}

// writing reports whether a pass would write anything, and not only read.
func (w *World) writing(s *State) bool {
	d := w.decide(s)
	if d.NeedLive {
		d = &Decision{Snapshot: Snapshot{Spec: s.Cache.Spec, Pods: s.Pods, Workloads: s.Workloads, Live: true}}
		d.Outcome = w.Decide(w, &d.Snapshot)
	}
	return len(d.Writes) > 0
}

// trace tells how a state is reached.
func (x *search) trace(n uint32, more ...Step) string {
	var steps []Step
	for ; x.parents[n] != none; n = x.parents[n] {
		steps = append(steps, x.steps[n])
	}
	var b strings.Builder
	w, c := x.world(), newCodec(x.seed)
	s := x.start[n]
	for i := len(steps) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "  %v\n", steps[i])
		next, err := w.Apply(s, steps[i])
		if err != nil {
			break
		}
		s = c.canonical(next)
	}
	for _, st := range more {
		fmt.Fprintf(&b, "  %v\n", st)
	}
	b.WriteString(w.describe(s))
	return b.String()
}

func (w *World) describe(s *State) string {
	n := len(w.Roles)
	return fmt.Sprintf("  in the state\n    spec %+v\n    Pods %+v\n    Workloads %+v\n    cached spec %+v\n    cached Pods %+v\n    cached Workloads %+v\n    agent %d by spec %+v\n      Pods %+v\n      writes %+v",
		s.Spec.Roles[:n], s.Pods, s.Workloads, s.Cache.Spec.Roles[:n], s.Cache.Pods, s.Cache.Workloads,
		s.Agent.Stage, s.Agent.Spec.Roles[:n], s.Agent.Pods, s.Agent.Writes)
}

// invariantOf returns the invariant that an error is about.
func invariantOf(err error) string {
	var v *violation
	if errors.As(err, &v) {
		return v.invariant
	}
	return ""
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// full reports whether the long check is asked for.
func full() bool { return os.Getenv("MDC_MODEL") == "full" }

// small returns worlds of roles with a size each.
func small(sizes ...int16) func() *World {
	return func() *World {
		w := &World{Broken: NeverStarts, Pools: 1, Decide: remember(By(converge.Decide)), Aged: time.Hour}
		for i, size := range sizes {
			w.Roles = append(w.Roles, Role{Name: string(rune('a' + i)), Size: size, Cards: 1, Managed: true})
		}
		w.watch()
		return w
	}
}

// declared is a deployment that has just been created, with room for one more
// instance of each role.
func declared(w *World, replicas int16) *State {
	s := &State{}
	for i := range w.Roles {
		s.Spec.Roles[i].Replicas, s.Spec.Roles[i].Settled = replicas, replicas
		s.Capacity[0] += (replicas + 1) * w.Roles[i].Size
	}
	return s
}

// settled is where a state comes to rest when nothing disturbs it.
func settled(t *testing.T, w *World, s *State) *State {
	t.Helper()
	for range 10_000 {
		st, busy := w.goodStep(s, w.Steps(s, nil))
		if !busy {
			return s
		}
		var err error
		if s, err = w.Apply(s, st); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("does not come to rest")
	return nil
}

// How freely the parts of a world interleave. In each a write may fail and the
// agent may crash between any two.
var (
	// anyLag: each kind of object reaches the agent's cache on its own.
	anyLag = func(*World) {}
	// oneCache: the cache lags as a whole.
	oneCache = func(w *World) { w.OneCache = true }
	// lateSpec: only the spec lags.
	lateSpec = func(w *World) { w.FreshCache = true }
	// inOrder: and Kueue and kubelets take their steps in a fixed order.
	inOrder = func(w *World) { w.FreshCache, w.Ordered = true, true }
	// calm: and people wait until Kueue and kubelets have nothing left to do.
	calm = func(w *World) { w.FreshCache, w.Ordered, w.Calm = true, true, true }
	// pairwise: and after two events all comes to rest before the next.
	pairwise = func(w *World) { w.FreshCache, w.Ordered, w.Calm, w.Burst = true, true, true, 2 }
)

// What may happen from outside, each at most once.
var (
	usual      = []Kind{Edit, Scale, DeletePod, Evict, Preempt, LoseNode}
	disturbing = []Kind{Edit, EditBroken, Scale, DeletePod, FailPod, Evict, Preempt, DeleteWorkload, LoseNode}
)

// searches are the worlds that are gone through to the end.
var searches = []struct {
	name     string
	sizes    []int16
	replicas int16
	how      func(*World)
	joint    bool
	created  bool // starts with the creation, not with all Ready
	events   Budget
	long     bool // only in the full check
}{
	{name: "creation", sizes: []int16{1}, replicas: 2, how: anyLag, created: true},
	{name: "creation of a pair", sizes: []int16{2}, replicas: 1, how: anyLag, created: true},
	{name: "any lag, one event", sizes: []int16{1}, replicas: 2, how: anyLag, events: Allow(1, disturbing...)},
	{name: "any lag, one event, two roles", sizes: []int16{1, 1}, replicas: 1, how: anyLag, joint: true, events: Allow(1, disturbing...)},
	{name: "one cache, one event, two pairs", sizes: []int16{2}, replicas: 2, how: oneCache, events: Allow(1, usual...)},
	{name: "one cache, teardown", sizes: []int16{1}, replicas: 2, how: oneCache, events: Allow(1, DeleteDeployment)},
	{name: "late spec, two events", sizes: []int16{1}, replicas: 2, how: lateSpec, events: Allow(2, usual...)},
	{name: "pairwise, four events", sizes: []int16{1}, replicas: 2, how: pairwise, events: Allow(4, usual...)},

	{name: "any lag, one event, a pair", sizes: []int16{2}, replicas: 1, how: anyLag, events: Allow(1, disturbing...), long: true},
	{name: "any lag, one event, two pairs", sizes: []int16{2}, replicas: 2, how: anyLag, events: Allow(1, usual...), long: true},
	{name: "one cache, teardown of a pair", sizes: []int16{2}, replicas: 1, how: oneCache, events: Allow(2, DeleteDeployment, LoseNode), long: true},
	{name: "one cache, two events, one replica", sizes: []int16{1}, replicas: 1, how: oneCache, events: Allow(2, usual...), long: true},
	{name: "late spec, two events, two roles", sizes: []int16{1, 1}, replicas: 1, how: lateSpec, joint: true, events: Allow(2, usual...), long: true},
	{name: "in order, three events", sizes: []int16{1}, replicas: 2, how: inOrder, events: Allow(3, usual...), long: true},
	{name: "in order, two events, two pairs", sizes: []int16{2}, replicas: 2, how: inOrder, events: Allow(2, usual...), long: true},
	{name: "calm, three events", sizes: []int16{1}, replicas: 2, how: calm, events: Allow(3, usual...), long: true},
	{name: "pairwise, six events", sizes: []int16{1}, replicas: 2, how: pairwise, events: Allow(6, usual...), long: true},
	{name: "pairwise, six events, two roles", sizes: []int16{1, 1}, replicas: 1, how: pairwise, joint: true, events: Allow(6, usual...), long: true},
	{name: "pairwise, six events, a pair", sizes: []int16{2}, replicas: 1, how: pairwise, events: Allow(6, usual...), long: true},
	{name: "pairwise, four events, two pairs", sizes: []int16{2}, replicas: 2, how: pairwise, events: Allow(4, usual...), long: true},
}

// TestEveryOrder goes through every state of small worlds. The invariants hold
// in each, and from each the good scheduler is followed until the world rests.
func TestEveryOrder(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	total := 0
	began := time.Now()
	for _, c := range searches {
		if c.long && !full() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			base := small(c.sizes...)
			world := func() *World {
				w := base()
				w.Joint = c.joint
				c.how(w)
				return w
			}
			start := declared(world(), c.replicas)
			if !c.created {
				start = settled(t, world(), start)
			}
			start.Left = c.events
			x := &search{world: world}
			began := time.Now()
			err := x.run(start)
			t.Logf("%d states, %d steps, %v", len(x.parents), x.transitions, time.Since(began).Round(time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			total += len(x.parents)
		})
	}
	t.Logf("%d states in all, %v", total, time.Since(began).Round(time.Second))
}

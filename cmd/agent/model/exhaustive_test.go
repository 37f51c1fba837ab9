// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
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

// How far the agent's cache may lag. A write may always fail and the agent crash
// between any two.
var (
	// anyLag: each kind of object reaches the cache on its own.
	anyLag = func(*World) {}
	// oneCache: the cache lags as a whole.
	oneCache = func(w *World) { w.OneCache = true }
	// lateSpec: only the spec lags, which stands for any lag.
	lateSpec = func(w *World) { w.FreshCache, w.AnyOrder = true, true }
)

// What may happen from outside.
var (
	usual      = []Kind{Edit, Scale, DeletePod, Evict, Preempt, LoseNode}
	disturbing = []Kind{Edit, EditBroken, Scale, DeletePod, FailPod, Evict, Preempt, DeleteWorkload, LoseNode}
	compiling  = []Kind{Edit, Outrun, Scale, DeletePod, Evict}
)

// products are the worlds that are gone through with many events. Between any
// two of them, and of the agent's writes, Kueue, kubelets and nodes may take any
// number of steps, so events overlap as they like.
var products = []struct {
	name     string
	sizes    []int16
	ordinals int16
	kinds    []Kind
	// How many events the usual and the full check allow.
	few, many int
}{
	{"two pairs", []int16{2}, 2, usual, 1, 6},
	{"two roles", []int16{1, 1}, 1, usual, 2, 6},
	{"two replicas", []int16{1}, 2, usual, 3, unlimited},
	{"a pair", []int16{2}, 1, usual, unlimited, unlimited},
	{"two replicas, more disturbed", []int16{1}, 2, disturbing, 2, 4},
	{"a pair, more disturbed", []int16{2}, 1, disturbing, 2, 6},
	{"two replicas, late compiles", []int16{1}, 2, compiling, 2, 4},
	{"two roles, late compiles", []int16{1, 1}, 1, compiling, 1, 3},
}

// unlimited is any number of events.
const unlimited = 0

// TestEveryOrder goes through every state of small worlds, with so many events
// that overlap, or any number. The invariants hold in each, and from each the
// good scheduler is followed until the world rests as declared.
func TestEveryOrder(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	var total atomic.Int64
	began := time.Now()
	t.Run("worlds", func(t *testing.T) {
		for _, c := range products {
			events := c.few
			if full() {
				events = c.many
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				world := overlapping(c.sizes...)
				x := newProduct(world, c.ordinals, events, c.kinds...)
				x.check = 10_007
				began := time.Now()
				err := x.run(settled(t, world(), declared(world(), c.ordinals)))
				allowed := fmt.Sprintf("up to %d", len(x.layers)-1)
				if x.closed {
					allowed = "any number of"
				}
				t.Logf("%s events: %d states, %d steps, %v; by the fewest events to each %v",
					allowed, x.met.n, x.transitions, time.Since(began).Round(time.Millisecond), x.layers)
				if err != nil {
					t.Fatal(err)
				}
				total.Add(int64(x.met.n))
			})
		}
	})
	t.Logf("%d states in all, %v", total.Load(), time.Since(began).Round(time.Second))
}

// overlapping returns worlds for a product.
func overlapping(sizes ...int16) func() *World {
	base := small(sizes...)
	return func() *World {
		w := base()
		w.Joint = len(sizes) > 1
		w.Decide = By(converge.Decide) // a product remembers by itself
		lateSpec(w)
		return w
	}
}

// searches are the worlds that are gone through with caches that lag in every
// way, and from the start.
var searches = []struct {
	name     string
	sizes    []int16
	replicas int16
	how      func(*World)
	created  bool // starts with the creation, not with all Ready
	events   Budget
	long     bool // only in the full check
}{
	{name: "creation", sizes: []int16{1}, replicas: 2, how: anyLag, created: true},
	{name: "creation of a pair", sizes: []int16{2}, replicas: 1, how: anyLag, created: true},
	{name: "any lag, one event", sizes: []int16{1}, replicas: 2, how: anyLag, events: Allow(1, disturbing...)},
	{name: "any lag, one event, two roles", sizes: []int16{1, 1}, replicas: 1, how: anyLag, events: Allow(1, disturbing...)},
	{name: "one cache, one event, two pairs", sizes: []int16{2}, replicas: 2, how: oneCache, events: Allow(1, usual...)},
	{name: "one cache, teardown", sizes: []int16{1}, replicas: 1, how: oneCache, events: Allow(1, DeleteDeployment)},

	{name: "one cache, teardown of two", sizes: []int16{1}, replicas: 2, how: oneCache, events: Allow(1, DeleteDeployment), long: true},
	{name: "any lag, one event, a pair", sizes: []int16{2}, replicas: 1, how: anyLag, events: Allow(1, disturbing...), long: true},
	{name: "any lag, one event, two pairs", sizes: []int16{2}, replicas: 2, how: anyLag, events: Allow(1, usual...), long: true},
	{name: "one cache, teardown of a pair", sizes: []int16{2}, replicas: 1, how: oneCache, events: Allow(2, DeleteDeployment, LoseNode), long: true},
	{name: "one cache, two events, one replica", sizes: []int16{1}, replicas: 1, how: oneCache, events: Allow(2, usual...), long: true},
}

// TestEveryLag goes through every state of small worlds with few events.
func TestEveryLag(t *testing.T) {
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
				w.Joint, w.Parks = len(c.sizes) > 1, true
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

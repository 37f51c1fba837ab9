// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

// TestProduct holds the product against the plain search of the same worlds,
// which reduces nothing.
func TestProduct(t *testing.T) {
	for _, c := range []struct {
		name     string
		sizes    []int16
		ordinals int16
		kinds    []Kind
		events   int
		how      func(*World)
		// same: both meet the same states. Otherwise it is what they meet beside
		// the agent that counts, and the product may meet more of that.
		same bool
		long bool // only in the full check
	}{
		{"two replicas", []int16{1}, 2, usual, 1, lateSpec, true, false},
		{"a late compile", []int16{1}, 2, compiling, 1, lateSpec, true, false},
		{"a pair", []int16{2}, 1, usual, 1, lateSpec, false, false},
		{"two roles", []int16{1, 1}, 1, usual, 1, lateSpec, false, false},
		{"one replica, two events", []int16{1}, 1, disturbing, 2, lateSpec, true, false},
		{"two replicas, two events", []int16{1}, 2, usual, 2, lateSpec, true, true},
		{"two replicas, any lag", []int16{1}, 2, disturbing, 1, anyLag, false, true},
		{"a pair, any lag", []int16{2}, 1, disturbing, 1, anyLag, false, true},
		{"two roles, any lag", []int16{1, 1}, 1, disturbing, 1, anyLag, false, true},
	} {
		if c.long && !full() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			world := overlapping(c.sizes...)
			start := settled(t, world(), declared(world(), c.ordinals))
			x := newProduct(world, c.ordinals, c.events, c.kinds...)
			x.check = 97
			if err := x.run(start); err != nil {
				t.Fatal(err)
			}
			met, missed := map[key]bool{}, 0
			plain := &search{
				world: func() *World {
					w := overlapping(c.sizes...)()
					w.Decide = remember(w.Decide)
					w.FreshCache, w.AnyOrder = false, false
					c.how(w)
					return w
				},
				met: func(s *State) {
					if !c.same {
						n := *s
						n.Agent = Agent{}
						s = &n
					}
					k, err := x.split(s)
					if err != nil {
						t.Error(err)
						return
					}
					k = x.canonical(k)
					if _, found := x.met.find(k); !found && !met[k] {
						missed++
					}
					met[k] = true
				},
			}
			start.Left = Allow(c.events, c.kinds...)
			start.Left.Most = c.ordinals
			for _, k := range c.kinds {
				start.Left.Of[k-Edit] = uint8(c.events)
			}
			start.Cache = start.View
			if err := plain.run(start); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d of them by the plain search, which goes through %d", x.met.n, len(met), len(plain.parents))
			if missed > 0 {
				t.Errorf("the product does not meet %d of %d states", missed, len(met))
			}
			if more := x.met.n - len(met); c.same && more > 1 {
				t.Errorf("the product meets %d states that the plain search does not", more)
			}
		})
	}
}

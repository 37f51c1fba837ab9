// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

// TestOddStarts goes through every state that follows from one that the agent
// does not bring about by itself.
func TestOddStarts(t *testing.T) {
	for name, odd := range map[string]func(s *State){
		"a second Pod on a seat": func(s *State) {
			s.Pods = append(s.Pods, Pod{ID: s.newID(), Ordinal: 1, Held: true, Version: 7})
		},
		"a second Pod on a seat, and an older one": func(s *State) {
			s.Pods[0].Version = 7
			s.Pods = append(s.Pods, Pod{ID: s.newID(), Held: true})
		},
		"a Pod without an ordinal": func(s *State) {
			s.Pods = append(s.Pods, Pod{ID: s.newID(), Ordinal: -1, Held: true})
		},
		"a Pod without an ordinal in place of another": func(s *State) {
			s.Pods[1].Ordinal, s.Workloads[1].Ordinal = -1, -1
		},
		"a Pod without an ordinal and an edit": func(s *State) {
			s.Pods[1].Ordinal, s.Workloads[1].Ordinal = -1, -1
			s.Spec.Roles[0].Version++
		},
		"Pods of an earlier deployment of the name": func(s *State) {
			for i := range s.Pods {
				s.Pods[i].Foreign, s.Pods[i].Abandoned, s.Pods[i].Deleting = true, true, true
			}
		},
		"Pods of an earlier deployment, one on a lost node": func(s *State) {
			for i := range s.Pods {
				s.Pods[i].Foreign, s.Pods[i].Abandoned, s.Pods[i].Deleting = true, true, true
			}
			s.Pods[0].Lost, s.Pods[0].Phase = true, Starting
		},
		"a foreign Pod on a seat": func(s *State) {
			s.Pods[1].Foreign = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := small(1)
			world := func() *World {
				w := base()
				w.duplicates = true
				w.OneCache, w.FreshCache = full(), !full()
				return w
			}
			start := world().Running(declared(world(), 2))
			start.Capacity[0] += 2
			odd(start)
			start.Cache = start.View
			x := &search{world: world}
			if err := x.run(start); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", len(x.parents))
		})
	}
}

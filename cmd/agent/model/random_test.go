// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"hash/maphash"
	"math/rand/v2"
	"testing"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// disturbances are all that may happen from outside, as often as it likes.
var disturbances = []Kind{
	Edit, EditBroken, Outrun, Scale, DeletePod, FailPod, Unready, Evict, Preempt,
	DeleteWorkload, LoseNode, LoseStore, BlockWeights, ForeignPod,
}

// TestRandom walks at random through larger worlds: three roles, up to five
// replicas, up to three Pods in each, a store that blinks, weights that get
// lost, compiles that lag, foreign Pods, and caches that lag kind by kind. Now and then the world
// is left alone and must come to rest as declared.
func TestRandom(t *testing.T) {
	steps, seeds := 120_000, uint64(4)
	if full() {
		steps, seeds = 1_200_000, 12
	}
	total, rests := 0, 0
	start := time.Now()
	for seed := range seeds {
		n, r := walk(t, seed, steps/int(seeds))
		total, rests = total+n, rests+r
	}
	t.Logf("%d random steps, %d times left alone, %v", total, rests, time.Since(start))
}

func walk(t *testing.T, seed uint64, steps int) (total, rests int) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	w := &World{
		Broken: NeverStarts, Pools: 2, Store: true, Joint: seed%2 == 1, Parks: seed%4 == 1, Aged: time.Hour,
	}
	w.watch()
	var s *State
	renew := func() {
		s, w.Roles, w.Decide = &State{}, nil, remember(By(converge.Decide))
		for i := range 3 {
			r := Role{Name: string(rune('a' + i)), Size: int16(1 + rnd.IntN(3)), Pool: int16(i % 2), Cards: 1, Managed: i != 1}
			w.Roles = append(w.Roles, r)
			n := int16(rnd.IntN(4))
			s.Spec.Roles[i] = RoleSpec{Replicas: n, Settled: n}
			s.Capacity[r.Pool] += 5 * r.Size
		}
	}
	renew()
	c := newCodec(maphash.MakeSeed())
	var trail []Step
	fail := func(err error) {
		if err == nil {
			return
		}
		if len(trail) > 80 {
			trail = trail[len(trail)-80:]
		}
		for _, st := range trail {
			t.Log(st)
		}
		t.Fatalf("seed %d, after %d steps: %v\nspec %+v\nPods %+v\nWorkloads %+v", seed, total, err, s.Spec, s.Pods, s.Workloads)
	}
	take := func(st Step) {
		next, err := w.Apply(s, st)
		trail = append(trail, st)
		fail(err)
		s = c.canonical(next)
		fail(w.judgeState(s))
		total++
	}
	for total < steps {
		for range 100 + rnd.IntN(400) {
			s.Left.Events = 1
			for _, k := range disturbances {
				s.Left.Of[k-Edit] = 1
			}
			if total > 0 && rnd.IntN(300) == 0 {
				s.Left.Of[DeleteDeployment-Edit] = 1
			}
			possible := w.Steps(s, nil)
			if len(possible) == 0 || rnd.IntN(12) == 0 {
				if events := likely(s, w.Events(s, nil)); len(events) > 0 {
					possible = events
				}
			}
			if len(possible) == 0 {
				break
			}
			take(possible[rnd.IntN(len(possible))])
		}
		s.Left.Events = 0
		trail = trail[:0]
		for n := 0; ; n++ {
			st, busy := w.goodStep(s, w.Steps(s, nil))
			if !busy {
				break
			}
			take(st)
			if n > 5000 {
				fail(violated(termination, "the world does not come to rest"))
			}
		}
		fail(w.judgeRest(s))
		rests++
		if s.Spec.Gone || rnd.IntN(40) == 0 {
			renew()
		}
	}
	return total, rests
}

// likely leaves out what would make the world too large.
func likely(s *State, events []Step) (out []Step) {
	foreign := 0
	for i := range s.Pods {
		if s.Pods[i].Foreign {
			foreign++
		}
	}
	for _, st := range events {
		switch {
		case st.Kind == Scale && st.N > 5:
		case st.Kind == ForeignPod && (foreign > 0 || s.Agent.Stage != Idle):
		default:
			out = append(out, st)
		}
	}
	return out
}

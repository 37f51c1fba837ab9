// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"testing"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// mutation breaks the agent's core by standing around it: it lies about what is
// observed, or changes what is planned.
type mutation struct {
	size int16
	// observe changes the observation, plan the plan.
	observe func(o *converge.Observation)
	plan    func(o *converge.Observation, p *converge.Plan)
	events  Budget
	caught  []string
}

var mutations = map[string]mutation{
	"the Workload of a group does not keep a newcomer out": {
		size: 1, events: Allow(1, DeletePod), caught: []string{oneGroupAtATime},
		observe: func(o *converge.Observation) {
			if o.Live == nil {
				return
			}
			o.Live.Workloads = slices.DeleteFunc(o.Live.Workloads, func(w converge.Workload) bool {
				return !slices.ContainsFunc(o.Live.Pods, func(p converge.Pod) bool { return p.Group == w.Name })
			})
		},
	},
	"a rollout does not wait for its replacement to be Ready": {
		size: 1, events: Allow(1, Edit), caught: []string{oneTurnover},
		observe: func(o *converge.Observation) {
			everyPod(o, func(p *converge.Pod) {
				p.Ready = p.Ready || p.Hash == o.Roles[0].Hash(converge.Seat{}, false)
			})
		},
	},
	"a rollout does not wait for its replacement to be admitted": {
		size: 1, events: Allow(1, Edit), caught: []string{oneTurnover},
		observe: func(o *converge.Observation) {
			if o.Live == nil {
				return
			}
			for n := range o.Roles[0].Replicas {
				w := converge.Workload{Name: o.Roles[0].Group(n), UID: "w0", Admitted: true}
				for _, p := range o.Live.Pods {
					w.Pods = append(w.Pods, p.UID)
				}
				o.Live.Workloads = append(o.Live.Workloads, w)
			}
			everyPod(o, func(p *converge.Pod) { p.Ready = true })
		},
	},
	"an evicted Workload counts as admitted": {
		size: 1, events: Allow(2, Edit, Evict), caught: []string{oneTurnover},
		observe: func(o *converge.Observation) {
			if o.Live == nil {
				return
			}
			for i := range o.Live.Workloads {
				o.Live.Workloads[i].Evicted = false
			}
			everyPod(o, func(p *converge.Pod) { p.Deleting = p.Deleting && !p.Held })
		},
	},
	"a newcomer is created beside a Pod on its way out": {
		size: 1, events: Allow(1, DeletePod), caught: []string{oneGroupAtATime},
		observe: func(o *converge.Observation) {
			leaving := func(p converge.Pod) bool { return p.Deleting }
			o.Pods = slices.DeleteFunc(o.Pods, leaving)
			if o.Live != nil {
				o.Live.Pods = slices.DeleteFunc(o.Live.Pods, leaving)
				o.Live.Workloads = nil
			}
		},
	},
	"a Workload with a live member is swept": {
		size: 2, events: Allow(1, DeletePod), caught: []string{wholeWorkloads},
		plan: func(o *converge.Observation, p *converge.Plan) {
			if p.NeedLive {
				return
			}
			p.DeletePods = nil
			for _, w := range workloadsOf(o) {
				for _, pod := range podsOf(o) {
					if pod.Deleting && slices.Contains(w.Pods, pod.UID) {
						p.DeleteWorkloads = append(p.DeleteWorkloads, converge.DeleteWorkload{Name: w.Name, UID: w.UID})
					}
				}
			}
		},
	},
	"a partial instance is filled up": {
		size: 2, events: Allow(1, DeletePod), caught: []string{oneGroupAtATime},
		plan: func(_ *converge.Observation, p *converge.Plan) {
			partial := func(d converge.DeletePod) bool { return d.Cause == converge.CauseIncomplete }
			if slices.ContainsFunc(p.DeletePods, partial) {
				p.DeletePods, p.DeleteWorkloads = nil, nil
				p.Creates = []converge.Create{{Role: "a", Ordinal: 0}}
			}
		},
	},
	"the cache is believed": {
		size: 2, caught: []string{oneGroupAtATime, oneTurnover, survivors},
		observe: func(o *converge.Observation) {
			if o.Live == nil {
				o.Live = &converge.Live{Pods: o.Pods, Workloads: o.Workloads}
			}
		},
	},
	"nothing is swept": {
		size: 1, events: Allow(1, DeletePod), caught: []string{termination},
		plan: func(_ *converge.Observation, p *converge.Plan) {
			p.DeleteWorkloads = slices.DeleteFunc(p.DeleteWorkloads, func(d converge.DeleteWorkload) bool { return d.Cause == converge.CauseStranded })
		},
	},
	"the Workload of a Pod on a lost node is deleted": {
		size: 1, events: Allow(2, LoseNode, DeletePod), caught: []string{lostNodes},
		observe: func(o *converge.Observation) { everyPod(o, func(p *converge.Pod) { p.NodeLost = false }) },
	},
	"the finalizer goes while the cache has not seen a Pod": {
		size: 1, events: Allow(1, DeleteDeployment), caught: []string{termination},
		plan: func(o *converge.Observation, p *converge.Plan) {
			if p.NeedLive && o.Deleting {
				*p = converge.Plan{Release: true}
			}
		},
	},
	"a replica grows from a template that is late": {
		size: 1, events: Allow(2, Outrun, Scale), caught: []string{lateCompile},
		observe: func(o *converge.Observation) { o.Roles[0].Template = converge.InSync },
	},
	"a scale-down takes from the lowest": {
		size: 1, events: Allow(1, Scale), caught: []string{survivors},
		plan: func(o *converge.Observation, p *converge.Plan) {
			for i, d := range p.DeletePods {
				for _, pod := range podsOf(o) {
					if d.Cause == converge.CauseScale && pod.Ordinal == 0 {
						p.DeletePods[i].UID = pod.UID
						p.DeleteWorkloads = nil
					}
				}
			}
		},
	},
	"a rollout takes two at once": {
		size: 1, events: Allow(1, Edit), caught: []string{oneTurnover},
		plan: func(o *converge.Observation, p *converge.Plan) {
			if slices.ContainsFunc(p.DeletePods, func(d converge.DeletePod) bool { return d.Cause == converge.CauseRollout }) {
				for _, pod := range podsOf(o) {
					p.DeletePods = append(p.DeletePods, converge.DeletePod{UID: pod.UID})
				}
			}
		},
	},
}

func everyPod(o *converge.Observation, f func(*converge.Pod)) {
	pods := podsOf(o)
	for i := range pods {
		f(&pods[i])
	}
}

func podsOf(o *converge.Observation) []converge.Pod {
	if o.Live != nil {
		return o.Live.Pods
	}
	return o.Pods
}

func workloadsOf(o *converge.Observation) []converge.Workload {
	if o.Live != nil {
		return o.Live.Workloads
	}
	return o.Workloads
}

func (m mutation) decide(o *converge.Observation, now time.Time) converge.Plan {
	if m.observe != nil {
		m.observe(o)
	}
	p := converge.Decide(o, now)
	if m.plan != nil {
		m.plan(o, &p)
	}
	return p
}

// TestMutations checks the checker: each way to break the agent must violate
// the invariant that forbids it, in a plain search and in the product.
func TestMutations(t *testing.T) {
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			base := small(m.size)
			world := func() *World {
				w := base()
				w.OneCache = true
				w.Decide = remember(By(m.decide))
				return w
			}
			start := declared(world(), 2)
			if m.events.Events > 0 && m.events.Of[DeleteDeployment-Edit] == 0 {
				start = settled(t, base(), start)
			}
			start.Left = m.events
			x := &search{world: world, most: 2_000_000}
			err := x.run(start)
			if !slices.Contains(m.caught, invariantOf(err)) {
				t.Fatalf("after %d states: %v\nwant one of %q", len(x.parents), err, m.caught)
			}
			t.Logf("caught after %d states by %s", len(x.parents), invariantOf(err))
			p := m.product(4)
			if err := p.run(start); !slices.Contains(m.caught, invariantOf(err)) {
				t.Fatalf("not by the product after %d states: %v\nwant one of %q", p.met.n, err, m.caught)
			}
		})
	}
}

func (m mutation) product(events int) *product {
	base := overlapping(m.size)
	world := func() *World {
		w := base()
		w.Decide = By(m.decide)
		return w
	}
	var kinds []Kind
	for i, n := range m.events.Of {
		if n > 0 {
			kinds = append(kinds, Edit+Kind(i))
		}
	}
	return newProduct(world, 2, events, kinds...)
}

// TestOverlap checks that faults are found which only show when four events
// overlap.
func TestOverlap(t *testing.T) {
	m := mutation{
		size: 1, events: Allow(4, Edit, Scale, Evict, LoseNode), caught: []string{lostNodes},
		observe: func(o *converge.Observation) {
			evicted := slices.ContainsFunc(workloadsOf(o), func(w converge.Workload) bool { return w.Evicted })
			outdated := slices.ContainsFunc(podsOf(o), func(p converge.Pod) bool {
				return !p.Deleting && p.Hash != o.Roles[0].Hash(converge.Seat{Ordinal: p.Ordinal}, false)
			})
			everyPod(o, func(p *converge.Pod) {
				if evicted && outdated && o.Roles[0].Replicas == 1 && p.Deleting {
					p.NodeLost = false
				}
			})
		},
	}
	for events := 3; events <= 4; events++ {
		x := m.product(events)
		err := x.run(settled(t, x.world(), declared(x.world(), 2)))
		t.Logf("%d events: %d states", events, x.met.n)
		switch got := invariantOf(err); {
		case events < 4 && err != nil:
			t.Fatal(err)
		case events == 4 && !slices.Contains(m.caught, got):
			t.Fatalf("%v\nwant one of %q", err, m.caught)
		}
	}
}

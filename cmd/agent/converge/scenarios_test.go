// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"testing"
	"time"
)

// The life of a deployment without an edit.
func TestScaleAndDepartures(t *testing.T) {
	for name, s := range map[string]scenario{
		"first pass": {
			roles:  []Role{server(2)},
			with:   func(o *Observation) { o.Finalizer = false },
			reads:  true,
			writes: []string{"finalizer", "create server/0", "create server/1"},
		},
		"all Ready: nothing is written": {
			roles: []Role{server(2)},
			pods:  "server/0 ready; server/1 ready", workloads: admitted("server/0", "server/1"),
			check: func(t *testing.T, p Plan) {
				if p.Requeue != 0 {
					t.Errorf("asks for another pass after %v", p.Requeue)
				}
			},
		},
		"waiting for quota: nothing is written": {
			roles: []Role{server(2)},
			pods:  "server/0 gated; server/1 gated", workloads: "server/0; server/1",
		},
		"scale-up": {
			roles: []Role{server(3)},
			pods:  "server/0 ready; server/1 ready", workloads: admitted("server/0", "server/1"),
			reads: true, writes: []string{"create server/2"},
		},
		"scale-down takes the highest first": {
			roles: []Role{server(2)},
			pods:  "server/0 ready; server/1 ready; server/2 ready; server/3 ready",
			workloads: admitted("server/0", "server/1", "server/2",
				"server/3"),
			writes: []string{
				"delete Pod server/3: scale", "delete Pod server/2: scale",
				"delete Workload server/3: scale", "delete Workload server/2: scale",
			},
		},
		"scale-down of an instance of which the Workload knows one member": {
			roles:     []Role{role("server", 1, 2)},
			pods:      "server/0/0 ready; server/0/1 ready; server/1/0 ready; server/1/1 ready",
			workloads: "server/0 admitted; server/1 admitted of server/1/1", reads: true,
			writes: []string{
				"delete Pod server/1/1: scale", "delete Pod server/1/0: scale",
				"delete Workload server/1: scale",
			},
		},
		"scale-down on a lost node keeps the cards taken": {
			roles: []Role{server(1)},
			pods:  "server/0 ready; server/1 lost", workloads: admitted("server/0", "server/1"),
			writes: []string{"delete Pod server/1: scale"},
		},
		"deleted Pod: the Workload is swept": {
			roles: []Role{server(2)},
			pods:  "server/0 ready; server/1 terminating", workloads: admitted("server/0", "server/1"),
			reads:  true,
			writes: []string{"delete Workload server/1: stranded"},
			waits:  map[int32]Wait{1: WaitOccupied},
		},
		"the Workload of a Pod that leaves by itself is left alone": {
			roles: []Role{server(1)},
			pods:  "server/0 terminating ended unheld", workloads: "server/0 admitted",
			reads: true, waits: map[int32]Wait{0: WaitOccupied},
		},
		"the Pod is gone and its Workload reads for a moment": {
			roles: []Role{server(1)}, reads: true,
			liveWorkloads: "server/0 admitted young of gone",
			waits:         map[int32]Wait{0: WaitOccupied},
		},
		"the Pod is gone and its Workload stays": {
			roles: []Role{server(1)}, reads: true,
			liveWorkloads: "server/0 admitted of gone",
			writes:        []string{"delete Workload server/0: stranded"},
			waits:         map[int32]Wait{0: WaitOccupied},
		},
		"Pod and Workload are gone": {
			roles: []Role{server(2)},
			pods:  "server/0 ready", workloads: "server/0 admitted",
			reads: true, writes: []string{"create server/1"},
		},
		"evicted by the kubelet": {
			roles: []Role{server(2)},
			pods:  "server/0 ready; server/1 ended", workloads: admitted("server/0", "server/1"),
			writes: []string{"delete Pod server/1: ended", "delete Workload server/1: ended"},
		},
		"preempted in part": {
			roles: []Role{role("prefill", 1, 1), role("decode", 2, 1)},
			pods:  "prefill/0 ready; decode/0 ready; decode/1 terminating preempted",
			workloads: "prefill/0 admitted; decode/0 admitted; " +
				"decode/1 admitted evicted",
			reads: true, writes: []string{"delete Workload decode/1: stranded"},
		},
		"all preempted": {
			roles: []Role{server(2)},
			pods:  "server/0 terminating preempted; server/1 terminating preempted", workloads: "server/0 admitted evicted; server/1 admitted evicted",
			reads: true, writes: []string{"delete Workload server/0: stranded", "delete Workload server/1: stranded"},
		},
		"on a lost node": {
			roles: []Role{server(2)},
			pods:  "server/0 ready; server/1 lost", workloads: admitted("server/0", "server/1"),
		},
		"terminating on a lost node": {
			roles: []Role{server(2)},
			pods:  "server/0 ready; server/1 terminating lost", workloads: admitted("server/0", "server/1"),
			reads: true, waits: map[int32]Wait{1: WaitOccupied},
		},
		"the node is gone": {
			roles: []Role{server(2)},
			pods:  "server/0 ready; server/1 terminating ended", workloads: admitted("server/0", "server/1"),
			reads: true, writes: []string{"delete Workload server/1: stranded"},
		},
		"lost response: the cache does not know the Pod": {
			roles: []Role{server(1)}, reads: true, live: "server/0 gated",
		},
		"role removed": {
			roles: []Role{server(1)},
			pods:  "server/0 ready; gone/0/0 ready; gone/0/1 ready", workloads: admitted("server/0", "gone/0"),
			writes: []string{
				"delete Pod gone/0/0: role removed", "delete Pod gone/0/1: role removed",
				"delete Workload gone/0: role removed",
			},
		},
		"terminating namespace": {
			roles: []Role{server(2)},
			pods:  "server/0 terminating", workloads: "server/0 admitted",
			with:   func(o *Observation) { o.NamespaceTerminating = true },
			writes: []string{"delete Workload server/0: stranded"},
			waits:  map[int32]Wait{0: WaitNamespace, 1: WaitNamespace},
		},
		"outside any quota": {
			roles: []Role{server(2)}, pods: "server/0 ready unmanaged",
			waits: map[int32]Wait{1: WaitUnmanaged},
		},
	} {
		t.Run(name, s.run)
	}
}

// A seat that more than one Pod claims, and Pods of others.
func TestSeats(t *testing.T) {
	for name, s := range map[string]scenario{
		"duplicate: the one of the new template stays": {
			roles: []Role{server(2)},
			pods:  "a@server/0 ready old; b@server/0 gated; c@server/1 ready", workloads: admitted("server/0", "server/1"),
			writes: []string{"delete Pod a: surplus"},
		},
		"duplicate with a Workload of its own": {
			roles: []Role{server(1)},
			pods:  "a@server/0 ready old; b@server/0 gated", workloads: "server/0 admitted of a",
			writes: []string{"delete Pod a: surplus"},
		},
		"duplicates alike: the greater name stays": {
			roles: []Role{server(1)}, pods: "a@server/0 ready; b@server/0 gated", workloads: "server/0 admitted",
			writes: []string{"delete Pod a: surplus"},
		},
		"a Pod without an ordinal is too many": {
			roles: []Role{server(1)}, pods: "a@server/-1 ready; b@server/0 ready", workloads: "server/0 admitted; server/-1 admitted",
			writes: []string{"delete Pod a: surplus", "delete Workload server/-1: surplus"},
		},
		"a Pod without an ordinal goes before anything takes its place": {
			roles: []Role{server(1)}, pods: "a@server/-1 ready", workloads: "server/-1 admitted",
			writes: []string{"delete Pod a: incomplete", "delete Workload server/-1: incomplete"},
		},
		"a seat that does not exist goes first": {
			roles: []Role{role("r", 2, 2)},
			pods:  "r/0/0 ready; r/0/1 ready; r/0/2 ready; r/1/0 ready; r/1/1 ready", workloads: admitted("r/0", "r/1"),
			writes: []string{"delete Pod r/0/2: surplus"},
		},
		"foreign Pod in our group": {
			roles: []Role{server(1)}, reads: true, live: "x@server/0 ready foreign",
			liveWorkloads: "server/0 admitted",
			waits:         map[int32]Wait{0: WaitOccupied},
			check: func(t *testing.T, p Plan) {
				if len(p.Blocked) != 1 || p.Blocked[0].Pod != "x" {
					t.Errorf("blocked %v", p.Blocked)
				}
			},
		},
		"foreign Pod beside ours, not on the Workload": {
			roles: []Role{server(0)}, pods: "server/0 ready", workloads: "server/0 admitted of server/0",
			reads: true, live: "server/0 ready; x@server/0 gated foreign", liveWorkloads: "server/0 admitted of server/0",
			writes: []string{"delete Pod server/0: scale"},
		},
		"foreign Pod on the Workload of ours": {
			roles: []Role{server(1)}, pods: "server/0 terminating", workloads: "server/0 admitted of server/0 x",
			reads: true, live: "server/0 terminating; x@server/0 ready foreign",
			waits: map[int32]Wait{0: WaitOccupied},
		},
		"Pods of an earlier deployment of the name": {
			roles: []Role{server(1)}, reads: true, live: "x@server/0 terminating abandoned",
			liveWorkloads: "server/0 admitted",
			writes:        []string{"delete Workload server/0: stranded"},
		},
		"Pods of an earlier deployment that still run": {
			roles: []Role{server(1)}, reads: true, live: "x@server/0 ready abandoned",
			liveWorkloads: "server/0 admitted",
		},
		"Pods of an earlier deployment on a lost node": {
			roles: []Role{server(1)}, reads: true, live: "x@server/0 terminating abandoned lost",
			liveWorkloads: "server/0 admitted",
		},
	} {
		t.Run(name, s.run)
	}
}

// Instances of more than one Pod.
func TestWholeInstances(t *testing.T) {
	for name, s := range map[string]scenario{
		"created whole": {
			roles: []Role{role("r", 1, 2)}, reads: true, writes: []string{"create r/0"},
		},
		"half created": {
			roles: []Role{role("r", 1, 2)}, pods: "r/0/0 gated", reads: true,
			writes: []string{"delete Pod r/0/0: incomplete"},
		},
		"half created, says a cache that lags": {
			roles: []Role{role("r", 1, 2)}, pods: "r/0/0 gated", reads: true, live: "r/0/0 gated; r/0/1 gated",
		},
		"a member is deleted": {
			roles: []Role{role("r", 2, 2)},
			pods:  "r/0/0 ready; r/0/1 terminating; r/1/0 ready; r/1/1 ready", workloads: admitted("r/0", "r/1"),
			reads:  true,
			writes: []string{"delete Pod r/0/0: incomplete", "delete Workload r/0: incomplete"},
		},
		"a member is left on a lost node": {
			roles: []Role{role("r", 1, 2)}, pods: "r/0/0 lost; r/0/1 terminating ended", workloads: "r/0 admitted",
			hold: HeldByGuard, reads: true,
		},
		"one that ended takes the others along": {
			roles: []Role{role("r", 1, 2)}, pods: "r/0/0 ready; r/0/1 ended", workloads: "r/0 admitted",
			writes: []string{"delete Pod r/0/0: ended", "delete Pod r/0/1: ended", "delete Workload r/0: ended"},
		},
		"one outdated member is enough": {
			roles: []Role{role("r", 1, 2)}, pods: "r/0/0 ready; r/0/1 ready old", workloads: "r/0 admitted",
			reads:  true,
			writes: []string{"delete Pod r/0/0: rollout", "delete Pod r/0/1: rollout", "delete Workload r/0: rollout"},
		},
		"no headless Service": {
			roles: []Role{func() Role { r := role("r", 2, 2); delete(r.Services, 1); return r }()}, reads: true,
			writes: []string{"create r/0"}, waits: map[int32]Wait{1: WaitService},
		},
		"without weights a partial instance stays": {
			roles: []Role{role("r", 1, 2)}, pods: "r/0/0 ready; r/0/1 terminating", workloads: "r/0 admitted",
			with: func(o *Observation) { o.Weights.Blocked = true },
			hold: HeldByWeights,
		},
	} {
		t.Run(name, s.run)
	}
}

// Teardown.
func TestTeardown(t *testing.T) {
	deleting := func(o *Observation) { o.Deleting = true }
	for name, s := range map[string]scenario{
		"Pods are left": {
			roles: []Role{server(2)}, with: deleting,
			pods: "server/0 ready; server/1 ready", workloads: admitted("server/0", "server/1"),
			writes: []string{
				"delete Pod server/0: teardown", "delete Pod server/1: teardown",
				"delete Workload server/0: teardown", "delete Workload server/1: teardown",
			},
		},
		"Pods are on their way out": {
			roles: []Role{server(2)}, with: deleting,
			pods: "server/0 terminating; server/1 terminating unheld", workloads: admitted("server/0", "server/1"),
			writes: []string{"delete Workload server/0: stranded"},
		},
		"a Pod on a lost node": {
			roles: []Role{server(1)}, with: deleting, pods: "server/0 terminating lost", workloads: "server/0 admitted",
			check: func(t *testing.T, p Plan) {
				if p.Requeue != pause {
					t.Errorf("asks for another pass after %v", p.Requeue)
				}
			},
		},
		"none left": {
			roles: []Role{server(1)}, with: deleting, reads: true, writes: []string{"release"},
		},
		"none left, says a cache that lags": {
			roles: []Role{server(1)}, with: deleting, reads: true, live: "server/0 gated",
			writes: []string{"delete Pod server/0: teardown"},
		},
		"another's finalizer": {
			roles: []Role{server(1)}, pods: "server/0 ready", workloads: "server/0 admitted",
			with: func(o *Observation) { o.Deleting, o.Finalizer = true, false },
		},
	} {
		t.Run(name, s.run)
	}
}

// What keeps instances from being created.
func TestCreationWaits(t *testing.T) {
	state := func(name string, replicas int32, tpl Template, settled int32) Role {
		r := role(name, replicas, 1)
		r.Template, r.Settled = tpl, settled
		return r
	}
	declared := func(c Cache) func(*Observation) {
		return func(o *Observation) { c.Declared = true; o.Cache = c }
	}
	for name, s := range map[string]scenario{
		"claims its cache": {
			roles: []Role{server(1)}, pods: "server/0 ready", workloads: "server/0 admitted",
			with:   declared(Cache{Usable: true, Resolved: true, Seen: true, Binding: true}),
			writes: []string{"claim"},
		},
		"stale: a replacement does not wait, growth does": {
			roles: []Role{state("server", 3, Stale, 2)}, pods: "server/0 ready", workloads: "server/0 admitted",
			reads: true, writes: []string{"create server/1"}, waits: map[int32]Wait{2: WaitCompile},
		},
		"not compiled": {
			roles: []Role{state("server", 1, NotCompiled, 1)}, waits: map[int32]Wait{0: WaitCompile}, hold: HeldByCompile,
		},
		"a late value is missing": {
			roles: []Role{state("server", 1, Unstampable, 1)}, pods: "server/0 ended; server/1 ready", workloads: admitted("server/0", "server/1"),
			hold: HeldByCompile,
			writes: []string{
				"delete Pod server/1: scale", "delete Pod server/0: ended",
				"delete Workload server/1: scale", "delete Workload server/0: ended",
			},
		},
		"half a set does not grow": {
			roles: []Role{state("prefill", 1, InSync, 0), state("decode", 1, NotCompiled, 0)},
			waits: map[int32]Wait{0: WaitCompile},
		},
		"half a set is replaced": {
			roles: []Role{state("prefill", 1, InSync, 1), state("decode", 1, Stale, 1)}, reads: true,
			writes: []string{"create prefill/0", "create decode/0"},
		},
		"a new deployment waits for its cache": {
			roles: []Role{server(1)},
			with: func(o *Observation) {
				o.Cache, o.Created = Cache{Declared: true}, today.Add(-30*time.Second)
			},
			waits: map[int32]Wait{0: WaitCache},
			check: func(t *testing.T, p Plan) {
				if p.Requeue != 90*time.Second {
					t.Errorf("asks for another pass after %v", p.Requeue)
				}
			},
		},
		"and then starts without": {
			roles: []Role{server(1)}, with: declared(Cache{}), reads: true, writes: []string{"create server/0 uncached"},
		},
		"the store blinks": {
			roles: []Role{server(4)}, with: declared(Cache{Seen: true}),
			pods: "server/0 ready; server/1 ready; server/2 ready", workloads: admitted("server/0", "server/1", "server/2"),
			reads: true, writes: []string{"create server/3 uncached"}, hold: HeldByCache,
		},
		"the store is back": {
			roles: []Role{server(2)}, with: declared(Cache{Usable: true, Resolved: true, Seen: true}),
			pods: "server/0 ready; server/1 ready uncached", workloads: admitted("server/0", "server/1"),
			reads: true, writes: []string{"delete Pod server/1: rollout", "delete Workload server/1: rollout"},
		},
		"a role that is taken over is not held by the store": {
			roles: []Role{func() Role { r := server(1); r.Managed = false; return r }()}, with: declared(Cache{Seen: true}),
			pods: "server/0 ready old", workloads: "server/0 admitted",
			reads: true, writes: []string{"delete Pod server/0: rollout", "delete Workload server/0: rollout"},
		},
		"weights are blocked": {
			roles: []Role{server(3)}, with: func(o *Observation) { o.Weights.Blocked = true },
			pods: "server/0 ready old; server/1 ready old", workloads: admitted("server/0", "server/1"),
			hold: HeldByWeights, waits: map[int32]Wait{2: WaitWeights},
		},
	} {
		t.Run(name, s.run)
	}
}

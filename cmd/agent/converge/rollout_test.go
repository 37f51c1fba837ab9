// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import "testing"

func TestRollout(t *testing.T) {
	turned := func(group string) []string {
		return []string{"delete Pod " + group + ": rollout", "delete Workload " + group + ": rollout"}
	}
	for name, s := range map[string]scenario{
		"a: the highest ordinal goes": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 ready old", workloads: admitted("server/0", "server/1"),
			writes: turned("server/1"),
		},
		"b: it drains": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 terminating unheld", workloads: "server/0 admitted",
			hold: HeldByGuard, waits: map[int32]Wait{1: WaitOccupied},
		},
		"c: it is gone": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old", workloads: "server/0 admitted",
			hold: HeldByGuard, writes: []string{"create server/1"},
		},
		"d: its replacement waits for quota": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 gated", workloads: "server/0 admitted; server/1",
			hold: HeldByGuard,
		},
		"d: its replacement is admitted and not Ready": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 starting", workloads: admitted("server/0", "server/1"),
			hold: HeldByGuard,
		},
		"d: its replacement is Ready": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 ready", workloads: admitted("server/0", "server/1"),
			writes: turned("server/0"),
		},
		"the cache says Ready and the API server does not": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 ready", workloads: admitted("server/0", "server/1"),
			live: "server/0 ready old; server/1 starting", hold: HeldByGuard,
		},
		"scale-down first": {
			roles: []Role{server(2)},
			pods:  "server/0 ready old; server/1 ready old; server/2 ready old; server/3 ready old",
			workloads: admitted("server/0", "server/1", "server/2",
				"server/3"),
			writes: []string{
				"delete Pod server/3: scale", "delete Pod server/2: scale",
				"delete Workload server/3: scale", "delete Workload server/2: scale",
			},
		},
		"scale-up first": {
			roles: []Role{server(3)}, reads: true,
			pods: "server/0 ready old; server/1 ready old", workloads: admitted("server/0", "server/1"),
			hold: HeldByGuard, writes: []string{"create server/2"},
		},
		"what was never admitted goes without waiting": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 gated old; server/1 gated old", workloads: "server/0; server/1",
			writes: turned("server/1"),
		},
		"what is not Ready goes before what is": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 starting old; server/1 ready old", workloads: admitted("server/0", "server/1"),
			writes: turned("server/0"),
		},
		"what is not Ready goes while a replacement is not Ready": {
			roles: []Role{server(3)}, reads: true,
			pods: "server/0 ready old; server/1 starting old; server/2 starting", workloads: admitted("server/0", "server/1", "server/2"),
			writes: turned("server/1"),
		},
		"what is not Ready waits for all to be admitted": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 starting old; server/1 gated", workloads: "server/0 admitted; server/1",
			hold: HeldByGuard,
		},
		"evicted counts as not admitted": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 ready", workloads: "server/0 admitted; server/1 admitted evicted",
			hold: HeldByGuard,
		},
		"what serves outside any quota is not free": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old unmanaged; server/1 ready old unmanaged",
			hold: HeldByGuard,
		},
		"two roles": {
			roles: []Role{role("prefill", 1, 1), role("decode", 2, 1)}, reads: true,
			pods: "prefill/0 ready old; decode/0 ready old; decode/1 ready old", workloads: admitted("prefill/0", "decode/0", "decode/1"),
			writes: []string{
				"delete Pod prefill/0: rollout", "delete Pod decode/1: rollout",
				"delete Workload prefill/0: rollout", "delete Workload decode/1: rollout",
			},
		},
		"around a lost node": {
			roles: []Role{server(3)}, reads: true,
			pods: "server/0 ready old; server/1 ready old; server/2 lost old", workloads: admitted("server/0", "server/1", "server/2"),
			writes: turned("server/1"),
		},
		"the last that serves beside a lost node": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 lost old", workloads: admitted("server/0", "server/1"),
			hold: HeldByGuard,
		},
		"around one that leaves on a lost node": {
			roles: []Role{server(3)}, reads: true,
			pods: "server/0 ready old; server/1 ready old; server/2 terminating lost old", workloads: admitted("server/0", "server/1", "server/2"),
			writes: turned("server/1"), waits: map[int32]Wait{2: WaitOccupied},
		},
		"one that leaves on a lost node and is not admitted": {
			roles: []Role{server(3)}, reads: true,
			pods: "server/0 ready old; server/1 ready old; server/2 terminating lost old", workloads: "server/0 admitted; server/1 admitted; server/2 admitted evicted",
			hold: HeldByGuard,
		},
		"the last that serves beside one that leaves on a lost node": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 terminating lost old", workloads: admitted("server/0", "server/1"),
			hold: HeldByGuard,
		},
		"what has lost its node serves no more, and goes first": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old nodeless; server/1 ready old", workloads: admitted("server/0", "server/1"),
			writes: turned("server/0"),
		},
		"a replacement that has lost its node": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 ready old; server/1 ready nodeless", workloads: admitted("server/0", "server/1"),
			hold: HeldByGuard,
		},
		"no Service for what would take its place": {
			roles: []Role{func() Role { r := role("r", 2, 2); delete(r.Services, 1); return r }()}, reads: true,
			pods: "r/0/0 ready old; r/0/1 ready old; r/1/0 ready old; r/1/1 ready old", workloads: admitted("r/0", "r/1"),
			writes: []string{"delete Pod r/0/0: rollout", "delete Pod r/0/1: rollout", "delete Workload r/0: rollout"},
		},
		"one that stands in the place of another": {
			roles: []Role{server(2)}, reads: true,
			pods: "server/0 gated; server/1 ready old", workloads: "server/0; server/1 admitted of another",
			with:   func(o *Observation) { o.Pods[1].Group = "server/0" },
			writes: []string{"delete Pod server/1: rollout"},
		},
		"an ended one is not a turnover, and there is none beside it": {
			roles: []Role{server(2)},
			pods:  "server/0 ready old; server/1 ended old", workloads: admitted("server/0", "server/1"),
			writes: []string{"delete Pod server/1: ended", "delete Workload server/1: ended"},
		},
		"stale": {
			roles: []Role{func() Role { r := server(1); r.Template = Stale; return r }()},
			pods:  "server/0 ready old", workloads: "server/0 admitted",
			hold: HeldByCompile,
		},
	} {
		t.Run(name, s.run)
	}
}

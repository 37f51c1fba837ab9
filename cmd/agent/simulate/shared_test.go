// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gpustack.ai/mdc/compiler"
)

const a10g = "gpustack-nvidia-a10g-linux-amd64"

// vllm is the example of two cards a Pod, under a name and with replicas.
func vllm(t *testing.T, namespace, name string, replicas int, replace ...string) *compiler.Deployment {
	return compiled(t, "vllm", append([]string{
		"name: qwen-chat", "name: " + name, "namespace: team-a", "namespace: " + namespace,
		"replicas: 4", fmt.Sprintf("replicas: %d", replicas),
	}, replace...)...)
}

// when is the first time that a Pod is in a state, not before a time.
func (r *Result) when(after time.Duration, ordinal int32, s Stage) time.Duration {
	i := slices.IndexFunc(r.Timeline, func(e Entry) bool {
		return e.State == s && *e.Ordinal == ordinal && e.time >= after
	})
	if i < 0 {
		return -1
	}
	return r.Timeline[i].time
}

// most is the highest number of Pods that have their cards at one time.
func most(results []*Result, running int) int {
	var all []Entry
	for _, r := range results {
		all = append(all, r.Timeline...)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return int(a.time - b.time) })
	n, out := running, running
	for i, e := range all {
		switch {
		case e.State == Starting:
			n++
		case e.State == Draining && e.Event != "node removed":
			n--
		}
		if i+1 == len(all) || all[i+1].time > e.time {
			out = max(out, n)
		}
	}
	return out
}

// TestFullPool: the card that a rollout frees goes to the deployment in another
// namespace that has waited longer, and the rollout waits.
func TestFullPool(t *testing.T) {
	chat, code := vllm(t, "team-a", "chat", 2), vllm(t, "team-b", "code", 3)
	edited := vllm(t, "team-a", "chat", 2, "size\", \"2\"", "size\", \"2\", \"--max-model-len\", \"4096\"")
	results := playedAll(t, Input{
		Deployments: []Deployment{{Compiled: chat, Edits: map[string]*compiler.Deployment{"new": edited}}, {Compiled: code}},
		Scenario: &Scenario{Running: true, Capacity: map[string]Cards{a10g: 10}, Events: []Event{
			{At: Duration(5 * time.Minute), Deployment: "code", Scale: &Scale{"server", 4}},
			{At: Duration(10 * time.Minute), Edit: "new"},
			{At: Duration(time.Hour), Capacity: map[string]Cards{a10g: 12}},
		}},
	})
	if at := results[1].when(0, 3, Starting); at < 10*time.Minute || at > 11*time.Minute {
		t.Errorf("the one that waits longest starts at %s", at)
	}
	if at := results[0].when(0, 1, Starting); at < time.Hour || at > time.Hour+time.Second {
		t.Errorf("the rollout goes on at %s", at)
	}
	if s := results[0].Summary[0]; *s.LowestReady != 1 || s.Ready != 2 {
		t.Errorf("%+v", s)
	}
	if n := most(results, 5); n != 6 {
		t.Errorf("%d Pods have cards at one time, and 6 is the most", n)
	}
}

// TestOldestFirst: whoever was there first gets freed cards first, whatever the
// order of the file and the seed.
func TestOldestFirst(t *testing.T) {
	for seed := range uint64(5) {
		a, b, c := vllm(t, "x", "a", 1), vllm(t, "x", "b", 1), vllm(t, "x", "c", 1)
		results := playedAll(t, Input{
			Deployments: []Deployment{
				{Compiled: a, Since: "a", Edits: map[string]*compiler.Deployment{"a": a}},
				{Compiled: b, Since: "b", Edits: map[string]*compiler.Deployment{"b": b}},
				{Compiled: c, Since: "c", Edits: map[string]*compiler.Deployment{"c": c}},
			},
			Scenario: &Scenario{Capacity: map[string]Cards{a10g: 0}, Events: []Event{
				{At: Duration(1 * time.Minute), Edit: "c"},
				{At: Duration(2 * time.Minute), Edit: "a"},
				{At: Duration(3 * time.Minute), Edit: "b"},
				{At: Duration(10 * time.Minute), Capacity: map[string]Cards{a10g: 3}},
				{At: Duration(20 * time.Minute), Capacity: map[string]Cards{a10g: 4}},
				{At: Duration(30 * time.Minute), Capacity: map[string]Cards{a10g: 6}},
			}},
			Seed: seed,
		})
		for i, want := range []time.Duration{20 * time.Minute, 30 * time.Minute, 10 * time.Minute} {
			if at := results[i].when(0, 0, Starting); at < want || at > want+time.Second {
				t.Errorf("seed %d: %s starts at %s, want %s", seed, results[i].Name, at, want)
			}
		}
	}
}

// TestPreemptedCardsAreGone: they come back with a capacity of their own.
func TestPreemptedCardsAreGone(t *testing.T) {
	r := played(t, vllm(t, "x", "a", 2), &Scenario{Running: true, Capacity: map[string]Cards{a10g: 4}, Events: []Event{
		{At: Duration(time.Minute), Preempt: &Seat{Role: "server", Ordinal: 1}},
		{At: Duration(time.Hour), Capacity: map[string]Cards{a10g: 4}},
	}}, nil)
	if at := r.when(0, 1, Starting); at < time.Hour || at > time.Hour+time.Second {
		t.Errorf("starts again at %s", at)
	}
}

// TestLoweredCapacity takes nothing away from what runs.
func TestLoweredCapacity(t *testing.T) {
	r := played(t, vllm(t, "x", "a", 2), &Scenario{Running: true, Capacity: map[string]Cards{a10g: 4}, Events: []Event{
		{At: Duration(time.Minute), Capacity: map[string]Cards{a10g: 1}},
		{At: Duration(time.Hour), DeletePod: &Seat{Role: "server"}},
	}}, nil)
	if at := r.when(0, 0, Draining); at != time.Hour {
		t.Errorf("drains at %s", at)
	}
	if at := r.when(0, 0, Starting); at >= 0 {
		t.Errorf("starts at %s without a card", at)
	}
	if s := r.Summary[0]; s.Ready != 1 || r.Settled != "" {
		t.Errorf("%+v, settled %q", s, r.Settled)
	}
}

// TestNodeBack: a Pod that kept running is Ready again at once.
func TestNodeBack(t *testing.T) {
	r := played(t, vllm(t, "x", "a", 2), &Scenario{Running: true, Events: []Event{
		{At: Duration(time.Minute), NodeNotReady: &Seat{Role: "server"}},
		{At: Duration(2 * time.Minute), NodeReady: &Seat{Role: "server"}},
	}}, nil)
	if at := r.when(0, 0, Ready); at != 2*time.Minute+nodeDelay {
		t.Errorf("Ready at %s", at)
	}
	if s := r.Summary[0]; s.Created+s.Deleted > 0 {
		t.Errorf("%+v", s)
	}
}

// TestRolesReordered: an edit may list roles in another order.
func TestRolesReordered(t *testing.T) {
	old := compiled(t, "pair")
	edited := compiled(t, "pair")
	slices.Reverse(edited.ModelDeployment.Spec.Roles)
	r := played(t, old, &Scenario{Running: true, Events: []Event{{Edit: "new"}}}, map[string]*compiler.Deployment{"new": edited})
	if len(r.Timeline) != 1 {
		t.Errorf("%+v", r.Timeline)
	}
}

// TestCheck: what does not fit the deployments is told by its place.
func TestCheck(t *testing.T) {
	deployments := []Deployment{{Compiled: vllm(t, "x", "a", 1)}, {Compiled: vllm(t, "x", "b", 1)}, {Compiled: vllm(t, "z", "a", 1)}}
	const prefix = "deployments: [a]\n"
	for text, want := range map[string]string{
		"capacity: {a10: 1}":                                                                      `s.yaml:2:17: capacity[a10]: no role has InstanceType "a10"; there is only ` + a10g,
		"capacity: {gpustack-nvidia-a10g-linux-amd46: 1}":                                         "did you mean",
		"timing: {roles: {b/serve: {load: 1m}}}":                                                  `timing.roles[b/serve]: there is no role "b/serve"; did you mean "b/server"?`,
		"events: [{at: 1m, delete: true}]":                                                        "add deployment: x/a or x/b or z/a",
		"events: [{at: 1m, deployment: a, delete: true}]":                                         `"a" may be x/a or z/a`,
		"events: [{at: 1m, deployment: c, delete: true}]":                                         `there is no deployment "c"`,
		"events: [{at: 1m, deployment: b, evict: {role: nope}}]":                                  `events[0].evict.role: x/b has no role "nope"`,
		"events: [{at: 1m, deployment: b, failPod: {role: server, member: 1}}]":                   "has 1 Pods, counted from 0",
		"events: [{at: 1m, deployment: b, delete: true}, {at: 2m, deployment: b, delete: true}]":  "events[1]: x/b is deleted before",
		"events: [{at: 1m, deployment: b, scale: {role: server, replicas: 1024}}]":                "s.yaml:1:14: deployments: x/b has up to 1024 Pods",
		"events: [{at: 0s, deployment: b, deletePod: {role: server, ordinal: 7}}]":                "events[0].deletePod: at 0s there is no Pod server/7",
		"running: true\nevents: [{at: 0s, deployment: b, nodeReady: {role: server}}]":             "the node of server/0 is ready",
		"capacity: {" + a10g + ": 0}\nevents: [{at: 9s, deployment: b, evict: {role: server}}]":   "holds no quota",
		"capacity: {" + a10g + ": 0}\nevents: [{at: 9s, deployment: b, failPod: {role: server}}]": "is gated and has no node",
	} {
		s, err := Parse("s.yaml", []byte(prefix+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_, err = Play(Input{Deployments: deployments, Scenario: s})
		var problems Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), want) || problems[0].Line == 0 {
			t.Errorf("%s: %v\nwant %q", text, err, want)
		}
	}
}

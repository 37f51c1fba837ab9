// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/source"
)

// compiled compiles an example with some text replaced.
func compiled(t testing.TB, example string, replace ...string) *compiler.Deployment {
	t.Helper()
	disk := filesys.MakeFsOnDisk()
	memory := filesys.MakeFsInMemory()
	for _, name := range []string{"deployment.yaml", "facts.yaml"} {
		b, err := disk.ReadFile("../../../examples/" + example + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := memory.WriteFile("/in/"+name, []byte(strings.NewReplacer(replace...).Replace(string(b)))); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Loader{FS: memory}.Load("/in")
	if err != nil {
		t.Fatal(err)
	}
	out, findings := compiler.Compile(compiler.Input{Objects: set.Objects})
	if out == nil {
		t.Fatal(findings)
		return nil
	}
	return &out.Deployments[0]
}

// played plays one deployment.
func played(t *testing.T, d *compiler.Deployment, s *Scenario, edits map[string]*compiler.Deployment) *Result {
	t.Helper()
	return playedAll(t, Input{Deployments: []Deployment{{Compiled: d, Edits: edits}}, Scenario: s})[0]
}

func playedAll(t *testing.T, in Input) []*Result {
	t.Helper()
	r, err := Play(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMultiPodRollout(t *testing.T) {
	old := compiled(t, "multi-pod")
	edited := compiled(t, "multi-pod", "instanceType:", "terminationGracePeriodSeconds: 60\n    instanceType:")
	r := played(t, old, &Scenario{Running: true, Events: []Event{{Edit: "new"}}}, map[string]*compiler.Deployment{"new": edited})
	if len(r.Summary) != 1 || r.Settled == "" {
		t.Fatalf("%+v", r)
	}
	s := r.Summary[0]
	if s.LowestReady == nil || *s.LowestReady != s.Replicas-1 {
		t.Errorf("lowest %v of %d", s.LowestReady, s.Replicas)
	}
	if s.Created != 2*s.Replicas || s.Deleted != s.Created {
		t.Errorf("%d Pods created, %d deleted", s.Created, s.Deleted)
	}
}

func TestSeedVaries(t *testing.T) {
	d := compiled(t, "pair")
	text := func(seed uint64) string {
		results := playedAll(t, Input{Deployments: []Deployment{{Compiled: d}}, Scenario: &Scenario{}, Seed: seed})
		var b bytes.Buffer
		for _, print := range []func() error{
			func() error { return Text(&b, results) },
			func() error { return JSON(&b, results) },
			func() error { return SVG(&b, results) },
		} {
			if err := print(); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	first := text(3)
	if again := text(3); again != first {
		t.Error("one seed gives two results")
	}
	if first == text(4) {
		t.Error("two seeds give one result")
	}
}

// A pair is admitted as a whole: without room for the decode half the prefill
// half does not start either.
func TestPairWaitsAsAWhole(t *testing.T) {
	d := compiled(t, "pair")
	pool := d.ModelDeployment.Spec.Roles[0].InstanceType
	r := played(t, d, &Scenario{
		Capacity: map[string]Cards{pool: 7},
		Events:   []Event{{At: Duration(10 * time.Minute), Capacity: map[string]Cards{pool: 8}}},
	}, nil)
	for _, e := range r.Timeline {
		if e.State == Starting && e.time < 10*time.Minute {
			t.Fatalf("%s/%d starts at %s", e.Role, *e.Ordinal, e.At)
		}
	}
	if r.Settled == "" {
		t.Error("does not come to what is declared")
	}
}

func TestParse(t *testing.T) {
	const file = "deployments: [a]\n"
	for text, want := range map[string]string{
		"":                                       "s.yaml: the file is empty",
		"hello":                                  "s.yaml:1:1: must be a mapping",
		"a: [\nb: }":                             "not YAML",
		file + "---\n" + file:                    "one YAML document",
		"{}":                                     "deployments: name at least one",
		"deployments: a":                         "s.yaml:1:14: deployments: must be a list",
		"deployments: [{a: b}]":                  "deployments[0]: must be a single value",
		"deployments: ['']":                      "deployments[0]: is empty",
		file + file:                              "deployments stands twice",
		file + "whatever: 1":                     `s.yaml:2:1: whatever: unknown field "whatever"; there are deployments, `,
		file + "<<: {running: true}":             `unknown field "<<"`,
		file + "until: -1s":                      "s.yaml:2:8: until: -1s is negative",
		file + "until: 0s":                       "until: must be more than 0s",
		file + "until: 9999h":                    "a simulation lasts at most 8760h0m0s",
		file + "until: 99999999999h":             "is not a time",
		file + "running: 1":                      `running: "1" is not true or false`,
		file + "capacity: {x: -1}":               "s.yaml:2:15: capacity[x]: -1 is not between 0 and 1000000",
		file + "capacity: {x: 1.5}":              `capacity[x]: "1.5" is not a whole number`,
		file + "capacity: {x: 9999999999}":       "9999999999 is out of range",
		file + "timing: {roles: {r: 5m}}":        "timing.roles[r]: must be a mapping",
		file + "events: [{at: 1m}]":              "events[0]: says nothing that happens; give one of edit, scale, capacity, delete, deletePod, failPod, evict, preempt, reactivate, nodeNotReady, nodeReady and nodeRemoved",
		file + "events: [{delete: true}]":        "events[0]: has no at",
		file + "events: [{at: 5, delete: true}]": `events[0].at: "5" is not a time`,
		file + "events: [{at: 3h, delete: true}]\nuntil: 2h":                              "events[0].at: 3h0m0s is after the end, 2h0m0s; raise until",
		file + "events: [{at: 1m, delete: true, edit: b}]":                                "events[0]: has edit and delete",
		file + "events: [{at: 1m, deployment: x, edit: b}]":                               "edit is about no deployment in particular",
		file + "events: [{at: 1m, capacity: {}}]":                                         "events[0].capacity: name an InstanceType",
		file + "events: [{at: 1m, scale: {role: r, replicas: 0}}]":                        "0 is not between 1 and 1024",
		file + "events: [{at: 1m, scale: {role: r, replicas: 1000000000}}]":               "1000000000 is not between 1 and 1024",
		file + "events: [{at: 1m, scale: {role: r}}]":                                     "events[0].scale: has no replicas",
		file + "events: [{at: 1m, failPod: {ordinal: -1}}]":                               "events[0].failPod: has no role",
		file + "events: [{at: 1m, evict: {role: r, member: 1}}]":                          "Kueue treats a replica as a whole",
		file + "events: [{at: x, delete: true}, {at: 1m, delete: 7}]\nuntil: y\nfact: []": `s.yaml:4:1: fact: unknown field "fact"; did you mean "facts"?`,
	} {
		if _, err := Parse("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	s, err := Parse("s.yaml", []byte("deployments: &here [a]\nfacts: *here\nevents: [{at: 1h30m, evict: {role: r, ordinal: 2}}]"))
	if err != nil || time.Duration(s.Events[0].At) != 90*time.Minute || s.Events[0].Evict.Ordinal != 2 || s.Facts[0] != "a" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestOrder: events of one moment happen in the order of the file.
func TestOrder(t *testing.T) {
	scale := func(n int32) Event { return Event{At: Duration(time.Minute), Scale: &Scale{"server", n}} }
	r := played(t, vllm(t, "x", "a", 1), &Scenario{Running: true, Events: []Event{
		{At: Duration(2 * time.Minute), Delete: true}, scale(3), scale(5), scale(2),
	}}, nil)
	var got []string
	for _, e := range r.Timeline {
		if e.Role == "" {
			got = append(got, e.Event)
		}
	}
	if want := []string{"scale server to 3", "scale server to 5", "scale server to 2", "deployment deleted"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if s := r.Summary[0]; s.Created != 1 {
		t.Errorf("%+v", s)
	}
}

// TestLongWait: a year on a full pool is played at once.
func TestLongWait(t *testing.T) {
	began := time.Now()
	r := played(t, vllm(t, "x", "a", 4), &Scenario{Running: true, Capacity: map[string]Cards{a10g: 8}, Until: until(longest), Events: []Event{
		{At: Duration(time.Minute), Preempt: &Seat{Role: "server", Ordinal: 2}},
		{At: Duration(time.Hour), Edit: "new"},
	}}, map[string]*compiler.Deployment{"new": vllm(t, "x", "a", 4, "size\", \"2\"", "size\", \"2\", \"--seed\", \"1\"")})
	if s := r.Summary[0]; s.Ready != 3 || r.Settled != "" {
		t.Errorf("%+v", r)
	}
	if want := []string{"server/2 waits for cards of " + a10g + ": it needs 2, and 6 of 6 are reserved"}; !slices.Equal(r.waits, want) {
		t.Errorf("%q", r.waits)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("took %s", took)
	}
}

func TestJSONIsAList(t *testing.T) {
	r := played(t, compiled(t, "vllm"), &Scenario{Running: true}, nil)
	var b bytes.Buffer
	if err := JSON(&b, []*Result{r}); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Deployments []struct {
			Timeline []Entry
			Summary  []Summary
		}
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Deployments) != 1 || out.Deployments[0].Timeline == nil || len(out.Deployments[0].Timeline) != 0 {
		t.Errorf("%s", b.String())
	}
	if !slices.ContainsFunc(out.Deployments[0].Summary, func(s Summary) bool { return s.Ready == 4 }) {
		t.Errorf("%+v", out.Deployments[0].Summary)
	}
}

// TestPark: replicas that hold cards which the rest of their set does not let
// them use give them back after half an hour, and ask again when a person says
// so.
func TestPark(t *testing.T) {
	d := compiled(t, "pair")
	pool := d.ModelDeployment.Spec.Roles[0].InstanceType
	cards := 0
	for _, r := range d.ModelDeployment.Spec.Roles {
		cards += int(r.Replicas) * int(r.Resources.Accelerator.Value())
	}
	scenario := &Scenario{
		Capacity: map[string]Cards{pool: Cards(cards - 1)},
		Events:   []Event{{At: Duration(2 * time.Hour), Capacity: map[string]Cards{pool: Cards(cards)}}},
	}
	parked := map[string]time.Duration{}
	r := played(t, d, scenario, nil)
	for _, e := range r.Timeline {
		if e.Event == "parked" {
			parked[fmt.Sprintf("%s/%d", e.Role, *e.Ordinal)] = e.time
		}
	}
	if len(parked) == 0 {
		t.Fatalf("nobody is parked: %+v", r.Timeline)
	}
	// The decode half takes the cards that the prefill half gives back, and waits
	// in turn.
	for name, want := range map[string]time.Duration{"prefill/0": 30 * time.Minute, "prefill/3": 30 * time.Minute, "decode/0": time.Hour} {
		if at := parked[name]; at < want || at > want+time.Minute {
			t.Errorf("%s is parked at %s", name, at)
		}
	}
	if r.Settled != "" || !strings.Contains(strings.Join(r.waits, "\n"), "is parked") {
		t.Errorf("settled %q, waits %q", r.Settled, r.waits)
	}

	for name := range parked {
		role, ordinal, _ := strings.Cut(name, "/")
		n, err := strconv.Atoi(ordinal)
		if err != nil {
			t.Fatal(err)
		}
		scenario.Events = append(scenario.Events, Event{At: Duration(3 * time.Hour), Reactivate: &Seat{Role: role, Ordinal: int32(n)}})
	}
	r = played(t, d, scenario, nil)
	for _, s := range r.Summary {
		if s.Ready != s.Replicas {
			t.Errorf("%+v, waits %q", s, r.waits)
		}
	}
	if r.Settled == "" {
		t.Error("not settled")
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"gpustack.ai/mdc/compiler"
)

// FuzzParse: any text is a scenario or a list of problems.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../../../examples/vllm/scenario.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte("deployments: &a [x]\nfacts: *a\nevents: [{at: 1m, evict: {role: r}}, null, 3]\nuntil: 0"))
	f.Add([]byte("timing: {load: 5, roles: {a: {drain: -3s}}}\ncapacity: {x: 99999999999, y: [1]}\n<<: {running: yes}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("s.yaml", text)
		var problems Problems
		switch {
		case err == nil:
			if len(s.Deployments) == 0 {
				t.Error("no deployments")
			}
		case !errors.As(err, &problems) || len(problems) == 0:
			t.Errorf("%T: %v", err, err)
		}
	})
}

// FuzzPlay: any events on two deployments of a small pool are played to an end,
// besides those that are told to be problems.
func FuzzPlay(f *testing.F) {
	first, edited, other := multiPod(f, 2, "60"), multiPod(f, 3, "30"), multiPod(f, 1, "45")
	other.ModelDeployment.Name = "other"
	for _, t := range other.Templates {
		t.Name = "other" + t.Name[len("llama-big"):]
	}
	pool := first.ModelDeployment.Spec.Roles[0].InstanceType
	f.Add([]byte{0, 5, 0, 1, 1, 20, 1, 0, 4, 1, 0, 0}, uint64(0))
	f.Add([]byte{6, 0, 1, 1, 0, 1, 0, 0, 8, 5, 1, 1, 9, 0, 0, 0, 10, 1, 0, 0}, uint64(1))
	f.Add([]byte{2, 9, 0, 0, 3, 0, 0, 1, 4, 0, 1, 0, 5, 0, 1, 0, 7, 1, 1, 1}, uint64(2))
	f.Fuzz(func(t *testing.T, ops []byte, seed uint64) {
		const mostEvents = 12
		s := &Scenario{Running: seed%2 == 0, Capacity: map[string]Cards{pool: 48}, Until: until(48 * time.Hour)}
		at := time.Duration(0)
		for len(ops) >= 4 && len(s.Events) < mostEvents {
			at += time.Duration(ops[1]) * 7 * time.Second
			s.Events = append(s.Events, fuzzed(ops, pool, Duration(at)))
			ops = ops[4:]
		}
		in := Input{
			Deployments: []Deployment{
				{Compiled: first, Edits: map[string]*compiler.Deployment{"a": edited, "b": first}},
				{Compiled: other},
			},
			Scenario: s, Seed: seed,
		}
		results, err := Play(in)
		for problems := (Problems{}); errors.As(err, &problems); results, err = Play(in) {
			var i int
			if _, err := fmt.Sscanf(problems[0].Field, "events[%d]", &i); err != nil {
				t.Fatal(problems)
			}
			s.Events = slices.Delete(s.Events, i, i+1)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, print := range []func(io.Writer, []*Result) error{Text, JSON, SVG} {
			if err := print(io.Discard, results); err != nil {
				t.Error(err)
			}
		}
		judge(t, results)
	})
}

func until(d time.Duration) *Duration {
	out := Duration(d)
	return &out
}

// fuzzed makes an event of four bytes.
func fuzzed(op []byte, pool string, at Duration) Event {
	e := Event{At: at, Deployment: []string{"llama-big", "other"}[op[2]%2]}
	seat := &Seat{Role: "server", Ordinal: int32(op[3] / 2 % 4), Member: int32(op[3] % 2)}
	whole := &Seat{Role: "server", Ordinal: int32(op[3] % 4)}
	switch op[0] % 12 {
	case 0, 1:
		e.Deployment, e.Edit = "", string('a'+op[0]%2)
	case 2:
		e.Scale = &Scale{"server", int32(op[3]%4) + 1}
	case 3:
		e.DeletePod = seat
	case 4:
		e.FailPod = seat
	case 5:
		e.Evict = whole
	case 6:
		e.Preempt = whole
	case 7:
		e.NodeNotReady = seat
	case 8:
		e.NodeReady = seat
	case 9:
		e.NodeRemoved = seat
	case 10:
		e.Deployment, e.Capacity = "", map[string]Cards{pool: Cards(op[3])}
	case 11:
		e.Delete = true
	}
	return e
}

// judge checks what holds in every timeline: time goes on, Pods go through
// their states in order, and counts add up.
func judge(t *testing.T, results []*Result) {
	t.Helper()
	for _, r := range results {
		type seat struct{ ordinal, member int32 }
		state, last := map[seat]Stage{}, time.Duration(0)
		for _, e := range r.Timeline {
			if e.time < last || e.time > r.until {
				t.Errorf("%s: %s after %s", r.Name, e.At, last)
			}
			last = e.time
			if e.Role == "" {
				continue
			}
			at := seat{*e.Ordinal, *e.Member}
			if was := state[at]; e.State == Gated && was != "" && was != Gone || was == Draining && e.State != Gone {
				t.Errorf("%s: %v is %s at %s and was %s", r.Name, at, e.State, e.At, was)
			}
			state[at] = e.State
		}
		for _, s := range r.Summary {
			if s.Ready < 0 || s.LowestReady != nil && *s.LowestReady > s.Ready || s.Deleted < 0 {
				t.Errorf("%s: %+v", r.Name, s)
			}
		}
	}
}

// multiPod is the example of two Pods an instance, with replicas and a grace.
func multiPod(t testing.TB, replicas int, grace string) *compiler.Deployment {
	d := compiled(t, "multi-pod", "instanceType:", "terminationGracePeriodSeconds: "+grace+"\n    instanceType:")
	d.ModelDeployment.Spec.Roles[0].Replicas = int32(replicas)
	return d
}

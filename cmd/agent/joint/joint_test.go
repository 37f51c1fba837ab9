// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package joint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// world is a deployment with a prefill and a decode role.
type world struct{ obs converge.Observation }

func deployment(prefill, decode, size int32) *world {
	w := &world{}
	for _, r := range []converge.Role{{Name: "prefill", Replicas: prefill, Size: 1}, {Name: "decode", Replicas: decode, Size: size}} {
		r.Group = func(n int32) string { return group(r.Name, n) }
		w.obs.Roles = append(w.obs.Roles, r)
	}
	return w
}

func group(role string, n int32) string { return fmt.Sprintf("%s/%d", role, n) }

// replica adds an instance: its Pods, changed by each change, and its Workload.
func (w *world) replica(role string, n int32, workload *converge.Workload, pods ...converge.Pod) *world {
	for i, p := range pods {
		p.Group, p.UID = group(role, n), fmt.Sprintf("%s/%d/%d", role, n, i)
		w.obs.Pods = append(w.obs.Pods, p)
		if workload != nil {
			workload.Pods = append(workload.Pods, p.UID)
		}
	}
	if workload != nil {
		wl := *workload
		wl.Name = group(role, n)
		w.obs.Workloads = append(w.obs.Workloads, wl)
	}
	return w
}

func (w *world) deleting() *world {
	w.obs.Deleting = true
	return w
}

func waits() *converge.Workload    { return &converge.Workload{} }
func reserved() *converge.Workload { return &converge.Workload{Reserved: true} }
func admitted() *converge.Workload { return &converge.Workload{Reserved: true, Admitted: true} }
func evicted() *converge.Workload {
	return &converge.Workload{Reserved: true, Admitted: true, Evicted: true}
}
func doomed() *converge.Workload { return &converge.Workload{Reserved: true, Deleting: true} }

var (
	live      = converge.Pod{}
	leaving   = converge.Pod{Deleting: true}
	preempted = converge.Pod{Deleting: true, Preempted: true}
)

func TestJudge(t *testing.T) {
	one := deployment(1, 0, 1).replica("prefill", 0, waits(), live)
	one.obs.Roles = one.obs.Roles[:1]
	for name, c := range map[string]struct {
		w              *world
		ready, settled bool
		says           []string
	}{
		"one role is never held":     {w: one, ready: true},
		"nothing is declared":        {w: deployment(0, 0, 1), ready: true},
		"all reserved":               {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, reserved(), live), ready: true},
		"some admitted already":      {w: deployment(1, 1, 1).replica("prefill", 0, admitted(), live).replica("decode", 0, reserved(), live), ready: true},
		"one waits":                  {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, waits(), live), settled: true, says: []string{"1 of 2", "role decode"}},
		"both wait":                  {w: deployment(1, 1, 1).replica("prefill", 0, waits(), live).replica("decode", 0, waits(), live), settled: true, says: []string{"0 of 2", "roles prefill, decode"}},
		"no Workload yet":            {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, nil, live), settled: true, says: []string{"1 of 2", "role decode"}},
		"no Pod yet":                 {w: deployment(1, 2, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, reserved(), live), says: []string{"role decode", "resolves itself"}},
		"an instance is partial":     {w: deployment(1, 1, 2).replica("prefill", 0, reserved(), live).replica("decode", 0, nil, live), says: []string{"role decode"}},
		"partial and yet reserved":   {w: deployment(1, 1, 2).replica("prefill", 0, reserved(), live).replica("decode", 0, reserved(), live, leaving), ready: true},
		"reserved for a dead Pod":    {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, reserved(), leaving), says: []string{"role decode"}},
		"evicted":                    {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, evicted(), live), settled: true, says: []string{"1 of 2"}},
		"the Workload goes":          {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, doomed(), live), settled: true},
		"its own rollout":            {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, nil, leaving), ready: true},
		"a rollout of a whole group": {w: deployment(1, 1, 2).replica("prefill", 0, reserved(), live).replica("decode", 0, nil, leaving, leaving), ready: true},
		"preempted and swept":        {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, nil, preempted), says: []string{"role decode"}},
		"one member preempted":       {w: deployment(1, 1, 2).replica("prefill", 0, reserved(), live).replica("decode", 0, nil, leaving, preempted)},
		"a rollout in a teardown":    {w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, nil, leaving).deleting()},
		"scaled up, one has room": {
			w: deployment(1, 3, 1).replica("prefill", 0, admitted(), live).replica("decode", 0, admitted(), live).
				replica("decode", 1, reserved(), live).replica("decode", 2, waits(), live),
			settled: true, says: []string{"3 of 4", "role decode"},
		},
		"what is scaled away does not count": {
			w: deployment(1, 1, 1).replica("prefill", 0, reserved(), live).replica("decode", 0, reserved(), live).replica("decode", 1, waits(), leaving), ready: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := Judge(&c.w.obs)
			if v.Ready != c.ready || v.Settled != c.settled {
				t.Errorf("%+v", v)
			}
			for _, part := range c.says {
				if !strings.Contains(v.Message, part) {
					t.Errorf("message %q has no %q", v.Message, part)
				}
			}
			if strings.Contains(v.Message, Marker) || v.Message == "" {
				t.Errorf("message %q", v.Message)
			}
		})
	}
}

func TestAsks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Workload)
		asks   bool
	}{
		"holds quota":        {func(*Workload) {}, true},
		"answered":           {func(w *Workload) { w.Entries[0].State = Ready }, true},
		"no quota":           {func(w *Workload) { w.Reserved = false }, false},
		"admitted":           {func(w *Workload) { w.Admitted = true }, false},
		"evicted":            {func(w *Workload) { w.Evicted = true }, false},
		"finished":           {func(w *Workload) { w.Finished = true }, false},
		"inactive":           {func(w *Workload) { w.Inactive = true }, false},
		"goes":               {func(w *Workload) { w.Deleting = true }, false},
		"no check of ours":   {func(w *Workload) { w.Entries = nil }, false},
		"asked by two names": {func(w *Workload) { w.Entries = append(w.Entries, w.Entries[0]) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Workload{Reserved: true, Entries: []Entry{{State: Pending}}}
			if c.change(w); w.Asks() != c.asks {
				t.Errorf("asks %v", w.Asks())
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	var (
		open    = Verdict{Ready: true, Message: "all"}
		wait    = Verdict{Settled: true, Message: "1 of 2"}
		told    = "1 of 2. What this Workload has been given stays reserved meanwhile"
		forming = Verdict{Message: "forming"}
	)
	for name, c := range map[string]struct {
		verdict  Verdict
		reserved time.Time
		entries  []Entry
		want     Answer
	}{
		"opens":   {open, ago(time.Hour), []Entry{{State: Pending, Since: ago(time.Hour)}}, Answer{State: Ready, Message: "all", Write: true}},
		"is open": {open, ago(time.Minute), []Entry{{State: Ready, Message: "all"}}, Answer{State: Ready, Message: "all"}},
		"opens under a second name": {
			open, ago(time.Minute), []Entry{{State: Ready, Message: "all"}, {State: Pending, Message: "x"}},
			Answer{State: Ready, Message: "all", Write: true},
		},
		"a park that has not happened yet is taken back": {
			open, ago(time.Hour), []Entry{{State: Pending, Message: Marker, Since: ago(time.Hour)}},
			Answer{State: Ready, Message: "all", Write: true},
		},
		"is told": {
			wait, ago(time.Minute), []Entry{{State: Pending, Since: ago(time.Minute)}},
			Answer{State: Pending, Message: told, Write: true, After: look},
		},
		"knows": {
			wait, ago(time.Minute), []Entry{{State: Pending, Message: told, Since: ago(time.Minute)}},
			Answer{State: Pending, Message: told, After: look},
		},
		"is told in other words": {
			wait, ago(time.Minute), []Entry{{State: Pending, Message: "0 of 2", Since: ago(time.Minute)}},
			Answer{State: Pending, Message: told, Write: true, Reworded: true, After: look},
		},
		"closes again": {
			wait, ago(time.Hour), []Entry{{State: Ready, Message: "all", Since: ago(time.Hour)}},
			Answer{State: Pending, Message: told, Write: true, After: look},
		},
		"shortly before the bound": {
			wait, ago(time.Hour), []Entry{{State: Pending, Message: told, Since: ago(Bound - 10*time.Second)}},
			Answer{State: Pending, Message: told, After: 11 * time.Second},
		},
		"at the bound": {
			wait, ago(time.Hour), []Entry{{State: Pending, Message: told, Since: ago(Bound)}},
			Answer{State: Pending, Message: told, After: time.Second},
		},
		"the reservation is younger than the entry": {
			wait, ago(time.Minute), []Entry{{State: Pending, Message: told, Since: ago(2 * Bound)}},
			Answer{State: Pending, Message: told, After: look},
		},
		"of two entries the younger counts": {
			wait, ago(2 * Bound), []Entry{{State: Pending, Message: told, Since: ago(2 * Bound)}, {State: Pending, Message: told, Since: ago(time.Minute)}},
			Answer{State: Pending, Message: told, After: look},
		},
		"what forms is never parked": {
			forming, ago(3 * Bound), []Entry{{State: Pending, Message: "forming", Since: ago(3 * Bound)}},
			Answer{State: Pending, Message: "forming", After: look},
		},
		"what cannot be read is never parked": {
			Unreadable, ago(3 * Bound), []Entry{{State: Pending, Message: Unreadable.Message, Since: ago(3 * Bound)}},
			Answer{State: Pending, Message: Unreadable.Message, After: retry},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Workload{Namespace: "ns", Name: "w", Reserved: true, ReservedAt: c.reserved, Entries: c.entries}
			if got := c.verdict.Answer(w, now); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestParkAnswer: the message says what holds and what to do, and once it is
// written it is not written again.
func TestParkAnswer(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	v := Verdict{Settled: true, Message: "1 of 2 replicas hold quota; waits for quota of role decode"}
	w := &Workload{
		Namespace: "team-a", Name: "gpustack-1", Reserved: true, ReservedAt: now.Add(-time.Hour),
		Entries: []Entry{{State: Pending, Message: v.Message, Since: now.Add(-Bound - time.Second)}},
	}
	a := v.Answer(w, now)
	if !a.Park || !a.Write || a.Reworded || a.State != Pending || a.After != 0 {
		t.Errorf("%+v", a)
	}
	for _, part := range []string{
		Marker, v.Message, "30m", "Applying the same manifests again does not change this", "free capacity",
		`kubectl patch workloads.kueue.x-k8s.io gpustack-1 --namespace team-a --type merge --patch '{"spec":{"active":true}}'`,
		"delete the ModelDeployment",
	} {
		if !strings.Contains(a.Message, part) {
			t.Errorf("message %q has no %q", a.Message, part)
		}
	}
	w.Entries[0].Message = a.Message
	if again := v.Answer(w, now); !again.Park || again.Write {
		t.Errorf("after a crash in between: %+v", again)
	}
}

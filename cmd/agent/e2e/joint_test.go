// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/manifests"
)

// clock is that of the agent, which a test can put forward.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(by time.Duration) { c.ahead.Add(int64(by)) }

// unequal has a prefill role of one card and a decode role of two, so that
// a test can make room for prefill alone.
func unequal(prefill, decode int) string {
	return fmt.Sprintf(`{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, kvTransfer: {protocol: TCP}, router: {name: llm-d-router}, roles: [`+
		`{name: prefill, kind: Prefill, replicas: %d, instanceType: NAME, resources: {accelerator: 1}}, `+
		`{name: decode, kind: Decode, replicas: %d, instanceType: NAME, resources: {accelerator: 2}}]}`, prefill, decode)
}

// newJointWorld is a world whose queue has the agent's AdmissionCheck and so many
// cards.
func newJointWorld(t *testing.T, cards int, options ...option) *world {
	t.Helper()
	w := newWorld(t, options...)
	w.must(w.ApplyYAML(w.ctx(), manifests.AdmissionCheck))
	w.until("the agent activates the check", func() error {
		check := &kueue.AdmissionCheck{}
		if err := w.Get(w.ctx(), client.ObjectKey{Name: manifests.CheckName}, check); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(check.Status.Conditions, kueue.AdmissionCheckActive) {
			return fmt.Errorf("conditions %v", check.Status.Conditions)
		}
		return nil
	})
	w.pool.Checks = []string{manifests.CheckName}
	w.room(cards)
	w.until("the queue has the check and is active", func() error {
		q := &kueue.ClusterQueue{}
		if err := w.Get(w.ctx(), client.ObjectKey{Name: w.name}, q); err != nil {
			return err
		}
		active := meta.FindStatusCondition(q.Status.Conditions, kueue.ClusterQueueActive)
		if active == nil || active.Status != metav1.ConditionTrue || active.ObservedGeneration != q.Generation {
			return fmt.Errorf("conditions %v", q.Status.Conditions)
		}
		return nil
	})
	return w
}

// nudge changes the Pods in a way that matters to nobody and still makes the
// agent look at their Workloads.
func (w *world) nudge() {
	w.Helper()
	w.touched++
	for _, p := range w.pods() {
		w.must(w.Patch(w.ctx(), &p, client.RawPatch(types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":"%d"}}}`, w.touched))))
	}
}

// room changes how many cards the pool has.
func (w *world) room(cards int) {
	w.Helper()
	w.pool.Cards = cards
	w.must(w.SetPool(w.ctx(), w.pool))
}

// workloadOf is that of a replica.
func (w *world) workloadOf(role string, ordinal int32) *kueue.Workload {
	w.Helper()
	wl := &kueue.Workload{}
	err := w.Get(w.ctx(), client.ObjectKey{Namespace: w.name, Name: replica.GroupName(w.name, "m", role, ordinal)}, wl)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	return wl
}

// told waits until the check of a replica's Workload says something.
func (w *world) told(role string, ordinal int32, state kueue.CheckState, parts ...string) {
	w.Helper()
	w.until(fmt.Sprintf("%s/%d is told %s %q", role, ordinal, state, parts), func() error {
		entries := w.workloadOf(role, ordinal).Status.AdmissionChecks
		if len(entries) != 1 || entries[0].State != state {
			return fmt.Errorf("entries %v", entries)
		}
		for _, part := range parts {
			if !strings.Contains(entries[0].Message, part) {
				return fmt.Errorf("message %q", entries[0].Message)
			}
		}
		return nil
	})
}

// holds waits until conditions of a replica's Workload are as wanted.
func (w *world) holds(role string, ordinal int32, want map[string]bool) {
	w.Helper()
	w.until(fmt.Sprintf("%s/%d: %v", role, ordinal, want), func() error {
		wl := w.workloadOf(role, ordinal)
		for condition, is := range want {
			if meta.IsStatusConditionTrue(wl.Status.Conditions, condition) != is {
				return fmt.Errorf("conditions %v", wl.Status.Conditions)
			}
		}
		return nil
	})
}

var (
	held    = map[string]bool{kueue.WorkloadQuotaReserved: true, kueue.WorkloadAdmitted: false}
	waiting = map[string]bool{kueue.WorkloadQuotaReserved: false, kueue.WorkloadAdmitted: false}
)

// gated makes sure that no Pod of these seats has been let start.
func (w *world) gated(seats ...string) {
	w.Helper()
	for _, seat := range seats {
		if p := w.pod(seat); len(p.Spec.SchedulingGates) == 0 {
			w.Errorf("%s has been let start", seat)
		}
	}
}

// TestJoint: a replica that has quota waits for the other role, and both start
// when both have some. What belongs to nobody starts at once.
func TestJoint(t *testing.T) {
	w := newJointWorld(t, 1)
	w.apply(unequal(1, 1))
	w.told("prefill", 0, kueue.CheckStatePending, "1 of 2", "decode")
	w.holds("prefill", 0, held)
	w.holds("decode", 0, waiting)
	w.gated("prefill/0/0", "decode/0/0")

	w.room(4)
	w.settle("prefill/0/0", "decode/0/0")
	w.told("prefill", 0, kueue.CheckStateReady, "All 2")
	w.told("decode", 0, kueue.CheckStateReady, "All 2")

	w.compete("rival", 1, "")
	w.until("a stranger runs", func() error { return w.runs("rival") })
}

// TestJointScaleUp: replicas that are added to a set that runs wait for each
// other, and nobody who runs is asked again.
func TestJointScaleUp(t *testing.T) {
	w := newJointWorld(t, 3)
	w.apply(unequal(1, 1))
	w.settle("prefill/0/0", "decode/0/0")
	before, at := w.uids(), w.rec.now()

	w.room(5)
	w.apply(unequal(1, 3))
	reserved := func(n int32) bool {
		return meta.IsStatusConditionTrue(w.workloadOf("decode", n).Status.Conditions, kueue.WorkloadQuotaReserved)
	}
	w.until("one of the new ones has quota", func() error {
		if reserved(1) == reserved(2) {
			return fmt.Errorf("decode/1 %v, decode/2 %v", reserved(1), reserved(2))
		}
		return nil
	})
	first, second := int32(1), int32(2)
	if reserved(2) {
		first, second = second, first
	}
	w.told("decode", first, kueue.CheckStatePending, "3 of 4", "decode")
	w.holds("decode", first, held)
	w.holds("decode", second, waiting)
	w.gated("decode/1/0", "decode/2/0")
	for _, role := range []string{"prefill", "decode"} {
		w.holds(role, 0, map[string]bool{kueue.WorkloadAdmitted: true})
	}

	w.room(7)
	w.settle(append(seats("decode", 3), "prefill/0/0")...)
	w.kept(before, "prefill/0/0", "decode/0/0")
	w.equal("made", slices.Sorted(slices.Values(w.rec.made(at))), []string{"decode/1/0", "decode/2/0"})
}

// TestPark: who has waited with quota for too long gives it back, keeps his Pod
// and comes back when a person says so.
func TestPark(t *testing.T) {
	w := newJointWorld(t, 1)
	w.apply(unequal(1, 1))
	w.told("prefill", 0, kueue.CheckStatePending, "1 of 2", "decode")
	before := w.uids()

	w.clock.forward(joint.Bound / 2)
	w.nudge()
	w.holds("prefill", 0, held)
	w.clock.forward(joint.Bound/2 + time.Minute)
	w.nudge()
	w.told("prefill", 0, kueue.CheckStatePending, joint.Marker, "30m", "1 of 2", "decode",
		joint.Unpark(w.name, w.workloadOf("prefill", 0).Name), "delete the ModelDeployment")
	w.holds("prefill", 0, waiting)
	for role, want := range map[string]bool{"prefill": false, "decode": true} {
		if active := w.workloadOf(role, 0).Spec.Active; active != nil && *active != want {
			t.Errorf("%s: active %v", role, *active)
		}
	}
	w.kept(before, "prefill/0/0", "decode/0/0")
	w.gated("prefill/0/0", "decode/0/0")

	// It has its quota again, and its time starts anew.
	w.clock.ahead.Store(0)
	w.patch(w.workloadOf("prefill", 0), `[{"op": "replace", "path": "/spec/active", "value": true}]`)
	w.holds("prefill", 0, held)
	w.told("prefill", 0, kueue.CheckStatePending, "1 of 2", "stays reserved")
	w.room(3)
	w.settle("prefill/0/0", "decode/0/0")
	w.kept(before, "prefill/0/0", "decode/0/0")
}

// TestJointPreempted: a replica that Kueue takes away from a running set joins it
// again, and nobody else is asked. One that is taken away while the set waits
// keeps the others waiting.
func TestJointPreempted(t *testing.T) {
	w := newJointWorld(t, 3, preempting)
	w.must(w.Create(w.ctx(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Value: 1000}))
	w.apply(unequal(1, 1))
	w.settle("prefill/0/0", "decode/0/0")
	before, at := w.uids(), w.rec.now()

	w.compete("rival", 1, w.name) // its card comes from either
	w.until("the rival runs", func() error { return w.runs("rival") })
	w.until("what was lost waits", func() error {
		for _, role := range []string{"prefill", "decode"} {
			if p := w.pods(); len(p) != 2 {
				return fmt.Errorf("%d Pods", len(p))
			} else if now := w.uids(); now[role+"/0/0"] != before[role+"/0/0"] && now[role+"/0/0"] != "" {
				return nil
			}
		}
		return errors.New("nothing was lost")
	})
	w.end("rival")
	w.settle("prefill/0/0", "decode/0/0")
	if made := w.rec.made(at); len(made) != 1 {
		t.Errorf("made %q", made)
	}
}

// TestJointRollout: a rollout of both roles never asks the one for the other.
func TestJointRollout(t *testing.T) {
	w := newJointWorld(t, 6)
	spec := func(seed string) string {
		return strings.ReplaceAll(unequal(2, 2), "resources:", "extraArgs: [--seed, '"+seed+"'], resources:")
	}
	all := append(seats("decode", 2), seats("prefill", 2)...)
	w.apply(spec("1"))
	w.settle(all...)
	before, at := w.uids(), w.rec.now()
	w.apply(spec("2"))
	w.rolled(before, all...)
	for _, role := range []string{"prefill", "decode"} {
		if n := w.rec.fewestReady(role, 1, at); n != 1 {
			t.Errorf("only %d %s were Ready", n, role)
		}
	}
}

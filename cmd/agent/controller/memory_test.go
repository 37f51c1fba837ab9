// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
)

// TestUpToDate: a cache that lags behind the agent's own writes is not believed,
// and any other one is.
func TestUpToDate(t *testing.T) {
	version := func(v string) *v1.ModelDeployment {
		return &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{ResourceVersion: v}}
	}
	m := &memory{}
	for _, step := range []struct{ cached, used, left string }{
		{"1", "1", "1"},
		{"1", "1", "2"},
		{"1", "2", "3"}, // both writes are still to be seen
		{"2", "3", "3"},
		{"3", "3", "3"},
		{"3", "3", "4"},
		{"9", "9", "9"}, // somebody else has written
		{"3", "3", "3"},
	} {
		got := m.upToDate(version(step.cached))
		if got.ResourceVersion != step.used {
			t.Errorf("cached %s: used %s, want %s", step.cached, got.ResourceVersion, step.used)
		}
		m.noteWrites(got, version(step.left))
	}
}

// TestMarkDeleted: a Pod that was deleted is not taken for one that serves while
// the cache lags, and one of the same name is another one.
func TestMarkDeleted(t *testing.T) {
	m, now := &memory{}, time.Now()
	pass := func(pods ...corev1.Pod) (left []string) {
		v := &observe.View{Pods: pods}
		for i := range pods {
			v.Observation.Pods = append(v.Observation.Pods, converge.Pod{Deleting: pods[i].DeletionTimestamp != nil})
		}
		m.markDeleted(v, now)
		for i, p := range v.Pods {
			if (p.DeletionTimestamp != nil) != v.Observation.Pods[i].Deleting {
				t.Errorf("%s: deleted %v, and decided on as %v", p.UID, p.DeletionTimestamp, v.Observation.Pods[i].Deleting)
			}
			if p.DeletionTimestamp != nil {
				left = append(left, string(p.UID))
			}
		}
		return left
	}
	pod := func(uid string) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: types.UID(uid)}}
	}
	leaving := pod("a")
	leaving.DeletionTimestamp = &metav1.Time{Time: now}
	for i, step := range []struct {
		cached []corev1.Pod
		left   []string
		delete map[string]bool
	}{
		{[]corev1.Pod{pod("a"), pod("b")}, nil, map[string]bool{"a": true}},
		{[]corev1.Pod{pod("a"), pod("b")}, []string{"a"}, nil},
		{[]corev1.Pod{pod("a"), pod("b")}, []string{"a"}, map[string]bool{"b": true}},
		{[]corev1.Pod{leaving, pod("b")}, []string{"a", "b"}, nil},
		{[]corev1.Pod{pod("c")}, nil, nil},
	} {
		if left := pass(step.cached...); !slices.Equal(left, step.left) {
			t.Errorf("pass %d: %q leave, want %q", i, left, step.left)
		}
		m.noteDeletes(step.delete)
	}
	if len(m.deleted) > 0 {
		t.Errorf("remembers %v", m.deleted)
	}
}

// TestHoldBack: a create that fails is tried again at once, and then ever less
// often, whatever wakes the passes in between; others are not held.
func TestHoldBack(t *testing.T) {
	m, now := &memory{}, time.Now()
	bad, good := converge.Create{Role: "server", Ordinal: 1}, converge.Create{Role: "server", Ordinal: 2}
	var waits []time.Duration
	for range 12 {
		plan := converge.Plan{Creates: []converge.Create{bad, good}}
		m.holdBack(&plan, now)
		if plan.Requeue > 0 {
			if !slices.Equal(plan.Creates, []converge.Create{good}) {
				t.Fatalf("creates %v", plan.Creates)
			}
			now = now.Add(plan.Requeue)
			waits = append(waits, plan.Requeue)
			plan.Creates = []converge.Create{bad, good}
			m.holdBack(&plan, now)
		}
		if len(plan.Creates) != 2 || plan.Requeue > 0 && len(waits) == 0 {
			t.Fatalf("creates %v, after waits of %v", plan.Creates, waits)
		}
		m.noteCreates(plan.Creates, []act.FailedCreate{{Create: bad, Err: errors.New("no")}}, now)
	}
	if len(waits) != 10 || waits[0] != 4*firstRetry || waits[9] != lastRetry || !slices.IsSorted(waits) {
		t.Errorf("waits %v", waits)
	}
	m.noteCreates([]converge.Create{bad}, nil, now)
	if len(m.failures) > 0 {
		t.Errorf("failures %v", m.failures)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
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
		m.noteCreates(plan.Creates, []converge.Create{bad}, now)
	}
	if len(waits) != 10 || waits[0] != 4*firstRetry || waits[9] != lastRetry || !slices.IsSorted(waits) {
		t.Errorf("waits %v", waits)
	}
	m.noteCreates([]converge.Create{bad}, nil, now)
	if len(m.failures) > 0 {
		t.Errorf("failures %v", m.failures)
	}
}

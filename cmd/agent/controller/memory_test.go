// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
)

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

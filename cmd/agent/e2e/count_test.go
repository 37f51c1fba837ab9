// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"os"
	"testing"
)

// TestWrites counts what the agent writes; in a soak, for many replicas.
func TestWrites(t *testing.T) {
	replicas := 10
	if os.Getenv(soak) != "" {
		replicas = 200
	}
	w := newWorld(t, cards(replicas+22), onNodes(1+replicas/100))
	count := func(what string, want map[string]int) {
		t.Helper()
		w.rest()
		n := w.sent.take()
		t.Logf("%s: %v", what, n)
		if err := cost(n, want); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.apply(servers(replicas, old))
	w.settle(seats("server", replicas)...)
	count(fmt.Sprint(replicas, " replicas"), map[string]int{"POST pods": replicas, "other": 1}) // the finalizer

	w.apply(servers(1, old))
	w.settle(seats("server", 1)...)
	count("all but one fewer", map[string]int{"DELETE pods": replicas - 1, "DELETE workloads": replicas - 1})

	before := w.uids()
	w.apply(servers(1, edited))
	w.rolled(before, seats("server", 1)...)
	count("a turnover", map[string]int{"DELETE pods": 1, "DELETE workloads": 1, "POST pods": 1})

	for range 20 {
		w.pass()
	}
	if n := w.sent.take(); len(n) > 0 {
		t.Errorf("at rest: %v", n)
	}
}

// TestWritesOfPairs counts what the turnover of an instance of two Pods costs.
func TestWritesOfPairs(t *testing.T) {
	w := newWorld(t)
	w.apply(pairs(1, old))
	w.settle(members(1)...)
	before := w.uids()
	w.sent.take()
	w.apply(pairs(1, edited))
	w.rolled(before, members(1)...)
	w.rest()
	if err := cost(w.sent.take(), map[string]int{"DELETE pods": 2, "DELETE workloads": 1, "POST pods": 2}); err != nil {
		t.Error(err)
	}
}

// cost is nil when so much was written, not counting the status, which has one
// for each step that users can see. A Workload more may have been deleted: Kueue
// may compose one anew for a Pod that leaves, and the agent takes it away when
// garbage collection has not after a while.
func cost(n, want map[string]int) error {
	n, want = maps.Clone(n), maps.Clone(want)
	delete(n, "status")
	if n["DELETE workloads"] == want["DELETE workloads"]+1 {
		want["DELETE workloads"]++
	}
	if !maps.Equal(n, want) {
		return fmt.Errorf("writes %v, want %v", n, want)
	}
	return nil
}

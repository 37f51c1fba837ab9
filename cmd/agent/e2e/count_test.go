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
		delete(n, "status") // one for each step that users can see
		if !maps.Equal(n, want) {
			t.Errorf("%s: %v, want %v", what, n, want)
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
	n := w.sent.take()
	delete(n, "status")
	if want := map[string]int{"DELETE pods": 2, "DELETE workloads": 1, "POST pods": 2}; !maps.Equal(n, want) {
		t.Errorf("writes %v, want %v", n, want)
	}
}

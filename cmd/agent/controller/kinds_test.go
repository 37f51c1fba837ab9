// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"strings"
	"testing"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestKindsServedLate: an agent needs no kind of another operator, and reads one
// as soon as it is served.
func TestKindsServedLate(t *testing.T) {
	c := localcluster.ForTest(t)
	own := func(name string) bool { return strings.Contains(name, "modeldeployments") }
	if err := installCRDs(c, own); err != nil {
		t.Fatal(err)
	}
	w := worldOn(t, c.Config)
	w.run()
	w.apply(w.compile(strings.Replace(ten, "10", "1", 1), typeFact))
	w.until("the queue is missed", func() bool { return len(w.events("RenderFailed")) == 1 })

	if err := c.ApplyYAML(t.Context(), ownCRDs(func(name string) bool { return !own(name) })); err != nil {
		t.Fatal(err)
	}
	w.typeOf("12.9")
	w.localQueue("queue", "pool-a")
	w.until("a Pod", func() bool { return len(w.pods()) == 1 })

	if err := w.Delete(t.Context(), w.deployment("m")); err != nil {
		t.Fatal(err)
	}
	w.until("the end", func() bool { return w.deployment("m") == nil })
}

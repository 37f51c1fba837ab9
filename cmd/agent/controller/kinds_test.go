// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"strings"
	"testing"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestKindsServedLate: an agent needs no kind of another operator, and reads one
// as soon as it is served.
func TestKindsServedLate(t *testing.T) {
	bin, err := localcluster.Tools()
	if err != nil {
		t.Skip(err)
	}
	c, err := localcluster.Start(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	own := func(name string) bool { return strings.Contains(name, "modeldeployments") }
	if err := installCRDs(c.Config, own); err != nil {
		t.Fatal(err)
	}
	w := worldOn(t, c.Config)
	w.run()
	w.apply(w.compile(strings.Replace(ten, "10", "1", 1), typeFact))
	w.until("the queue is missed", func() bool { return len(w.events("RenderFailed")) == 1 })

	others := map[string][]byte{}
	for name, text := range v1.CRDs() {
		if !own(name) {
			others[name] = text
		}
	}
	if err := install(c.Config, others); err != nil {
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

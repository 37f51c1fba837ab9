// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/source"
)

// compiled compiles an example with some text replaced.
func compiled(t testing.TB, example string, replace ...string) *compiler.Deployment {
	t.Helper()
	disk := filesys.MakeFsOnDisk()
	memory := filesys.MakeFsInMemory()
	for _, name := range []string{"deployment.yaml", "facts.yaml"} {
		b, err := disk.ReadFile("../../../examples/" + example + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := memory.WriteFile("/in/"+name, []byte(strings.NewReplacer(replace...).Replace(string(b)))); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Loader{FS: memory}.Load("/in")
	if err != nil {
		t.Fatal(err)
	}
	out, findings := compiler.Compile(compiler.Input{Objects: set.Objects})
	if out == nil {
		t.Fatal(findings)
		return nil
	}
	return &out.Deployments[0]
}

// played plays one deployment.
func played(t *testing.T, d *compiler.Deployment, s *Scenario, edits map[string]*compiler.Deployment) *Result {
	t.Helper()
	return playedAll(t, Input{Deployments: []Deployment{{Compiled: d, Edits: edits}}, Scenario: s})[0]
}

func playedAll(t *testing.T, in Input) []*Result {
	t.Helper()
	r, err := Play(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMultiPodRollout(t *testing.T) {
	old := compiled(t, "multi-pod")
	edited := compiled(t, "multi-pod", "instanceType:", "terminationGracePeriodSeconds: 60\n    instanceType:")
	r := played(t, old, &Scenario{Running: true, Events: []Event{{Edit: "new"}}}, map[string]*compiler.Deployment{"new": edited})
	if len(r.Summary) != 1 || r.Settled == "" {
		t.Fatalf("%+v", r)
	}
	s := r.Summary[0]
	if s.LowestReady == nil || *s.LowestReady != s.Replicas-1 {
		t.Errorf("lowest %v of %d", s.LowestReady, s.Replicas)
	}
	if s.Created != 2*s.Replicas || s.Deleted != s.Created {
		t.Errorf("%d Pods created, %d deleted", s.Created, s.Deleted)
	}
}

func TestSeedVaries(t *testing.T) {
	d := compiled(t, "pair")
	text := func(seed uint64) string {
		results := playedAll(t, Input{Deployments: []Deployment{{Compiled: d}}, Scenario: &Scenario{}, Seed: seed})
		var b bytes.Buffer
		for _, print := range []func() error{
			func() error { return Text(&b, results) },
			func() error { return JSON(&b, results) },
			func() error { return SVG(&b, results) },
		} {
			if err := print(); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	first := text(3)
	if again := text(3); again != first {
		t.Error("one seed gives two results")
	}
	if first == text(4) {
		t.Error("two seeds give one result")
	}
}

// A pair is admitted as a whole: without room for the decode half the prefill
// half does not start either.
func TestPairWaitsAsAWhole(t *testing.T) {
	d := compiled(t, "pair")
	pool := d.ModelDeployment.Spec.Roles[0].InstanceType
	r := played(t, d, &Scenario{
		Capacity: map[string]Cards{pool: 7},
		Events:   []Event{{At: Duration(10 * time.Minute), Capacity: map[string]Cards{pool: 8}}},
	}, nil)
	for _, e := range r.Timeline {
		if e.State == Starting && e.time < 10*time.Minute {
			t.Fatalf("%s/%d starts at %s", e.Role, *e.Ordinal, e.At)
		}
	}
	if r.Settled == "" {
		t.Error("does not come to what is declared")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                   "deployments: name at least one",
		"deployments: [a]\nuntil: -1s":         "s.yaml:2:8: until: -1s is negative",
		"deployments: [a]\nwhatever: 1":        "unknown field",
		"deployments: [a]\nevents: [{at: 1m}]": "says nothing that happens",
	} {
		if _, err := Parse("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	s, err := Parse("s.yaml", []byte("deployments: [a]\nevents: [{at: 1h30m, evict: {role: r, ordinal: 2}}]"))
	if err != nil || time.Duration(s.Events[0].At) != 90*time.Minute || s.Events[0].Evict.Ordinal != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestJSONIsAList(t *testing.T) {
	r := played(t, compiled(t, "vllm"), &Scenario{Running: true}, nil)
	var b bytes.Buffer
	if err := JSON(&b, []*Result{r}); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Deployments []struct {
			Timeline []Entry
			Summary  []Summary
		}
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Deployments) != 1 || out.Deployments[0].Timeline == nil || len(out.Deployments[0].Timeline) != 0 {
		t.Errorf("%s", b.String())
	}
	if !slices.ContainsFunc(out.Deployments[0].Summary, func(s Summary) bool { return s.Ready == 4 }) {
		t.Errorf("%+v", out.Deployments[0].Summary)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package apirules

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
)

// TestStoredBefore: a deployment whose name only the present rules refuse, and
// which the agent has seen, stays editable. It needs a definition of its own,
// which at first has no rules.
func TestStoredBefore(t *testing.T) {
	s := newServer(t)
	const group = "stored.example.com"
	crd := parse(t, v1.ModelDeploymentCRD())
	crd.SetName("modeldeployments." + group)
	if err := unstructured.SetNestedField(crd.Object, group, "spec", "group"); err != nil {
		t.Fatal(err)
	}
	lax := crd.DeepCopy()
	dropRules(lax.Object)
	s.install(t, lax)

	client := s.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "modeldeployments"}).Namespace(s.namespace(t))
	faulty := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: object{
			"apiVersion": group + "/v1", "kind": v1.KindModelDeployment, "metadata": object{"name": name},
			"spec": deployment(argv.VLLM, nil),
		}}
	}
	long := strings.Repeat("a", 62)
	stored := map[string]*unstructured.Unstructured{}
	for _, name := range []string{long, "a.b", "unseen.b"} {
		o, err := client.Create(t.Context(), faulty(name), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if name != "unseen.b" {
			o.Object["status"] = object{"observedGeneration": int64(1)}
			if o, err = client.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		stored[name] = o
	}

	installed, err := s.Resource(crdResource).Get(t.Context(), crd.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	installed.Object["spec"].(object)["versions"] = crd.Object["spec"].(object)["versions"]
	if _, err := s.Resource(crdResource).Update(t.Context(), installed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err := client.Create(t.Context(), faulty("c.d"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if names(err, "service-name") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the rules are not in force: %v", err)
		}
	}

	edit := func(name string, change func(spec, role object)) error {
		o := stored[name].DeepCopy()
		spec := o.Object["spec"].(object)
		change(spec, spec["roles"].([]any)[0].(object))
		_, err := client.Update(t.Context(), o, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return verdict(t, err)
	}
	replicas := func(_, role object) { role["replicas"] = int64(5) }
	router := func(spec, _ object) { spec["router"] = object{"name": "llm-d-router"} }
	for _, name := range []string{long, "a.b"} {
		if err := edit(name, replicas); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := edit(name, router); !names(err, "service-name") {
			t.Errorf("%s: a router is added, whose Service has no possible name: %v", name, err)
		}
	}
	if err := edit("unseen.b", replicas); !names(err, "service-name") {
		t.Errorf("nothing tells it from a new deployment: %v", err)
	}
}

// dropRules removes all rules that are not bounds of the schema.
func dropRules(v any) {
	switch v := v.(type) {
	case object:
		delete(v, "x-kubernetes-validations")
		for _, child := range v {
			dropRules(child)
		}
	case []any:
		for _, child := range v {
			dropRules(child)
		}
	}
}

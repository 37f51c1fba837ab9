// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/observe"
)

const ten = `{model: {name: Qwen/Qwen3-8B}, engine: {name: vLLM, version: "0.29.0"}, roles: [{name: server, replicas: 10, instanceType: pool-a, resources: {accelerator: 1}}]}`

// TestCreate: ten replicas cost ten creates and a constant, and a deployment at
// rest costs no write.
func TestCreate(t *testing.T) {
	w := newWorld(t)
	c := w.compile(ten, pinnedFact)
	w.apply(c)
	w.settle()
	w.traffic.take()
	w.passes("m", 1)
	reads, writes := w.traffic.take()
	creates := slices.DeleteFunc(slices.Clone(writes), func(s string) bool { return !strings.HasPrefix(s, "POST") || !strings.HasSuffix(s, "/pods") })
	if len(creates) != 10 || len(writes) != 12 { // and the finalizer and the status
		t.Errorf("writes: %q", writes)
	}
	if len(reads) != 3 { // its Pods, those of its groups, the Workloads
		t.Errorf("reads: %q", reads)
	}

	md := w.deployment("m")
	if !slices.Contains(md.Finalizers, observe.Finalizer) || md.Status.ObservedGeneration != md.Generation || md.Status.Roles[0].Desired != 10 {
		t.Errorf("deployment: %v, %+v", md.Finalizers, md.Status)
	}
	owner := []metav1.OwnerReference{{APIVersion: "worker.gpustack.ai/v1", Kind: "ModelDeployment", Name: "m", UID: md.UID, Controller: ptr.To(true)}}
	seen := map[string]bool{}
	for _, p := range w.pods() {
		seen[p.Labels[v1.LabelPodOrdinal]] = true
		if !slices.EqualFunc(p.OwnerReferences, owner, func(a, b metav1.OwnerReference) bool { return a.String() == b.String() }) {
			t.Errorf("owner of %s: %v", p.Name, p.OwnerReferences)
		}
		if !observe.IsOwn(&p, md) || p.Labels[v1.LabelQueueName] != "queue-a" || p.Annotations[v1.AnnotationPodSpecHash] == "" {
			t.Errorf("Pod %s: %v, %v", p.Name, p.Labels, p.Annotations)
		}
		if m := p.ManagedFields[0].Manager; m != act.FieldManager {
			t.Errorf("Pod %s was written by %q", p.Name, m)
		}
	}
	if len(seen) != 10 {
		t.Errorf("ordinals %v", seen)
	}

	w.settle()
	w.traffic.take()
	w.passes("m", 20)
	if reads, writes := w.traffic.take(); len(writes) > 0 || len(reads) > 0 {
		t.Errorf("at rest: reads %q, writes %q", reads, writes)
	}
}

// TestLostCreate: a create whose answer is lost is not repeated, whether or not
// the cache has seen its Pod.
func TestLostCreate(t *testing.T) {
	w := newWorld(t)
	w.apply(w.compile(strings.Replace(ten, "10", "2", 1), pinnedFact))
	w.settle()
	w.traffic.lose = true
	if _, err := w.pass("m"); err == nil || !strings.Contains(err.Error(), "the answer was lost") {
		t.Fatalf("error %v", err)
	}
	if n := len(w.pods()); n != 2 {
		t.Fatalf("%d Pods: the second create was not tried", n)
	}
	w.passes("m", 3)
	if n := len(w.pods()); n != 2 {
		t.Errorf("%d Pods", n)
	}
}

const pairs = `{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, roles: [{name: server, replicas: REPLICAS, size: 2, instanceType: pool-a, resources: {accelerator: 1}, command: [serve]}]}`

// TestMembers: every member of an instance is tried though one fails, and an
// instance whose Service is missing waits and says so.
func TestMembers(t *testing.T) {
	w := newWorld(t)
	w.apply(w.compile(strings.Replace(pairs, "REPLICAS", "2", 1), pinnedFact))
	grown := w.compile(strings.Replace(pairs, "REPLICAS", "3", 1), pinnedFact)
	squatter := &corev1.Pod{ // has the name of a member
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "m-server-r0-m0"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	w.create(squatter)
	if _, err := w.pass("m"); err == nil || !strings.Contains(err.Error(), "replica 0, member 0") {
		t.Fatalf("error %v", err)
	}
	if got := w.names(); got != "m-server-r0-m0 m-server-r0-m1 m-server-r1-m0 m-server-r1-m1" {
		t.Fatalf("Pods: %s", got)
	}
	if md := w.deployment("m"); md.Status.ObservedGeneration != md.Generation {
		t.Error("no status beside the error")
	}

	// The half of instance 0 is taken away and made again as a whole.
	if err := w.Delete(t.Context(), squatter, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	w.passes("m", 1)
	if got := w.names(); got != "m-server-r1-m0 m-server-r1-m1" {
		t.Fatalf("Pods: %s", got)
	}
	w.takeUp()
	w.passes("m", 1)
	w.takeUp()
	if got := w.names(); got != "m-server-r0-m0 m-server-r0-m1 m-server-r1-m0 m-server-r1-m1" {
		t.Fatalf("Pods: %s", got)
	}

	// Replicas are raised by hand.
	w.createOrUpdate(grown.md)
	w.passes("m", 3)
	if n := len(w.pods()); n != 4 {
		t.Errorf("%d Pods", n)
	}
	w.until("one event about the Service", func() bool {
		e := w.events("ServiceMissing")
		return len(e) == 1 && strings.Contains(e[0], "m-server-r2")
	})
	for _, s := range grown.services {
		w.createOrUpdate(s)
	}
	w.passes("m", 1)
	if n := len(w.pods()); n != 6 {
		t.Errorf("%d Pods with the Service", n)
	}
}

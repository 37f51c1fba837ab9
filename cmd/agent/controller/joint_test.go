// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/observe"
)

const twoRoles = `{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, kvTransfer: {protocol: TCP}, router: {name: llm-d-router}, roles: [{name: prefill, kind: Prefill, replicas: 1, instanceType: pool-a, resources: {accelerator: 1}}, {name: decode, kind: Decode, replicas: DECODE, instanceType: pool-a, resources: {accelerator: 1}}]}`

// check makes an AdmissionCheck; its name is returned.
func (w *world) check(controller string) string {
	w.Helper()
	c := &kueue.AdmissionCheck{
		ObjectMeta: metav1.ObjectMeta{GenerateName: w.namespace + "-"},
		Spec:       kueue.AdmissionCheckSpec{ControllerName: controller},
	}
	w.create(c)
	return c.Name
}

// reserve makes a Workload with quota that asks the checks, as Kueue would.
func (w *world) reserve(name string, pods []corev1.Pod, checks ...string) {
	w.Helper()
	wl := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: kueue.WorkloadSpec{PodSets: []kueue.PodSet{{
			Name: "main", Count: 1,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		}}},
	}
	for _, p := range pods {
		wl.OwnerReferences = append(wl.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID})
	}
	w.create(wl)
	meta.SetStatusCondition(&wl.Status.Conditions, metav1.Condition{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionTrue, Reason: "QuotaReserved"})
	for _, c := range checks {
		wl.Status.AdmissionChecks = append(wl.Status.AdmissionChecks, kueue.AdmissionCheckState{
			Name: kueue.AdmissionCheckReference(c), State: kueue.CheckStatePending, LastTransitionTime: metav1.Now(),
		})
	}
	if err := w.Status().Update(w.Context(), wl, client.FieldOwner("kueue-admission")); err != nil {
		w.Fatal(err)
	}
}

// answers of a Workload, by check.
func (w *world) answers(name string) map[string]kueue.AdmissionCheckState {
	w.Helper()
	wl := &kueue.Workload{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, wl); err != nil {
		w.Fatal(err)
	}
	out := map[string]kueue.AdmissionCheckState{}
	for _, c := range wl.Status.AdmissionChecks {
		out[string(c.Name)] = c
	}
	return out
}

func (w *world) answered(name, check string, state kueue.CheckState, part string) {
	w.Helper()
	w.until(fmt.Sprintf("Workload %s, check %s: %s %q", name, check, state, part), func() bool {
		a := w.answers(name)[check]
		return a.State == state && strings.Contains(a.Message, part)
	})
}

// TestAnswers: every check of ours is answered on every Workload that asks, and
// none of others.
func TestAnswers(t *testing.T) {
	w := newRunningWorld(t)
	ours, alias, others := w.check(observe.CheckController), w.check(observe.CheckController), w.check("example.com/other")

	w.reserve("nobody", nil, ours, others, alias)
	w.answered("nobody", ours, kueue.CheckStateReady, "Not a replica")
	w.answered("nobody", alias, kueue.CheckStateReady, "Not a replica")
	if a := w.answers("nobody")[others]; a.State != kueue.CheckStatePending || a.Message != "" {
		t.Errorf("another's check is %+v", a)
	}

	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "plain"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	w.create(&pod)
	gone := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "gone", UID: "gone"}}
	w.reserve("plain", []corev1.Pod{gone, pod}, ours)
	w.answered("plain", ours, kueue.CheckStateReady, "Not a replica")

	w.reserve("lost", []corev1.Pod{gone}, ours)
	w.answered("lost", ours, kueue.CheckStatePending, "no ordinary wait")

	for name, check := range map[string]bool{ours: true, others: false} {
		w.until(fmt.Sprintf("AdmissionCheck %s: active %v", name, check), func() bool {
			c := &kueue.AdmissionCheck{}
			if err := w.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil {
				t.Fatal(err)
			}
			return meta.IsStatusConditionTrue(c.Status.Conditions, kueue.AdmissionCheckActive) == check
		})
	}
}

// TestOpens: what opens a set need not be a Workload.
func TestOpens(t *testing.T) {
	w := newRunningWorld(t)
	check := w.check(observe.CheckController)
	declare := func(decode string) {
		w.apply(w.compile(strings.Replace(twoRoles, "DECODE", decode, 1), pinnedFact))
	}
	declare("2")
	w.until("three Pods", func() bool { return len(w.pods()) == 3 })
	prefill, decode := replica.GroupName(w.namespace, "m", "prefill", 0), replica.GroupName(w.namespace, "m", "decode", 0)
	for _, p := range w.pods() {
		if group := p.Labels["kueue.x-k8s.io/pod-group-name"]; group == prefill || group == decode {
			w.reserve(group, []corev1.Pod{p}, check)
		}
	}
	w.answered(prefill, check, kueue.CheckStatePending, "2 of 3 replicas hold quota; waits for quota of role decode")
	before := w.answers(prefill)[check]
	declare("1")
	w.answered(prefill, check, kueue.CheckStateReady, "All 2")
	if after := w.answers(prefill)[check]; after.LastTransitionTime.Time.Before(before.LastTransitionTime.Time) {
		t.Errorf("the state changed at %v, and before at %v", after.LastTransitionTime, before.LastTransitionTime)
	}
}

// TestReword: in a set that grows only the first answers come at once, so that
// what each Workload is told does not cost a write for every other.
func TestReword(t *testing.T) {
	w := newRunningWorld(t)
	check := w.check(observe.CheckController)
	w.apply(w.compile(strings.Replace(twoRoles, "DECODE", "20", 1), pinnedFact))
	w.until("all Pods", func() bool { return len(w.pods()) == 21 })
	w.traffic.take()
	began := time.Now()
	for _, p := range w.pods() {
		if p.Labels["app.kubernetes.io/component"] == "decode" {
			w.reserve(p.Labels["kueue.x-k8s.io/pod-group-name"], []corev1.Pod{p}, check)
		}
	}
	for n := range int32(20) {
		w.answered(replica.GroupName(w.namespace, "m", "decode", n), check, kueue.CheckStatePending, "20 of 21")
	}
	writes := w.traffic.succeeded() // who met a conflict tries again
	rounds := 1 + int(time.Since(began)/reword)
	n := 0
	for _, write := range writes {
		if strings.Contains(write, "/workloads/") {
			n++
		}
	}
	if n > 20*(1+rounds) {
		t.Errorf("%d writes", n)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
)

// admit makes the Workload of every group that has none, as Kueue would, and
// admits it.
func (w *world) admit() {
	w.Helper()
	w.takeUp()
	groups := map[string][]corev1.Pod{}
	for _, p := range w.pods() {
		if name := p.Labels[podconstants.GroupNameLabel]; name != "" {
			groups[name] = append(groups[name], p)
		}
	}
	for name, pods := range groups {
		if slices.Contains(w.workloads(), name) {
			continue
		}
		wl := &kueue.Workload{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
			Spec: kueue.WorkloadSpec{PodSets: []kueue.PodSet{{
				Name: "server", Count: int32(len(pods)),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
			}}},
		}
		for _, p := range pods {
			wl.OwnerReferences = append(wl.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID})
		}
		w.create(wl)
		for _, c := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
			meta.SetStatusCondition(&wl.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: c})
		}
		if err := w.Status().Update(w.Context(), wl); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) workloads() (names []string) {
	w.Helper()
	var list kueue.WorkloadList
	if err := w.List(w.Context(), &list, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	for _, wl := range list.Items {
		names = append(names, wl.Name)
	}
	return names
}

// letGo does what Kueue does when a Workload is gone: it holds its Pods no more.
func (w *world) letGo() {
	w.Helper()
	workloads := w.workloads()
	for _, p := range w.pods() {
		if len(p.Finalizers) > 0 && !slices.Contains(workloads, p.Labels[podconstants.GroupNameLabel]) {
			before := p.DeepCopy()
			p.Finalizers = nil
			if err := w.Patch(w.Context(), &p, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
				w.Fatal(err)
			}
		}
	}
}

func (w *world) clearWorkloads() {
	w.Helper()
	if err := w.DeleteAllOf(w.Context(), &kueue.Workload{}, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
}

// names of all Pods, in order.
func (w *world) names() string {
	w.Helper()
	var names []string
	for _, p := range w.pods() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// takeUp marks all Pods as Kueue does, and holds them.
func (w *world) takeUp() {
	w.Helper()
	for _, p := range w.pods() {
		before := p.DeepCopy()
		p.Labels["kueue.x-k8s.io/managed"] = "true"
		p.Finalizers = []string{"kueue.x-k8s.io/managed"}
		if err := w.Patch(w.Context(), &p, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			w.Fatal(err)
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gpustack.ai/mdc/cmd/agent/observe"
)

func TestFilters(t *testing.T) {
	labels := observe.RuntimeLabels{{"runtime"}}
	workload := func(edit func(*kueue.Workload)) client.Object {
		w := &kueue.Workload{}
		w.Status.Conditions = []metav1.Condition{{Type: "Admitted", Status: "True", Message: "m"}}
		w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "c", State: kueue.CheckStatePending}}
		edit(w)
		return w
	}
	pod := func(edit func(*corev1.Pod)) client.Object {
		p := &corev1.Pod{}
		edit(p)
		return p
	}
	node := func(status corev1.ConditionStatus, labels map[string]string) client.Object {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
		return n
	}
	none := func(*kueue.Workload) {}
	ready := corev1.ConditionTrue
	for name, tc := range map[string]struct {
		of       content
		old, now client.Object
		want     bool
	}{
		"Workload, nothing":       {workloadContent, workload(none), workload(none), false},
		"Workload, version":       {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.ResourceVersion = "2" }), false},
		"Workload, requeue state": {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.Status.RequeueState = &kueue.RequeueState{Count: ptr.To[int32](1)} }), false},
		"Workload, a time":        {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.Status.Conditions[0].LastTransitionTime = metav1.Now() }), false},
		"Workload, a message":     {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.Status.Conditions[0].Message = "n" }), true},
		"Workload, a status":      {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.Status.Conditions[0].Status = "False" }), true},
		"Workload, a check":       {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.Status.AdmissionChecks[0].State = kueue.CheckStateReady }), true},
		"Workload, the time of a check": {workloadContent, workload(none), workload(func(w *kueue.Workload) {
			w.Status.AdmissionChecks[0].LastTransitionTime = metav1.NewTime(time.Unix(9, 0))
		}), false},
		"Workload, parked":    {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.Spec.Active = ptr.To(false) }), true},
		"Workload, owners":    {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.OwnerReferences = []metav1.OwnerReference{{UID: "u"}} }), true},
		"Workload, admission": {workloadContent, workload(none), workload(func(w *kueue.Workload) { w.Status.Admission = &kueue.Admission{} }), true},
		"Pod, version":        {podContent, pod(func(*corev1.Pod) {}), pod(func(p *corev1.Pod) { p.ResourceVersion = "2" }), false},
		"Pod, phase":          {podContent, pod(func(*corev1.Pod) {}), pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), true},
		"Pod, finalizers":     {podContent, pod(func(*corev1.Pod) {}), pod(func(p *corev1.Pod) { p.Finalizers = []string{"f"} }), true},
		"Node, other labels":  {nodeContent(labels), node(ready, nil), node(ready, map[string]string{"a": "b"}), false},
		"Node, readiness":     {nodeContent(labels), node(ready, nil), node(corev1.ConditionUnknown, nil), true},
		"Node, version":       {nodeContent(labels), node(ready, nil), node(ready, map[string]string{"runtime": "12.9"}), true},
		"Node, what selects it": {nodeContent(labels), node(ready, map[string]string{"runtime": "12.9"}),
			node(ready, map[string]string{"runtime": "12.9", "pool": "a"}), true},
		"only existence": {nothing, node(ready, nil), node(corev1.ConditionUnknown, nil), false},
		"whole, version": {wholeContent, node(ready, nil), func() client.Object { n := node(ready, nil); n.SetResourceVersion("2"); return n }(), false},
		"whole, status":  {wholeContent, node(ready, nil), node(corev1.ConditionUnknown, nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changed(tc.of).Update(event.UpdateEvent{ObjectOld: tc.old, ObjectNew: tc.now}); got != tc.want {
				t.Errorf("%v", got)
			}
		})
	}
}

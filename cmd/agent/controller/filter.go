// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/observe"
)

// content is what of an object a pass reads.
type content func(client.Object) any

// changed lets an update through when what is read has changed.
func changed(of content) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(of(e.ObjectOld), of(e.ObjectNew))
	}}
}

// nothing: only that it exists is read.
func nothing(client.Object) any { return nil }

// wholeContent is all but the version.
func wholeContent(o client.Object) any {
	o = o.DeepCopyObject().(client.Object)
	o.SetResourceVersion("")
	o.SetManagedFields(nil)
	return o
}

// podContent is all that the cache keeps, but the version.
func podContent(o client.Object) any {
	p := *o.(*corev1.Pod)
	p.ResourceVersion, p.Generation = "", 0
	return &p
}

func templateContent(o client.Object) any {
	t := o.(*corev1.PodTemplate)
	return []any{t.Annotations, t.Template}
}

// workloadContent leaves out when and how often Kueue tries again.
func workloadContent(o client.Object) any {
	w := o.(*kueue.Workload)
	conditions := make([]metav1.Condition, len(w.Status.Conditions))
	for i, c := range w.Status.Conditions {
		conditions[i] = metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
	}
	checks := make([]kueue.AdmissionCheckState, len(w.Status.AdmissionChecks))
	for i, c := range w.Status.AdmissionChecks {
		checks[i] = kueue.AdmissionCheckState{Name: c.Name, State: c.State, Message: c.Message}
	}
	return []any{w.OwnerReferences, w.DeletionTimestamp, w.Spec.Active, w.Status.Admission, conditions, checks}
}

// deploymentContent is whether a router answers.
func deploymentContent(o client.Object) any { return o.(*appsv1.Deployment).Status.ReadyReplicas }

// bindingContent leaves out how much is stored: only whether anything is.
func bindingContent(o client.Object) any {
	b := o.DeepCopyObject().(*v1.KVCachePoolBinding)
	holds := observe.HoldsData(b)
	b.Status.Blocks, b.Status.Usage = nil, nil
	return []any{wholeContent(b), holds}
}

func localQueueContent(o client.Object) any   { return o.(*kueue.LocalQueue).Spec }
func clusterQueueContent(o client.Object) any { return o.(*kueue.ClusterQueue).Spec }
func flavorContent(o client.Object) any       { return o.(*kueue.ResourceFlavor).Spec }

// nodeContent is whether a Node answers, and what it tells of its runtime to
// those that select it.
func nodeContent(labels observe.RuntimeLabels) content {
	return func(o client.Object) any {
		n := o.(*corev1.Node)
		told := labels.Told(n)
		if told == "" {
			return observe.NodeReady(n)
		}
		return []any{observe.NodeReady(n), told, n.Labels}
	}
}

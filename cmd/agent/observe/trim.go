// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// CacheOptions keep in memory only what is read. An object from the cache is
// therefore not whole, and must never be written back.
func CacheOptions(namespaces []string) cache.Options {
	o := cache.Options{
		ReaderFailOnMissingInformer: true, // what is read is watched, and what is watched is listed
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {
				Label:     labels.SelectorFromSet(labels.Set{v1.LabelName: v1.NameModelDeployment}),
				Transform: trimmed(trimPod),
			},
			&appsv1.Deployment{}:            {Transform: trimmed(trimDeployment)},
			&corev1.Node{}:                  {Transform: trimmed(trimNode)},
			&corev1.PersistentVolumeClaim{}: {Transform: trimmed(trimClaim)},
			&kueue.Workload{}:               {Transform: trimmed(trimWorkload)},
		},
	}
	if len(namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
		for _, n := range namespaces {
			o.DefaultNamespaces[n] = cache.Config{}
		}
	}
	return o
}

func trimmed[T any](trim func(*T)) func(any) (any, error) {
	return func(o any) (any, error) {
		if t, ok := o.(*T); ok {
			trim(t)
		}
		return o, nil
	}
}

func trimPod(p *corev1.Pod) {
	p.ManagedFields = nil
	p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName, SchedulingGates: p.Spec.SchedulingGates}
	for i, c := range p.Status.ContainerStatuses {
		p.Status.ContainerStatuses[i] = corev1.ContainerStatus{Name: c.Name, Ready: c.Ready, RestartCount: c.RestartCount}
	}
	p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses = nil, nil
}

// trimDeployment leaves what tells of a router. That it is one is known by an
// annotation, so that all others are listed too.
func trimDeployment(d *appsv1.Deployment) {
	var annotations map[string]string
	if of, ok := d.Annotations[v1.AnnotationDeployment]; ok {
		annotations = map[string]string{v1.AnnotationDeployment: of}
	}
	d.ObjectMeta = metav1.ObjectMeta{
		Name: d.Name, Namespace: d.Namespace, UID: d.UID,
		ResourceVersion: d.ResourceVersion, DeletionTimestamp: d.DeletionTimestamp, Annotations: annotations,
	}
	d.Spec = appsv1.DeploymentSpec{}
	d.Status = appsv1.DeploymentStatus{ReadyReplicas: d.Status.ReadyReplicas}
}

func trimNode(n *corev1.Node) {
	n.ManagedFields, n.Annotations = nil, nil
	n.Spec = corev1.NodeSpec{}
	var ready []corev1.NodeCondition
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			ready = append(ready, corev1.NodeCondition{Type: c.Type, Status: c.Status})
		}
	}
	n.Status = corev1.NodeStatus{Conditions: ready}
}

func trimClaim(c *corev1.PersistentVolumeClaim) {
	c.ObjectMeta = metav1.ObjectMeta{
		Name: c.Name, Namespace: c.Namespace, UID: c.UID,
		ResourceVersion: c.ResourceVersion, DeletionTimestamp: c.DeletionTimestamp,
	}
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase}
}

func trimWorkload(w *kueue.Workload) {
	w.ManagedFields = nil
	w.Spec.PodSets = nil
}

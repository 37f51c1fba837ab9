// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kueue/pkg/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/joint"
)

// IsOwn reports whether a Pod is one of the deployment's: the labels alone can
// be copied, and the owner alone does not say what the Pod is for.
func IsOwn(p *corev1.Pod, md *v1.ModelDeployment) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.UID == md.UID &&
		p.Labels[v1.LabelName] == v1.NameModelDeployment && p.Labels[v1.LabelInstance] == md.Name
}

// Controller returns the reference to the ModelDeployment that controls a Pod;
// nil when something else or nothing does.
func Controller(p metav1.Object) *metav1.OwnerReference {
	ref := metav1.GetControllerOf(p)
	if ref == nil || ref.Kind != v1.KindModelDeployment {
		return nil
	}
	if gv, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || gv.Group != v1.GroupVersion.Group {
		return nil
	}
	return ref
}

// podOf returns what a decision reads of a Pod, n being what is known of Nodes.
func podOf(p *corev1.Pod, n *nodes) converge.Pod {
	out := converge.Pod{
		Name:     p.Name,
		UID:      string(p.UID),
		Role:     p.Labels[v1.LabelComponent],
		Ordinal:  index(p.Labels[v1.LabelPodOrdinal], -1),
		Member:   index(p.Labels[v1.LabelMemberIndex], 0),
		Group:    p.Labels[podconstants.GroupNameLabel],
		Hash:     p.Annotations[v1.AnnotationPodSpecHash],
		Deleting: p.DeletionTimestamp != nil,
		Ended:    p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
		Managed:  p.Labels[constants.ManagedByKueueLabelKey] == constants.ManagedByKueueLabelValue,
		Held:     slices.Contains(p.Finalizers, podconstants.PodFinalizer),
	}
	if p.Spec.NodeName != "" {
		state := n.state(p.Spec.NodeName)
		out.NodeLost, out.NodeGone = state == nodeLost, state == nodeGone
	}
	evicted, _ := joint.PreemptedBy(p)
	out.Preempted = evicted != nil
	for _, c := range p.Status.Conditions {
		out.Ready = out.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	return out
}

// index reads a number from a label; what is none counts as otherwise.
func index(text string, otherwise int32) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return otherwise
	}
	return int32(n)
}

// Restarts is how often the containers of a Pod were started again.
func Restarts(p *corev1.Pod) (n int32) {
	for _, c := range p.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// OwnerPods are the Pods that own an object, as Kueue refers to the members of
// a group from its Workload.
func OwnerPods(o metav1.Object) (refs []metav1.OwnerReference) {
	for _, ref := range o.GetOwnerReferences() {
		if ref.APIVersion == "v1" && ref.Kind == "Pod" {
			refs = append(refs, ref)
		}
	}
	return refs
}

// uidSet is a set of UIDs.
type uidSet map[types.UID]bool

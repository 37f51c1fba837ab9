// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
)

const namespaceTerminating = corev1.NamespaceTerminatingCause

// create makes every member of an instance. A member that fails does not keep
// the others from being made: a partial instance is seen and rebuilt.
func (a *Actor) create(ctx context.Context, v *observe.View, c converge.Create) (made []corev1.Pod, first error) {
	for member := range v.Size(c.Role) {
		pod, err := a.createPod(ctx, v, c, member)
		switch {
		case err == nil:
			made = append(made, *pod)
		case apierrors.HasStatusCause(err, namespaceTerminating):
			return made, err
		case first == nil:
			first = fmt.Errorf("create role %q, replica %d, member %d: %w", c.Role, c.Ordinal, member, err)
		}
	}
	return made, first
}

func (a *Actor) createPod(ctx context.Context, v *observe.View, c converge.Create, member int32) (*corev1.Pod, error) {
	pod, err := v.Stamp(c.Role, converge.Seat{Ordinal: c.Ordinal, Member: member}, c.Uncached)
	if err != nil {
		return nil, err
	}
	pod.Namespace = v.Deployment.Namespace
	// Nothing waits for a Pod to go before its deployment does, so that the
	// owner's deletion is not blocked: the finalizer does that.
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1.GroupVersion.String(),
		Kind:       v1.KindModelDeployment,
		Name:       v.Deployment.Name,
		UID:        v.Deployment.UID,
		Controller: ptr.To(true),
	}}
	if v.Affinity != nil {
		require(&pod.Spec, v.Affinity)
	}
	if err := a.Client.Create(ctx, pod); err != nil {
		return nil, err
	}
	a.Counted.PodCreated()
	return pod, nil
}

// require keeps a Pod to the Nodes that a volume can be mounted on, besides
// what it requires itself.
func require(spec *corev1.PodSpec, where *corev1.NodeSelector) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	n := spec.Affinity.NodeAffinity
	own := n.RequiredDuringSchedulingIgnoredDuringExecution
	if own == nil {
		n.RequiredDuringSchedulingIgnoredDuringExecution = where.DeepCopy()
		return
	}
	// Terms are alternatives: both sides hold when one of each does.
	both := &corev1.NodeSelector{}
	for _, a := range own.NodeSelectorTerms {
		for _, b := range where.NodeSelectorTerms {
			term := a.DeepCopy()
			term.MatchExpressions = append(term.MatchExpressions, b.MatchExpressions...)
			term.MatchFields = append(term.MatchFields, b.MatchFields...)
			both.NodeSelectorTerms = append(both.NodeSelectorTerms, *term)
		}
	}
	n.RequiredDuringSchedulingIgnoredDuringExecution = both
}

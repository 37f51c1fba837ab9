// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// The fields by which cached objects are found.
const (
	// IndexController is the UID of a Pod's ModelDeployment.
	IndexController = "mdc.controller"
	// IndexNode is the Node of a Pod.
	IndexNode = "mdc.node"
	// IndexOwnerPod are the UIDs of a Workload's Pods.
	IndexOwnerPod = "mdc.ownerPod"
	// IndexDeployment is the deployment that a PodTemplate was compiled for.
	IndexDeployment = "mdc.deployment"
	// IndexInstanceType are the types of a deployment's roles.
	IndexInstanceType = "mdc.instanceType"
	// IndexBinding is the Binding of a deployment.
	IndexBinding = "mdc.binding"
	// IndexArtifact is the ModelArtifact of a deployment.
	IndexArtifact = "mdc.artifact"
)

// AddIndexes makes the fields known.
func AddIndexes(ctx context.Context, f client.FieldIndexer) error {
	for _, x := range []struct {
		object client.Object
		field  string
		values func(client.Object) []string
	}{
		{&corev1.Pod{}, IndexController, func(o client.Object) []string {
			if ref := Controller(o.(*corev1.Pod)); ref != nil {
				return []string{string(ref.UID)}
			}
			return nil
		}},
		{&corev1.Pod{}, IndexNode, func(o client.Object) []string { return some(o.(*corev1.Pod).Spec.NodeName) }},
		{&kueue.Workload{}, IndexOwnerPod, func(o client.Object) (uids []string) {
			for _, ref := range OwnerPods(o) {
				uids = append(uids, string(ref.UID))
			}
			return uids
		}},
		{&corev1.PodTemplate{}, IndexDeployment, func(o client.Object) []string {
			return some(o.GetAnnotations()[v1.AnnotationDeployment])
		}},
		{&v1.ModelDeployment{}, IndexInstanceType, func(o client.Object) (types []string) {
			for _, r := range o.(*v1.ModelDeployment).Spec.Roles {
				types = append(types, r.InstanceType)
			}
			return types
		}},
		{&v1.ModelDeployment{}, IndexBinding, func(o client.Object) []string {
			if c := o.(*v1.ModelDeployment).Spec.KVCache; c != nil {
				return some(c.PoolRef.Name)
			}
			return nil
		}},
		{&v1.ModelDeployment{}, IndexArtifact, func(o client.Object) []string {
			if a := o.(*v1.ModelDeployment).Spec.Model.ArtifactRef; a != nil {
				return some(a.Name)
			}
			return nil
		}},
	} {
		if err := f.IndexField(ctx, x.object, x.field, x.values); err != nil {
			return err
		}
	}
	return nil
}

func some(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

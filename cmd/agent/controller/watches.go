// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/observe"
)

// watch is one kind besides the deployment, whom a change concerns, and what of
// it is read.
type watch struct {
	object   client.Object
	requests handler.MapFunc
	content  content
}

// mapper finds the deployments that a change concerns.
type mapper struct {
	client.Reader
	served func(client.Object) bool
}

func (m mapper) ofAnnotation(_ context.Context, o client.Object) []reconcile.Request {
	return request(o.GetNamespace(), o.GetAnnotations()[v1.AnnotationDeployment])
}

func (m mapper) ofInstanceType(ctx context.Context, o client.Object) []reconcile.Request {
	return m.deployments(ctx, nil, client.MatchingFields{observe.IndexInstanceType: o.GetName()})
}

// ofClusterQueue: the ClusterQueue of a type has its name.
func (m mapper) ofClusterQueue(ctx context.Context, o client.Object) []reconcile.Request {
	return m.ofInstanceType(ctx, o)
}

func (m mapper) ofLocalQueue(ctx context.Context, o client.Object) []reconcile.Request {
	q := o.(*kueue.LocalQueue)
	return m.deployments(ctx, nil, client.InNamespace(q.Namespace), client.MatchingFields{observe.IndexInstanceType: string(q.Spec.ClusterQueue)})
}

func (m mapper) ofFlavor(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var queues kueue.ClusterQueueList
	if !m.list(ctx, &queues) {
		return nil
	}
	for i := range queues.Items {
		if q := &queues.Items[i]; observe.Flavors(q)[o.GetName()] {
			out = append(out, m.ofClusterQueue(ctx, q)...)
		}
	}
	return out
}

// ofNode: those whose Pods it runs, and those whose image depends on what Nodes
// tell.
func (m mapper) ofNode(ctx context.Context, o client.Object) []reconcile.Request {
	out := m.deployments(ctx, func(md *v1.ModelDeployment) bool {
		return slices.ContainsFunc(md.Spec.Roles, func(r v1.Role) bool { return r.Image == "" })
	})
	var pods corev1.PodList
	if m.list(ctx, &pods, client.MatchingFields{observe.IndexNode: o.GetName()}) {
		for i := range pods.Items {
			out = append(out, ofPod(&pods.Items[i])...)
		}
	}
	return out
}

// ofWorkload: those of the Pods that own it.
func (m mapper) ofWorkload(ctx context.Context, o client.Object) (out []reconcile.Request) {
	for _, ref := range observe.OwnerPods(o) {
		var p corev1.Pod
		err := m.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: ref.Name}, &p)
		if err == nil && p.UID == ref.UID {
			out = append(out, ofPod(&p)...)
		}
	}
	return out
}

// ofService: the names of an instance's Service begin with the deployment's.
func (m mapper) ofService(ctx context.Context, o client.Object) []reconcile.Request {
	return m.deployments(ctx, func(md *v1.ModelDeployment) bool {
		return strings.HasPrefix(o.GetName(), md.Name+"-") &&
			slices.ContainsFunc(md.Spec.Roles, func(r v1.Role) bool { return r.Size > 1 })
	}, client.InNamespace(o.GetNamespace()))
}

func (m mapper) ofBinding(ctx context.Context, o client.Object) []reconcile.Request {
	return m.deployments(ctx, nil, client.InNamespace(o.GetNamespace()), client.MatchingFields{observe.IndexBinding: o.GetName()})
}

func (m mapper) ofPool(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var bindings v1.KVCachePoolBindingList
	if !m.served(&v1.KVCachePoolBinding{}) || !m.list(ctx, &bindings) {
		return nil
	}
	for i := range bindings.Items {
		if b := &bindings.Items[i]; b.Spec.PoolRef.Name == o.GetName() {
			out = append(out, m.ofBinding(ctx, b)...)
		}
	}
	return out
}

func (m mapper) ofBackend(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var pools v1.KVCachePoolList
	if !m.served(&v1.KVCachePool{}) || !m.list(ctx, &pools) {
		return nil
	}
	for i := range pools.Items {
		if p := &pools.Items[i]; slices.Contains(p.Spec.Backends, o.GetName()) {
			out = append(out, m.ofPool(ctx, p)...)
		}
	}
	return out
}

func (m mapper) ofArtifact(ctx context.Context, o client.Object) []reconcile.Request {
	return m.deployments(ctx, nil, client.InNamespace(o.GetNamespace()), client.MatchingFields{observe.IndexArtifact: o.GetName()})
}

func (m mapper) ofClaim(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var artifacts v1.ModelArtifactList
	if !m.served(&v1.ModelArtifact{}) || !m.list(ctx, &artifacts, client.InNamespace(o.GetNamespace())) {
		return nil
	}
	for i := range artifacts.Items {
		a := &artifacts.Items[i]
		if c := a.Spec.Source.PersistentVolumeClaim; c != nil && c.ClaimName == o.GetName() {
			out = append(out, m.ofArtifact(ctx, a)...)
		}
	}
	return out
}

// ofDelivery: all whose weights an artifact delivers.
func (m mapper) ofDelivery(ctx context.Context, _ client.Object) []reconcile.Request {
	return m.deployments(ctx, func(md *v1.ModelDeployment) bool { return md.Spec.Model.ArtifactRef != nil })
}

// deployments lists those of which a condition holds; nil always does.
func (m mapper) deployments(ctx context.Context, holds func(*v1.ModelDeployment) bool, opts ...client.ListOption) (out []reconcile.Request) {
	var list v1.ModelDeploymentList
	if !m.list(ctx, &list, opts...) {
		return nil
	}
	for i := range list.Items {
		if md := &list.Items[i]; holds == nil || holds(md) {
			out = append(out, request(md.Namespace, md.Name)...)
		}
	}
	return out
}

// list reads from the cache, which fails only when the agent is at fault.
func (m mapper) list(ctx context.Context, into client.ObjectList, opts ...client.ListOption) bool {
	err := m.List(ctx, into, opts...)
	if err != nil {
		log.FromContext(ctx).Error(err, "find the deployments that a change concerns")
	}
	return err == nil
}

func ofPod(p *corev1.Pod) []reconcile.Request {
	if ref := observe.Controller(p); ref != nil {
		return request(p.Namespace, ref.Name)
	}
	return nil
}

func request(namespace, name string) []reconcile.Request {
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

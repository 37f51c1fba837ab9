// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/observe"
)

// addFinalizer makes the deployment wait for its Pods when it is deleted. The
// patch carries the version that was read: finalizers are written as one list.
func (a *Actor) addFinalizer(ctx context.Context, md *v1.ModelDeployment) error {
	patched := md.DeepCopy()
	if !controllerutil.AddFinalizer(patched, observe.Finalizer) {
		return nil
	}
	if err := a.Client.Patch(ctx, patched, client.MergeFromWithOptions(md, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add the finalizer: %w", err)
	}
	// The pass goes on with the spec that it has read.
	md.Finalizers, md.ResourceVersion = patched.Finalizers, patched.ResourceVersion
	return nil
}

// addClaim notes on the Binding that the deployment uses it, which keeps it from
// being deleted.
func (a *Actor) addClaim(ctx context.Context, v *observe.View) error {
	b := v.Chain.Binding
	claim := observe.Claim(v.Deployment.Name)
	if b == nil || slices.Contains(b.Status.UsedBy, claim) {
		return nil
	}
	return a.patchUsers(ctx, b, append(slices.Clone(b.Status.UsedBy), claim))
}

// release gives up the claim and then the finalizer. The Binding is read past
// the cache: a claim that is overlooked would never be given up.
func (a *Actor) release(ctx context.Context, md *v1.ModelDeployment) error {
	if err := a.removeClaim(ctx, md); err != nil {
		return err
	}
	before := md.DeepCopy()
	if !controllerutil.RemoveFinalizer(md, observe.Finalizer) {
		return nil
	}
	err := a.Client.Patch(ctx, md, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	return nil
}

func (a *Actor) removeClaim(ctx context.Context, md *v1.ModelDeployment) error {
	if md.Spec.KVCache == nil {
		return nil
	}
	b := &v1.KVCachePoolBinding{}
	err := a.Live.Get(ctx, client.ObjectKey{Namespace: md.Namespace, Name: md.Spec.KVCache.PoolRef.Name}, b)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil // there is nothing to give up
	}
	if err != nil {
		return fmt.Errorf("release KVCachePoolBinding %s/%s: %w", md.Namespace, md.Spec.KVCache.PoolRef.Name, err)
	}
	claim := observe.Claim(md.Name)
	if !slices.Contains(b.Status.UsedBy, claim) {
		return nil
	}
	return a.patchUsers(ctx, b, slices.DeleteFunc(slices.Clone(b.Status.UsedBy), func(u v1.UsedBy) bool { return u == claim }))
}

// patchUsers writes who uses a Binding. Others write the same list, so the
// patch carries the version that was read.
func (a *Actor) patchUsers(ctx context.Context, b *v1.KVCachePoolBinding, users []v1.UsedBy) error {
	slices.SortFunc(users, func(a, b v1.UsedBy) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	changed := b.DeepCopy()
	changed.Status.UsedBy = users
	if err := a.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(b, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write who uses KVCachePoolBinding %s/%s: %w", b.Namespace, b.Name, err)
	}
	return nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/facts"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// Chain is the live chain from a deployment's poolRef to the store behind it. A
// nil member does not exist.
type Chain struct {
	Binding *v1.KVCachePoolBinding
	Pool    *v1.KVCachePool
	Backend *v1.KVCacheBackend
}

const (
	bindingReady          = "Ready"
	conditionQuotaGranted = "QuotaGranted"
)

// usable reports whether the Binding grants access now.
func (c Chain) usable() bool {
	b := c.Binding
	return b != nil && b.DeletionTimestamp == nil && b.Status.Phase == bindingReady && quotaGranted(b)
}

func quotaGranted(b *v1.KVCachePoolBinding) bool {
	return slices.ContainsFunc(b.Status.Conditions, func(cond v1.ReadCondition) bool {
		return cond.Type == conditionQuotaGranted && cond.Status == metav1.ConditionTrue
	})
}

// endpoint is the address of the store; empty when it has none yet.
func (c Chain) endpoint() string {
	if c.Pool == nil {
		return ""
	}
	return c.Pool.Status.ClientEndpoint
}

func (c Chain) resolved() bool { return c.usable() && c.endpoint() != "" && c.Backend != nil }

// Domain is the reuse domain that the Binding grants; empty without a Binding.
func (c Chain) Domain() string {
	if c.Binding == nil {
		return ""
	}
	return facts.Cache{Binding: facts.Fact[v1.KVCachePoolBinding]{Value: c.Binding}}.Domain()
}

// separates reports whether the store keeps tenants apart, as far as the
// cluster tells.
func (c Chain) separates() bool {
	if c.Binding == nil || c.Pool == nil || c.Backend == nil {
		return true
	}
	return facts.Cache{
		Binding: facts.Fact[v1.KVCachePoolBinding]{Value: c.Binding},
		Pool:    facts.Fact[v1.KVCachePool]{Value: c.Pool},
		Backend: facts.Fact[v1.KVCacheBackend]{Value: c.Backend},
	}.Tenant() != ""
}

// Claim is the entry that holds the Binding for a deployment.
func Claim(deployment string) v1.UsedBy {
	return v1.UsedBy{Kind: v1.KindModelDeployment, Name: deployment}
}

// chain follows the poolRef of a deployment.
func (r *Reader) chain(ctx context.Context, md *v1.ModelDeployment) (c Chain, err error) {
	if md.Spec.KVCache == nil {
		return c, nil
	}
	name := md.Spec.KVCache.PoolRef.Name
	if c.Binding, err = get[v1.KVCachePoolBinding](ctx, r, client.ObjectKey{Namespace: md.Namespace, Name: name}); c.Binding == nil {
		return c, err
	}
	if c.Pool, err = get[v1.KVCachePool](ctx, r, client.ObjectKey{Name: c.Binding.Spec.PoolRef.Name}); c.Pool == nil {
		return c, err
	}
	if backends := c.Pool.Spec.Backends; len(backends) > 0 {
		c.Backend, err = get[v1.KVCacheBackend](ctx, r, client.ObjectKey{Name: backends[0]})
	}
	return c, err
}

// cacheOf is what a decision reads of the chain.
func cacheOf(md *v1.ModelDeployment, c Chain) converge.Cache {
	return converge.Cache{
		Declared: md.Spec.KVCache != nil,
		Usable:   c.usable(),
		Resolved: c.resolved(),
		Seen:     md.Status.KVCache != nil,
		Binding:  c.Binding != nil,
		Claimed:  c.Binding != nil && slices.Contains(c.Binding.Status.UsedBy, Claim(md.Name)),
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/render"
	"gpustack.ai/mdc/compiler/source"
)

// cache resolves the store of a deployment; nil when it has none. Engine
// arguments depend on every object of the chain, so all of them are needed; the
// endpoint alone may come later.
func (c *compilation) cache(md *v1.ModelDeployment, o *source.Object) (*render.Cache, diag.List) {
	if md.Spec.KVCache == nil {
		return nil, nil
	}
	const field = "spec.kvCache.poolRef.name"
	refuse := func(message, remedy string) diag.List {
		return diag.List{o.Finding(diag.Error, "cache-facts", field, message, remedy)}
	}
	chain, missing := c.facts.Cache(md.Namespace, md.Spec.KVCache.PoolRef.Name)
	if missing != nil {
		what := fmt.Sprintf("%s %q", missing.Kind, missing.Name)
		if missing.Namespace != "" {
			what += fmt.Sprintf(" in namespace %q", missing.Namespace)
		}
		if missing.Name == "" {
			return nil, refuse(fmt.Sprintf("%s names no %s, and the arguments of the engines depend on it", missing.Of, missing.Kind),
				"correct the object among the facts")
		}
		message := what + " is not among the facts, and the arguments of the engines depend on it"
		if missing.Of != "" {
			message = fmt.Sprintf("%s, which %s names, is not among the facts, and the arguments of the engines depend on it", what, missing.Of)
		}
		get := strings.ToLower(missing.Kind) + " " + missing.Name
		if missing.Namespace != "" {
			get += " -n " + missing.Namespace
		}
		return nil, refuse(message, fmt.Sprintf("add the %s to the input or to --facts (mdc facts, or kubectl get %s -o yaml)", missing.Kind, get))
	}
	dtype := chain.Binding.Value.Spec.Domain.Dtype
	if dtype == "" {
		return nil, refuse(fmt.Sprintf("KVCachePoolBinding %q declares no spec.domain.dtype, which the engines are started with", md.Spec.KVCache.PoolRef.Name),
			"complete the Binding among the facts")
	}
	if !c.facts.Enabled(facts.SettingKVCacheDtypeOwned) {
		dtype = ""
	}
	return &render.Cache{
		Pool:     chain.Pool.Source.Name,
		Backend:  chain.Backend.Source.Name,
		Endpoint: chain.Pool.Value.Status.ClientEndpoint,
		Offers:   chain.Offers(),
		Tenant:   chain.Tenant(),
		Dtype:    dtype,
	}, nil
}

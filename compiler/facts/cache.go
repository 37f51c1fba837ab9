// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Cache is the chain from a deployment's poolRef to the store behind it.
type Cache struct {
	Binding Fact[v1.KVCachePoolBinding]
	Pool    Fact[v1.KVCachePool]
	Backend Fact[v1.KVCacheBackend]
}

// MissingFact names an object that a lookup needed and did not find.
type MissingFact struct {
	Kind, Namespace, Name string
	// Of is the object that refers to it; empty for the deployment itself.
	Of string
}

// Cache follows a poolRef from the Binding to the Pool and its first Backend.
// missing is the first object of the chain that is not among the facts; its
// Name is empty when the object before it names none.
func (x *Index) Cache(namespace, binding string) (c Cache, missing *MissingFact) {
	var ok bool
	if c.Binding, ok = x.bindings.get(namespace, binding); !ok {
		return c, &MissingFact{Kind: v1.KindKVCachePoolBinding, Namespace: namespace, Name: binding}
	}
	pool := c.Binding.Value.Spec.PoolRef.Name
	if c.Pool, ok = x.pools.get("", pool); !ok {
		return c, &MissingFact{Kind: v1.KindKVCachePool, Name: pool, Of: v1.KindKVCachePoolBinding + " " + binding}
	}
	backend := ""
	if b := c.Pool.Value.Spec.Backends; len(b) > 0 {
		backend = b[0]
	}
	if c.Backend, ok = x.backends.get("", backend); !ok {
		return c, &MissingFact{Kind: v1.KindKVCacheBackend, Name: backend, Of: v1.KindKVCachePool + " " + pool}
	}
	return c, nil
}

// Protocols maps a transport of the API to the spelling of the Mooncake
// transfer engine.
var Protocols = map[string]string{
	"": "tcp", "Auto": "tcp", "TCP": "tcp", "RDMA": "rdma", "EFA": "efa",
	"CANN": "ascend", "ROCM": "hip", "MUSA": "musa", "MACA": "maca",
}

// Offers lists the transports of the store's member groups in the order of
// their declaration, in the spelling of Mooncake. A backend without member
// groups offers its own transport.
func (c Cache) Offers() []string {
	spec := c.Backend.Value.Spec
	common := ""
	if spec.Transport != nil {
		common = spec.Transport.Protocol
	}
	var out []string
	if m := spec.Connection.Managed; m != nil {
		for _, group := range m.Members {
			p := common
			if group.Transport != nil {
				p = group.Transport.Protocol
			}
			out = append(out, Protocols[p])
		}
	}
	if len(out) == 0 {
		out = []string{Protocols[common]}
	}
	return out
}

// defaultDomain is how a Binding without a domain name is stored.
const defaultDomain = "default"

// Domain is the name of the reuse domain.
func (c Cache) Domain() string {
	if n := c.Binding.Value.Spec.Domain.Name; n != "" {
		return n
	}
	return defaultDomain
}

// Tenant is the tenant the engines state to the store: the reuse domain, or
// empty when the facts say that the master keeps no tenants apart.
func (c Cache) Tenant() string {
	if m := c.Backend.Value.Spec.Connection.Managed; m != nil && m.Leader.MultiTenancy != nil && !*m.Leader.MultiTenancy {
		return ""
	}
	noLedger := func(cond v1.ReadCondition) bool {
		return cond.Type == "QuotaLedgerAvailable" && cond.Status == "False" && cond.Reason == "MultiTenancyDisabled"
	}
	if slices.ContainsFunc(c.Pool.Value.Status.Conditions, noLedger) {
		return ""
	}
	return c.Domain()
}

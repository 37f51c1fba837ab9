// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/facts"
)

// fabrics are the transports that use fabric interfaces, in the spelling of
// Mooncake.
var fabrics = []string{facts.Protocols["RDMA"], facts.Protocols["EFA"]}

func isFabric(p string) bool { return slices.Contains(fabrics, p) }

// offers are the different transports of the store's member groups. missing
// names what of the chain is absent.
func (s *Subject) offers() (offers []string, missing *facts.MissingFact) {
	chain, missing := s.Facts.Cache(s.now.Namespace, s.now.Spec.KVCache.PoolRef.Name)
	if missing != nil {
		return nil, missing
	}
	for _, p := range chain.Offers() {
		if p != "" && !slices.Contains(offers, p) {
			offers = append(offers, p)
		}
	}
	return offers, nil
}

// directLeg is the transport of the direct transfer of a role, empty when it
// has none that is chosen here.
func (r *role) directLeg() string {
	half := r.kind() == v1.RolePrefill || r.kind() == v1.RoleDecode
	m := r.manufacturer()
	if !r.of.routed() || !r.of.pair || !half || r.takeOver() || r.of.Spec.Engine.Name != v1.EngineVLLM || m == "" || m == facts.ManufacturerAscend {
		return ""
	}
	return facts.Protocols[string(protocol(r.of.ModelDeployment))]
}

// interfaceLeg: interfaces are of one fabric, so one must carry all that a role
// transfers. A stored role is judged again only when its legs may have changed.
func interfaceLeg(s *Subject) (out []Fault) {
	if s.before != nil && protocol(s.now.ModelDeployment) == protocol(s.before.ModelDeployment) && equal(s.now.Spec.Router, s.before.Spec.Router) {
		return nil
	}
	var offers []string
	var missing *facts.MissingFact
	if s.now.Spec.KVCache != nil {
		offers, missing = s.offers()
	}
	reported := false
	for _, r := range s.now.roles {
		if amount(r.resources().Interface).Sign() <= 0 {
			continue
		}
		var store []string
		if !r.takeOver() {
			if missing != nil {
				if !reported {
					out = append(out, unresolved(r, missing))
				}
				reported = true
				continue
			}
			store = offers
		}
		if message, remedy := fabricFault(store, r.directLeg()); message != "" {
			out = append(out, Fault{
				Field:   r.field("resources.interface"),
				Message: fmt.Sprintf("role %q asks for fabric interfaces, and %s", r.Name, message),
				Remedy:  remedy,
			})
		}
	}
	return out
}

// fabricFault says why no single fabric carries the legs of a role.
func fabricFault(store []string, direct string) (message, remedy string) {
	conflict := func(direct string) bool {
		return slices.ContainsFunc(store, func(p string) bool { return isFabric(p) && isFabric(direct) && p != direct })
	}
	switch {
	case len(store) > 1:
		return fmt.Sprintf("the groups of its cache pool use different transports: %s", strings.Join(store, ", ")),
			"use a pool whose groups have one transport, or remove resources.interface"
	case conflict(direct):
		return fmt.Sprintf("its two legs use different fabrics: the cache pool %s, the direct transfer %s", store[0], direct),
			"make spec.kvTransfer.protocol that of the pool, or use another pool"
	case !slices.ContainsFunc(append(slices.Clone(store), direct), isFabric):
		return "no RDMA or EFA leg uses them: neither a cache pool nor a direct transfer behind a router has that transport",
			"remove resources.interface; or give the role such a leg: a pool of RDMA or EFA, or on a vLLM pair behind a router spec.kvTransfer.protocol RDMA or EFA"
	}
	return "", ""
}

func unresolved(r *role, missing *facts.MissingFact) Fault {
	what := missing.Kind
	if missing.Name != "" {
		what += fmt.Sprintf(" %q", missing.Name)
	}
	if missing.Of != "" {
		what += " of " + missing.Of
	}
	return Fault{
		Field:   r.field("resources.interface"),
		Message: fmt.Sprintf("the fabric of the interfaces of role %q follows from the cache pool, and the %s is not among the facts", r.Name, what),
		Remedy:  fmt.Sprintf("add the %s to the input or to --facts", missing.Kind),
	}
}

// poolTransport refuses a pool that an engine could read only in part. A stored
// attachment is left alone, even if its pool became mixed.
func poolTransport(s *Subject) []Fault {
	if s.now.Spec.KVCache == nil || s.before != nil && equal(s.now.Spec.KVCache, s.before.Spec.KVCache) {
		return nil
	}
	offers, missing := s.offers()
	if missing != nil || len(offers) < 2 {
		return nil
	}
	for _, r := range s.now.roles {
		// vLLM on Ascend reads the one transport it has a build for.
		if s.now.Spec.Engine.Name == v1.EngineVLLM && r.manufacturer() == facts.ManufacturerAscend {
			continue
		}
		return one(Fault{
			Field: "spec.kvCache.poolRef.name",
			Message: fmt.Sprintf("the groups of the pool use different transports (%s), and one transport cannot read blocks held on another: %s on %q would miss part of the cache",
				strings.Join(offers, ", "), s.now.engine, r.InstanceType),
			Remedy: "use one protocol across the groups of the pool, or use another pool",
		})
	}
	return nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/facts"
)

// Links are what the Pods of a role are connected to, as they are rendered. The
// zero value is a role that is connected to nothing.
type Links struct {
	// Store is the transport to the shared cache, as Mooncake spells it.
	Store string
	// Reads and Writes tell how the role uses the store.
	Reads, Writes bool
	// Leg is the transport of the direct transfer between the halves of a pair:
	// that of Mooncake, or SGLang's name of it.
	Leg string
	// Proxied: a routing proxy owns the serving port, and the engine listens on
	// EnginePort behind it.
	Proxied    bool
	EnginePort int32
	// Publishes: the role publishes KV cache events.
	Publishes bool
	// Managed: mdc writes the command line.
	Managed bool
}

// Links returns the connections of a role that compiles without findings.
func (r *Role) Links() Links {
	store, _ := r.store()
	leg, _ := r.leg(store)
	ports, _ := r.ports()
	out := Links{Managed: r.managed(), Proxied: r.proxied(), EnginePort: ports.engine, Publishes: r.Publishes()}
	kind := r.spec().Kind
	if store != nil {
		out.Store = store.Protocol
		// A prefill half without a leg only fills the store, a decode half only
		// reads it.
		out.Reads = kind != v1.RolePrefill || leg != nil || r.dialect() == engine.SGLang
		out.Writes = kind != v1.RoleDecode || r.dialect() == engine.SGLang
	}
	if leg == nil {
		return out
	}
	switch r.dialect() {
	case engine.VLLMAscend:
		// Its connector knows no other.
		out.Leg = facts.Protocols["CANN"]
	case engine.SGLang:
		args := engine.NewConnector(engine.Request{Dialect: engine.SGLang, Kind: kind, Store: store, Leg: leg}).Args
		if i := slices.Index(args, argv.FlagDisaggregationTransferBackend); i >= 0 && i+1 < len(args) {
			out.Leg = args[i+1]
		}
	default:
		out.Leg = leg.Protocol
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine knows what vLLM, vLLM on Ascend and SGLang are started with:
// the base of the command line, the cache connector and its configuration.
//
// Facts about flags, environment and documents were read from vLLM 0.29.0,
// vLLM-Ascend 0.23.0 and SGLang 0.5.18.
package engine

import (
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/facts"
)

// Dialect is an engine as it has to be spoken to. vLLM on Ascend is configured
// by the same flags as vLLM, with connectors of its own.
type Dialect string

// The dialects.
const (
	VLLM       Dialect = "vllm"
	VLLMAscend Dialect = "vllm-ascend"
	SGLang     Dialect = "sglang"
)

// DialectOf returns how to speak to an engine on the cards of a manufacturer.
// An unknown manufacturer counts as one that vLLM supports natively.
func DialectOf(name v1.EngineName, manufacturer string) Dialect {
	switch {
	case name == v1.EngineSGLang:
		return SGLang
	case manufacturer == facts.ManufacturerAscend:
		return VLLMAscend
	default:
		return VLLM
	}
}

// RequiredTransport is the only store transport an engine accepts, in the
// spelling of Mooncake; empty means any.
func (d Dialect) RequiredTransport() string {
	if d == VLLMAscend {
		return facts.Protocols["CANN"]
	}
	return ""
}

// MatchTransport returns the first offered store transport that the engine
// accepts.
func (d Dialect) MatchTransport(offers []string) (string, bool) {
	required := d.RequiredTransport()
	for _, o := range offers {
		if o != "" && (required == "" || o == required) {
			return o, true
		}
	}
	return "", false
}

// Store is the shared KV cache that a role is attached to.
type Store struct {
	// Endpoint is the host:port of the store's master, or the token that stands
	// for it.
	Endpoint string
	// Protocol is the transport in the spelling of Mooncake.
	Protocol string
	// Tenant is the reuse domain; empty when the master keeps no tenants apart.
	Tenant string
	// Prefix keeps apart the blocks of different weights; empty when the model
	// is known by its name alone.
	Prefix string
	// Dtype is the element type that the Binding declares, or empty when the
	// engine's own flag is left to the user.
	Dtype string
}

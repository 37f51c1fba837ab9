// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package render turns one role of a deployment into a PodTemplate and a
// deployment into its Services. It is pure: the same inputs give the same
// objects.
package render

import (
	"fmt"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/facts"
)

// Role is what a role is rendered from. The deployment is defaulted and has a
// namespace.
type Role struct {
	Deployment *v1.ModelDeployment
	// Index of the role in the deployment.
	Index int
	// Type is the InstanceType the role names.
	Type *v1.InstanceType
	// Cache is the store the deployment is attached to; nil is none.
	Cache *Cache
	// Weights are how a ModelArtifact delivers the model; nil without one.
	Weights *Weights
	// Overcommit requests less CPU, memory and storage than the limits.
	Overcommit bool
	// SidecarImage is the routing proxy in front of a decode half.
	SidecarImage string
	// ReuseTimeWait lets the prefill half of an SGLang pair reuse sockets in
	// TIME-WAIT.
	ReuseTimeWait bool
	// HasRuntimeClass tells which RuntimeClasses exist.
	HasRuntimeClass func(name string) bool
	// CompilerVersion is noted on the template, for people.
	CompilerVersion string
}

// Cache is the store of a deployment as the facts describe it.
type Cache struct {
	// Pool is the name of the KVCachePool.
	Pool string
	// Backend is the name of the KVCacheBackend.
	Backend string
	// Endpoint is the pool's clientEndpoint; empty when it is not known yet.
	Endpoint string
	// Offers are the transports of the store's groups, spelled as Mooncake does.
	Offers []string
	// Tenant is empty when the store keeps no tenants apart.
	Tenant string
	// Dtype is empty when the engine's own flag is left to the user.
	Dtype string
	// Prefix keeps apart the blocks of different weights; empty when the model
	// is known by its name alone.
	Prefix string
}

func (r *Role) spec() *v1.Role { return &r.Deployment.Spec.Roles[r.Index] }

func (r *Role) engine() v1.EngineName { return r.Deployment.Spec.Engine.Name }

func (r *Role) dialect() engine.Dialect {
	return engine.DialectOf(r.engine(), facts.Manufacturer(r.Type))
}

// managed reports whether mdc writes the command line.
func (r *Role) managed() bool { return len(r.spec().Command) == 0 }

// args is the command line that the user wrote: all of it, or what is appended.
func (r *Role) args() []string {
	if r.managed() {
		return r.spec().ExtraArgs
	}
	return r.spec().Command
}

func (r *Role) listen() argv.Listen {
	return argv.ReadListen(argv.Engine(r.engine()), r.args())
}

// size is the number of Pods of one instance.
func (r *Role) size() int32 { return max(r.spec().Size, 1) }

// identity are the labels that select the Pods of a role.
func identity(deployment, role string) map[string]string {
	return map[string]string{
		v1.LabelName:      v1.NameModelDeployment,
		v1.LabelInstance:  deployment,
		v1.LabelComponent: role,
	}
}

func kindLabel(k v1.RoleKind) string { return strings.ToLower(string(k)) }

// field is the full path of a field of the role.
func (r *Role) field(path string) string {
	f := fmt.Sprintf("spec.roles[%d]", r.Index)
	if path != "" {
		f += "." + path
	}
	return f
}

// refuse returns a finding about a field of the role. Its position is filled in
// by the compile.
func (r *Role) refuse(rule, path, message, remedy string) diag.Finding {
	return diag.Finding{Rule: rule, Severity: diag.Error, Field: r.field(path), Message: message, Remedy: remedy}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/facts"
)

// Request is what a managed role asks of its engine's connector.
type Request struct {
	Dialect Dialect
	// Kind of the role.
	Kind v1.RoleKind
	// Store is the shared cache; nil is none.
	Store *Store
	// Leg is the direct transfer from prefill to decode; nil is none.
	Leg *Leg
	// Publishes: the role publishes KV cache events for a router.
	Publishes bool
}

// Connector is everything that a role gets so that its engine shares KV blocks.
// The zero value is a role that shares none.
type Connector struct {
	// Args stand between the base of the command line and the role's own.
	Args []string
	// DefaultedArgs are groups of a flag and its values; a group is left out
	// when the role names its flag.
	DefaultedArgs [][]string
	// Env is owned: the role may not set these names.
	Env []corev1.EnvVar
	// DefaultedEnv gives way to the role's own entries of the same name.
	DefaultedEnv []corev1.EnvVar
	// Ports are added to those of the container.
	Ports       []corev1.ContainerPort
	Volumes     []corev1.Volume
	Mounts      []corev1.VolumeMount
	Annotations map[string]string
}

// Add appends what another part of the role adds to its container.
func (c *Connector) Add(more Connector) {
	c.Args = append(c.Args, more.Args...)
	c.DefaultedArgs = append(c.DefaultedArgs, more.DefaultedArgs...)
	c.Env = append(c.Env, more.Env...)
	c.DefaultedEnv = append(c.DefaultedEnv, more.DefaultedEnv...)
	c.Ports = append(c.Ports, more.Ports...)
	c.Volumes = append(c.Volumes, more.Volumes...)
	c.Mounts = append(c.Mounts, more.Mounts...)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	maps.Copy(c.Annotations, more.Annotations)
}

// NewConnector returns what a managed role gets. The order of arguments and
// environment is part of the Pod's fingerprint.
func NewConnector(r Request) Connector {
	var c Connector
	if r.Store == nil && r.Leg == nil && !r.Publishes {
		return c
	}
	if r.Dialect == SGLang {
		c.Add(sglangStore(r))
		c.Add(sglangSplit(r))
	} else {
		c.Add(vllmTransfer(r))
		c.Add(vllmEvents(r))
	}
	// The dtype comes last of the owned arguments, so that a value stored before
	// the flag was owned still wins by coming later.
	if r.Store != nil && r.Store.Dtype != "" {
		c.Args = append(c.Args, argv.FlagKVCacheDtype, r.Store.Dtype)
	}
	// Without it the transfer engine exports no metrics, and a hit rate cannot
	// be measured.
	c.DefaultedEnv = slices.Insert(c.DefaultedEnv, 0, corev1.EnvVar{Name: "MC_TE_METRIC", Value: "1"})
	return c
}

// overTCP reports whether everything a role transfers goes over TCP. The
// transfer engine can then be pinned to it; a pin would cut off a store on
// another transport.
func (r Request) overTCP() bool {
	tcp := facts.Protocols["TCP"]
	return r.Leg != nil && r.Leg.Protocol == tcp && (r.Store == nil || r.Store.Protocol == tcp)
}

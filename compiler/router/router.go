// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package router renders the request router of a deployment: a Deployment, what
// it is configured by, and the Service and permissions it needs.
//
// It is pure, and knows the Pods of the roles by their labels alone: no name,
// address or number of a Pod is rendered, so that scaling a role never restarts
// a router.
//
// Flags, documents and ports were read from llm-d-router 0.10.0, vLLM router
// 0.1.15, SGLang gateway 0.3.1 and Envoy 1.33.2.
package router

import (
	"fmt"
	"slices"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Input is what the objects of a router are rendered from.
type Input struct {
	// Deployment is defaulted and has a namespace.
	Deployment *v1.ModelDeployment
	// Roles are all roles, in the order of the deployment. The objects do not
	// depend on the order.
	Roles []Role
	// Image carries the programs of all routers. The image of spec.router beats
	// it.
	Image string
	// ProxyImage is the Envoy in front of the endpoint picker.
	ProxyImage string
}

// Role is one role as a router needs to know it.
type Role struct {
	Name string
	Kind v1.RoleKind
	// Endpoint is the address of the role's Service, a URL.
	Endpoint string
	// Port is where the Pods of the role serve. It is the same for all roles.
	Port int32
	// Publishes is set when the Pods of the role publish KV cache events.
	Publishes bool
}

// Ports of the router's Pod.
const (
	// Port is where requests arrive, also on the Service.
	Port int32 = 8081

	metricsPort int32 = 9090
	// pickerPort is where Envoy asks the endpoint picker.
	pickerPort       int32 = 9002
	pickerHealthPort int32 = 9003
)

// Name is the name of every object of a deployment's router.
func Name(deployment string) string { return deployment + "-router" }

// Endpoint is the address of the router's Service.
func Endpoint(md *v1.ModelDeployment) string {
	return fmt.Sprintf("http://%s.%s.svc:%d", Name(md.Name), md.Namespace, Port)
}

func (in Input) name() string { return Name(in.Deployment.Name) }

func (in Input) spec() *v1.RouterSpec { return in.Deployment.Spec.Router }

func (in Input) engine() v1.EngineName { return in.Deployment.Spec.Engine.Name }

// port is where the Pods of every role serve.
func (in Input) port() int32 { return in.Roles[0].Port }

// first returns the first role of a kind.
func (in Input) first(kind v1.RoleKind) (Role, bool) {
	i := slices.IndexFunc(in.Roles, func(r Role) bool { return r.Kind == kind })
	if i < 0 {
		return Role{}, false
	}
	return in.Roles[i], true
}

// pair returns the two halves between which requests are split, if there are
// both.
func (in Input) pair() (prefill, decode Role, ok bool) {
	prefill, p := in.first(v1.RolePrefill)
	decode, d := in.first(v1.RoleDecode)
	return prefill, decode, p && d
}

// kinds are the values of the kind label among the roles, sorted.
func (in Input) kinds() []string {
	var out []string
	for _, r := range in.Roles {
		out = append(out, r.kindLabel())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

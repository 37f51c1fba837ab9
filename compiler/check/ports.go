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

// Ports.
const (
	defaultPort   int32 = 8000
	eventsPort    int32 = 5557
	replayPort    int32 = 5558
	bootstrapPort int32 = 8998
)

// ownPort is the port the role's command line gives the engine; 0 when it gives
// none.
func (r *role) ownPort() int32 { return r.listen.Port.Number }

// proxied: the role's engine stands behind the decode proxy, which then answers
// on the serving port.
func (r *role) proxied() bool {
	return r.of.pair && r.kind() == v1.RoleDecode && !r.takeOver() && r.of.router == v1.RouterLLMD
}

// servingPort is the port that answers in the Pod.
func (r *role) servingPort() int32 {
	switch {
	case len(r.Ports) > 0:
		return r.Ports[0].Port
	case !r.proxied() && r.ownPort() != 0:
		return r.ownPort()
	}
	return defaultPort
}

// reservation is a set of ports that engines open beside the serving port.
type reservation struct {
	engine v1.EngineName
	ports  []int32
	// live: what is reserved depends on the hardware.
	live bool
	when func(r *role) bool
}

// reservations of managed roles.
var reservations = []reservation{
	{v1.EngineVLLM, []int32{eventsPort, replayPort}, true, func(r *role) bool {
		return r.of.routed() && (r.kind() == v1.RoleServer || r.kind() == v1.RolePrefill) && r.manufacturer() != facts.ManufacturerAscend
	}},
	{v1.EngineVLLM, []int32{bootstrapPort}, false, func(r *role) bool {
		return r.of.routed() && r.of.pair && r.kind() == v1.RolePrefill
	}},
	{v1.EngineSGLang, []int32{bootstrapPort}, false, func(r *role) bool {
		return (r.of.routed() || r.of.Spec.KVCache != nil) && r.of.pair && r.kind() == v1.RolePrefill
	}},
}

// manufacturer of the role's cards, empty when it is not known.
func (r *role) manufacturer() string {
	if r.hardware == nil {
		return ""
	}
	return facts.Manufacturer(r.hardware)
}

// reserved are the ports that a role cannot use for itself.
func (s *Subject) reserved(r *role) (out []int32) {
	if r.takeOver() {
		return nil
	}
	for _, row := range reservations {
		if row.engine == r.of.Spec.Engine.Name && !(row.live && s.Deleting) && row.when(r) {
			out = append(out, row.ports...)
		}
	}
	return out
}

// collision says that a port of a role is reserved. field is where to say so
// when no router is to blame.
func collision(r *role, port int32, reserved []int32, field, where string) Fault {
	f := Fault{
		Field: field,
		Message: fmt.Sprintf("port %d of role %q is one that %s opens itself here to transfer and publish its cache; reserved here: %s",
			port, r.Name, r.of.engine, numbers(reserved)),
		Remedy: "use another port",
		Where:  where,
	}
	if r.of.routed() {
		f.Field = "spec.router"
		f.Message = fmt.Sprintf("port %d of role %q is one that %s opens itself behind %s to transfer and publish its cache; reserved here: %s",
			port, r.Name, r.of.engine, r.of.router, numbers(reserved))
	}
	return f
}

func reservedPort(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		reserved := s.reserved(r)
		for j, p := range r.Ports {
			if slices.Contains(reserved, p.Port) {
				out = append(out, collision(r, p.Port, reserved, r.field("ports"), r.field("ports[%d].port", j)))
			}
		}
	}
	return out
}

func listenPort(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if len(r.Ports) == 0 || r.ownPort() == 0 || r.ownPort() == r.Ports[0].Port || r.proxied() || s.broken(r.field("ports")) {
			continue
		}
		if r.stored != nil && equal(r.stored.Ports, r.Ports) && equal(r.stored.args, r.args) {
			continue
		}
		out = append(out, Fault{
			Field: r.argsField(),
			Message: fmt.Sprintf("%s has %s and %s is %d; the engine would listen on one port while everything else calls the other",
				r.argsField(), r.listen.Port, r.field("ports[0].port"), r.Ports[0].Port),
			Remedy: "make them equal, or remove one of the two",
			Where:  fmt.Sprintf("%s[%d]", r.argsField(), r.listen.Port.Index),
		})
	}
	return out
}

func reservedListenPort(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		reserved := s.reserved(r)
		if len(r.Ports) > 0 || !slices.Contains(reserved, r.ownPort()) {
			continue
		}
		if old := r.stored; old != nil && len(old.Ports) == 0 && old.ownPort() == r.ownPort() && slices.Contains(s.reserved(old), r.ownPort()) {
			continue
		}
		out = append(out, collision(r, r.ownPort(), reserved, r.field("extraArgs"), r.field("extraArgs[%d]", r.listen.Port.Index)))
	}
	return out
}

// numbers lists ports for a message.
func numbers(ports []int32) string {
	var texts []string
	for _, p := range slices.Sorted(slices.Values(ports)) {
		texts = append(texts, fmt.Sprint(p))
	}
	return strings.Join(slices.Compact(texts), ", ")
}

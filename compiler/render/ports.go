// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
)

// defaultPort is where a role serves when it states no port.
const (
	defaultPort     = 8000
	defaultPortName = "http"
)

// ports are the figures that the container, the probes and the Services share.
type ports struct {
	// service is the port that callers use; it moves with ports[] only.
	service corev1.ContainerPort
	// serving is where the container answers: the service port, unless the role
	// moves its engine with --port and declares no ports.
	serving int32
	// engine is where the engine itself listens: the serving port, unless a
	// routing proxy stands in front.
	engine int32
	// all are the ports of the engine's container.
	all []corev1.ContainerPort
}

func (r *Role) ports() (ports, diag.List) {
	var p ports
	for _, d := range r.spec().Ports {
		p.all = append(p.all, containerPort(d))
	}
	declared := len(p.all) > 0
	if !declared {
		p.all = []corev1.ContainerPort{{Name: defaultPortName, Protocol: corev1.ProtocolTCP, ContainerPort: defaultPort}}
	}
	p.service = p.all[0]
	p.serving = p.service.ContainerPort
	if r.proxied() {
		var findings diag.List
		p.engine, findings = r.behindProxy(p.all)
		p.all[0] = corev1.ContainerPort{Name: behindProxyName, Protocol: corev1.ProtocolTCP, ContainerPort: p.engine}
		return p, findings
	}
	if own, ok := r.ownPort(); ok && !declared {
		p.serving = own
		p.all[0].ContainerPort = own
	}
	p.engine = p.serving
	return p, nil
}

// with adds the ports of a connector to those of the container. A port that the
// role declares under another name cannot be opened twice.
func (p ports) with(more []corev1.ContainerPort) ([]corev1.ContainerPort, bool) {
	out := slices.Clone(p.all)
	for _, m := range more {
		i := slices.IndexFunc(out, func(o corev1.ContainerPort) bool {
			return o.ContainerPort == m.ContainerPort && o.Protocol == m.Protocol
		})
		switch {
		case i < 0:
			out = append(out, m)
		case out[i].Name != m.Name:
			return nil, false
		}
	}
	return out, true
}

// ownPort is the port that the role's own command line gives the engine.
func (r *Role) ownPort() (int32, bool) {
	l := r.listen()
	return l.Port.Number, l.Port.Readable
}

func containerPort(p v1.RolePort) corev1.ContainerPort {
	protocol := p.Protocol
	if protocol == "" {
		protocol = v1.PortProtocol(corev1.ProtocolTCP)
	}
	return corev1.ContainerPort{
		Name:          fmt.Sprintf("%s-%d", strings.ToLower(string(protocol)), p.Port),
		Protocol:      corev1.Protocol(protocol),
		ContainerPort: p.Port,
	}
}

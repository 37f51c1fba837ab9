// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
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
	// all are the ports of the container.
	all []corev1.ContainerPort
}

func (r *Role) ports() ports {
	declared := r.spec().Ports
	if len(declared) == 0 {
		p := ports{service: corev1.ContainerPort{Name: defaultPortName, Protocol: corev1.ProtocolTCP, ContainerPort: defaultPort}}
		p.serving = p.service.ContainerPort
		if own, ok := r.ownPort(); ok {
			p.serving = own
		}
		moved := p.service
		moved.ContainerPort = p.serving
		p.all = []corev1.ContainerPort{moved}
		return p
	}
	var p ports
	for _, d := range declared {
		p.all = append(p.all, containerPort(d))
	}
	p.service = p.all[0]
	p.serving = p.service.ContainerPort
	return p
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

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// healthPath is answered by both engines without authentication.
const healthPath = "/health"

// The probes, in seconds. The startup window is 30 minutes: loading weights is
// slow. A busy engine answers late, so it is given a minute before a restart.
const (
	probePeriod     = 10
	probeTimeout    = 3
	startupFailures = 180
	readyFailures   = 3
	liveFailures    = 6
)

func (r *Role) scheme() corev1.URIScheme {
	if r.listen().TLS {
		return corev1.URISchemeHTTPS
	}
	return corev1.URISchemeHTTP
}

// probed reports whether the kubelet can reach the engine by what is known of
// its command line.
func (r *Role) probed(p ports) bool {
	l := r.listen()
	switch {
	case !r.managed(), p.service.Protocol != corev1.ProtocolTCP:
		return false
	case r.proxied(): // the proxy answers, whatever the engine's line says
		return true
	case l.HostStated, // the address is the user's, and may be loopback
		l.ClientCertificate,
		l.Port.Stated && !l.Port.Readable,
		l.Port.Stated && l.Port.Number != p.serving:
		return false
	}
	return true
}

func (r *Role) addProbes(c *corev1.Container, p ports) {
	if !r.probed(p) {
		return
	}
	path, scheme := healthPath, r.scheme()
	if r.proxied() {
		path, scheme = modelsPath, corev1.URISchemeHTTP
	}
	probe := func(failures int32) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path:   path,
				Port:   intstr.FromInt32(p.serving),
				Scheme: scheme,
			}},
			PeriodSeconds:    probePeriod,
			TimeoutSeconds:   probeTimeout,
			FailureThreshold: failures,
		}
	}
	c.StartupProbe = probe(startupFailures)
	c.ReadinessProbe = probe(readyFailures)
	c.LivenessProbe = probe(liveFailures)
}

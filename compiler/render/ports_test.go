// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/render"
)

func port(name string, protocol corev1.Protocol, number int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, Protocol: protocol, ContainerPort: number}
}

// TestPorts covers the ports of the container and, beside them, what a Service
// publishes: its own port never moves with --port.
func TestPorts(t *testing.T) {
	http := func(number int32) []corev1.ContainerPort { return []corev1.ContainerPort{port("http", "TCP", number)} }
	service := func(name string, protocol corev1.Protocol, number, target int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Protocol: protocol, Port: number, TargetPort: intstr.FromInt32(target)}
	}
	const tail = "0.0.0.0"
	for name, tc := range map[string]struct {
		edits     []edit
		container []corev1.ContainerPort
		service   corev1.ServicePort
		// filled are the last tokens of the command line.
		filled []string
	}{
		"default": {
			nil, http(8000), service("http", "TCP", 8000, 8000), []string{"--host", tail, "--port", "8000"},
		},
		"one declared": {
			[]edit{ports(v1.RolePort{Port: 9000, Protocol: "TCP"})},
			[]corev1.ContainerPort{port("tcp-9000", "TCP", 9000)}, service("tcp-9000", "TCP", 9000, 9000), []string{"--host", tail, "--port", "9000"},
		},
		"several declared, the first serves": {
			[]edit{ports(v1.RolePort{Port: 9000, Protocol: "TCP"}, v1.RolePort{Port: 9000, Protocol: "UDP"}, v1.RolePort{Port: 80, Protocol: "SCTP"})},
			[]corev1.ContainerPort{port("tcp-9000", "TCP", 9000), port("udp-9000", "UDP", 9000), port("sctp-80", "SCTP", 80)},
			service("tcp-9000", "TCP", 9000, 9000), []string{"--port", "9000"},
		},
		"UDP": {
			[]edit{ports(v1.RolePort{Port: 53, Protocol: "UDP"})},
			[]corev1.ContainerPort{port("udp-53", "UDP", 53)}, service("udp-53", "UDP", 53, 53), []string{"--port", "53"},
		},
		"longest name": {
			[]edit{ports(v1.RolePort{Port: 65535, Protocol: "SCTP"})},
			[]corev1.ContainerPort{port("sctp-65535", "SCTP", 65535)}, service("sctp-65535", "SCTP", 65535, 65535), []string{"--port", "65535"},
		},
		"declared stays beside a disagreeing --port": {
			[]edit{ports(v1.RolePort{Port: 9000, Protocol: "TCP"}), extraArgs("--port", "9100")},
			[]corev1.ContainerPort{port("tcp-9000", "TCP", 9000)}, service("tcp-9000", "TCP", 9000, 9000), []string{"--port", "9100", "--host", tail},
		},
		"moved": {
			[]edit{extraArgs("--port", "9000")}, http(9000), service("http", "TCP", 8000, 9000), []string{"--port", "9000", "--host", tail},
		},
		"moved, one token": {
			[]edit{extraArgs("--port=9000")}, http(9000), service("http", "TCP", 8000, 9000), []string{"--port=9000", "--host", tail},
		},
		"moved, abbreviated": {
			[]edit{extraArgs("--por", "9000")}, http(9000), service("http", "TCP", 8000, 9000), []string{"--por", "9000", "--host", tail},
		},
		"too short for vLLM": {
			[]edit{extraArgs("--po", "9000")}, http(8000), service("http", "TCP", 8000, 8000), []string{"--po", "9000", "--host", tail, "--port", "8000"},
		},
		"short enough for SGLang": {
			[]edit{sglang, extraArgs("--po=9000")}, http(9000), service("http", "TCP", 8000, 9000), []string{"--po=9000", "--host", tail},
		},
		"the last counts": {
			[]edit{extraArgs("--port=9000", "--port", "9001")}, http(9001), service("http", "TCP", 8000, 9001), []string{"--port=9000", "--port", "9001", "--host", tail},
		},
		"the last is unreadable": {
			[]edit{extraArgs("--port=9000", "--port=x")}, http(8000), service("http", "TCP", 8000, 8000), []string{"--port=9000", "--port=x", "--host", tail},
		},
		"no number": {
			[]edit{extraArgs("--port", "http")}, http(8000), service("http", "TCP", 8000, 8000), []string{"--port", "http", "--host", tail},
		},
		"out of range": {
			[]edit{extraArgs("--port=65536")}, http(8000), service("http", "TCP", 8000, 8000), []string{"--port=65536", "--host", tail},
		},
		"zero": {
			[]edit{extraArgs("--port=0")}, http(8000), service("http", "TCP", 8000, 8000), []string{"--port=0", "--host", tail},
		},
		"no value": {
			[]edit{extraArgs("--port")}, http(8000), service("http", "TCP", 8000, 8000), []string{"--port", "--host", tail},
		},
		"take-over, default": {
			[]edit{command("serve")}, http(8000), service("http", "TCP", 8000, 8000), []string{"serve"},
		},
		"take-over, moved": {
			[]edit{command("serve", "--port", "9000")}, http(9000), service("http", "TCP", 8000, 9000), []string{"serve", "--port", "9000"},
		},
		"take-over, moved in one token": {
			[]edit{command("serve", "--port=9000")}, http(9000), service("http", "TCP", 8000, 9000), []string{"serve", "--port=9000"},
		},
		"take-over, text of a shell is out of sight": {
			[]edit{command("sh", "-c", "serve --port 9000")}, http(8000), service("http", "TCP", 8000, 8000), []string{"serve --port 9000"},
		},
		"take-over ignores extraArgs": {
			[]edit{command("serve"), extraArgs("--port", "9000")}, http(8000), service("http", "TCP", 8000, 8000), []string{"serve"},
		},
		"take-over, declared": {
			[]edit{command("serve", "--port", "9100"), ports(v1.RolePort{Port: 9000, Protocol: "TCP"})},
			[]corev1.ContainerPort{port("tcp-9000", "TCP", 9000)}, service("tcp-9000", "TCP", 9000, 9000), []string{"--port", "9100"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := mainContainer(t, tc.edits...)
			if diff := cmp.Diff(tc.container, c.Ports); diff != "" {
				t.Errorf("container ports (-want +got):\n%s", diff)
			}
			if n := len(c.Command) - len(tc.filled); !slices.Equal(c.Command[max(n, 0):], tc.filled) {
				t.Errorf("command %q does not end in %q", c.Command, tc.filled)
			}
			if c.Args != nil {
				t.Errorf("args %q", c.Args)
			}
			for _, s := range render.Services([]*render.Role{newRole(tc.edits...)}) {
				if diff := cmp.Diff([]corev1.ServicePort{tc.service}, s.Spec.Ports); diff != "" {
					t.Errorf("ports of Service %s (-want +got):\n%s", s.Name, diff)
				}
			}
		})
	}
}

// TestMoved keeps everything on the container's side at the engine's port.
func TestMoved(t *testing.T) {
	p := pod(t, extraArgs("--port=9000", "--ssl-keyfile=k"))
	if got := p.Annotations["prometheus.io/port"]; got != "9000" {
		t.Errorf("scraped at %s", got)
	}
	c := p.Spec.Containers[0]
	if got := c.ReadinessProbe.HTTPGet.Port; got != intstr.FromInt32(9000) {
		t.Errorf("probed at %v", got)
	}
	mentions(t, c.Lifecycle.PreStop.Exec.Command[2], `"https://127.0.0.1:9000/metrics"`)
}

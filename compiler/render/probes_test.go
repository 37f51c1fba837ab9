// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

func TestScheme(t *testing.T) {
	for name, tc := range map[string]struct {
		edits []edit
		want  corev1.URIScheme
	}{
		"plain":               {nil, "HTTP"},
		"certificate":         {[]edit{extraArgs("--ssl-certfile", "c")}, "HTTPS"},
		"key":                 {[]edit{extraArgs("--ssl-keyfile=k")}, "HTTPS"},
		"underscores on vLLM": {[]edit{extraArgs("--ssl_keyfile=k")}, "HTTPS"},
		"underscores, SGLang": {[]edit{sglang, extraArgs("--ssl_keyfile=k")}, "HTTP"},
		"abbreviated":         {[]edit{extraArgs("--ssl-certf=c")}, "HTTPS"},
		"SGLang":              {[]edit{sglang, extraArgs("--ssl-certfile=c")}, "HTTPS"},
		"other TLS flags":     {[]edit{extraArgs("--ssl-ca-certs=c", "--ssl-ciphers=x", "--ssl-keyfile-password=p", "--ssl-cert-reqs=0")}, "HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(t, tc.edits...)
			if got := p.Spec.Containers[0].LivenessProbe.HTTPGet.Scheme; got != tc.want {
				t.Errorf("probed over %s, want %s", got, tc.want)
			}
			if got, want := p.Annotations["prometheus.io/scheme"], map[corev1.URIScheme]string{"HTTP": "http", "HTTPS": "https"}[tc.want]; got != want {
				t.Errorf("scraped over %s, want %s", got, want)
			}
		})
	}
}

func TestProbeFigures(t *testing.T) {
	for name, tc := range map[string]struct {
		edits []edit
		get   corev1.HTTPGetAction
	}{
		"default":  {nil, corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8000), Scheme: "HTTP"}},
		"declared": {[]edit{ports(v1.RolePort{Port: 9000, Protocol: "TCP"})}, corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(9000), Scheme: "HTTP"}},
		"SGLang":   {[]edit{sglang}, corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8000), Scheme: "HTTP"}},
		"TLS":      {[]edit{extraArgs("--ssl-keyfile=k")}, corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8000), Scheme: "HTTPS"}},
		"size 2":   {[]edit{size(2)}, corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8000), Scheme: "HTTP"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := mainContainer(t, tc.edits...)
			for failures, got := range map[int32]*corev1.Probe{180: c.StartupProbe, 3: c.ReadinessProbe, 6: c.LivenessProbe} {
				want := &corev1.Probe{
					ProbeHandler:  corev1.ProbeHandler{HTTPGet: &tc.get},
					PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: failures,
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("probe of %d failures (-want +got):\n%s", failures, diff)
				}
			}
		})
	}
}

func TestProbed(t *testing.T) {
	tls := func(args ...string) edit { return extraArgs(append([]string{"--ssl-certfile=c"}, args...)...) }
	declared := ports(v1.RolePort{Port: 9000, Protocol: "TCP"})
	for name, tc := range map[string]struct {
		edits []edit
		want  bool
	}{
		"plain":                           {nil, true},
		"take-over":                       {[]edit{command("serve")}, false},
		"take-over with --port":           {[]edit{command("serve", "--port", "9000")}, false},
		"host":                            {[]edit{extraArgs("--host", "127.0.0.1")}, false},
		"host, every address":             {[]edit{extraArgs("--host=0.0.0.0")}, false},
		"host, abbreviated":               {[]edit{extraArgs("--hos=0.0.0.0")}, false},
		"UDP":                             {[]edit{ports(v1.RolePort{Port: 9000, Protocol: "UDP"})}, false},
		"SCTP":                            {[]edit{ports(v1.RolePort{Port: 9000, Protocol: "SCTP"})}, false},
		"UDP second":                      {[]edit{ports(v1.RolePort{Port: 9000, Protocol: "TCP"}, v1.RolePort{Port: 9001, Protocol: "UDP"})}, true},
		"TLS":                             {[]edit{tls()}, true},
		"client certificate: none":        {[]edit{tls("--ssl-cert-reqs", "0")}, true},
		"client certificate: optional":    {[]edit{tls("--ssl-cert-reqs=1")}, true},
		"client certificate: leading 0":   {[]edit{tls("--ssl-cert-reqs=01")}, true},
		"client certificate: required":    {[]edit{tls("--ssl-cert-reqs=2")}, false},
		"client certificate: last counts": {[]edit{tls("--ssl-cert-reqs=2", "--ssl-cert-reqs=0")}, true},
		"client certificate: last is bad": {[]edit{tls("--ssl-cert-reqs=0", "--ssl-cert-reqs=2")}, false},
		"client certificate: unreadable":  {[]edit{tls("--ssl-cert-reqs=CERT_NONE")}, false},
		"client certificate: no value":    {[]edit{tls("--ssl-cert-reqs")}, false},
		"client certificate: underscores": {[]edit{tls("--ssl_cert_reqs=2")}, false},
		"client certificate without TLS":  {[]edit{extraArgs("--ssl-cert-reqs=2")}, true},
		"client certificate on SGLang":    {[]edit{sglang, tls("--ssl-cert-reqs=2")}, true},
		"port moved":                      {[]edit{extraArgs("--port=9000")}, true},
		"port unreadable":                 {[]edit{extraArgs("--port=x")}, false},
		"port missing":                    {[]edit{extraArgs("--port")}, false},
		"port agrees":                     {[]edit{declared, extraArgs("--port=9000")}, true},
		"port disagrees":                  {[]edit{declared, extraArgs("--port=9001")}, false},
		"declared, port unreadable":       {[]edit{declared, extraArgs("--port=x")}, false},
		"multi-Pod":                       {[]edit{size(4)}, true},
		"cached":                          {[]edit{cache()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := mainContainer(t, tc.edits...)
			for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
				if (p != nil) != tc.want {
					t.Fatalf("probed: %v, want %v", p != nil, tc.want)
				}
			}
		})
	}
}

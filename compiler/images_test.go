// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
)

// TestImagesOfRouters: the images that no role chooses come from Settings, and
// from a mirror only where nobody chose one.
func TestImagesOfRouters(t *testing.T) {
	const (
		proxy   = "gpustack/mirrored-envoy:distroless-v1.33.2"
		picker  = "gpustack/llm-router:v0.1.0"
		sidecar = "gpustack/mirrored-llm-d-router-disagg-sidecar:v0.10.0"
		runner  = "gpustack/runner:cuda12.9-vllm0.29.0"
	)
	for name, tc := range map[string]struct {
		settings map[string]string
		// want are the images of the proxy, the picker, the sidecar and the engine.
		want []string
	}{
		"defaults": {nil, []string{proxy, picker, sidecar, runner}},
		"chosen": {
			map[string]string{"model-deployment-router-image": "a/b", "model-deployment-router-proxy-image": "r:5000/e:1", "model-deployment-routing-sidecar-image": "s@sha256:" + strings.Repeat("0", 64), "container-registry": "mirror.lab"},
			[]string{"r:5000/e:1", "a/b", "s@sha256:" + strings.Repeat("0", 64), runner},
		},
		"empty":    {map[string]string{"model-deployment-router-image": "", "container-registry": ""}, []string{proxy, picker, sidecar, runner}},
		"registry": {map[string]string{"container-registry": "mirror.lab:5000/"}, []string{"mirror.lab:5000/" + proxy, "mirror.lab:5000/" + picker, "mirror.lab:5000/" + sidecar, runner}},
		"namespace": {
			map[string]string{"container-namespace": "copies"},
			[]string{"copies/mirrored-envoy:distroless-v1.33.2", "copies/llm-router:v0.1.0", "copies/mirrored-llm-d-router-disagg-sidecar:v0.10.0", runner},
		},
		"registry and namespace": {
			map[string]string{"container-registry": "mirror.lab", "container-namespace": "a/b", "model-deployment-router-image": "own/router:1"},
			[]string{"mirror.lab/a/b/mirrored-envoy:distroless-v1.33.2", "own/router:1", "mirror.lab/a/b/mirrored-llm-d-router-disagg-sidecar:v0.10.0", runner},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, findings := shape{kind: v1.RoleDecode, router: "llm-d-router", settings: tc.settings}.compile(t)
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			var got []string
			for _, o := range out.Deployments[0].Router {
				if d, ok := o.(*appsv1.Deployment); ok {
					for _, c := range d.Spec.Template.Spec.Containers {
						got = append(got, c.Image)
					}
				}
			}
			pod := templateOf(out, "md-decode").Template.Spec
			got = append(got, pod.InitContainers[0].Image, pod.Containers[0].Image)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestImagesNobodyCanPull refuses a Setting of which no container would start,
// where something is started from it.
func TestImagesNobodyCanPull(t *testing.T) {
	all := []string{"model-deployment-router-image", "model-deployment-router-proxy-image", "model-deployment-routing-sidecar-image"}
	for _, tc := range []struct {
		router string
		used   []string
	}{
		{"llm-d-router", all},
		{"vllm-router", all[:1]},
		{"", nil},
	} {
		for _, setting := range all {
			_, findings := shape{router: tc.router, settings: map[string]string{setting: "No Image"}}.compile(t)
			refused := slices.ContainsFunc(findings, func(f diag.Finding) bool {
				return f.Rule == "pod-invalid" && f.Field == "spec.router" && strings.Contains(f.Message, setting)
			})
			if want := slices.Contains(tc.used, setting); refused != want {
				t.Errorf("%s with router %q: refused %v, want %v", setting, tc.router, refused, want)
			}
		}
	}
}

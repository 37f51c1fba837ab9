// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/router"
)

func TestPullPolicy(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string]corev1.PullPolicy{
		"router:v1":                       corev1.PullIfNotPresent,
		"router:latest":                   corev1.PullAlways,
		"router:latest-cuda":              corev1.PullIfNotPresent,
		"router":                          corev1.PullAlways,
		"registry.local:5000/x/router":    corev1.PullAlways,
		"registry.local:5000/x/router:v1": corev1.PullIfNotPresent,
		"localhost:5000/router:latest":    corev1.PullAlways,
		"router" + digest:                 corev1.PullIfNotPresent,
		"router:v1" + digest:              corev1.PullIfNotPresent,
		"router:latest" + digest:          corev1.PullAlways,
		"localhost:5000/router" + digest:  corev1.PullIfNotPresent,
	} {
		for _, in := range []router.Input{
			vllmServer(spec(func(s *v1.RouterSpec) { s.Image = image })),
			vllmServer(func(in *router.Input) { in.Image = image }),
		} {
			if c := program(in); c.Image != image || c.ImagePullPolicy != want {
				t.Errorf("%s: image %s, policy %q, want %s", image, c.Image, c.ImagePullPolicy, want)
			}
		}
	}
}

// TestImages: the stated image and policy win; each container has the default
// policy of its own image.
func TestImages(t *testing.T) {
	for name, tc := range map[string]struct {
		image, proxy, stated        string
		policy                      v1.PullPolicy
		wantImage                   string
		wantPolicy, wantProxyPolicy corev1.PullPolicy
	}{
		"settings":       {image: "r:1", proxy: "e:1", wantImage: "r:1", wantPolicy: "IfNotPresent", wantProxyPolicy: "IfNotPresent"},
		"latest proxy":   {image: "r:1", proxy: "e", wantImage: "r:1", wantPolicy: "IfNotPresent", wantProxyPolicy: "Always"},
		"latest router":  {image: "r", proxy: "e:1", wantImage: "r", wantPolicy: "Always", wantProxyPolicy: "IfNotPresent"},
		"stated image":   {image: "r:1", proxy: "e:1", stated: "docker.io/own", wantImage: "docker.io/own", wantPolicy: "Always", wantProxyPolicy: "IfNotPresent"},
		"stated policy":  {image: "r", proxy: "e:1", policy: "Never", wantImage: "r", wantPolicy: "Never", wantProxyPolicy: "Never"},
		"always":         {image: "r:1", proxy: "e:1", policy: "Always", wantImage: "r:1", wantPolicy: "Always", wantProxyPolicy: "Always"},
		"if not present": {image: "r", proxy: "e", policy: "IfNotPresent", wantImage: "r", wantPolicy: "IfNotPresent", wantProxyPolicy: "IfNotPresent"},
	} {
		t.Run(name, func(t *testing.T) {
			s := podSpec(vllmPair(func(in *router.Input) {
				in.Image, in.ProxyImage = tc.image, tc.proxy
				in.Deployment.Spec.Router.Image, in.Deployment.Spec.Router.ImagePullPolicy = tc.stated, tc.policy
			}))
			envoy, picker := s.Containers[0], s.Containers[1]
			if envoy.Image != tc.proxy || envoy.ImagePullPolicy != tc.wantProxyPolicy {
				t.Errorf("proxy %s %q", envoy.Image, envoy.ImagePullPolicy)
			}
			if picker.Image != tc.wantImage || picker.ImagePullPolicy != tc.wantPolicy {
				t.Errorf("picker %s %q", picker.Image, picker.ImagePullPolicy)
			}
		})
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/engine"
)

const (
	proxyContainer = "routing-proxy"
	// modelsPath is what the proxy forwards; it answers the health path itself.
	modelsPath = "/v1/models"
	// behindProxyPort is where an engine listens behind the proxy, unless a
	// declared port has the number.
	behindProxyPort = 8200
	// behindProxyName is the name of that port.
	behindProxyName = "model-server"
)

// proxyConnectors tells the proxy how the halves hand blocks over.
var proxyConnectors = map[engine.Dialect][]string{
	engine.VLLM:       {"--kv-connector=mooncake", fmt.Sprintf("--mooncake-bootstrap-port=%d", engine.BootstrapPort)},
	engine.VLLMAscend: {"--kv-connector=nixlv2"},
	engine.SGLang:     {"--kv-connector=sglang"},
}

// behindProxy is the port of an engine behind the proxy.
func (r *Role) behindProxy(declared []corev1.ContainerPort) (int32, diag.List) {
	taken := func(port int32) bool {
		return slices.ContainsFunc(declared, func(p corev1.ContainerPort) bool { return p.ContainerPort == port })
	}
	if own, ok := r.ownPort(); ok {
		if taken(own) {
			message := fmt.Sprintf("the routing proxy of role %q owns port %d, so the engine behind it cannot listen there too", r.spec().Name, own)
			if own != declared[0].ContainerPort {
				message = fmt.Sprintf("the engine behind the routing proxy of role %q would listen on port %d, which is declared for something else", r.spec().Name, own)
			}
			return 0, diag.List{r.refuse("engine-port", "extraArgs", message, "choose another --port, or leave it out")}
		}
		return own, nil
	}
	port := int32(behindProxyPort)
	for taken(port) {
		port++
	}
	return port, nil
}

// proxy is the routing proxy in front of a decode half. It runs as long as the
// Pod, and starts before the engine.
func (r *Role) proxy(p ports) corev1.Container {
	c := corev1.Container{
		Name:            proxyContainer,
		Image:           r.SidecarImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		RestartPolicy:   ptr.To(corev1.ContainerRestartPolicyAlways),
		Args: slices.Concat(
			[]string{fmt.Sprintf("--port=%d", p.service.ContainerPort), fmt.Sprintf("--model-server-port=%d", p.engine)},
			proxyConnectors[r.dialect()],
			[]string{"--secure-proxy=false"},
		),
		Ports: []corev1.ContainerPort{p.service},
		Env: []corev1.EnvVar{{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"},
		}}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			RunAsNonRoot:             ptr.To(true),
		},
	}
	if r.dialect() == engine.SGLang {
		// There is no flag for it on this side.
		c.Env = append(c.Env, corev1.EnvVar{Name: "SGLANG_BOOTSTRAP_PORT", Value: fmt.Sprint(engine.BootstrapPort)})
	}
	return c
}

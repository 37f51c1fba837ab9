// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/router"
)

// TestArgs spells whole command lines.
func TestArgs(t *testing.T) {
	listen := []string{"--host=0.0.0.0", "--port=8081", "--prometheus-host=0.0.0.0", "--prometheus-port=9090"}
	timeout := []string{"--request-timeout-secs=600"}
	mooncake := []string{"--kv-connector=mooncake"}
	discovery := []string{"--service-discovery", "--service-discovery-namespace=team-a", "--service-discovery-port=8000"}
	moved := []string{"--service-discovery", "--service-discovery-namespace=team-a", "--service-discovery-port=9000"}
	whole := []string{"--selector", "app.kubernetes.io/instance=x", "app.kubernetes.io/name=model-deployment", "modeldeployment.gpustack.ai/member-index=0"}
	half := func(flag, name, kind string) []string {
		return []string{
			flag, "app.kubernetes.io/component=" + name, "app.kubernetes.io/instance=x", "app.kubernetes.io/name=model-deployment",
			"modeldeployment.gpustack.ai/member-index=0", "modeldeployment.gpustack.ai/role-kind=" + kind,
		}
	}
	halves := append(half("--prefill-selector", "pre", "prefill"), half("--decode-selector", "dec", "decode")...)
	picker := []string{
		"--endpoint-selector=$(ENDPOINT_SELECTOR)", "--endpoint-target-ports=$(ENDPOINT_TARGET_PORTS)", "--config-file=/config/epp.yaml",
		"--secure-serving=false", "--grpc-health-port=9003", "--metrics-endpoint-auth=false",
	}
	pre, dec := router.Role{Name: "pre", Kind: v1.RolePrefill}, router.Role{Name: "dec", Kind: v1.RoleDecode}
	for name, tc := range map[string]struct {
		router  v1.RouterName
		engine  v1.EngineName
		roles   []router.Role
		timeout *int32
		extra   []string
		want    [][]string
	}{
		"vllm":                       {v1.RouterVLLM, v1.EngineVLLM, servers("a"), nil, nil, [][]string{{"vllm-router"}, listen, mooncake, discovery, whole}},
		"vllm, two servers":          {v1.RouterVLLM, v1.EngineVLLM, servers("b", "a"), nil, nil, [][]string{{"vllm-router"}, listen, mooncake, discovery, whole}},
		"vllm, timeout, arguments":   {v1.RouterVLLM, v1.EngineVLLM, servers("a"), ptr.To[int32](600), []string{"--policy", "random"}, [][]string{{"vllm-router"}, listen, timeout, mooncake, discovery, whole, {"--policy", "random"}}},
		"vllm, pair":                 {v1.RouterVLLM, v1.EngineVLLM, []router.Role{dec, pre}, nil, []string{"--x"}, [][]string{{"vllm-router"}, listen, mooncake, discovery, {"--vllm-pd-disaggregation"}, halves, {"--x"}}},
		"vllm, prefill alone":        {v1.RouterVLLM, v1.EngineVLLM, []router.Role{pre}, nil, nil, [][]string{{"vllm-router"}, listen, mooncake, discovery, whole}},
		"vllm, decode alone":         {v1.RouterVLLM, v1.EngineVLLM, []router.Role{dec}, nil, nil, [][]string{{"vllm-router"}, listen, mooncake, discovery, whole}},
		"vllm, port":                 {v1.RouterVLLM, v1.EngineVLLM, []router.Role{{Name: "a", Kind: v1.RoleServer, Port: 9000}}, nil, nil, [][]string{{"vllm-router"}, listen, mooncake, moved, whole}},
		"sglang":                     {v1.RouterSGLang, v1.EngineSGLang, servers("a"), nil, nil, [][]string{{"sgl-model-gateway"}, listen, discovery, whole}},
		"sglang, timeout, arguments": {v1.RouterSGLang, v1.EngineSGLang, servers("a"), ptr.To[int32](600), []string{"--x", ""}, [][]string{{"sgl-model-gateway"}, listen, timeout, discovery, whole, {"--x", ""}}},
		"sglang, pair":               {v1.RouterSGLang, v1.EngineSGLang, []router.Role{pre, dec}, nil, nil, [][]string{{"sgl-model-gateway"}, listen, discovery, {"--pd-disaggregation"}, halves}},
		"sglang, prefill alone":      {v1.RouterSGLang, v1.EngineSGLang, []router.Role{pre}, nil, nil, [][]string{{"sgl-model-gateway"}, listen, discovery, whole}},
		"sglang, decode alone":       {v1.RouterSGLang, v1.EngineSGLang, []router.Role{dec}, nil, nil, [][]string{{"sgl-model-gateway"}, listen, discovery, whole}},
		"llm-d":                      {v1.RouterLLMD, v1.EngineVLLM, servers("a"), nil, nil, [][]string{{"epp"}, picker}},
		"llm-d, timeout, arguments":  {v1.RouterLLMD, v1.EngineSGLang, []router.Role{pre, dec}, ptr.To[int32](600), []string{"--v=2"}, [][]string{{"epp"}, picker, {"--v=2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := v1.RouterSpec{Name: tc.router, RequestTimeoutSeconds: tc.timeout, ExtraArgs: tc.extra}
			c := program(newInput("x", "M", tc.engine, s, slices.Clone(tc.roles)))
			if diff := cmp.Diff(slices.Concat(tc.want...), slices.Concat(c.Command, c.Args)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnedArgs: what is rendered and what users may not set are the same flags,
// but for the one that a field stands for and users may repeat.
func TestOwnedArgs(t *testing.T) {
	for name, engine := range map[v1.RouterName]v1.EngineName{
		v1.RouterLLMD: v1.EngineVLLM, v1.RouterVLLM: v1.EngineVLLM, v1.RouterSGLang: v1.EngineSGLang,
	} {
		rendered := map[string]bool{}
		for _, roles := range [][]router.Role{servers("a"), pair()} {
			s := v1.RouterSpec{Name: name, RequestTimeoutSeconds: ptr.To[int32](1)}
			for _, token := range program(newInput("x", "M", engine, s, roles)).Args {
				if flag, _, _ := strings.Cut(token, "="); strings.HasPrefix(flag, "--") && flag != "--request-timeout-secs" {
					rendered[flag] = true
				}
			}
		}
		owned := map[string]bool{}
		for _, flag := range argv.RouterArgs(string(name)) {
			owned[flag] = true
		}
		if diff := cmp.Diff(owned, rendered); diff != "" {
			t.Errorf("%s (-owned +rendered):\n%s", name, diff)
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/router"
)

func kind(o runtime.Object) string { return o.GetObjectKind().GroupVersionKind().String() }

// TestWorked compares whole sets of objects with ones that were written by hand.
func TestWorked(t *testing.T) {
	for name, tc := range map[string]struct {
		in    router.Input
		kinds int
	}{
		"vllm-pair.yaml": {vllmPair(), 6},
		"sglang-gateway.yaml": {sglangServer(spec(func(s *v1.RouterSpec) {
			s.Replicas, s.RequestTimeoutSeconds = ptr.To[int32](2), ptr.To[int32](600)
			s.ExtraArgs = []string{"--policy", "round_robin"}
		})), 5},
		"vllm-router.yaml": {vllmServer(), 5},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := map[string]runtime.Object{}, map[string]runtime.Object{}
			for _, o := range readObjects(t, name) {
				want[kind(o)] = o
			}
			for _, o := range router.Objects(tc.in) {
				got[kind(o)] = o
			}
			if len(got) != tc.kinds || len(router.Objects(tc.in)) != tc.kinds {
				t.Errorf("%d kinds, want %d", len(got), tc.kinds)
			}
			if diff := cmp.Diff(want, got, cmp.FilterPath(isDocument, cmp.Transformer("document", decodeYAML))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// isDocument tells the two documents from the other values of a ConfigMap.
func isDocument(p cmp.Path) bool {
	step, ok := p.Last().(cmp.MapIndex)
	return ok && (step.Key().String() == "epp.yaml" || step.Key().String() == "envoy.yaml")
}

func decodeYAML(text string) map[string]any {
	var v map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &v, yaml.DisallowUnknownFields); err != nil {
		return map[string]any{"error": fmt.Sprint(err)}
	}
	return v
}

// TestPickerVariants compares the other shapes of the picker's document.
func TestPickerVariants(t *testing.T) {
	llmd := v1.RouterSpec{Name: v1.RouterLLMD}
	threshold := spec(func(s *v1.RouterSpec) { s.DisaggregationThresholdTokens = ptr.To[int32](512) })
	for name, in := range map[string]router.Input{
		"picker-vllm-server.yaml":   newInput("qwen", "Qwen/Qwen3-8B", v1.EngineVLLM, llmd, servers("server")),
		"picker-sglang-pair.yaml":   newInput("qwen", "Qwen/Qwen3-8B", v1.EngineSGLang, llmd, pair(), threshold),
		"picker-sglang-server.yaml": newInput("qwen", "Qwen/Qwen3-8B", v1.EngineSGLang, llmd, servers("server")),
	} {
		t.Run(name, func(t *testing.T) {
			want, got := decodeYAML(string(readFixture(t, name))), decodeYAML(data(t, in, "epp.yaml"))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestConfigHash hashes the exact text of a document written by hand.
func TestConfigHash(t *testing.T) {
	const want = "e7452b1dacae9404d8f768a7fa1b5f76924a81d3a530125550cc0f24d9930ce7"
	for _, o := range readObjects(t, "vllm-pair.yaml") {
		if m, ok := o.(*corev1.ConfigMap); ok {
			if got := router.ConfigHash(m.Data); got != want {
				t.Errorf("hash %s, want %s", got, want)
			}
			return
		}
	}
	t.Error("no ConfigMap")
}

func TestConfigHashEscapes(t *testing.T) {
	// The text that is hashed is {"a":"\u003c\u003e\u0026","b":""}.
	const want = "711a9a7bd0fa18148000353999d4bce0598ba1642ea64d45980c78100fdc90d5"
	if got := router.ConfigHash(map[string]string{"b": "", "a": "<>&"}); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edgesOf lists the edges of a graph, one a line.
func edgesOf(g *Graph) (out []string) {
	for _, e := range g.Edges {
		arrow := "->"
		if e.Both {
			arrow = "<->"
		}
		s := fmt.Sprintf("%s %s %s: %s", e.From, arrow, e.To, e.Label)
		if e.Half {
			s += " (half)"
		}
		out = append(out, strings.TrimSuffix(s, ": "))
	}
	return out
}

func find(t *testing.T, graphs []*Graph, name string) *Graph {
	t.Helper()
	for _, g := range graphs {
		if g.Name == name {
			return g
		}
	}
	t.Fatalf("no deployment %s", name)
	return nil
}

func TestEdges(t *testing.T) {
	several := named(t, "several")
	for _, tc := range []struct {
		name  string
		graph *Graph
		want  []string
	}{
		{"a proxy hands prompts over", example(t, "pair-cache")[0], []string{
			"service/qwen-pair-cached-router -> router: requests",
			"proxy/decode -> role/prefill: prompts",
			"role/prefill -> router: KV events :5557",
			"router -> proxy/decode: requests",
			"proxy/decode -> role/decode",
			"role/prefill -> role/decode: direct transfer over tcp",
			"role/prefill <-> pool: KV blocks over tcp",
			"pool -> role/decode: KV blocks over tcp",
		}},
		{"a router calls both halves and does not listen", example(t, "pair-rdma")[0], []string{
			"service/qwen-pair-rdma-router -> router: requests",
			"router -> role/prefill: prompts",
			"router -> role/decode: requests",
			"role/prefill -> role/decode: direct transfer over rdma",
		}},
		{"SGLang names its transfer", example(t, "sglang-pair")[0], []string{
			"service/qwen-sglang-pair-router -> router: requests",
			"router -> role/prefill: prompts",
			"router -> role/decode: requests",
			"role/prefill -> role/decode: direct transfer over mooncake_tcp",
		}},
		{"Ascend transfers in its own way and publishes nothing", example(t, "ascend-pair")[0], []string{
			"service/qwen-npu-pair-router -> router: requests",
			"proxy/decode -> role/prefill: prompts",
			"router -> proxy/decode: requests",
			"proxy/decode -> role/decode",
			"role/prefill -> role/decode: direct transfer over ascend",
		}},
		{"servers publish to a router", example(t, "servers-llm-d")[0], []string{
			"service/qwen-routed-router -> router: requests",
			"router -> role/small: requests",
			"role/small -> router: KV events :5557",
			"router -> role/large: requests",
			"role/large -> router: KV events :5557",
		}},
		{"weights and a cache", example(t, "artifact")[0], []string{
			"service/qwen-artifact-server -> role/server: requests",
			"role/server <-> pool: KV blocks over tcp",
			"artifact -> role/server: weights",
		}},
		{"no connection of a role with a command of its own", find(t, several, "one-half"), []string{
			"service/one-half-router -> router: requests",
			"role/decode -> role/prefill: prompts (half)",
			"role/prefill -> router: KV events :5557",
			"router -> role/decode: requests",
			"role/prefill -> role/decode: direct transfer over tcp (half)",
			"role/prefill <-> pool: KV blocks over rdma",
			"artifact -> role/prefill: weights",
			"artifact -> role/decode: weights",
		}},
		{"nothing routes between halves without a router", find(t, several, "without-router"), []string{
			"service/without-router-decode -> role/decode: requests",
			"service/without-router-prefill -> role/prefill: requests",
			"pool -> role/decode: KV blocks over rdma",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, edgesOf(tc.graph)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNodes looks at what nodes say.
func TestNodes(t *testing.T) {
	several := named(t, "several")
	for _, tc := range []struct {
		graph *Graph
		id    string
		want  []string
		late  bool
	}{
		{example(t, "vllm")[0], "service/qwen-chat-server", []string{"Service qwen-chat", "port 8000", "also qwen-chat-server"}, false},
		{example(t, "vllm")[0], "role/server", []string{"Server server", "r0 … r3", "4 instances of 1 Pod", "2 cards per Pod, 8 in all", "gpustack/runner:cuda12.9-vllm0.29.0"}, false},
		{example(t, "multi-pod")[0], "role/server", []string{"Server server", "r0, r1 × 2 Pods", "2 instances of 2 Pods", "8 cards per Pod, 32 in all",
			"each instance within one topology.kubernetes.io/zone", "gpustack/runner:cuda12.9-vllm0.29.0", "started by its own command"}, false},
		{example(t, "pair-rdma")[0], "role/prefill", []string{"Prefill prefill", "r0, r1", "2 instances of 1 Pod", "8 cards per Pod, 16 in all",
			"4 fabric interfaces per Pod", "gpustack/runner:cuda12.9-vllm0.29.0", "publishes KV events on :5557"}, false},
		{find(t, several, "shares"), "service/shares-slice", []string{"Service shares", "port 8000, HTTPS", "also shares-slice"}, false},
		{find(t, several, "shares"), "role/slice", []string{"Server slice", "r0 … r2", "3 instances of 1 Pod", "50% of the memory and 30% of the cores of 1 card per Pod", "gpustack/runner:cuda12.9-vllm0.29.0"}, false},
		{find(t, several, "shares"), "role/partition", []string{"Server partition", "r0", "1 instance of 1 Pod", "1 partition 3g.40gb per Pod", "gpustack/runner:cuda12.9-vllm0.29.0"}, false},
		{find(t, several, "late"), "role/server", []string{"Server server", "r0, r1", "2 instances of 1 Pod", "1 card per Pod, 2 in all", "gpustack/runner:cuda?-vllm0.29.0"}, true},
		{find(t, several, "late"), "pool", []string{"KV cache pool dram", "endpoint ?", "offers rdma", "domain team-a-dram", "blocks of bfloat16"}, true},
		{find(t, several, "two-queues"), "router", []string{"Request router llm-d-router", "1 replica", "splits from 512 uncached tokens"}, false},
		{find(t, several, "one-half"), "router", []string{"Request router llm-d-router", "1 replica", "never splits"}, false},
		{find(t, several, "two-queues"), "proxy/decode", []string{"routing-proxy", "port 8000", "engine 8200"}, false},
		{find(t, several, "two-queues"), "artifact", []string{"Model artifact qwen-weights", "PersistentVolumeClaim", "models", "mounted from the claim"}, false},
	} {
		n := tc.graph.node(tc.id)
		if diff := cmp.Diff(tc.want, n.texts()); diff != "" {
			t.Errorf("%s of %s:\n%s", tc.id, tc.graph.Name, diff)
		}
		if n.Late() != tc.late {
			t.Errorf("%s of %s: late is %t", tc.id, tc.graph.Name, n.Late())
		}
	}
}

func TestGroupsAndLateValues(t *testing.T) {
	g := find(t, named(t, "several"), "two-queues")
	const known, unknown = "gpustack-nvidia-h20-linux-amd64", "gpustack-nvidia-l40s-linux-amd64"
	if diff := cmp.Diff([]Group{
		{ID: "queue/" + known, Queue: "gpustack-fnv64-796ced4e2897a3b4", InstanceType: known},
		{ID: "queue/" + unknown, InstanceType: unknown},
	}, g.Groups); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Late{
		{Name: "endpoint", Source: "KVCachePool dram status.clientEndpoint"},
		{Name: "queue", Source: "InstanceType " + unknown + " status.entrance"},
		{Name: "runtime version", Source: "InstanceType " + unknown + " status.detail.runtimeVersion"},
	}, g.Late); diff != "" {
		t.Error(diff)
	}
}

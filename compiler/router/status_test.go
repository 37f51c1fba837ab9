// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/router"
)

func roleSelector(name, role, kind string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/component":              role,
		"app.kubernetes.io/instance":               name,
		"app.kubernetes.io/name":                   "model-deployment",
		"modeldeployment.gpustack.ai/member-index": "0",
		"modeldeployment.gpustack.ai/role-kind":    kind,
	}
}

func TestStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		in   router.Input
		pool string
		want *v1.RouterStatus
	}{
		"picker over a pair": {
			in: vllmPair(func(in *router.Input) {
				in.Roles[0].Publishes = true
				in.Roles[0].Port, in.Roles[1].Port = 9000, 9000
			}),
			pool: "10.0.0.7:50051",
			want: &v1.RouterStatus{
				Name: "llm-d-router", Endpoint: "http://qwen-pd-router.team-a.svc:8081", PoolEndpoint: "10.0.0.7:50051",
				Roles: []v1.RouterRoleStatus{
					{
						Name: "prefill", Kind: "Prefill", Selector: roleSelector("qwen-pd", "prefill", "prefill"), Endpoint: "http://qwen-pd-prefill.team-a.svc:8000",
						KVEvents: &v1.KVEventsStatus{Endpoint: "tcp://qwen-pd-prefill.team-a.svc:5557", ReplayEndpoint: "tcp://qwen-pd-prefill.team-a.svc:5558", Topic: "kv@"},
					},
					{Name: "decode", Kind: "Decode", Selector: roleSelector("qwen-pd", "decode", "decode"), Endpoint: "http://qwen-pd-decode.team-a.svc:8000"},
				},
				Metrics: &v1.RouterMetrics{
					Port: 9000, QueuedRequests: "vllm:num_requests_waiting", RunningRequests: "vllm:num_requests_running", KVCacheUtilization: "vllm:kv_cache_usage_perc",
				},
			},
		},
		"picker over SGLang": {
			in: newInput("s", "M", v1.EngineSGLang, v1.RouterSpec{Name: v1.RouterLLMD}, servers("b", "a")),
			want: &v1.RouterStatus{
				Name: "llm-d-router", Endpoint: "http://s-router.team-a.svc:8081",
				Roles: []v1.RouterRoleStatus{
					{Name: "b", Kind: "Server", Selector: roleSelector("s", "b", "server"), Endpoint: "http://s-b.team-a.svc:8000"},
					{Name: "a", Kind: "Server", Selector: roleSelector("s", "a", "server"), Endpoint: "http://s-a.team-a.svc:8000"},
				},
				Metrics: &v1.RouterMetrics{
					Port: 8000, QueuedRequests: "sglang:num_queue_reqs", RunningRequests: "sglang:num_running_reqs", KVCacheUtilization: "sglang:token_usage",
				},
			},
		},
		"plain": {
			in: vllmServer(func(in *router.Input) { in.Roles[0].Publishes = true }),
			want: &v1.RouterStatus{
				Name: "vllm-router", Endpoint: "http://chat-router.team-a.svc:8081",
				Roles: []v1.RouterRoleStatus{{
					Name: "server", Kind: "Server", Selector: roleSelector("chat", "server", "server"), Endpoint: "http://chat-server.team-a.svc:8000",
					KVEvents: &v1.KVEventsStatus{Endpoint: "tcp://chat-server.team-a.svc:5557", ReplayEndpoint: "tcp://chat-server.team-a.svc:5558", Topic: "kv@"},
				}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := router.Status(tc.in, tc.pool)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Endpoint != router.Endpoint(tc.in.Deployment) {
				t.Errorf("endpoint %s", router.Endpoint(tc.in.Deployment))
			}
		})
	}
}

// TestMetricNames: the drain of an engine and its router watch the same gauges.
func TestMetricNames(t *testing.T) {
	for name, busy := range engine.BusyGauges {
		m := router.Status(newInput("x", "M", name, v1.RouterSpec{Name: v1.RouterLLMD}, servers("a")), "").Metrics
		if !slices.Contains(busy, m.QueuedRequests) || !slices.Contains(busy, m.RunningRequests) || m.KVCacheUtilization == "" {
			t.Errorf("%s: %+v, busy %q", name, m, busy)
		}
	}
}

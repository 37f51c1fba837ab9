// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import v1 "gpustack.ai/mdc/compiler/api/v1"

// gauges name what a router weighs replicas by.
type gauges struct {
	queued, running, cache string
}

var engineGauges = map[v1.EngineName]gauges{
	v1.EngineVLLM: {
		queued:  "vllm:num_requests_waiting",
		running: "vllm:num_requests_running",
		cache:   "vllm:kv_cache_usage_perc",
	},
	v1.EngineSGLang: {
		queued:  "sglang:num_queue_reqs",
		running: "sglang:num_running_reqs",
		cache:   "sglang:token_usage",
	},
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import v1 "gpustack.ai/mdc/compiler/api/v1"

// BusyGauges are the metrics whose sum is zero exactly when an engine holds no
// request.
var BusyGauges = map[v1.EngineName][]string{
	v1.EngineVLLM: {
		"vllm:num_requests_running",
		"vllm:num_requests_waiting",
	},
	v1.EngineSGLang: {
		"sglang:num_running_reqs",
		"sglang:num_queue_reqs",
		"sglang:num_prefill_bootstrap_queue_reqs",
		"sglang:num_prefill_inflight_queue_reqs",
		"sglang:num_decode_prealloc_queue_reqs",
		"sglang:num_decode_transfer_queue_reqs",
	},
}

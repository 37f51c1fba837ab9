package argv

// vllmFlags are flags of "vllm serve" that take a value, by the section of its
// help they stand in, without dashes. Flags of past releases are kept: a stale
// flag is not a misspelt one.
const vllmFlags = `
	api-key api-server-count allowed-headers allowed-methods allowed-origins chat-template
	chat-template-content-format config data-parallel-supervisor-port default-chat-template-kwargs
	disable-access-log-for-endpoints h11-max-header-count h11-max-incomplete-event-size host
	log-config-file lora-modules max-log-len middleware port prompt-adapters response-role root-path
	ssl-ca-certs ssl-cert-reqs ssl-certfile ssl-ciphers ssl-keyfile tool-call-parser
	tool-parser-plugin tool-server uds uvicorn-log-level shutdown-timeout

	allowed-local-media-path allowed-media-domains code-revision config-format convert dtype
	generation-config hf-config-path hf-overrides hf-token io-processor-plugin logits-processor-pattern
	logits-processors logprobs-mode max-logprobs max-model-len max-seq-len-to-capture model model-impl
	override-attention-dtype override-generation-config override-neuron-config override-pooler-config
	pooler-config quantization quantization-config quantization-param-path renderer-num-workers revision
	rope-scaling rope-theta runner seed served-model-name task tokenizer tokenizer-mode tokenizer-pool-extra-config
	tokenizer-pool-size tokenizer-pool-type tokenizer-revision

	download-dir ignore-patterns load-format model-loader-extra-config pt-load-map-location
	qlora-adapter-name-or-path safetensors-load-strategy safetensors-prefetch-num-threads
	safetensors-prefetch-block-size

	attention-backend attention-config guided-decoding-backend linear-backend mamba-config
	reasoning-config reasoning-parser reasoning-parser-plugin structured-outputs-config

	all2all-backend cp-kv-cache-interleave-size data-parallel-address data-parallel-backend
	data-parallel-rank data-parallel-rpc-port data-parallel-size data-parallel-size-local
	data-parallel-start-rank dbo-decode-token-threshold dbo-prefill-token-threshold dcp-comm-backend
	dcp-kv-cache-interleave-size decode-context-parallel-size distributed-executor-backend
	distributed-timeout-seconds elastic-ep-max-dp-size eplb-config eplb-step-interval eplb-window-size
	expert-placement-strategy master-addr master-port max-parallel-loading-workers nnodes node-rank
	num-redundant-experts numa-bind-cpus numa-bind-nodes pipeline-parallel-size
	prefill-context-parallel-size tensor-parallel-size ubatch-size worker-cls worker-extension-cls

	block-size cpu-offload-gb cpu-offload-params gpu-memory-utilization kv-cache-dtype
	kv-cache-dtype-skip-layers kv-cache-memory-bytes kv-offloading-backend kv-offloading-size
	mamba-backend mamba-block-size mamba-cache-dtype mamba-cache-mode mamba-ssm-cache-dtype
	num-gpu-blocks-override offload-backend offload-group-size offload-num-in-group offload-params
	offload-prefetch-step prefix-caching-hash-algo swap-space

	limit-mm-per-prompt media-io-kwargs mm-encoder-attn-backend mm-encoder-attn-dtype
	mm-encoder-tp-mode mm-processor-cache-gb mm-processor-cache-type mm-processor-kwargs
	mm-shm-cache-max-object-size-mb mm-tensor-ipc video-pruning-rate

	default-mm-loras long-lora-scaling-factors lora-dtype lora-extra-vocab-size lora-target-modules
	max-cpu-loras max-lora-rank max-loras max-prompt-adapter-token max-prompt-adapters

	collect-detailed-traces kv-cache-metrics-sample otlp-traces-endpoint
	show-hidden-metrics-for-version

	cuda-graph-sizes long-prefill-token-threshold max-long-partial-prefills max-num-batched-tokens
	max-num-partial-prefills max-num-scheduled-tokens max-num-seqs num-lookahead-slots
	num-scheduler-steps preemption-mode scheduler-cls scheduler-delay-factor scheduling-policy
	stream-interval

	additional-config compilation-config cudagraph-capture-sizes device ec-transfer-config
	gdn-prefill-backend ir-op-priority kernel-config kv-events-config kv-transfer-config
	max-cudagraph-capture-size moe-backend num-speculative-tokens optimization-level performance-mode
	profiler-config spec-method spec-model spec-tokens speculative-config speculative-model
	weight-transfer-config
`

// vllmSwitches are flags of "vllm serve" without a value.
const vllmSwitches = `
	allow-credentials disable-fastapi-docs disable-frontend-multiprocessing disable-uvicorn-access-log
	enable-auto-tool-choice enable-force-include-usage enable-log-deltas enable-log-outputs
	enable-offline-docs enable-prompt-tokens-details enable-request-id-headers
	enable-server-load-tracking enable-ssl-refresh enable-tokenizer-info-endpoint
	exclude-tools-when-tool-choice-none grpc headless log-error-stack return-tokens-as-token-ids
	trust-request-chat-template

	allow-deprecated-quantization disable-async-output-proc disable-cascade-attn
	disable-sliding-window enable-prompt-embeds enable-sleep-mode enforce-eager skip-tokenizer-init
	trust-remote-code use-tqdm-on-load enable-reasoning enable-return-routed-experts

	data-parallel-external-lb data-parallel-hybrid-lb data-parallel-multi-port-external-lb
	disable-custom-all-reduce disable-nccl-for-dp-synchronization enable-dbo enable-elastic-ep
	enable-ep-weight-filter enable-eplb enable-expert-parallel
	enable-multimodal-encoder-data-parallel eplb-log-balancedness numa-bind ray-workers-use-nsight
	worker-use-ray

	calculate-kv-scales enable-prefix-caching kv-sharing-fast-prefill

	disable-mm-preprocessor-cache enable-mm-embeds interleave-mm-strings language-model-only
	mm-encoder-only skip-mm-profiling

	enable-lora enable-lora-bias enable-prompt-adapter enable-tower-connector-lora
	fully-sharded-loras specialize-active-lora

	cudagraph-metrics enable-layerwise-nvtx-tracing enable-logging-iteration-details
	enable-mfu-metrics kv-cache-metrics

	async-scheduling disable-chunked-mm-input disable-hybrid-kv-cache-manager enable-chunked-prefill
	multi-step-stream-outputs scheduler-reserve-full-isl use-v2-block-manager

	aggregate-engine-logging disable-log-requests disable-log-stats enable-flashinfer-autotune
	enable-log-requests fail-on-environ-validation
`

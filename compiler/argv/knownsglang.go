package argv

// sglangFlags are flags of sglang.launch_server, by the section of its help
// they stand in, without dashes. Flags of past releases are kept: a stale flag
// is not a misspelt one.
const sglangFlags = `
	checkpoint-engine-wait-weights-before-ready context-length detokenizer-worker-num
	enable-multimodal is-embedding json-model-override-args limit-mm-data-per-request load-format model
	model-config-parser model-impl model-loader-extra-config model-path revision skip-tokenizer-init
	tokenizer-backend tokenizer-mode tokenizer-path tokenizer-worker-num trust-remote-code

	enable-http2 enable-ssl-refresh fastapi-root-path grpc-mode host nccl-port port skip-server-warmup
	smg-grpc-mode ssl-ca-certs ssl-certfile ssl-keyfile ssl-keyfile-password warmups

	dtype enable-fp32-lm-head kv-cache-dtype modelopt-checkpoint-restore-path
	modelopt-checkpoint-save-path modelopt-export-path modelopt-quant quantization
	quantization-param-path quantize-and-serve rl-quant-profile

	abort-on-priority-when-disabled chunked-prefill-size default-priority-value
	disable-hybrid-swa-memory disable-priority-preemption enable-dynamic-chunking enable-prefill-delayer
	enable-priority-scheduling hybrid-kvcache-ratio max-prefill-tokens max-queued-requests
	max-running-requests max-total-tokens mem-fraction-static page-size
	prefill-delayer-max-delay-passes prefill-delayer-token-usage-low-watermark prefill-max-requests
	priority-scheduling-preemption-threshold radix-eviction-policy schedule-conservativeness
	schedule-low-priority-values-first schedule-policy swa-full-tokens-ratio

	base-gpu-id constrained-json-disable-any-whitespace constrained-json-whitespace-pattern
	custom-sigquit-handler device dist-timeout download-dir enable-streaming-session gpu-id-step
	incremental-streaming-output model-checksum pp-async-batch-depth pp-max-micro-batch-size random-seed
	sleep-on-idle soft-watchdog-timeout stream-interval stream-output use-ray watchdog-timeout

	bucket-e2e-request-latency bucket-inter-token-latency bucket-time-to-first-token
	collect-tokens-histogram crash-dump-folder decode-log-interval enable-metrics
	enable-metrics-for-all-schedulers enable-mfu-metrics enable-request-time-stats-logging enable-trace
	export-metrics-to-file export-metrics-to-file-dir extra-metric-labels gc-warning-threshold-secs
	generation-tokens-buckets grpc-http-sidecar-port kv-events-config log-level log-level-http
	log-requests log-requests-format log-requests-level log-requests-target otlp-traces-endpoint
	prompt-tokens-buckets show-time-cost tokenizer-metrics-allowed-custom-labels
	tokenizer-metrics-custom-labels-header uvicorn-access-log-exclude-prefixes

	admin-api-key api-key chat-template completion-template enable-cache-report file-storage-path
	hf-chat-template-name preferred-sampling-params reasoning-parser sampling-defaults served-model-name
	strip-thinking-cache tool-call-parser tool-server weight-version

	attention-context-parallel-size attn-cp-size data-parallel-size dcp-size
	decode-context-parallel-size dist-init-addr dp-size dwdp-size enable-dp-attention enable-prefill-cp
	load-balance-method load-watch-interval moe-data-parallel-size moe-dp-size nccl-init-addr nnodes
	node-rank pipeline-parallel-size pp-size prefill-round-robin-balance tensor-parallel-size tp-size

	enable-lora enable-lora-overlap-loading lora-backend lora-drain-wait-threshold lora-eviction-policy
	lora-paths lora-target-modules lora-use-virtual-experts max-loaded-loras max-lora-chunk-size
	max-lora-rank max-loras-per-batch

	attention-backend decode-attention-backend disable-flashinfer-autotune enable-flashinfer-autotune
	fp4-gemm-backend fp8-gemm-backend grammar-backend linear-attn-backend linear-attn-decode-backend
	linear-attn-prefill-backend mamba-backend mm-attention-backend nsa-decode-backend
	nsa-prefill-backend prefill-attention-backend sampling-backend

	enable-multi-layer-eagle speculative-accept-threshold-acc speculative-accept-threshold-single
	speculative-algorithm speculative-attention-mode speculative-draft-attention-backend
	speculative-draft-load-format speculative-draft-model speculative-draft-model-path
	speculative-draft-model-quantization speculative-draft-model-revision speculative-eagle-topk
	speculative-moe-a2a-backend speculative-moe-runner-backend speculative-ngram-branch-length
	speculative-ngram-capacity speculative-ngram-match-type speculative-ngram-max-bfs-breadth
	speculative-ngram-max-match-window-size speculative-ngram-max-trie-depth
	speculative-ngram-min-bfs-breadth speculative-ngram-min-match-window-size
	speculative-num-draft-tokens speculative-num-steps speculative-token-map

	deepep-config deepep-mode elastic-ep-backend enable-aiter-allreduce-fusion enable-deepep-moe
	enable-elastic-expert-backup enable-ep-moe enable-eplb enable-expert-distribution-metrics
	enable-flashinfer-allreduce-fusion enable-flashinfer-moe ep ep-dispatch-algorithm
	ep-num-redundant-experts ep-size eplb-algorithm eplb-min-rebalancing-utilization-threshold
	eplb-rebalance-layers-per-chunk eplb-rebalance-num-iterations
	expert-distribution-recorder-buffer-size expert-distribution-recorder-mode expert-parallel-size
	flashinfer-mxfp4-moe-precision init-expert-location mooncake-ib-device moe-a2a-backend
	moe-dense-tp-size moe-runner-backend

	mamba-full-memory-ratio mamba-scheduler-strategy mamba-ssm-dtype mamba-track-interval
	max-mamba-cache-size

	disable-hicache-numa-detect enable-hierarchical-cache enable-hisparse enable-lmcache
	hicache-io-backend hicache-mem-layout hicache-ratio hicache-size hicache-storage-backend
	hicache-storage-backend-extra-config hicache-storage-prefetch-policy hicache-write-policy
	hisparse-config

	kt-cpuinfer kt-max-deferred-experts-per-token kt-method kt-num-gpu-experts kt-threadpool-count
	kt-weight-path

	ds-channel-config-path ds-heavy-channel-num ds-heavy-channel-type ds-heavy-token-num
	ds-sparse-decode-threshold enable-double-sparsity

	cpu-offload-gb offload-group-size offload-mode offload-num-in-group offload-prefetch-step

	allow-auto-truncate cuda-graph-bs cuda-graph-max-bs delete-ckpt-after-loading
	disable-chunked-prefix-cache disable-cuda-graph disable-cuda-graph-padding
	disable-custom-all-reduce disable-fast-image-processor
	disable-flashinfer-cutlass-moe-fp4-allgather disable-mla disable-outlines-disk-cache
	disable-overlap-schedule disable-piecewise-cuda-graph disable-radix-cache
	disable-shared-experts-fusion disable-tokenizer-batch-decode enable-attn-tp-input-scattered
	enable-cudagraph-gc enable-custom-logit-processor enable-deterministic-inference
	enable-dp-lm-head enable-draft-weights-cpu-backup enable-flashinfer-mla enable-fused-moe-sum-all-reduce
	enable-fused-qk-norm-rope enable-memory-saver enable-mixed-chunk enable-mscclpp
	enable-nan-detection enable-nccl-nvls enable-nsa-prefill-context-parallel enable-p2p-check
	enable-piecewise-cuda-graph enable-precise-embedding-interpolation
	enable-prefill-context-parallel enable-profile-cuda-graph enable-return-hidden-states
	enable-return-routed-experts enable-single-batch-overlap enable-symm-mem
	enable-tokenizer-batch-encode enable-torch-compile enable-torch-compile-debug-mode
	enable-torch-symm-mem enable-two-batch-overlap enable-weights-cpu-backup
	flashinfer-mla-disable-ragged keep-mm-feature-on-device multi-item-scoring-delimiter
	nsa-prefill-cp-mode num-continuous-decode-steps numa-node piecewise-cuda-graph-compiler
	piecewise-cuda-graph-max-tokens piecewise-cuda-graph-tokens rl-on-policy-target
	scheduler-recv-interval tbo-token-distribution-threshold torch-compile-max-bs torchao-config
	triton-attention-num-kv-splits triton-attention-reduce-in-fp32 triton-attention-split-tile-size

	debug-tensor-dump-inject debug-tensor-dump-input-file debug-tensor-dump-layers
	debug-tensor-dump-output-folder debug-tensor-dump-prefill-only forward-hooks

	disaggregation-bootstrap-port disaggregation-decode-dp disaggregation-decode-enable-fake-auto
	disaggregation-decode-enable-offload-kvcache disaggregation-decode-enable-radix-cache
	disaggregation-decode-polling-interval disaggregation-decode-retraction-backup
	disaggregation-decode-tp disaggregation-ib-device disaggregation-mode disaggregation-prefill-pp
	disaggregation-transfer-backend enable-adaptive-dispatch-to-encoder encoder-only
	encoder-transfer-backend encoder-urls language-only num-reserved-decode-tokens

	config custom-weight-loader decrypted-config-file decrypted-draft-config-file enable-pdmux
	pdmux-config-path remote-instance-weight-loader-backend
	remote-instance-weight-loader-seed-instance-ip
	remote-instance-weight-loader-seed-instance-service-port
	remote-instance-weight-loader-send-weights-group-ports
	remote-instance-weight-loader-start-seed-via-transfer-engine sm-group-num
	weight-loader-disable-mmap weight-loader-prefetch-checkpoints

	enable-broadcast-mm-inputs-process enable-prefix-mm-cache mm-enable-dp-encoder
	mm-max-concurrent-calls mm-per-request-timeout mm-process-config
`

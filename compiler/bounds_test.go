// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"strings"
	"testing"
)

// bound is a field of a spec with values on both sides of what is allowed.
type bound struct {
	// spec has the field, with %s for its value.
	spec      string
	good, bad []string
	// want is what is said about a bad value.
	want string
}

func many(n int, item string) string {
	var out []string
	for i := range n {
		out = append(out, strings.ReplaceAll(item, "#", fmt.Sprint(i)))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func long(n int) string { return strings.Repeat("a", n) }

func words(s string) []string { return strings.Fields(s) }

func runBounds(t *testing.T, bounds []bound) {
	t.Helper()
	var tests []admissionTest
	add := func(b bound, value, want string) {
		short := value
		if len(short) > 24 {
			short = fmt.Sprintf("%s… of %d", short[:8], len(short))
		}
		tests = append(tests, admissionTest{name: b.want + "=" + short, new: fmt.Sprintf(b.spec, value), want: want})
	}
	for _, b := range bounds {
		for _, v := range b.good {
			add(b, v, "")
		}
		for _, v := range b.bad {
			add(b, v, b.want)
		}
	}
	runAdmission(t, tests)
}

// TestValidateBounds: the last value that is allowed and the first that is not.
func TestValidateBounds(t *testing.T) {
	router := func(field string) string { return role("") + ", router: {name: llm-d-router, " + field + "}" }
	volume := func(field string) string {
		return role("additionalVolumes: [{configMap: {name: a}, " + field + "}]")
	}
	resources := func(field string) string { return role("resources: {" + field + "}") }
	const volumePath = "roles[0].additionalVolumes[0]"
	policies, noPolicies := words("Always IfNotPresent Never"), words("always '' Sometimes")
	runBounds(t, []bound{
		{"model: {name: %s}, " + role(""), []string{"a", long(253)}, []string{"''", long(254)}, "schema-model-name model.name"},
		{"engine: {name: %s, version: '1'}, " + role(""), words("vLLM SGLang"), words("vllm VLLM sglang ''"), "schema-engine-name engine.name"},
		{"engine: {name: vLLM, version: '%s'}, " + role(""), []string{"1", long(64)}, []string{"", long(65)}, "schema-engine-version engine.version"},
		{"kvCache: {connector: %s, poolRef: {name: tcp}}, " + role(""), words("Mooncake null"), words("mooncake NIXL ''"), "schema-connector kvCache.connector"},
		{"kvTransfer: {protocol: %s}, " + role(""), words("Auto TCP RDMA EFA CANN ROCM null"), words("MUSA MACA tcp auto HIP ''"), "schema-kvtransfer-protocol kvTransfer.protocol"},
		{"roles: [{name: %s, instanceType: gpu}]", []string{"a", "'7'", "a-b", long(61)}, []string{"''", "A", "-a", "a-", "a.b", "a_b", long(64)}, "schema-role-name roles[0].name"},
		{role("kind: %s"), words("Server Prefill Decode null"), words("server decode Encode ''"), "schema-role-kind roles[0].kind"},
		{role("replicas: %s"), words("1 1024 null"), words("-1 0 1025"), "schema-replicas roles[0].replicas"},
		{role("command: [x], size: %s"), words("1 64 null"), words("-1 0 65"), "schema-size roles[0].size"},
		{"roles: [{name: r, instanceType: %s}]", []string{"gpu"}, []string{"''", long(254)}, "schema-instance-type roles[0].instanceType"},
		{role("image: %s"), []string{"''", long(512)}, []string{long(513)}, "schema-image roles[0].image"},
		{router("image: %s"), []string{"''", long(512)}, []string{long(513)}, "schema-image router.image"},
		{role("imagePullSecrets: %s"), []string{"[]", many(32, "{name: a#}")}, []string{many(33, "{name: a#}")}, "schema-image roles[0].imagePullSecrets"},
		{router("imagePullSecrets: %s"), []string{"[]", many(32, "{name: a#}")}, []string{many(33, "{name: a#}")}, "schema-image router.imagePullSecrets"},
		{role("imagePullPolicy: %s"), policies, noPolicies, "schema-pull-policy roles[0].imagePullPolicy"},
		{router("imagePullPolicy: %s"), policies, noPolicies, "schema-pull-policy router.imagePullPolicy"},
		{role("ports: [{port: %s}]"), words("1 65535"), words("-1 0 65536"), "schema-port roles[0].ports[0].port"},
		{role("ports: [{port: 1, protocol: %s}]"), words("TCP UDP SCTP null"), words("tcp HTTP ''"), "schema-port roles[0].ports[0].protocol"},
		{role("ports: [{port: 1}, {port: %s}]"), []string{"2", "1, protocol: UDP"}, []string{"1", "1, protocol: TCP"}, "schema-port roles[0].ports[1]"},
		{role("env: [{name: A, value: x}, {name: %s, value: x}]"), words("B a"), words("A"), "schema-env-dup roles[0].env[1]"},
		{volume("mountPath: %s"), []string{"/a", "/a/b", "/" + long(1023)}, []string{"a", "/", "/a/", "/a//b", "''", "/" + long(1024)}, "schema-volume " + volumePath + ".mountPath"},
		{volume("mountPath: /a, subPath: %s"), []string{"a", "a/b", "a..b", ".", long(1024)}, []string{"/a", "''", long(1025)}, "schema-volume " + volumePath + ".subPath"},
		{volume("mountPath: /a, subPath: %s"), words("... ..a b.."), words(".. a/.. ../a a/../b"), "volume-subpath " + volumePath + ".subPath"},
		{resources("acceleratorSlicedMemoryPercentage: %s"), words("0 1 100"), words("-1 101"), "schema-slice roles[0].resources.acceleratorSlicedMemoryPercentage"},
		{resources("acceleratorSlicedCoresPercentage: %s"), words("0 1 100"), words("-1 101"), "schema-slice roles[0].resources.acceleratorSlicedCoresPercentage"},
		{"roles: [{name: r, instanceType: cpu, resources: {acceleratorPartitionedProfile: %s}}]", []string{"''", long(64)}, []string{long(65)}, "schema-profile roles[0].resources.acceleratorPartitionedProfile"},
		{resources("accelerator: %s"), words("0 1 '1' 1000m 1e0 '1.0' 1.0 -0"), words("-1 '-1' 500m '0.5' 0.5 -1m"), "accelerator-count roles[0].resources.accelerator"},
		{resources("interface: %s"), words("0 '0' 0m null"), words("-1 '-1' 500m '0.5' 0.5 -1m"), "interface-count roles[0].resources.interface"},
		{role("terminationGracePeriodSeconds: %s"), words("15 3600 null"), words("0 14 3601"), "schema-grace roles[0].terminationGracePeriodSeconds"},
		{role("topology: {requiredLevel: %s}"), []string{"''", "a", "a.b_c-d", "x.y/A_b.c", long(63), long(253) + "/" + long(63)}, []string{"'a b'", "a/", "/a", "-a", "a-", "a..b/c", "a/b/c", long(64), long(254) + "/a"}, "topology-syntax roles[0].topology.requiredLevel"},
		{role("") + ", router: {name: %s}", words("llm-d-router vllm-router"), words("envoy llm-d ''"), "schema-router-name router.name"},
		{router("replicas: %s"), words("1 null"), words("-1 0"), "schema-router-replicas router.replicas"},
		{router("requestTimeoutSeconds: %s"), words("1 null"), words("-1 0"), "schema-router-timeout router.requestTimeoutSeconds"},
		{router("disaggregationThresholdTokens: %s"), words("0 null"), words("-1"), "schema-router-threshold router.disaggregationThresholdTokens"},
		{"%s", []string{"roles: [" + repeat(1) + "]"}, []string{"roles: []"}, "schema-roles-min roles"},

		{role("extraArgs: %s"), []string{many(1024, "x")}, []string{many(1025, "x")}, "schema-bounds roles[0].extraArgs"},
		{role("command: %s"), []string{many(1024, "x")}, []string{many(1025, "x")}, "schema-bounds roles[0].command"},
		{router("extraArgs: %s"), []string{many(1024, "x")}, []string{many(1025, "x")}, "schema-bounds router.extraArgs"},
		{role("extraArgs: [x, %s]"), []string{long(32768)}, []string{long(32769)}, "schema-bounds roles[0].extraArgs[1]"},
		{role("command: [x, %s]"), []string{long(32768)}, []string{long(32769)}, "schema-bounds roles[0].command[1]"},
		{router("extraArgs: [%s]"), []string{long(32768)}, []string{long(32769)}, "schema-bounds router.extraArgs[0]"},
		{role("env: %s"), []string{many(256, "{name: A#, value: b}")}, []string{many(257, "{name: A#, value: b}")}, "schema-bounds roles[0].env"},
		{role("additionalVolumes: %s"), []string{many(256, "{mountPath: /a#, configMap: {name: b}}")}, []string{many(257, "{mountPath: /a#, configMap: {name: b}}")}, "schema-bounds roles[0].additionalVolumes"},
		{role("ports: %s"), []string{many(64, "{port: 10#}")}, []string{many(65, "{port: 10#}")}, "schema-bounds roles[0].ports"},
	})
}

// TestValidateRequired: a field that is missing is missing once.
func TestValidateRequired(t *testing.T) {
	runAdmission(t, []admissionTest{
		{name: "model name", new: "model: {}, " + role(""), want: "schema-required model.name"},
		{name: "engine name", new: "engine: {version: '1'}, " + role(""), want: "schema-required engine.name"},
		{name: "role name", new: "roles: [{instanceType: gpu}]", want: "schema-required roles[0].name"},
		{name: "type", new: "roles: [{name: r}]", want: "schema-required roles[0].instanceType"},
		{name: "pool", new: "kvCache: {connector: Mooncake}, " + role(""), want: "schema-required kvCache.poolRef"},
		{name: "router", new: role("") + ", router: {}", want: "schema-required router.name"},
		{name: "port", new: role("ports: [{protocol: TCP}]"), want: "schema-required roles[0].ports[0].port"},
		{name: "variable", new: role("env: [{value: x}]"), want: "schema-required roles[0].env[0].name"},
		{name: "mount path", new: role("additionalVolumes: [{configMap: {name: a}}]"), want: "schema-required roles[0].additionalVolumes[0].mountPath"},
	})
}

// TestValidateSpellings: which arguments of a role are read as which flag.
func TestValidateSpellings(t *testing.T) {
	const (
		cache    = "kvCache: {poolRef: {name: tcp}}, "
		artifact = "model: {name: acme/m, artifactRef: {name: w}}, "
		first    = " roles[0].extraArgs[0]"
	)
	args := role("extraArgs: [%s]")
	cards := role("resources: {accelerator: 2}, extraArgs: [%s]")
	env := role("env: [{name: %s, value: x}]")
	runBounds(t, []bound{
		{args, words("--kv-offloading-size=1 -kv-transfer-config kv-transfer-config --disaggregation-mode=null"),
			words("--kv-transfer-config --kv_transfer_config --kv-transfer_config=x --kv-transfer-config.kv_role=x --kv-t --kv_e.x=1 --kv-events-conf=x --k"), "owned-arg" + first},
		{"SGLANG, " + args, words("--hicache-storage-prefetch-policy=x --hicache-ratio=2 --disaggregation-ib-device=x --kv-transfer-config"),
			words("--hicache-storage-backend --hicache-storage-backend=x --hicache-storage-backend-extra-config --hicache-storage-backend-e --hicache-s --disaggregation-mode=null --disaggregation-m --disaggregation-t --disaggregation-b --disagg"), "owned-arg" + first},
		{cache + args, words("--kv-cache-dtype-skip-layers=1 --kv-cache-metrics"), words("--kv-cache-dtype --kv_cache_dtype=fp8 --kv-cache-d=fp8 --kv-cache_dtype.x=1 --kv-c"), "kv-cache-dtype" + first},
		{"SGLANG, " + cache + args, nil, words("--kv-cache-dtype --kv-cache=x --kv"), "kv-cache-dtype" + first},
		{args, words("--kv-cache-dtype=fp8 --kv_cache_dtype --kv-c"), nil, "kv-cache-dtype" + first},
		{artifact + args, words("--model-impl=x --code-revision=x --tokenizer-mode=x --hf-token=x"),
			words("--model=x --model --mod --revision=x --tokenizer-revision=x --tokenizer_revision --download-dir=x --download_dir --down"), "artifact-arg" + first},
		{"SGLANG, " + artifact + args, words("--model-impl=x --tokenizer-path=x"), words("--model-path=x --model --model-p=x --revision=x --download-dir=x"), "artifact-arg" + first},
		{args + ", LLMD", words("--ssl-ca-certs=x --ssl-cert-reqs=2 --enable-ssl-refresh"), words("--ssl-keyfile=x --ssl_certfile=x --ssl-key=x --ssl-cert=x --ssl-certfile.x=1"), "router-tls router"},
		{role("ports: [{port: 8000}], extraArgs: [%s]"), words("--port=8000 --port=x --port=0 --port=65536 --p=9000 --po=9000"), words("--port=9000 --por=9000 --port=65535"), "listen-port roles[0].extraArgs"},
		{"SGLANG, " + role("ports: [{port: 8000}], extraArgs: [%s]"), words("--port=8000 --p=9000"), words("--port=9000 --por=9000 --po=9000"), "listen-port roles[0].extraArgs"},

		{env, words("MOONCAKE_MASTER MOONCAKE_TENANT_ID SGLANG_HICACHE_MOONCAKE_CONFIG_PATH MC_TE_METRIC MC_FORCE_TCP HTTPS_PROXY NO_PROXY VLLM_API_KEY HF_TOKEN GPUSTACK_X gpustack_member_index"),
			words("MOONCAKE_CONFIG_PATH VLLM_MOONCAKE_BOOTSTRAP_PORT GPUSTACK_REPLICA_LEADER_ADDRESS GPUSTACK_REPLICA_SIZE GPUSTACK_MEMBER_INDEX"), "owned-env roles[0].env[0]"},
		{"SGLANG, " + env, words("MOONCAKE_CONFIG_PATH VLLM_MOONCAKE_BOOTSTRAP_PORT MC_TE_METRIC"),
			words("SGLANG_HICACHE_MOONCAKE_CONFIG_PATH MOONCAKE_MASTER MOONCAKE_TE_META_DATA_SERVER MOONCAKE_PROTOCOL MOONCAKE_DEVICE MOONCAKE_GLOBAL_SEGMENT_SIZE MOONCAKE_LOCAL_HOSTNAME MOONCAKE_TENANT_ID GPUSTACK_MEMBER_INDEX"), "owned-env roles[0].env[0]"},
		{artifact + env, words("SGLANG_USE_MODELSCOPE HF_HUB_OFFLINE"),
			words("HF_TOKEN HF_ENDPOINT HF_HOME MODELSCOPE_API_TOKEN MODELSCOPE_DOMAIN MODELSCOPE_CACHE VLLM_USE_MODELSCOPE"), "artifact-env roles[0].env[0]"},

		{args, []string{"-tp, ' 1 '", "-tp, '+1'", "-tp, '01'", "-dpl, '0'", "-ep", "-e", "-e=x", "--data-parallel=x", "--, -tp, x", "-t, '1'", "-pc, '1'"},
			[]string{"-tp", "-tp, --seed", "-tp, x", "-tp=", "-tp, '0'", "-tp, '-1'", "-tp, '1.5'", "-t2", "-t=2", "-tp2", "-pc=2", "--tensor=x", "-pp, '0'", "-dp, '0'", "-dpl, '-1'", "-pcp, '0'", "-dcp, '0'", "--tensor_parallel_size=x", "-tp, '1__0'", "-tp, '9223372036854775808'"}, "parallel-parse roles[0]"},
		{"SGLANG, " + args, []string{"-tp, x", "-t2"},
			[]string{"--tp, x", "--tp-size=x", "--tensor-parallel-size=0", "--pp=0", "--dp, '0'", "--ep=0", "--expert-parallel-size=0", "--dcp-size=0", "--attn-cp-size=0", "--moe-dp-size=0", "--dwdp=x"}, "parallel-parse roles[0]"},
		{cards, []string{"-tp, '2', -dcp, '2', -ep", "-dp, '4', -dpl, '1'", "-tp, '8', --nnodes, '2'", "-tp, '8', -n2", "-tp, '8', -r0", "-tp, '8', --master-addr=x", "-tp, '8', -dpn, '0'", "-tp, '8', -dpr, '0'", "-tp, '8', -dpa, x", "-tp, '8', -dpp, '1'", "-tp, '8', -dpb, ray", "-tp, '8', -dph", "-tp, '8', -dpe", "-tp, '8', -dpm", "-tp, '8', --headl"},
			[]string{"-tp, '3'", "-tp, '2', -pp, '2'", "-pcp, '3'", "-dp, '3', -dpl, '0'", "-dpl, '3'"}, "parallel-width roles[0].resources.accelerator"},
		{"SGLANG, " + cards, []string{"--tp, '2', --dp, '2', --enable-dp-attention", "--tp, '2', --dp, '2', --dwdp-size=2", "--tp, '2', --dp, '2', --moe-dp-size=2", "--tp, '2', --dp, '2', --attn-cp-size=2", "--tp, '8', --dist=x", "--tp, '8', --nccl-init-addr=x"},
			[]string{"--tp, '2', --dp, '2'", "--tp, '2', --dp, '2', --ep-size=2", "--tp, '2', --dp, '2', --enable-prefill-cp", "--tp, '2', --dp, '2', --dwdp-size=1", "--tp, '2', --pp, '2', --enable-dp-attention"}, "parallel-width roles[0].resources.accelerator"},
	})
}

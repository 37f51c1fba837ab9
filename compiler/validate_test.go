// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// load reads objects as if they stood in one file.
func load(t *testing.T, text string) []*source.Object {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	if err := fs.WriteFile("in.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	set, err := source.Loader{FS: fs}.Load("in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Findings) > 0 {
		t.Fatalf("%v in\n%s", set.Findings, text)
	}
	return set.Objects
}

// admissionFacts is the hardware and the pools that the tests use.
const admissionFacts = `
- {kind: InstanceType, metadata: {name: gpu}, spec: {acceleratable: true, acceleratorGroup: nvidia-h20}, status: {accelerator: {capacity: 8}, detail: {manufacturer: nvidia, slicedDetail: {logical: {count: 4}, physical: {count: 2, profiles: [{name: 1g.10gb}, {name: 3g.40gb}]}}}}}
- {kind: InstanceType, metadata: {name: gpu-b}, spec: {acceleratable: true, acceleratorGroup: nvidia-h20}, status: {detail: {manufacturer: nvidia, slicedDetail: {logical: {count: 4}}}}}
- {kind: InstanceType, metadata: {name: other}, spec: {acceleratable: true, acceleratorGroup: nvidia-a100}, status: {detail: {manufacturer: nvidia, slicedDetail: {logical: {count: 4}}}}}
- {kind: InstanceType, metadata: {name: whole}, spec: {acceleratable: true, acceleratorGroup: nvidia-t4}, status: {accelerator: {capacity: "2"}, detail: {manufacturer: nvidia}}}
- {kind: InstanceType, metadata: {name: blank}, spec: {acceleratable: true}}
- {kind: InstanceType, metadata: {name: npu}, spec: {acceleratable: true}, status: {detail: {manufacturer: ascend}}}
- {kind: InstanceType, metadata: {name: npu-group}, spec: {acceleratable: true, acceleratorGroup: ascend-910b}}
- {kind: InstanceType, metadata: {name: cpu}, spec: {acceleratable: false}}
- {kind: KVCachePoolBinding, metadata: {name: tcp, namespace: ns}, spec: {poolRef: {name: tcp}}}
- {kind: KVCachePool, metadata: {name: tcp}, spec: {backends: [tcp, rdma]}}
- {kind: KVCacheBackend, metadata: {name: tcp}, spec: {}}
- {kind: KVCachePoolBinding, metadata: {name: rdma, namespace: ns}, spec: {poolRef: {name: rdma}}}
- {kind: KVCachePool, metadata: {name: rdma}, spec: {backends: [rdma]}}
- {kind: KVCacheBackend, metadata: {name: rdma}, spec: {transport: {protocol: RDMA}, connection: {managed: {members: [{}, {transport: {protocol: RDMA}}]}}}}
- {kind: KVCachePoolBinding, metadata: {name: mixed, namespace: ns}, spec: {poolRef: {name: mixed}}}
- {kind: KVCachePool, metadata: {name: mixed}, spec: {backends: [mixed]}}
- {kind: KVCacheBackend, metadata: {name: mixed}, spec: {transport: {protocol: RDMA}, connection: {managed: {members: [{}, {transport: {protocol: EFA}}]}}}}
- {kind: KVCachePoolBinding, metadata: {name: no-pool, namespace: ns}, spec: {poolRef: {name: gone}}}
- {kind: KVCachePoolBinding, metadata: {name: no-backend, namespace: ns}, spec: {poolRef: {name: no-backend}}}
- {kind: KVCachePool, metadata: {name: no-backend}, spec: {}}
- {kind: KVCachePoolBinding, metadata: {name: elsewhere, namespace: elsewhere}, spec: {poolRef: {name: mixed}}}
`

// deployment writes a deployment around the fields of a spec in flow style.
// Engine, version and model are filled in when the spec leaves them out.
func deploymentYAML(name, spec string, deleting bool) string {
	spec = strings.NewReplacer(
		"SGLANG, ", `engine: {name: SGLang, version: "1"}, `,
		"LLMD", "router: {name: llm-d-router}",
		"PAIR", "roles: [{name: pre, kind: Prefill, instanceType: gpu}, {name: dec, kind: Decode, instanceType: gpu}]",
	).Replace(spec)
	for _, fill := range []struct{ key, value string }{
		{"model:", "model: {name: acme/m}"},
		{"engine:", `engine: {name: vLLM, version: "1"}`},
	} {
		if !strings.Contains(spec, fill.key) {
			spec = fill.value + ", " + spec
		}
	}
	metadata := fmt.Sprintf("name: %s, namespace: ns", name)
	if deleting {
		metadata += `, deletionTimestamp: "2026-01-01T00:00:00Z"`
	}
	return fmt.Sprintf("apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata: {%s}\nspec: {%s}\n", metadata, spec)
}

// outline is the rules and fields of findings, warnings marked.
func outline(l diag.List) string {
	var out []string
	for _, f := range l {
		text := f.Rule + " " + strings.TrimPrefix(f.Field, "spec.")
		if f.Severity == diag.Warning {
			text = "~" + text
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

type admissionTest struct {
	name string
	// new and old are the fields of a spec; without old it is a create.
	new, old string
	deleting bool
	settings map[string]string
	// want lists all findings: rule and field, "~" before a warning.
	want string
}

func judge(t *testing.T, test admissionTest) diag.List {
	t.Helper()
	var facts strings.Builder
	for item := range strings.SplitSeq(strings.TrimSpace(admissionFacts), "\n") {
		facts.WriteString("---\n" + strings.Replace(item, "- {", "{apiVersion: worker.gpustack.ai/v1, ", 1) + "\n")
	}
	name := "d"
	if n, spec, ok := strings.Cut(test.new, "@"); ok && !strings.ContainsAny(n, "{:") {
		name, test.new = n, spec
	}
	in := Input{Objects: load(t, deploymentYAML(name, test.new, test.deleting)), Facts: load(t, facts.String()), Settings: test.settings}
	var old []*source.Object
	if test.old != "" {
		old = load(t, deploymentYAML(name, test.old, false))
	}
	return Validate(in, old)
}

func runAdmission(t *testing.T, tests []admissionTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := judge(t, test)
			if outline(got) != test.want {
				t.Errorf("got  %s\nwant %s\n%v", outline(got), test.want, got)
			}
			for _, f := range got {
				if f.Message == "" || f.Remedy == "" && f.Rule != source.RuleType || f.Line == 0 {
					t.Errorf("incomplete: %+v", f)
				}
				if strings.Contains(f.Message+f.Remedy, "hunter2") {
					t.Errorf("a value that may be secret is shown: %s", f.Message)
				}
			}
		})
	}
}

func role(fields string) string { return "roles: [{name: r, instanceType: gpu, " + fields + "}]" }

func TestValidateNames(t *testing.T) {
	long := strings.Repeat("n", 55)
	runAdmission(t, []admissionTest{
		{name: "62 and 63 characters", new: strings.Repeat("d", 61) + "@" + role(""), want: ""},
		{name: "64 characters", new: strings.Repeat("d", 62) + "@" + role(""), want: "service-name roles[0].name"},
		{name: "deployment of 64", new: strings.Repeat("d", 64) + "@" + role(""), want: "service-name metadata.name; service-name roles[0].name"},
		{name: "digit first", new: "7d@" + role(""), want: "service-name metadata.name; service-name roles[0].name"},
		{name: "stored names", new: "7d.x@" + role("replicas: 2"), old: role(""), want: ""},
		{name: "router added to a long name", new: long + "-ab@" + role("") + ", LLMD", old: role(""), want: "service-name metadata.name"},
		{name: "router stored with a long name", new: long + "-ab@" + role("replicas: 2") + ", LLMD", old: role("") + ", LLMD", want: ""},
		{name: "clash with a later instance", new: "roles: [{name: x-r1, instanceType: gpu}, {name: x, instanceType: gpu, size: 2, replicas: 2, image: i, command: [x]}]", want: "service-name-clash roles[1].name"},
		{name: "clash on update", new: "roles: [{name: x, instanceType: gpu, size: 2, replicas: 2, command: [x]}, {name: x-r1, instanceType: gpu}]",
			old: "roles: [{name: x, instanceType: gpu, size: 2, command: [x]}, {name: x-r1, instanceType: gpu}]", want: "service-name-clash roles[1].name"},
		{name: "router role when the router comes", new: "roles: [{name: router, instanceType: gpu}], LLMD", old: "roles: [{name: router, instanceType: gpu}]", want: "service-name-clash roles[0].name"},
		{name: "member name grows with replicas", new: strings.Repeat("d", 54) + "@" + role("size: 2, replicas: 11, command: [x]"), old: role("size: 2, replicas: 9, command: [x]"), want: ""},
		{name: "member name too long by replicas", new: strings.Repeat("d", 55) + "@" + role("size: 2, replicas: 11, command: [x]"), old: role("size: 2, replicas: 9, command: [x]"), want: "member-name roles[0]"},
		{name: "member name while deleting", new: strings.Repeat("d", 57) + "@" + role("size: 2, command: [x]"), old: role("size: 2, command: [x]"), deleting: true, want: "member-name roles[0]"},
		{name: "same role twice", new: "roles: [{name: x, instanceType: gpu}, {name: x, instanceType: gpu}]", want: "schema-role-dup roles[1]"},
		{name: "ten roles", new: "roles: [" + repeat(10) + "]", want: ""},
		{name: "eleven roles", new: "roles: [" + repeat(11) + "]", want: "role-count roles"},
	})
}

func repeat(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("{name: r%c, instanceType: gpu}", 'a'+i))
	}
	return strings.Join(out, ", ")
}

func TestValidateStructure(t *testing.T) {
	runAdmission(t, []admissionTest{
		{name: "a bound does not hide other faults", new: role("replicas: 0, extraArgs: [--kv-transfer-config=x]"), want: "owned-arg roles[0].extraArgs[0]; schema-replicas roles[0].replicas"},
		{name: "unknown field does not either", new: role("nonsense: 1, extraArgs: [--kv-transfer-config=x]"), want: "owned-arg roles[0].extraArgs[0]; schema-unknown roles[0].nonsense"},
		{name: "a type does", new: role("replicas: two, extraArgs: [--kv-transfer-config=x]"), want: "schema-type roles[0].replicas"},
		{name: "unknown engine has no rules", new: `engine: {name: vllm, version: "1"}, ` + role("extraArgs: [--kv-transfer-config=x, -t2]") + ", LLMD", want: "schema-engine-name engine.name"},
		{name: "changed into an unknown engine", new: `engine: {name: vllm, version: "1"}, ` + role(""), old: role(""), want: "schema-engine-name engine.name"},
		{name: "unknown router", new: role("") + ", router: {name: envoy, disaggregationThresholdTokens: 1}", want: "schema-router-name router.name"},
		{name: "missing router name", new: role("") + ", router: {disaggregationThresholdTokens: 1}", want: "schema-required router.name"},
		{name: "missing pool reference", new: "kvCache: {}, " + role(""), want: "schema-required kvCache.poolRef"},
		{name: "empty pool name", new: "kvCache: {poolRef: {name: ''}}, " + role(""), want: "kvcache-pool-ref kvCache.poolRef.name"},
		{name: "unnamed pool", new: "kvCache: {poolRef: {}}, " + role(""), want: "kvcache-pool-ref kvCache.poolRef.name"},
		{name: "empty version", new: `engine: {name: vLLM, version: ""}, ` + role(""), want: "schema-engine-version engine.version"},
		{name: "no version, take-over without image", new: "engine: {name: vLLM}, " + role("command: [x]"), want: "engine-version engine.version"},
		{name: "misspelt image", new: "engine: {name: vLLM}, " + role("imaje: x"), want: "schema-unknown roles[0].imaje"},
		{name: "misspelt source", new: role("additionalVolumes: [{mountPath: /a, configmap: {name: x}}]"), want: "schema-unknown roles[0].additionalVolumes[0].configmap"},
		{name: "misspelt cache", new: "kvcache: {poolRef: {name: tcp}}, " + role(""), old: "kvCache: {poolRef: {name: tcp}}, " + role(""), want: "schema-unknown kvcache"},
		{name: "port out of range behind a router", new: role("ports: [{port: 0}]") + ", LLMD", want: "schema-port roles[0].ports[0].port"},
		{name: "unknown kind", new: "roles: [{name: a, kind: decode, instanceType: gpu}, {name: b, kind: Prefill, instanceType: gpu}]", want: "schema-role-kind roles[0].kind"},
		{name: "late rules wait", new: "kvCache: {poolRef: {name: mixed}}, " + role("replicas: 0, resources: {interface: 1}"), want: "schema-replicas roles[0].replicas"},
		{name: "missing engine", new: "engine: null, " + role(""), old: role(""), want: "schema-required engine"},
		{name: "missing roles", new: "kvCache: {poolRef: {name: tcp}}", old: "kvCache: {poolRef: {name: tcp}}, " + role(""), want: "schema-required roles"},
		{name: "misspelt role list", new: "rolez: [{name: r, instanceType: gpu}]", old: role(""), want: "schema-unknown rolez"},
		{name: "misspelt type", new: "roles: [{name: r, instancetype: gpu}]", want: "schema-unknown roles[0].instancetype"},
		{name: "misspelt and unreadable", new: "roles: [{name: r, instancetype: gpu, replicas: two}]", want: "schema-type roles[0].replicas; schema-unknown roles[0].instancetype"},
		{name: "unknown field beside a missing one", new: "roles: [{name: r, template: gpu}]", want: "schema-required roles[0].instanceType; schema-unknown roles[0].template"},
		{name: "misspelt kind", new: "roles: [{name: p, kin: Prefill, instanceType: gpu}, {name: d, kind: Decode, instanceType: gpu}]", want: "schema-unknown roles[0].kin"},
		{name: "misspelt resources", new: role("resorces: {accelerator: 2}, extraArgs: [-tp, '2']"), want: "schema-unknown roles[0].resorces"},
		{name: "misspelt accelerator", new: role("resources: {acelerator: 2}, extraArgs: [-tp, '2']"), want: "schema-unknown roles[0].resources.acelerator"},
		{name: "misspelt ports behind a router", new: "roles: [{name: a, instanceType: gpu, port: [{port: 1}]}, {name: b, instanceType: gpu, ports: [{port: 1}]}], LLMD", want: "schema-unknown roles[0].port"},
		{name: "misspelt size", new: role("sise: 2, command: [x]"), old: role("size: 2, command: [x]"), want: "schema-unknown roles[0].sise"},
		{name: "missing role name on update", new: "roles: [{instanceType: gpu}]", old: role(""), want: "schema-required roles[0].name"},
		{name: "bad role name on update", new: "roles: [{name: R, instanceType: gpu}]", old: role(""), want: "schema-role-name roles[0].name"},
		{name: "role twice on update", new: "roles: [{name: r, instanceType: gpu}, {name: r, instanceType: gpu}]", old: "roles: [{name: r, instanceType: gpu}, {name: s, instanceType: gpu}]", want: "schema-role-dup roles[1]"},
		{name: "null is absent", new: "kvCache: null, router: null, " + role("env: null, command: null"), want: ""},
	})
}

func TestValidateKinds(t *testing.T) {
	roles := func(kinds ...string) string {
		var out []string
		for i, k := range kinds {
			out = append(out, fmt.Sprintf("{name: r%d, instanceType: gpu, kind: %s}", i, k))
		}
		return "roles: [" + strings.Join(out, ", ") + "]"
	}
	runAdmission(t, []admissionTest{
		{name: "three kinds", new: roles("Server", "Prefill", "Decode"), want: "kind-mix roles[0].kind; kind-mix roles[1].kind; kind-mix roles[2].kind"},
		{name: "three prefills", new: roles("Prefill", "Prefill", "Prefill"), want: "kind-repeat roles[1].kind; kind-repeat roles[2].kind"},
		{name: "mix on a stored object", new: roles("Server", "Decode"), old: roles("Server", "Decode"), want: "kind-mix roles[0].kind; kind-mix roles[1].kind"},
		{name: "sglang pair", new: "SGLANG, PAIR", want: ""},
		{name: "level with prefix", new: role("topology: {requiredLevel: cloud.example.com/rack_1}"), want: ""},
		{name: "level with two slashes", new: role("topology: {requiredLevel: a/b/c}"), want: "topology-syntax roles[0].topology.requiredLevel"},
		{name: "level with upper case prefix", new: role("topology: {requiredLevel: Example.com/rack}"), want: "topology-syntax roles[0].topology.requiredLevel"},
		{name: "level of 64 characters", new: role("topology: {requiredLevel: " + strings.Repeat("l", 64) + "}"), want: "topology-syntax roles[0].topology.requiredLevel"},
		{name: "hostname on a stored object", new: role("topology: {requiredLevel: kubernetes.io/hostname}"), old: role("topology: {requiredLevel: kubernetes.io/hostname}"), want: "topology-hostname roles[0].topology.requiredLevel"},
	})
}

func TestValidateArgs(t *testing.T) {
	cache := "kvCache: {poolRef: {name: tcp}}, "
	artifact := "model: {name: acme/m, artifactRef: {name: w}}, "
	off := map[string]string{"model-deployment-kv-cache-dtype-owned": "false"}
	runAdmission(t, []admissionTest{
		{name: "prefix of two owners has one", new: cache + role("extraArgs: [--kv]"), want: "owned-arg roles[0].extraArgs[0]"},
		{name: "the same on sglang", new: "SGLANG, " + cache + role("extraArgs: [--kv]"), want: "kv-cache-dtype roles[0].extraArgs[0]"},
		{name: "value that looks like a flag's value", new: role("extraArgs: [--chat-template, kv-transfer-config]"), want: ""},
		{name: "single dash", new: role("extraArgs: [-kv-transfer-config]"), want: ""},
		{name: "sglang underscores", new: "SGLANG, " + role("extraArgs: [--disaggregation_mode=null]"), want: "~arg-typo roles[0].extraArgs[0]"},
		{name: "two owned", new: role("extraArgs: ['--kv-transfer-config={}', --kv_events_config, '{}']"), want: "owned-arg roles[0].extraArgs[0]; owned-arg roles[0].extraArgs[1]"},
		{name: "inert beside command", new: role("command: [x], extraArgs: [--kv-transfer-config=x]"), want: ""},
		{name: "dtype while the setting is off", new: cache + role("extraArgs: [--kv-cache-dtype=fp8]"), settings: off, want: ""},
		{name: "dtype on update while deleting", new: cache + role("extraArgs: [--kv-cache-dtype=fp8]"), old: cache + role("extraArgs: [--kv-cache-dtype=fp8]"), deleting: true, want: ""},
		{name: "owned while deleting", new: role("extraArgs: [--kv-events-config=x]"), old: role("extraArgs: [--kv-events-config=x]"), deleting: true, want: "owned-arg roles[0].extraArgs[0]"},
		{name: "artifact prefixes", new: artifact + role("extraArgs: [--rev=x, --tokenizer-rev=x, --download_dir=x]"), want: "artifact-arg roles[0].extraArgs[0]; artifact-arg roles[0].extraArgs[1]; artifact-arg roles[0].extraArgs[2]"},
		{name: "tokenizer is taken for an abbreviation", new: artifact + role("extraArgs: [--tokenizer=x]"), want: "artifact-arg roles[0].extraArgs[0]"},
		{name: "sglang model alias", new: "SGLANG, " + artifact + role("extraArgs: [--model, x]"), want: "artifact-arg roles[0].extraArgs[0]"},
		{name: "sglang tokenizer path", new: "SGLANG, " + artifact + role("extraArgs: [--tokenizer-path, x]"), want: ""},
		{name: "served by the last flag", new: role("extraArgs: [--served-model-name=x, --served-model-name=acme/m]"), want: ""},
		{name: "served without a value", new: role("extraArgs: [--served-model-name]"), want: "served-name roles[0].extraArgs"},
		{name: "served before, unchanged", new: role("replicas: 2, extraArgs: [--served-model-name, x]"), old: role("extraArgs: [--served-model-name, x]"), want: ""},
		{name: "served before, respelled", new: role("extraArgs: [--served_model_name=x]"), old: role("extraArgs: [--served-model-name, x]"), want: ""},
		{name: "served before, other", new: role("extraArgs: [--served-model-name, z]"), old: role("extraArgs: [--served-model-name, x]"), want: "served-name roles[0].extraArgs"},
		{name: "served before under another role", new: "roles: [{name: b, instanceType: gpu, extraArgs: [--served-model-name=x]}, {name: a, instanceType: gpu}]",
			old: "roles: [{name: a, instanceType: gpu, extraArgs: [--served-model-name=x]}, {name: b, instanceType: gpu}]", want: "served-name roles[0].extraArgs"},
		{name: "typo shows no value", new: role("extraArgs: [--gpu-memory-utilisation=hunter2]"), want: "~arg-typo roles[0].extraArgs[0]"},
		{name: "owned shows no value", new: role("extraArgs: [--kv-transfer-config=hunter2]"), want: "owned-arg roles[0].extraArgs[0]"},
		{name: "typo behind a lone --", new: role("extraArgs: [--, --gpu-memory-utilisation]"), want: ""},
		{name: "typo in a command", new: role("command: [vllm, --gpu-memory-utilisation=1]"), want: ""},
	})
}

func TestValidateEnv(t *testing.T) {
	artifact := "model: {name: acme/m, artifactRef: {name: w}}, "
	runAdmission(t, []admissionTest{
		{name: "rank names on a take-over role", new: "SGLANG, " + role("command: [x], env: [{name: GPUSTACK_MEMBER_INDEX, value: hunter2}, {name: GPUSTACK_OTHER, value: x}]"), want: "owned-env roles[0].env[0]"},
		{name: "case matters", new: role("env: [{name: mooncake_config_path, value: x}]"), want: ""},
		{name: "stored is no excuse", new: role("env: [{name: MOONCAKE_CONFIG_PATH, value: x}]"), old: role("env: [{name: MOONCAKE_CONFIG_PATH, value: x}]"), want: "owned-env roles[0].env[0]"},
		{name: "while deleting too", new: role("env: [{name: MOONCAKE_CONFIG_PATH, value: x}]"), old: role("env: [{name: MOONCAKE_CONFIG_PATH, value: x}]"), deleting: true, want: "owned-env roles[0].env[0]"},
		{name: "sglang master on vllm", new: role("env: [{name: MOONCAKE_MASTER, value: x}]"), want: ""},
		{name: "hub token beside an artifact", new: artifact + role("env: [{name: HF_TOKEN, value: hunter2}]"), want: "artifact-env roles[0].env[0]"},
		{name: "modelscope on sglang", new: "SGLANG, " + artifact + role("env: [{name: SGLANG_USE_MODELSCOPE, value: 'true'}, {name: VLLM_USE_MODELSCOPE, value: 'true'}]"), want: "artifact-env roles[0].env[0]"},
	})
}

func TestValidateParallel(t *testing.T) {
	cards := func(n int, args string) string {
		return role(fmt.Sprintf("resources: {accelerator: %d}, extraArgs: [%s]", n, args))
	}
	const width = "parallel-width roles[0].resources.accelerator"
	runAdmission(t, []admissionTest{
		{name: "default of one card", new: role("extraArgs: [-tp, '2']"), want: width},
		{name: "zero cards", new: cards(0, "-tp, '2'"), want: ""},
		{name: "fraction", new: role("resources: {accelerator: 500m}, extraArgs: [-tp, '2']"), want: "accelerator-count roles[0].resources.accelerator"},
		{name: "slice counts as a card", new: role("resources: {acceleratorSlicedMemoryPercentage: 50}, extraArgs: [-tp, '2']"), want: width},
		{name: "overflow", new: cards(8, "--tensor-parallel-size=9223372036854775807, -pp, '3'"), want: width},
		{name: "out of range", new: cards(8, "--tensor-parallel-size=9223372036854775808"), want: "parallel-parse roles[0]"},
		{name: "underscores between digits", new: cards(8, "--tensor-parallel-size=1_0"), want: width},
		{name: "unreadable is one fault", new: cards(1, "-tp, x, -pp, '4'"), want: "parallel-parse roles[0]"},
		{name: "two unreadable are one fault", new: cards(1, "-tp, x, -pp, z"), want: "parallel-parse roles[0]"},
		{name: "last wins", new: cards(2, "-tp, '4', -tp, '2'"), want: ""},
		{name: "headless is wiring", new: cards(1, "-tp, '8', --headless"), want: ""},
		{name: "sglang dp attention", new: "SGLANG, " + cards(2, "--tp, '2', --dp, '2', --enable-dp-attention"), want: ""},
		{name: "sglang ignores the variable", new: "SGLANG, " + role("env: [{name: VLLM_DP_SIZE, value: x}]"), want: ""},
		{name: "variable unread beside local zero", new: role("env: [{name: VLLM_DP_SIZE, value: x}], extraArgs: [--data-parallel-size-local=0]"), want: ""},
		{name: "variable below its minimum", new: role("env: [{name: VLLM_DP_SIZE, value: '0'}]"), want: "parallel-parse roles[0]"},
		{name: "shell", new: role("command: [/bin/bash, -ec, 'vllm serve -tp 8']"), want: ""},
		{name: "shell by plain name", new: role("command: [sh, -c, x, -t2]"), want: ""},
		{name: "other program", new: role("command: [/usr/bin/shvllm, -t2]"), want: "parallel-parse roles[0]"},
		{name: "wide command", new: role("command: [vllm, serve, -tp=2], extraArgs: [-tp=x]"), want: width},
		{name: "stored is no excuse", new: role("replicas: 2, extraArgs: [-tp, '2']"), old: role("extraArgs: [-tp, '2']"), want: width},
		{name: "deleting without default", new: role("extraArgs: [-tp, '2']"), old: role("extraArgs: [-tp, '2']"), deleting: true, want: ""},
		{name: "deleting with a stated count", new: cards(1, "-tp, '2'"), old: cards(1, "-tp, '2'"), deleting: true, want: width},
	})
}

func TestValidateAccelerators(t *testing.T) {
	on := func(hardware, resources string) string {
		return "roles: [{name: r, instanceType: " + hardware + ", resources: {" + resources + "}}]"
	}
	pair := func(p, d, res string) string {
		return fmt.Sprintf("roles: [{name: p, kind: Prefill, instanceType: %s, resources: {%s}}, {name: d, kind: Decode, instanceType: %s, resources: {%s}}]", p, res, d, res)
	}
	const (
		slice   = "acceleratorSlicedMemoryPercentage: 50"
		profile = "acceleratorPartitionedProfile: 3g.40gb"
	)
	runAdmission(t, []admissionTest{
		{name: "two missing types", new: "roles: [{name: a, instanceType: x}, {name: b, instanceType: z}]", want: "type-missing roles[0].instanceType; type-missing roles[1].instanceType"},
		{name: "missing type hides nothing", new: "roles: [{name: a, instanceType: x, extraArgs: [--kv-transfer-config=x]}]", want: "owned-arg roles[0].extraArgs[0]; type-missing roles[0].instanceType"},
		{name: "slice of no accelerator", new: on("cpu", slice), want: ""},
		{name: "profile of no accelerator", new: on("cpu", profile), want: ""},
		{name: "slice before the detail", new: on("blank", slice), want: "type-not-ready roles[0].instanceType"},
		{name: "profile before the detail, group known", new: on("npu-group", profile), want: "type-not-ready roles[0].instanceType"},
		{name: "before the detail, two cards", new: on("blank", slice+", accelerator: 2"), want: "single-card roles[0].resources.accelerator; type-not-ready roles[0].instanceType"},
		{name: "before the detail, deleting", new: on("blank", slice), old: on("blank", slice), deleting: true, want: ""},
		{name: "slice and profile", new: on("gpu", slice+", "+profile), want: "slice-and-profile roles[0].resources.acceleratorPartitionedProfile"},
		{name: "profile beside zero percent", new: on("gpu", "acceleratorSlicedCoresPercentage: 0, "+profile), want: ""},
		{name: "neither offered", new: on("whole", profile), want: "mode-partition roles[0].resources.acceleratorPartitionedProfile"},
		{name: "unknown profile, two cards", new: on("gpu", "acceleratorPartitionedProfile: 9g, accelerator: 2"), want: "mode-profile roles[0].resources.acceleratorPartitionedProfile; single-card roles[0].resources.accelerator"},
		{name: "at capacity", new: on("whole", "accelerator: '2'"), want: ""},
		{name: "above capacity", new: on("whole", "accelerator: 3"), want: "capacity roles[0].resources.accelerator"},
		{name: "above capacity, stored", new: on("whole", "accelerator: 3"), old: on("whole", "accelerator: 3"), want: "capacity roles[0].resources.accelerator"},
		{name: "above capacity, deleting", new: on("whole", "accelerator: 3"), old: on("whole", "accelerator: 3"), deleting: true, want: ""},
		{name: "capacity unknown", new: on("npu", "accelerator: 1000"), want: ""},
		{name: "count that is a fraction", new: on("gpu", "accelerator: 1.5"), want: "accelerator-count roles[0].resources.accelerator"},
		{name: "count written with a point", new: on("gpu", "accelerator: 2.0"), want: ""},
		{name: "count in exponent form", new: on("gpu", "accelerator: 1e0"), want: ""},
		{name: "negative is one fault", new: on("gpu", slice+", accelerator: -1"), want: "accelerator-count roles[0].resources.accelerator"},
		{name: "zero alone", new: on("gpu", "accelerator: 0"), want: ""},
		{name: "two zeros", new: "roles: [{name: a, instanceType: gpu, resources: {accelerator: 0}}, {name: b, instanceType: gpu, resources: {accelerator: '0'}}]", want: "zero-accelerator roles[0].resources.accelerator; zero-accelerator roles[1].resources.accelerator"},
		{name: "two zeros, deleting", new: "roles: [{name: a, instanceType: gpu, resources: {accelerator: 0}}, {name: b, instanceType: gpu, resources: {accelerator: 0}}]",
			old: "roles: [{name: a, instanceType: gpu, resources: {accelerator: 0}}, {name: b, instanceType: gpu, resources: {accelerator: 0}}]", deleting: true, want: ""},
		{name: "pair sliced on one group", new: pair("gpu", "gpu-b", slice), want: "pair-slice roles"},
		{name: "pair sliced on two groups", new: pair("gpu", "other", slice), want: ""},
		{name: "pair sliced, deleting", new: pair("gpu", "gpu-b", slice), old: pair("gpu", "gpu-b", slice), deleting: true, want: ""},
		{name: "pair sliced, type missing", new: pair("gpu", "gone", slice), want: "type-missing roles[1].instanceType"},
	})
}

func TestValidateVolumes(t *testing.T) {
	volume := func(v string) string { return role("additionalVolumes: [{" + v + "}]") }
	artifact := "model: {name: acme/m, artifactRef: {name: w}}, "
	cache := "kvCache: {poolRef: {name: tcp}}, "
	host := "mountPath: /a, hostPath: {path: /data}"
	const path = "roles[0].additionalVolumes[0]"
	allowed := map[string]string{"instance-host-path-volume-allowed": "true", "instance-privileged-allowed": "true"}
	runAdmission(t, []admissionTest{
		{name: "three sources", new: volume("mountPath: /a, configMap: {name: a}, secret: {name: b}, hostPath: {path: /c}"), settings: allowed, want: "volume-source " + path},
		{name: "dots inside", new: volume("mountPath: /a, configMap: {name: a}, subPath: a/../b"), want: "volume-subpath " + path + ".subPath"},
		{name: "dots in a name", new: volume("mountPath: /a, configMap: {name: a}, subPath: ..a/b.."), want: ""},
		{name: "inside the weights", new: artifact + volume("mountPath: /var/lib/gpustack/model/x, configMap: {name: a}"), want: "artifact-mount " + path + ".mountPath"},
		{name: "cache of the weights, take-over", new: artifact + role("command: [x], additionalVolumes: [{mountPath: /var/lib/gpustack/model-cache, configMap: {name: a}}]"), want: "artifact-mount " + path + ".mountPath"},
		{name: "sibling of the weights", new: artifact + volume("mountPath: /var/lib/gpustack/model-cache2, configMap: {name: a}"), want: ""},
		{name: "around everything", new: artifact + volume("mountPath: /var, configMap: {name: a}"), want: "artifact-mount " + path + ".mountPath"},
		{name: "around the client configuration", new: cache + volume("mountPath: /etc/gpustack, configMap: {name: a}"), want: "~volume-owned-path " + path + ".mountPath"},
		{name: "no client configuration on sglang", new: "SGLANG, " + cache + volume("mountPath: /etc/gpustack, configMap: {name: a}"), want: ""},
		{name: "host path", new: volume(host), want: "host-path " + path + ".hostPath"},
		{name: "host path allowed", new: volume(host), settings: allowed, want: ""},
		{name: "host path held, mounted elsewhere", new: volume("mountPath: /b, hostPath: {path: /data}"), old: volume(host), want: ""},
		{name: "host path held, other path", new: volume("mountPath: /a, hostPath: {path: /data/x}"), old: volume(host), want: "host-path " + path + ".hostPath"},
		{name: "host path held, other sub path", new: volume(host + ", subPath: x"), old: volume(host), want: "host-path " + path + ".hostPath"},
		{name: "host path held, made read-only", new: volume(host + ", readOnly: true"), old: volume(host), want: ""},
		{name: "host path held read-only, made writable", new: volume(host), old: volume(host + ", readOnly: true"), want: "host-path " + path + ".hostPath"},
		{name: "host path held by another role", new: "roles: [{name: a, instanceType: gpu}, {name: b, instanceType: gpu, additionalVolumes: [{" + host + "}]}]",
			old: "roles: [{name: b, instanceType: gpu}, {name: a, instanceType: gpu, additionalVolumes: [{" + host + "}]}]", want: "host-path roles[1].additionalVolumes[0].hostPath"},
		{name: "host path of a reordered role", new: "roles: [{name: b, instanceType: gpu, additionalVolumes: [{" + host + "}]}, {name: a, instanceType: gpu}]",
			old: "roles: [{name: a, instanceType: gpu}, {name: b, instanceType: gpu, additionalVolumes: [{" + host + "}]}]", want: ""},
		{name: "host path while deleting", new: volume(host), old: role(""), deleting: true, want: "host-path " + path + ".hostPath"},
		{name: "privileged", new: role("privileged: true"), want: "host-privileged roles[0].privileged"},
		{name: "privileged held", new: role("privileged: true, replicas: 2"), old: role("privileged: true"), want: ""},
		{name: "privileged allowed", new: role("privileged: true"), settings: allowed, want: ""},
		{name: "setting that is no boolean", new: role("privileged: true"), settings: map[string]string{"instance-privileged-allowed": "yes"}, want: "host-privileged roles[0].privileged"},
	})
}

func TestValidatePorts(t *testing.T) {
	cache := "kvCache: {poolRef: {name: tcp}}, "
	on := func(hardware, fields string) string {
		return "roles: [{name: r, instanceType: " + hardware + ", " + fields + "}], LLMD"
	}
	pair := func(prefill, decode, rest string) string {
		return fmt.Sprintf("roles: [{name: p, kind: Prefill, instanceType: gpu, %s}, {name: d, kind: Decode, instanceType: gpu, %s}]%s", prefill, decode, rest)
	}
	const bad = "reserved-port router"
	runAdmission(t, []admissionTest{
		{name: "unrouted", new: role("ports: [{port: 5557}]"), want: ""},
		{name: "unrouted with a cache", new: cache + role("ports: [{port: 5557}]"), want: ""},
		{name: "both reserved", new: role("ports: [{port: 8000}, {port: 5557}, {port: 5558}]") + ", LLMD", want: bad + "; " + bad},
		{name: "ascend by detail", new: on("npu", "ports: [{port: 5557}]"), want: ""},
		{name: "ascend by group", new: on("npu-group", "ports: [{port: 5557}]"), want: ""},
		{name: "unknown maker is native", new: on("blank", "ports: [{port: 5557}]"), want: bad},
		{name: "missing type is native", new: on("gone", "ports: [{port: 5557}]"), want: bad + "; type-missing roles[0].instanceType"},
		{name: "deleting", new: on("gone", "ports: [{port: 5557}]"), old: on("gone", "ports: [{port: 5557}]"), deleting: true, want: ""},
		{name: "decode of a pair", new: pair("ports: [{port: 8000}]", "ports: [{port: 8000}, {port: 5557}, {port: 8998}]", ", LLMD"), want: ""},
		{name: "bootstrap of a pair", new: pair("ports: [{port: 8000}, {port: 8998}]", "", ", router: {name: vllm-router}"), want: bad},
		{name: "bootstrap of a lone prefill", new: "roles: [{name: p, kind: Prefill, instanceType: gpu, ports: [{port: 8998}]}], LLMD", want: ""},
		{name: "bootstrap while deleting", new: pair("ports: [{port: 8000}, {port: 8998}]", "", ", LLMD"), old: pair("ports: [{port: 8000}, {port: 8998}]", "", ", LLMD"), deleting: true, want: bad},
		{name: "bootstrap of sglang without router", new: "SGLANG, " + cache + pair("ports: [{port: 8998}]", "", ""), want: "reserved-port roles[0].ports"},
		{name: "bootstrap of sglang without either", new: "SGLANG, " + pair("ports: [{port: 8998}]", "", ""), want: ""},

		{name: "own port reserved", new: role("extraArgs: [--port=5558]") + ", LLMD", want: "reserved-listen-port router"},
		{name: "own port reserved, deleting", new: role("extraArgs: [--port=5558]") + ", LLMD", old: role("") + ", LLMD", deleting: true, want: ""},
		{name: "own port reserved, stored", new: role("replicas: 2, extraArgs: [--port=5558]") + ", LLMD", old: role("extraArgs: [--port, '5558']") + ", LLMD", want: ""},
		{name: "own port reserved by the router that comes", new: role("extraArgs: [--port=5558]") + ", LLMD", old: role("extraArgs: [--port=5558]"), want: "reserved-listen-port router"},
		{name: "own port reserved, moved", new: role("extraArgs: [--port=5558]") + ", LLMD", old: role("extraArgs: [--port=5557]") + ", LLMD", want: "reserved-listen-port router"},
		{name: "own port reserved, of the other role", new: "roles: [{name: b, instanceType: gpu, extraArgs: [--port=5558]}, {name: a, instanceType: gpu, extraArgs: [--port=5558]}], LLMD",
			old:  "roles: [{name: a, instanceType: gpu, extraArgs: [--port=5558]}, {name: b, instanceType: npu, extraArgs: [--port=5558]}], LLMD",
			want: "frozen-instance-type roles[0].instanceType; reserved-listen-port router"},

		{name: "two ports", new: role("ports: [{port: 9000}], extraArgs: [--port=9001]"), want: "listen-port roles[0].extraArgs"},
		{name: "short spelling", new: role("ports: [{port: 9000}], extraArgs: [--por, '9001']"), want: "listen-port roles[0].extraArgs"},
		{name: "too short a spelling", new: role("ports: [{port: 9000}], extraArgs: [--po, '9001']"), want: ""},
		{name: "short spelling on sglang", new: "SGLANG, " + role("ports: [{port: 9000}], extraArgs: [--po, '9001']"), want: "listen-port roles[0].extraArgs"},
		{name: "unreadable port", new: role("ports: [{port: 9000}], extraArgs: [--port=x]"), want: ""},
		{name: "last port counts", new: role("ports: [{port: 9000}], extraArgs: [--port=1, --port=9000]"), want: ""},
		{name: "take-over", new: role("ports: [{port: 9000}], command: [x, --port=9001]"), want: "listen-port roles[0].command"},
		{name: "take-over, inert args", new: role("ports: [{port: 9000}], command: [x], extraArgs: [--port=9001]"), want: ""},
		{name: "second port", new: role("ports: [{port: 9000}, {port: 9001}], extraArgs: [--port=9001]"), want: "listen-port roles[0].extraArgs"},
		{name: "stored, reordered", new: "roles: [{name: b, instanceType: gpu}, {name: a, instanceType: gpu, ports: [{port: 1}], extraArgs: [--port=2]}]",
			old: "roles: [{name: a, instanceType: gpu, ports: [{port: 1, protocol: TCP}], extraArgs: [--port=2]}, {name: b, instanceType: gpu}]", want: ""},
		{name: "proxied decoder", new: pair("ports: [{port: 9000}]", "ports: [{port: 9000}], extraArgs: [--port=9001]", ", LLMD"), want: ""},
		{name: "decoder behind another router", new: pair("ports: [{port: 9000}]", "ports: [{port: 9000}], extraArgs: [--port=9001]", ", router: {name: vllm-router}"), want: "listen-port roles[1].extraArgs"},
		{name: "take-over decoder", new: pair("ports: [{port: 9000}]", "ports: [{port: 9000}], command: [x, --port=9001]", ", LLMD"), want: "listen-port roles[1].command"},
		{name: "decoder on the proxy's port", new: pair("ports: [{port: 9000}]", "ports: [{port: 9000}], extraArgs: [--port=9000]", ", LLMD"), want: "router-decode-port router"},
		{name: "sglang decoder on the proxy's port", new: "SGLANG, " + pair("", "extraArgs: [--port=8000]", ", LLMD"), want: "router-decode-port router"},
		{name: "decoder on 8000 behind vllm-router", new: pair("", "extraArgs: [--port=8000]", ", router: {name: vllm-router}"), want: ""},
		{name: "decoder elsewhere", new: pair("", "extraArgs: [--port=8200]", ", LLMD"), want: ""},
	})
}

func TestValidateRouter(t *testing.T) {
	router := func(fields string) string { return role("") + ", router: {" + fields + "}" }
	runAdmission(t, []admissionTest{
		{name: "value token is not judged by its look", new: router("name: llm-d-router, extraArgs: [--v, '2']"), want: ""},
		{name: "no abbreviations", new: router("name: llm-d-router, extraArgs: [--config-fil=x, --config_file=x]"), want: ""},
		{name: "owned, two tokens", new: router("name: vllm-router, extraArgs: [--x, --port, '1']"), want: "router-owned-arg router.extraArgs[1]"},
		{name: "threshold of zero", new: router("name: vllm-router, disaggregationThresholdTokens: 0"), want: "router-threshold router.disaggregationThresholdTokens"},
		{name: "vllm-router and sglang", new: "SGLANG, " + router("name: vllm-router"), want: "router-engine router.name"},
		{name: "gateway and vllm, threshold too", new: router("name: sglang-gateway, disaggregationThresholdTokens: 1"), want: "router-engine router.name; router-threshold router.disaggregationThresholdTokens"},
		{name: "tls key on a take-over role", new: role("command: [x, --ssl-keyfile=k]") + ", LLMD", want: "router-tls router"},
		{name: "tls without router", new: role("extraArgs: [--ssl-keyfile=k, --ssl-certfile=c]"), want: ""},
		{name: "udp second", new: role("ports: [{port: 8000}, {port: 8001, protocol: UDP}]") + ", LLMD", want: ""},
		{name: "own ports differ", new: "roles: [{name: a, instanceType: gpu, extraArgs: [--port=9000]}, {name: b, instanceType: gpu}], LLMD", want: "router-same-port router"},
		{name: "take-over port counts", new: "roles: [{name: a, instanceType: gpu, command: [x, --port=9000]}, {name: b, instanceType: gpu, extraArgs: [--port=9000]}], LLMD", want: ""},
		{name: "proxied decoder serves 8000", new: "roles: [{name: a, kind: Prefill, instanceType: gpu}, {name: b, kind: Decode, instanceType: gpu, extraArgs: [--port=8200]}], LLMD", want: ""},
		{name: "the same behind vllm-router", new: "roles: [{name: a, kind: Prefill, instanceType: gpu}, {name: b, kind: Decode, instanceType: gpu, extraArgs: [--port=8200]}], router: {name: vllm-router}", want: "router-same-port router"},
		{name: "stored is no excuse", new: role("ports: [{port: 1, protocol: UDP}]") + ", LLMD", old: role("ports: [{port: 1, protocol: UDP}]") + ", LLMD", want: "router-tcp router"},
		{name: "renamed", new: router("name: vllm-router"), old: router("name: llm-d-router"), want: "frozen-router-name router.name"},
		{name: "removed", new: role(""), old: router("name: llm-d-router"), want: ""},
		{name: "image and replicas", new: router("name: llm-d-router, image: x, replicas: 3, requestTimeoutSeconds: 1"), old: router("name: llm-d-router"), want: ""},
	})
}

func TestValidateFrozen(t *testing.T) {
	cache := "kvCache: {poolRef: {name: tcp}}, "
	res := func(s string) string { return role("resources: {" + s + "}") }
	const resources = "frozen-resources roles[0].resources"
	runAdmission(t, []admissionTest{
		{name: "defaults written out", new: role("kind: Server, replicas: 1, size: 1, resources: {accelerator: '1'}, extraArgs: [], ports: []"), old: role(""), want: ""},
		{name: "defaults left out", new: role(""), old: role("kind: Server, replicas: 1, size: 1, resources: {accelerator: '1'}"), want: ""},
		{name: "connector left out", new: cache + role(""), old: "kvCache: {connector: Mooncake, poolRef: {name: tcp}}, " + role(""), want: ""},
		{name: "count respelled", new: res("accelerator: 2000m"), old: res("accelerator: 2"), want: ""},
		{name: "count dropped", new: role(""), old: res("accelerator: 2"), want: resources},
		{name: "count dropped while deleting", new: role(""), old: res("accelerator: 2"), deleting: true, want: ""},
		{name: "count changed while deleting", new: res("accelerator: 3"), old: res("accelerator: 2"), deleting: true, want: resources},
		{name: "count dropped, type missing", new: "roles: [{name: r, instanceType: gone}]", old: "roles: [{name: r, instanceType: gone, resources: {accelerator: 2}}]", want: "type-missing roles[0].instanceType"},
		{name: "count added on a type without", new: "roles: [{name: r, instanceType: cpu, resources: {accelerator: 2}}]", old: "roles: [{name: r, instanceType: cpu}]", want: resources},
		{name: "slice changed", new: res("acceleratorSlicedCoresPercentage: 20"), old: res("acceleratorSlicedCoresPercentage: 30"), want: resources},
		{name: "interface added", new: res("interface: 1"), old: role(""), want: resources},
		{name: "interface of nothing", new: res("interface: 0"), old: role(""), want: ""},
		{name: "cache removed", new: role(""), old: cache + role(""), want: "frozen-kvcache kvCache"},
		{name: "command added", new: role("command: [x]"), old: role(""), want: "frozen-command roles[0].command"},
		{name: "command edited", new: role("command: [x, b]"), old: role("command: [x, a]"), want: "frozen-command roles[0].command"},
		{name: "empty command", new: role("command: []"), old: role(""), want: ""},
		{name: "model renamed", new: "model: {name: b}, " + role(""), old: "model: {name: a}, " + role(""), want: "frozen-model model"},
		{name: "role added", new: "roles: [{name: r, instanceType: gpu}, {name: s, instanceType: gpu}]", old: role(""), want: "frozen-role-set roles[1].name"},
		{name: "two removed", new: role(""), old: "roles: [{name: a, instanceType: gpu}, {name: r, instanceType: gpu}, {name: b, instanceType: gpu}]", want: "frozen-role-set roles; frozen-role-set roles"},
		{name: "reordered and changed", new: "roles: [{name: b, instanceType: gpu, size: 2, command: [x]}, {name: a, instanceType: gpu}]", old: "roles: [{name: a, instanceType: gpu}, {name: b, instanceType: gpu, command: [x]}]", want: "frozen-size roles[0].size"},
		{name: "type and count", new: "roles: [{name: r, instanceType: other, resources: {accelerator: 2}}]", old: role(""), want: "frozen-instance-type roles[0].instanceType; frozen-resources roles[0].resources"},
		{name: "everything that may change", new: `engine: {name: vLLM, version: "2"}, kvTransfer: {protocol: TCP}, ` + role("replicas: 3, image: z, imagePullPolicy: Always, env: [{name: A, value: b}], ports: [{port: 1}], topology: {requiredLevel: rack}, terminationGracePeriodSeconds: 20, extraArgs: [--seed=1]") + ", LLMD", old: role(""), want: ""},
		{name: "frozen while deleting", new: role("kind: Decode"), old: role(""), deleting: true, want: "frozen-kind roles[0].kind"},
	})
}

// TestFrozenSaysWhatChanged: who did not mean to edit a field sees what it was.
func TestFrozenSaysWhatChanged(t *testing.T) {
	cache := func(pool string) string { return "kvCache: {poolRef: {name: " + pool + "}}, " + role("") }
	model := func(fields string) string { return "model: {" + fields + "}, " + role("") }
	const gone = "spec.roles[0].command is frozen after creation (the stored one, of 2 items, is gone)"
	for name, test := range map[string]struct{ old, new, want string }{
		"model":               {model("name: a"), model("name: b"), "spec.model is frozen after creation (name a -> b)"},
		"artifact added":      {model("name: a"), model("name: a, artifactRef: {name: w}"), "spec.model is frozen after creation (artifactRef none -> w)"},
		"engine":              {role(""), "SGLANG, " + role(""), "spec.engine.name is frozen after creation (vLLM -> SGLang)"},
		"cache removed":       {cache("tcp"), role(""), "spec.kvCache is frozen after creation (poolRef tcp -> none)"},
		"cache moved":         {cache("tcp"), cache("rdma"), "spec.kvCache is frozen after creation (poolRef tcp -> rdma)"},
		"kind":                {role(""), role("kind: Decode"), "spec.roles[0].kind is frozen after creation (Server -> Decode)"},
		"type":                {role(""), "roles: [{name: r, instanceType: other}]", "spec.roles[0].instanceType is frozen after creation (gpu -> other)"},
		"size":                {role("command: [x]"), role("command: [x], size: 2"), "spec.roles[0].size is fixed at creation (1 -> 2)"},
		"resources":           {role("resources: {accelerator: 2}"), role("resources: {interface: 1}"), "spec.roles[0].resources is frozen after creation (accelerator 2 -> 1, interface none -> 1)"},
		"share of a card":     {role(""), role("resources: {acceleratorSlicedCoresPercentage: 5}"), "spec.roles[0].resources is frozen after creation (acceleratorSlicedCoresPercentage 0 -> 5)"},
		"command dropped":     {role("command: [x, hunter2]"), role(""), gone},
		"command added":       {role(""), role("command: [hunter2]"), "spec.roles[0].command is frozen after creation (the stored role has none)"},
		"command edited":      {role("command: [x, hunter2]"), role("command: [x, hunter22]"), "spec.roles[0].command is frozen after creation (different from item 1 on)"},
		"command made longer": {role("command: [x]"), role("command: [x, hunter2]"), "spec.roles[0].command is frozen after creation (1 item -> 2, different from item 1 on)"},
		"router":              {role("") + ", LLMD", role("") + ", router: {name: vllm-router}", "spec.router.name is immutable (llm-d-router -> vllm-router)"},
		"the same in new order": {"roles: [{name: r, instanceType: gpu}, {name: s, instanceType: gpu}]", "roles: [{name: s, instanceType: other}, {name: r, instanceType: gpu}]",
			"spec.roles[0].instanceType is frozen after creation (gpu -> other)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(t, admissionTest{new: test.new, old: test.old})
			if !slices.ContainsFunc(got, func(f diag.Finding) bool { return strings.HasPrefix(f.Message, test.want) }) {
				t.Errorf("want %q, got %v", test.want, got)
			}
			if strings.Contains(fmt.Sprint(got), "hunter2") {
				t.Errorf("a value that may be secret is shown: %v", got)
			}
		})
	}
}

func TestValidateTransport(t *testing.T) {
	on := func(pool, hardware, fields string) string {
		return "kvCache: {poolRef: {name: " + pool + "}}, roles: [{name: r, instanceType: " + hardware + ", " + fields + "}]"
	}
	pair := func(hardware, rest string) string {
		return fmt.Sprintf("roles: [{name: p, kind: Prefill, instanceType: %s, resources: {interface: 1}}, {name: d, kind: Decode, instanceType: %s}]%s", hardware, hardware, rest)
	}
	const (
		leg  = "interface-leg roles[0].resources.interface"
		pool = "pool-transport kvCache.poolRef.name"
		card = "resources: {interface: 1}"
	)
	runAdmission(t, []admissionTest{
		{name: "mixed", new: on("mixed", "gpu", ""), want: pool},
		{name: "mixed for sglang on ascend", new: "SGLANG, " + on("mixed", "npu", ""), want: pool},
		{name: "mixed without ascend for ascend", new: on("mixed", "npu", ""), want: ""},
		{name: "mixed for ascend by group", new: on("mixed", "npu-group", ""), want: ""},
		{name: "mixed for an unknown maker", new: on("mixed", "blank", ""), want: pool},
		{name: "mixed beside another fault", new: on("mixed", "gpu", "extraArgs: [--kv-events-config=x]"), want: "owned-arg roles[0].extraArgs[0]"},
		{name: "mixed beside a warning", new: on("mixed", "gpu", "extraArgs: [--gpu-memory-utilisation=1]"), want: pool + "; ~arg-typo roles[0].extraArgs[0]"},
		{name: "mixed, stored", new: on("mixed", "gpu", "replicas: 2"), old: on("mixed", "gpu", ""), want: ""},
		{name: "mixed, added", new: on("mixed", "gpu", ""), old: role(""), want: "frozen-kvcache kvCache"},
		{name: "mixed, binding of another namespace", new: on("elsewhere", "gpu", ""), want: ""},
		{name: "no pool", new: on("no-pool", "gpu", ""), want: ""},
		{name: "no backend", new: on("no-backend", "gpu", ""), want: ""},
		{name: "interface beside mixed", new: on("mixed", "gpu", card), want: leg},
		{name: "interface on rdma", new: on("rdma", "gpu", card), want: ""},
		{name: "interface on rdma, take-over", new: on("rdma", "gpu", card+", command: [x]"), want: leg},
		{name: "interface on tcp", new: on("tcp", "gpu", card), want: leg},
		{name: "interface without binding", new: on("gone", "gpu", card), want: leg},
		{name: "interface without pool", new: on("no-pool", "gpu", card), want: leg},
		{name: "interface without backend", new: on("no-backend", "gpu", card), want: leg},
		{name: "interface without binding, two roles", new: "kvCache: {poolRef: {name: gone}}, roles: [{name: a, instanceType: gpu}, {name: b, instanceType: gpu, resources: {interface: 1}}, {name: c, instanceType: gpu, resources: {interface: 1}}]", want: "interface-leg roles[1].resources.interface"},
		{name: "interface without binding, deleting", new: on("gone", "gpu", card), old: on("gone", "gpu", card), deleting: true, want: ""},
		{name: "interface, stored", new: on("gone", "gpu", "replicas: 2, "+card), old: on("gone", "gpu", card), want: ""},
		{name: "interface, transfer edited", new: "kvTransfer: {protocol: TCP}, " + on("gone", "gpu", card), old: on("gone", "gpu", card), want: leg},
		{name: "interface, empty transfer", new: "kvTransfer: {}, " + on("gone", "gpu", card), old: on("gone", "gpu", card), want: ""},
		{name: "direct leg", new: "kvTransfer: {protocol: RDMA}, " + pair("gpu", ", LLMD"), want: ""},
		{name: "direct leg of ascend", new: "kvTransfer: {protocol: RDMA}, " + pair("npu", ", LLMD"), want: leg},
		{name: "direct leg of an unknown maker", new: "kvTransfer: {protocol: RDMA}, " + pair("blank", ", LLMD"), want: leg},
		{name: "direct leg is tcp when unset", new: pair("gpu", ", LLMD"), want: leg},
		{name: "direct leg beside another fabric", new: "kvTransfer: {protocol: EFA}, kvCache: {poolRef: {name: rdma}}, " + pair("gpu", ", LLMD"), want: leg},
		{name: "direct tcp beside a fabric", new: "kvTransfer: {protocol: Auto}, kvCache: {poolRef: {name: rdma}}, " + pair("gpu", ", LLMD"), want: ""},
		{name: "direct fabric beside tcp", new: "kvTransfer: {protocol: EFA}, kvCache: {poolRef: {name: tcp}}, " + pair("gpu", ", LLMD"), want: ""},
		{name: "half an interface by a point", new: role("resources: {interface: .5}"), want: "interface-count roles[0].resources.interface"},
		{name: "half an interface", new: role("resources: {interface: 500m}"), want: "interface-count roles[0].resources.interface"},
	})
}

// TestCompileRefusesTwoMounts: what admission warns of is an error where it
// makes Pods that no API server takes.
func TestCompileRefusesTwoMounts(t *testing.T) {
	for path, want := range map[string]diag.Severity{
		"/etc/gpustack/kvcache":   diag.Error,
		"/etc/gpustack/kvcache/x": diag.Warning,
	} {
		in := Input{Objects: load(t, deploymentYAML("d", "kvCache: {poolRef: {name: tcp}}, "+role("additionalVolumes: [{mountPath: "+path+", secret: {name: a}}]"), false))}
		_, findings := Compile(in)
		i := slices.IndexFunc(findings, func(f diag.Finding) bool { return f.Rule == "volume-owned-path" })
		if i < 0 || findings[i].Severity != want {
			t.Errorf("%s: %v", path, findings)
		}
	}
}

// TestValidateOld is about which stored deployment is compared with.
func TestValidateOld(t *testing.T) {
	text := func(namespace, size string) string {
		return "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata: {name: d" + namespace + "}\nspec: {engine: {name: vLLM, version: '1'}, model: {name: m}, roles: [{name: r, instanceType: cpu, command: [x], size: " + size + "}]}\n---\n"
	}
	otherType := func(text string) string { return strings.Replace(text, "instanceType: cpu", "instanceType: gone", 1) }
	types := load(t, "apiVersion: worker.gpustack.ai/v1\nkind: InstanceType\nmetadata: {name: cpu}\n")
	for name, test := range map[string]struct{ new, old, want string }{
		"both in the given namespace": {text("", "2"), text("", "3"), "frozen-size roles[0].size"},
		"one states it":               {text(", namespace: given", "2"), text("", "3"), "frozen-size roles[0].size"},
		"another namespace":           {text("", "2"), text(", namespace: other", "3"), ""},
		"the right one of two":        {text("", "2"), text(", namespace: other", "3") + text("", "2"), ""},
		"unreadable":                  {text("", "2"), text("", "two"), "schema-type roles[0].size"},
		"on its way out":              {otherType(text("", "2")), otherType(text(", deletionTimestamp: '2026-01-01T00:00:00Z'", "2")), ""},
		"not on its way out":          {otherType(text("", "2")), otherType(text("", "2")), "type-missing roles[0].instanceType"},
		"out of today's bounds":       {text("", "2"), text("", "65"), "frozen-size roles[0].size"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Validate(Input{Objects: load(t, test.new), Facts: types, Namespace: "given"}, load(t, test.old))
			if outline(got) != test.want {
				t.Errorf("got %s, want %s: %v", outline(got), test.want, got)
			}
		})
	}
}

// TestDefaults compares what is written in with what the cases say.
func TestDefaults(t *testing.T) {
	f, err := os.Open("../testdata/admission/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	judged := 0
	for lines.Scan() {
		var c struct {
			ID             string
			ExpectDefaults map[string]any
			InstanceTypes  []any
			New            any
			Deleting       bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.ExpectDefaults == nil {
			continue
		}
		judged++
		t.Run(c.ID, func(t *testing.T) {
			text := func(v any) string {
				b, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				return "---\n" + string(b) + "\n"
			}
			var types strings.Builder
			for _, o := range c.InstanceTypes {
				types.WriteString(text(o))
			}
			index, findings := facts.New(load(t, types.String()), "", nil)
			o := load(t, text(map[string]any{
				"apiVersion": "worker.gpustack.ai/v1", "kind": "ModelDeployment",
				"metadata": map[string]any{"name": "d", "namespace": "ns"}, "spec": c.New,
			}))[0]
			s := subject(o, "", index, c.Deleting)
			if findings.HasErrors() || s.New == nil {
				t.Fatal(findings, s.Structure)
			}
			for field, want := range c.ExpectDefaults {
				n, err := s.Object.Node.Pipe(yaml.Lookup(strings.FieldsFunc(strings.ReplaceAll(field, "]", ""), func(r rune) bool { return r == '.' || r == '[' })...))
				if err != nil {
					t.Fatal(err)
				}
				var got any
				if n != nil {
					got = n.YNode().Value
				}
				if got != want {
					t.Errorf("%s is %v, want %v", field, got, want)
				}
			}
		})
	}
	if judged == 0 {
		t.Error("no case states defaults")
	}
}

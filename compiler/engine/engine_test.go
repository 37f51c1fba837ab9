// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
)

func TestDialect(t *testing.T) {
	for _, tc := range []struct {
		name     v1.EngineName
		maker    string
		want     engine.Dialect
		required string
	}{
		{v1.EngineVLLM, "nvidia", engine.VLLM, ""},
		{v1.EngineVLLM, "amd", engine.VLLM, ""},
		{v1.EngineVLLM, "", engine.VLLM, ""},
		{v1.EngineVLLM, "acme", engine.VLLM, ""},
		{v1.EngineVLLM, "ascend", engine.VLLMAscend, "ascend"},
		{v1.EngineSGLang, "nvidia", engine.SGLang, ""},
		{v1.EngineSGLang, "ascend", engine.SGLang, ""},
	} {
		got := engine.DialectOf(tc.name, tc.maker)
		if got != tc.want || got.RequiredTransport() != tc.required {
			t.Errorf("%s on %q: %s, transport %q", tc.name, tc.maker, got, got.RequiredTransport())
		}
	}
}

func store(f func(*engine.Store)) *engine.Store {
	s := &engine.Store{Endpoint: "kv-master.kv.svc:50051", Protocol: "tcp", Tenant: "team-a", Dtype: "bfloat16"}
	f(s)
	return s
}

// connector is that of a role of kind Server which no router reads from.
func connector(d engine.Dialect, s *engine.Store) engine.Connector {
	return engine.NewConnector(engine.Request{Dialect: d, Kind: v1.RoleServer, Store: s})
}

// TestCommand spells whole command lines of roles of kind Server.
func TestCommand(t *testing.T) {
	same := func(*engine.Store) {}
	noDtype := func(s *engine.Store) { s.Dtype = "" }
	base := []string{"vllm", "serve", "M"}
	sglang := []string{"python3", "-m", "sglang.launch_server", "--model-path", "M", "--enable-metrics"}
	s0 := []string{"--kv-transfer-config", `{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}`}
	as0 := []string{"--kv-transfer-config", `{"kv_connector":"AscendStoreConnector","kv_role":"kv_both"}`}
	hb := []string{"--hicache-storage-backend", "mooncake"}
	hc := []string{"--enable-hierarchical-cache"}
	dt := []string{"--kv-cache-dtype", "bfloat16"}
	filled := []string{"--host", "0.0.0.0", "--port", "8000"}
	for name, tc := range map[string]struct {
		dialect engine.Dialect
		store   *engine.Store
		extra   []string
		want    [][]string
	}{
		"vLLM":                     {engine.VLLM, nil, nil, [][]string{base, filled}},
		"vLLM, arguments":          {engine.VLLM, nil, []string{"-tp", "2"}, [][]string{base, {"-tp", "2"}, filled}},
		"vLLM, store":              {engine.VLLM, store(same), nil, [][]string{base, s0, dt, filled}},
		"vLLM, store, arguments":   {engine.VLLM, store(same), []string{"--x", ""}, [][]string{base, s0, dt, {"--x", ""}, filled}},
		"vLLM, no dtype":           {engine.VLLM, store(noDtype), nil, [][]string{base, s0, filled}},
		"vLLM, dtype without one":  {engine.VLLM, nil, []string{"--kv-cache-dtype=fp8"}, [][]string{base, {"--kv-cache-dtype=fp8"}, filled}},
		"vLLM, host":               {engine.VLLM, nil, []string{"--host", "::"}, [][]string{base, {"--host", "::"}, {"--port", "8000"}}},
		"vLLM, port":               {engine.VLLM, nil, []string{"--port=9000"}, [][]string{base, {"--port=9000"}, {"--host", "0.0.0.0"}}},
		"vLLM, both, other words":  {engine.VLLM, nil, []string{"--por", "1", "--hos=x"}, [][]string{base, {"--por", "1", "--hos=x"}}},
		"Ascend":                   {engine.VLLMAscend, nil, nil, [][]string{base, filled}},
		"Ascend, store":            {engine.VLLMAscend, store(same), nil, [][]string{base, as0, dt, filled}},
		"SGLang":                   {engine.SGLang, nil, nil, [][]string{sglang, filled}},
		"SGLang, store":            {engine.SGLang, store(same), nil, [][]string{sglang, hb, dt, hc, filled}},
		"SGLang, no dtype":         {engine.SGLang, store(noDtype), nil, [][]string{sglang, hb, hc, filled}},
		"SGLang, own switch":       {engine.SGLang, store(same), hc, [][]string{sglang, hb, dt, hc, filled}},
		"SGLang, own switch later": {engine.SGLang, store(same), []string{"--x", "--enable-hierarchical-cache=true"}, [][]string{sglang, hb, dt, {"--x", "--enable-hierarchical-cache=true"}, filled}},
		"SGLang, arguments":        {engine.SGLang, store(same), []string{"--hicache-ratio", "2"}, [][]string{sglang, hb, dt, hc, {"--hicache-ratio", "2"}, filled}},
		"SGLang, abbreviated port": {engine.SGLang, nil, []string{"--po=1"}, [][]string{sglang, {"--po=1"}, {"--host", "0.0.0.0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			api := v1.EngineVLLM
			if tc.dialect == engine.SGLang {
				api = v1.EngineSGLang
			}
			extra := slices.Clone(tc.extra)
			got := engine.Line{Engine: api, Model: "M", Connector: connector(tc.dialect, tc.store), ExtraArgs: tc.extra, Port: 8000}.Command()
			if diff := cmp.Diff(slices.Concat(tc.want...), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			got[0] = "x"
			if !slices.Equal(extra, tc.extra) {
				t.Error("the role's arguments changed")
			}
		})
	}
}

// TestClientConfig keeps values that JSON or HTML would escape intact.
func TestClientConfig(t *testing.T) {
	c := connector(engine.VLLM, store(func(s *engine.Store) { s.Endpoint = `a<b>&"c"` }))
	text := c.Annotations[v1.AnnotationClientConfig]
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got["master_server_address"] != `a<b>&"c"` {
		t.Errorf("%s", text)
	}
	if diff := cmp.Diff(engine.Connector{}, connector(engine.VLLM, nil)); diff != "" {
		t.Errorf("connector without a store: %s", diff)
	}
}

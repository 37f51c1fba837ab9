package argv

import (
	"slices"
	"strings"
	"testing"
)

func TestResolveOwned(t *testing.T) {
	dtype := func(engine Engine) []string { return append(OwnedArgs(engine), FlagKVCacheDtype) }
	tests := map[string]struct {
		token        string
		keys         func(Engine) []string
		vllm, sglang string
	}{
		"whole":                        {"--kv-transfer-config", OwnedArgs, FlagKVTransferConfig, ""},
		"with value":                   {"--kv-transfer-config={}", OwnedArgs, FlagKVTransferConfig, ""},
		"value has equals":             {"--kv-events-config=a=b", OwnedArgs, FlagKVEventsConfig, ""},
		"underscores":                  {"--kv_transfer_config", OwnedArgs, FlagKVTransferConfig, ""},
		"cut short":                    {"--kv-transfer-conf", OwnedArgs, FlagKVTransferConfig, ""},
		"cut short and underscored":    {"--kv_e", OwnedArgs, FlagKVEventsConfig, ""},
		"dotted":                       {"--kv-transfer-config.kv_role=kv_both", OwnedArgs, FlagKVTransferConfig, ""},
		"dotted twice":                 {"--kv-transfer-config.a.b", OwnedArgs, FlagKVTransferConfig, ""},
		"dotted list":                  {"--kv-transfer-config.k+=a,b", OwnedArgs, FlagKVTransferConfig, ""},
		"dotted and underscored":       {"--kv_transfer_config.kv_role=kv_both", OwnedArgs, FlagKVTransferConfig, ""},
		"first of several":             {"--kv", dtype, FlagKVTransferConfig, FlagKVCacheDtype},
		"dtype":                        {"--kv-cache-dtype", dtype, FlagKVCacheDtype, FlagKVCacheDtype},
		"dtype with value":             {"--kv-cache-dtype=fp8", dtype, FlagKVCacheDtype, FlagKVCacheDtype},
		"dtype cut short":              {"--kv-cache-d", dtype, FlagKVCacheDtype, FlagKVCacheDtype},
		"dtype cut shorter":            {"--kv-cache", dtype, FlagKVCacheDtype, FlagKVCacheDtype},
		"dtype underscored":            {"--kv_cache_dtype", dtype, FlagKVCacheDtype, ""},
		"dtype not owned":              {"--kv-cache-dtype", OwnedArgs, "", ""},
		"longer than the key":          {"--kv-cache-dtype-skip-layers", dtype, "", ""},
		"mode":                         {"--disaggregation-mode", OwnedArgs, "", FlagDisaggregationMode},
		"mode cut short":               {"--disaggregation-mo", OwnedArgs, "", FlagDisaggregationMode},
		"mode underscored":             {"--disaggregation_mode", OwnedArgs, "", ""},
		"backend":                      {"--disaggregation-transfer-backend=mooncake", OwnedArgs, "", FlagDisaggregationTransferBackend},
		"bootstrap":                    {"--disaggregation-bootstrap-port", OwnedArgs, "", FlagDisaggregationBootstrapPort},
		"defaulted":                    {"--disaggregation-decode-retraction-backup", OwnedArgs, "", ""},
		"storage backend":              {"--hicache-storage-backend", OwnedArgs, "", FlagHicacheStorageBackend},
		"storage extra":                {"--hicache-storage-backend-ex", OwnedArgs, "", FlagHicacheStorageBackendExtraConfig},
		"storage prefetch":             {"--hicache-storage-prefetch-policy", OwnedArgs, "", ""},
		"ratio":                        {"--hicache-ratio", OwnedArgs, "", ""},
		"sglang knows no dotted forms": {"--disaggregation-mode.x", OwnedArgs, "", ""},
		"bare dashes":                  {"--", OwnedArgs, "", ""},
		"bare dashes with value":       {"--=1", OwnedArgs, "", ""},
		"nothing before the dot":       {"--.kv_role=x", OwnedArgs, "", ""},
		"single dash":                  {"-kv-transfer-config", OwnedArgs, "", ""},
		"value":                        {"kv-transfer-config", OwnedArgs, "", ""},
		"empty":                        {"", OwnedArgs, "", ""},
		"case matters":                 {"--KV-transfer-config", OwnedArgs, "", ""},

		"artifact model":      {"--model", ArtifactArgs, "--model", FlagModelPath},
		"artifact path":       {"--model-path=/x", ArtifactArgs, "", FlagModelPath},
		"artifact revision":   {"--revision", ArtifactArgs, FlagRevision, FlagRevision},
		"artifact tokenizer":  {"--tokenizer_revision", ArtifactArgs, "--tokenizer-revision", ""},
		"artifact download":   {"--download-dir", ArtifactArgs, "--download-dir", "--download-dir"},
		"artifact impl":       {"--model-impl", ArtifactArgs, "", ""},
		"artifact and owned":  {"--kv-transfer-config", ArtifactArgs, "", ""},
		"owned shields extra": {"--hicache-storage-backend", func(Engine) []string { return []string{FlagHicacheStorageBackendExtraConfig} }, FlagHicacheStorageBackendExtraConfig, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for engine, want := range map[Engine]string{VLLM: test.vllm, SGLang: test.sglang} {
				got, ok := Resolve(engine, test.token, test.keys(engine))
				if got != want || ok != (want != "") {
					t.Errorf("%s: Resolve(%q) = %q, %v; want %q", engine, test.token, got, ok, want)
				}
			}
		})
	}
}

func TestOwnedEnv(t *testing.T) {
	tests := map[string]struct {
		name                  string
		vllm, sglang, unknown bool
	}{
		"client file":     {"MOONCAKE_CONFIG_PATH", true, false, false},
		"bootstrap":       {"VLLM_MOONCAKE_BOOTSTRAP_PORT", true, false, false},
		"sglang file":     {"SGLANG_HICACHE_MOONCAKE_CONFIG_PATH", false, true, false},
		"master":          {"MOONCAKE_MASTER", false, true, false},
		"metadata":        {"MOONCAKE_TE_META_DATA_SERVER", false, true, false},
		"protocol":        {"MOONCAKE_PROTOCOL", false, true, false},
		"device":          {"MOONCAKE_DEVICE", false, true, false},
		"segment":         {"MOONCAKE_GLOBAL_SEGMENT_SIZE", false, true, false},
		"hostname":        {"MOONCAKE_LOCAL_HOSTNAME", false, true, false},
		"tenant":          {"MOONCAKE_TENANT_ID", false, true, false},
		"leader":          {EnvLeaderAddress, true, true, true},
		"size":            {EnvReplicaSize, true, true, true},
		"index":           {EnvMemberIndex, true, true, true},
		"other gpustack":  {"GPUSTACK_FOO", false, false, false},
		"case matters":    {"mooncake_tenant_id", false, false, false},
		"defaulted":       {"MC_TE_METRIC", false, false, false},
		"credential free": {"VLLM_API_KEY", false, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for engine, want := range map[Engine]bool{VLLM: test.vllm, SGLang: test.sglang, "other": test.unknown} {
				if got := OwnsEnv(engine, test.name); got != want {
					t.Errorf("%s: OwnsEnv(%s) = %v", engine, test.name, got)
				}
				if got := slices.Contains(OwnedEnv(engine), test.name); got != want {
					t.Errorf("%s: OwnedEnv holds %s: %v", engine, test.name, got)
				}
			}
		})
	}
	for _, name := range []string{"HF_TOKEN", "HF_ENDPOINT", "HF_HOME", "MODELSCOPE_API_TOKEN", "MODELSCOPE_DOMAIN", "MODELSCOPE_CACHE"} {
		if !OwnsArtifactEnv(VLLM, name) || !OwnsArtifactEnv(SGLang, name) || OwnsEnv(VLLM, name) {
			t.Errorf("%s is a hub name of both engines, and only with an artifact", name)
		}
	}
	if !OwnsArtifactEnv(VLLM, "VLLM_USE_MODELSCOPE") || OwnsArtifactEnv(SGLang, "VLLM_USE_MODELSCOPE") || !OwnsArtifactEnv(SGLang, "SGLANG_USE_MODELSCOPE") {
		t.Error("each engine has its own hub switch")
	}
}

func TestRouterOwned(t *testing.T) {
	tests := map[string]struct {
		router, token, want string
	}{
		"whole":               {"llm-d-router", "--config-file", "--config-file"},
		"with value":          {"llm-d-router", "--secure-serving=false", "--secure-serving"},
		"cut short":           {"llm-d-router", "--secure", ""},
		"underscored":         {"vllm-router", "--service_discovery", ""},
		"port":                {"vllm-router", "--port=1", "--port"},
		"port under llm-d":    {"llm-d-router", "--port=1", ""},
		"connector":           {"vllm-router", "--kv-connector", "--kv-connector"},
		"connector elsewhere": {"sglang-gateway", "--kv-connector", ""},
		"vllm split":          {"vllm-router", "--vllm-pd-disaggregation", "--vllm-pd-disaggregation"},
		"sglang split":        {"sglang-gateway", "--pd-disaggregation", "--pd-disaggregation"},
		"foreign split":       {"sglang-gateway", "--vllm-pd-disaggregation", ""},
		"unknown router":      {"envoy", "--port", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := RouterOwned(test.router, test.token); got != test.want || ok != (test.want != "") {
				t.Errorf("RouterOwned(%s, %s) = %q, %v", test.router, test.token, got, ok)
			}
		})
	}
	want := map[string]int{"llm-d-router": 6, "vllm-router": 12, "sglang-gateway": 11}
	for router, n := range want {
		if got := RouterArgs(router); len(got) != n {
			t.Errorf("%s owns %d flags: %v", router, len(got), got)
		}
	}
}

func TestNames(t *testing.T) {
	tests := map[string]struct {
		engine Engine
		args   string
		flag   string
		want   bool
	}{
		"switch":            {SGLang, "--enable-hierarchical-cache", FlagEnableHierarchicalCache, true},
		"switch with value": {SGLang, "--enable-hierarchical-cache=true", FlagEnableHierarchicalCache, true},
		"switch cut short":  {SGLang, "--enable-hier", FlagEnableHierarchicalCache, true},
		"underscored":       {SGLang, "--enable_hierarchical_cache", FlagEnableHierarchicalCache, false},
		"backup":            {SGLang, "--disaggregation-decode-retraction-backup=host_pool", FlagDisaggregationDecodeRetractionBackup, true},
		"only a value":      {SGLang, "--chat-template enable-hierarchical-cache", FlagEnableHierarchicalCache, false},
		"absent":            {SGLang, "--enable-metrics", FlagEnableHierarchicalCache, false},
		"second":            {VLLM, "--seed 1 --served_model_name x", FlagServedModelName, true},
		"unknown engine":    {"other", "--served-model-name x", FlagServedModelName, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Names(test.engine, strings.Fields(test.args), test.flag); got != test.want {
				t.Errorf("Names(%s) = %v", test.args, got)
			}
		})
	}
}

func TestTablesAreCopies(t *testing.T) {
	OwnedArgs(VLLM)[0] = "broken"
	OwnedEnv(SGLang)[0] = "broken"
	ArtifactArgs(VLLM)[0] = "broken"
	ArtifactEnv(VLLM)[0] = "broken"
	RouterArgs("vllm-router")[0] = "broken"
	for _, list := range [][]string{OwnedArgs(VLLM), OwnedEnv(SGLang), ArtifactArgs(VLLM), ArtifactEnv(VLLM), ArtifactEnv(SGLang), RouterArgs("vllm-router")} {
		if slices.Contains(list, "broken") {
			t.Errorf("a caller can change %v", list)
		}
	}
}

func TestResolveArtifact(t *testing.T) {
	tests := map[string]struct {
		engine      Engine
		token, want string
	}{
		"exact":                {VLLM, "--model=x", "--model"},
		"prefix":               {VLLM, "--tokenizer-rev", "--tokenizer-revision"},
		"prefix and a flag":    {VLLM, "--tokenizer=x", "--tokenizer-revision"},
		"shorter than its own": {VLLM, "--tokenize=x", "--tokenizer-revision"},
		"sglang alias":         {SGLang, "--model", FlagModelPath},
		"sglang flag":          {SGLang, "--tokenizer-path", ""},
		"other engine":         {"other", "--model", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := ResolveArtifact(test.engine, test.token); got != test.want || ok != (test.want != "") {
				t.Errorf("ResolveArtifact(%s, %s) = %q, %v", test.engine, test.token, got, ok)
			}
		})
	}
}

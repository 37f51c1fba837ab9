package argv

import (
	"slices"
	"strings"
)

// Environment variables every Pod of a multi-member replica reads its rank
// from. No role may set them, whatever its size or engine.
const (
	EnvLeaderAddress = "GPUSTACK_REPLICA_LEADER_ADDRESS"
	EnvReplicaSize   = "GPUSTACK_REPLICA_SIZE"
	EnvMemberIndex   = "GPUSTACK_MEMBER_INDEX"
)

// ownedArgs are the flags that carry mdc's connector. A second value for one
// of them could not be told from the rendered one.
var ownedArgs = map[Engine][]string{
	VLLM: {
		FlagKVTransferConfig,
		FlagKVEventsConfig,
	},
	SGLang: {
		FlagHicacheStorageBackend,
		FlagHicacheStorageBackendExtraConfig,
		FlagDisaggregationMode,
		FlagDisaggregationTransferBackend,
		FlagDisaggregationBootstrapPort,
	},
}

// ownedEnv are the variables that carry mdc's connector.
var ownedEnv = map[Engine][]string{
	VLLM: {
		"MOONCAKE_CONFIG_PATH",
		"VLLM_MOONCAKE_BOOTSTRAP_PORT",
	},
	SGLang: {
		"SGLANG_HICACHE_MOONCAKE_CONFIG_PATH",
		"MOONCAKE_MASTER",
		"MOONCAKE_TE_META_DATA_SERVER",
		"MOONCAKE_PROTOCOL",
		"MOONCAKE_DEVICE",
		"MOONCAKE_GLOBAL_SEGMENT_SIZE",
		"MOONCAKE_LOCAL_HOSTNAME",
		"MOONCAKE_TENANT_ID",
	},
}

// rankEnv is owned on every engine, known to this package or not.
var rankEnv = []string{EnvLeaderAddress, EnvReplicaSize, EnvMemberIndex}

// artifactArgs choose what weights are loaded and from where. They are mdc's
// while the deployment names a model artifact.
var artifactArgs = map[Engine][]string{
	VLLM:   {"--model", FlagRevision, "--tokenizer-revision", "--download-dir"},
	SGLang: {FlagModelPath, FlagRevision, "--download-dir"},
}

// artifactEnv choose the hub, its credentials and its cache directory.
var artifactEnv = map[Engine][]string{
	VLLM:   append(slices.Clone(hubEnv), "VLLM_USE_MODELSCOPE"),
	SGLang: append(slices.Clone(hubEnv), "SGLANG_USE_MODELSCOPE"),
}

var hubEnv = []string{
	"HF_TOKEN",
	"HF_ENDPOINT",
	"HF_HOME",
	"MODELSCOPE_API_TOKEN",
	"MODELSCOPE_DOMAIN",
	"MODELSCOPE_CACHE",
}

// routerArgs are the flags a router gets from mdc, by the router's API name.
var routerArgs = map[string][]string{
	"llm-d-router": {
		"--endpoint-selector",
		"--endpoint-target-ports",
		"--config-file",
		"--secure-serving",
		"--grpc-health-port",
		"--metrics-endpoint-auth",
	},
	"vllm-router": {
		"--host",
		"--port",
		"--prometheus-host",
		"--prometheus-port",
		"--kv-connector",
		"--service-discovery",
		"--service-discovery-namespace",
		"--service-discovery-port",
		"--selector",
		"--prefill-selector",
		"--decode-selector",
		"--vllm-pd-disaggregation",
	},
	"sglang-gateway": {
		"--host",
		"--port",
		"--prometheus-host",
		"--prometheus-port",
		"--service-discovery",
		"--service-discovery-namespace",
		"--service-discovery-port",
		"--selector",
		"--prefill-selector",
		"--decode-selector",
		"--pd-disaggregation",
	},
}

// OwnedArgs are the flags of engine that are always mdc's, rendered or not.
// [FlagKVCacheDtype] is not among them: it is owned only beside a cache.
func OwnedArgs(engine Engine) []string { return slices.Clone(ownedArgs[engine]) }

// OwnedEnv are the environment names that are always mdc's: those of engine's
// connector, then the three rank variables.
func OwnedEnv(engine Engine) []string { return slices.Concat(ownedEnv[engine], rankEnv) }

// ArtifactArgs are the flags of engine that are mdc's beside a model artifact.
func ArtifactArgs(engine Engine) []string { return slices.Clone(artifactArgs[engine]) }

// ResolveArtifact returns the flag of [ArtifactArgs] that token spells. It errs
// towards one: --tokenizer is a flag of vLLM, and is taken for an abbreviation.
func ResolveArtifact(engine Engine, token string) (flag string, ok bool) {
	return Resolve(engine, token, artifactArgs[engine])
}

// ArtifactEnv are the environment names that are mdc's beside a model artifact.
func ArtifactEnv(engine Engine) []string { return slices.Clone(artifactEnv[engine]) }

// RouterArgs are the flags mdc gives the router.
func RouterArgs(router string) []string { return slices.Clone(routerArgs[router]) }

// OwnsEnv reports whether name is one of [OwnedEnv]. Names are compared whole
// and with their case.
func OwnsEnv(engine Engine, name string) bool {
	return slices.Contains(ownedEnv[engine], name) || slices.Contains(rankEnv, name)
}

// OwnsArtifactEnv reports whether name is one of [ArtifactEnv].
func OwnsArtifactEnv(engine Engine, name string) bool {
	return slices.Contains(artifactEnv[engine], name)
}

// RouterOwned returns the flag mdc gives the router that token repeats. The
// routers' parsers take neither abbreviations nor other spellings, so the text
// before "=" must be the flag itself.
func RouterOwned(router, token string) (flag string, ok bool) {
	name, _, _ := strings.Cut(token, "=")
	if slices.Contains(routerArgs[router], name) {
		return name, true
	}
	return "", false
}

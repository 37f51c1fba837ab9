// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "gpustack.ai/mdc/compiler/diag"

// Rules are all rules, in the order they are judged.
var Rules = []Rule{
	{"engine-version", diag.Error, Always, engineVersion},
	{"kvcache-pool-ref", diag.Error, Whole, kvCachePoolRef},

	{"role-count", diag.Error, Always, roleCount},
	{"role-name-dup", diag.Error, Always, roleNameDup},
	{"service-name", diag.Error, Always, serviceName},
	{"service-name-clash", diag.Error, Always, serviceNameClash},
	{"member-name", diag.Error, Always, memberName},

	{"kind-mix", diag.Error, Always, kindMix},
	{"kind-repeat", diag.Error, Always, kindRepeat},
	{"kind-engine", diag.Error, Always, kindEngine},
	{"topology-syntax", diag.Error, Always, topologySyntax},
	{"topology-hostname", diag.Error, Always, topologyHostname},

	{"owned-arg", diag.Error, Always, ownedArg},
	{"kv-cache-dtype", diag.Error, Live, kvCacheDtype},
	{"artifact-arg", diag.Error, Always, artifactArg},
	{"served-name", diag.Error, Always, servedName},
	{"owned-env", diag.Error, Always, ownedEnv},
	{"artifact-env", diag.Error, Always, artifactEnv},
	{"parallel-parse", diag.Error, Always, parallelParse},
	{"parallel-width", diag.Error, Always, parallelWidth},

	{"accelerator-count", diag.Error, Always, acceleratorCount},
	{"interface-count", diag.Error, Always, interfaceCount},
	{"slice-and-profile", diag.Error, Always, sliceAndProfile},

	{"volume-source", diag.Error, Always, volumeSource},
	{"volume-path-dup", diag.Error, Always, volumePathDup},
	{"volume-subpath", diag.Error, Always, volumeSubPath},
	{"artifact-mount", diag.Error, Always, artifactMount},
	{"host-privileged", diag.Error, Always, hostPrivileged},
	{"host-path", diag.Error, Always, hostPath},

	{"reserved-port", diag.Error, Always, reservedPort},
	{"listen-port", diag.Error, Always, listenPort},
	{"reserved-listen-port", diag.Error, Always, reservedListenPort},

	{"router-owned-arg", diag.Error, Always, routerOwnedArg},
	{"router-threshold", diag.Error, Always, routerThreshold},
	{"router-engine", diag.Error, Always, routerEngine},
	{"router-metrics", diag.Error, Always, routerMetrics},
	{"router-tcp", diag.Error, Always, routerTCP},
	{"router-tls", diag.Error, Always, routerTLS},
	{"router-same-port", diag.Error, Always, routerSamePort},
	{"router-decode-port", diag.Error, Always, routerDecodePort},

	{"frozen-model", diag.Error, OnUpdate | Whole, frozenModel},
	{"frozen-engine", diag.Error, OnUpdate, frozenEngine},
	{"frozen-kvcache", diag.Error, OnUpdate | Whole, frozenKVCache},
	{"frozen-role-set", diag.Error, OnUpdate, frozenRoleSet},
	{"frozen-kind", diag.Error, OnUpdate, frozenKind},
	{"frozen-size", diag.Error, OnUpdate, frozenSize},
	{"frozen-instance-type", diag.Error, OnUpdate, frozenInstanceType},
	{"frozen-resources", diag.Error, OnUpdate | Whole, frozenResources},
	{"frozen-command", diag.Error, OnUpdate | Whole, frozenCommand},
	{"frozen-router-name", diag.Error, OnUpdate, frozenRouterName},

	{"type-missing", diag.Error, Live, typeMissing},
	{"type-not-ready", diag.Error, Live, typeNotReady},
	{"mode-slice", diag.Error, Live, modeSlice},
	{"mode-partition", diag.Error, Live, modePartition},
	{"mode-profile", diag.Error, Live, modeProfile},
	{"single-card", diag.Error, Live, singleCard},
	{"capacity", diag.Error, Live, capacity},
	{"zero-accelerator", diag.Error, Live, zeroAccelerator},
	{"pair-slice", diag.Error, Live, pairSlice},

	{"volume-owned-path", diag.Warning, Always, volumeOwnedPath},
	{"member-probes", diag.Warning, Always, memberProbes},
	{"arg-typo", diag.Warning, Always, argTypo},

	{"interface-leg", diag.Error, Live | Late, interfaceLeg},
	{"pool-transport", diag.Error, Live | Late, poolTransport},
}

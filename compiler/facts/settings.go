// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"gpustack.ai/mdc/compiler/diag"
)

// SettingName is the name of a platform-wide Setting that a compile reads.
type SettingName string

// The Settings, as the GPUStack operator names them.
const (
	// SettingKVCacheDtypeOwned renders --kv-cache-dtype from the Binding and
	// refuses it in extraArgs.
	SettingKVCacheDtypeOwned SettingName = "model-deployment-kv-cache-dtype-owned"
	// SettingResourcesOvercommit requests less CPU, memory and storage than the
	// limits.
	SettingResourcesOvercommit SettingName = "instance-general-resources-overcommit"
	// SettingRoutingSidecarImage is the routing proxy in front of a decode half.
	SettingRoutingSidecarImage SettingName = "model-deployment-routing-sidecar-image"
	// SettingTCPTimeWaitReuse lets the prefill half of an SGLang pair reuse
	// sockets in TIME-WAIT. The kubelet must allow the sysctl.
	SettingTCPTimeWaitReuse SettingName = "model-deployment-tcp-tw-reuse"
	// SettingDeliveryMode is Engine or Node: who downloads the weights of a hub.
	SettingDeliveryMode SettingName = "model-artifact-delivery-mode"
	// SettingHuggingFaceEndpoint is the address of the Hugging Face hub.
	SettingHuggingFaceEndpoint SettingName = "model-artifact-huggingface-endpoint"
	// SettingModelScopeEndpoint is the address of the ModelScope hub.
	SettingModelScopeEndpoint SettingName = "model-artifact-modelscope-endpoint"
	// SettingHTTPSProxy is the proxy for downloads; empty is none.
	SettingHTTPSProxy SettingName = "model-artifact-https-proxy"
	// SettingNoProxy lists what is reached without the proxy.
	SettingNoProxy SettingName = "model-artifact-no-proxy"
	// SettingPrivilegedAllowed allows privileged roles.
	SettingPrivilegedAllowed SettingName = "instance-privileged-allowed"
	// SettingHostPathAllowed allows hostPath volumes.
	SettingHostPathAllowed SettingName = "instance-host-path-volume-allowed"
	// SettingRouterImage is the image of a router that states none. It carries
	// the programs of all routers.
	SettingRouterImage SettingName = "model-deployment-router-image"
	// SettingRouterProxyImage is the image of the proxy in front of the endpoint
	// picker of llm-d-router.
	SettingRouterProxyImage SettingName = "model-deployment-router-proxy-image"
	// SettingContainerRegistry and SettingContainerNamespace are the mirror that
	// images nobody chose are pulled from.
	SettingContainerRegistry  SettingName = "container-registry"
	SettingContainerNamespace SettingName = "container-namespace"
)

var settingDefaults = map[SettingName]string{
	SettingKVCacheDtypeOwned:   "true",
	SettingResourcesOvercommit: "false",
	SettingRoutingSidecarImage: "gpustack/mirrored-llm-d-router-disagg-sidecar:v0.10.0",
	SettingTCPTimeWaitReuse:    "false",
	SettingDeliveryMode:        "Engine",
	SettingHuggingFaceEndpoint: "https://huggingface.co",
	SettingModelScopeEndpoint:  "https://www.modelscope.cn",
	SettingHTTPSProxy:          "",
	SettingNoProxy:             "",
	SettingPrivilegedAllowed:   "false",
	SettingHostPathAllowed:     "false",
	SettingRouterImage:         "gpustack/llm-router:v0.1.0",
	SettingRouterProxyImage:    "gpustack/mirrored-envoy:distroless-v1.33.2",
	SettingContainerRegistry:   "",
	SettingContainerNamespace:  "",
}

// booleans are the Settings that are on or off.
var booleans = []SettingName{
	SettingKVCacheDtypeOwned, SettingResourcesOvercommit, SettingTCPTimeWaitReuse, SettingPrivilegedAllowed, SettingHostPathAllowed,
}

// judgeSettings refuses Settings that would be taken for their default.
func (x *Index) judgeSettings() (findings diag.List) {
	for _, name := range booleans {
		f, ok := x.settings.get("", string(name))
		if !ok {
			continue
		}
		if message, remedy := JudgeSetting(name, f.Value.Spec.Value); message != "" {
			findings = append(findings, f.Source.Finding(diag.Error, RuleSettingValue, "spec.value", message, "write spec.value: "+remedy))
		}
	}
	return findings
}

// RuleSettingValue is the rule of a Setting with a value it cannot have.
const RuleSettingValue = "setting-value"

// JudgeSetting says what is wrong with the value of a Setting, and what to write
// instead; nothing when it can be used.
func JudgeSetting(name SettingName, value string) (message, remedy string) {
	if value == "" || !slices.Contains(booleans, name) {
		return "", ""
	}
	if _, err := strconv.ParseBool(value); err == nil {
		return "", ""
	}
	return fmt.Sprintf("the Setting %s is %q, and it is either true or false", name, value), `"true" or "false"`
}

// Setting returns the value of a Setting: that of the overrides, else of the
// facts, else its default. An empty value is none, and gives the default.
func (x *Index) Setting(name SettingName) string {
	value, overridden := x.overrides[string(name)]
	if f, ok := x.settings.get("", string(name)); ok && !overridden {
		value = f.Value.Spec.Value
	}
	if value == "" {
		return settingDefaults[name]
	}
	return value
}

// Image returns the image that a Setting names. The default is pulled from the
// mirror when there is one; an image that somebody chose stays as it is.
func (x *Index) Image(name SettingName) string {
	image := x.Setting(name)
	if image != settingDefaults[name] {
		return image
	}
	if namespace := x.Setting(SettingContainerNamespace); namespace != "" {
		image = path.Join(namespace, path.Base(image))
	}
	if registry := x.Setting(SettingContainerRegistry); registry != "" {
		image = strings.TrimSuffix(registry, "/") + "/" + image
	}
	return image
}

// Enabled returns a boolean Setting. A value that is no boolean counts as the
// default.
func (x *Index) Enabled(name SettingName) bool {
	if b, err := strconv.ParseBool(x.Setting(name)); err == nil {
		return b
	}
	return settingDefaults[name] == "true"
}

// SettingNamespace is where the GPUStack operator keeps its Settings.
const SettingNamespace = "gpustack-system"

// SettingNames are the Settings that a compile reads.
func SettingNames() []SettingName { return slices.Sorted(maps.Keys(settingDefaults)) }

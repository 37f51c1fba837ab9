// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

// The document of the endpoint picker, as far as a compile fills it in.
type (
	pickerConfig struct {
		APIVersion         string     `json:"apiVersion"`
		Kind               string     `json:"kind"`
		Plugins            []plugin   `json:"plugins"`
		SchedulingProfiles []profile  `json:"schedulingProfiles"`
		DataLayer          *dataLayer `json:"dataLayer,omitempty"`
	}
	plugin struct {
		Type string `json:"type"`
		// Name is what references mean; absent, the type is.
		Name       string `json:"name,omitempty"`
		Parameters any    `json:"parameters,omitempty"`
	}
	profile struct {
		Name    string      `json:"name"`
		Plugins []pluginRef `json:"plugins"`
	}
	pluginRef struct {
		PluginRef string `json:"pluginRef"`
		Weight    int    `json:"weight,omitempty"`
	}
	dataLayer struct {
		Sources []dataSource `json:"sources"`
	}
	dataSource struct {
		PluginRef  string      `json:"pluginRef"`
		Extractors []pluginRef `json:"extractors"`
	}
)

// Parameters of the plugins.
type (
	filterParameters struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
	tokenizerParameters struct {
		ModelName string        `json:"modelName"`
		VLLM      tokenizerVLLM `json:"vllm"`
	}
	tokenizerVLLM struct {
		URL string `json:"url"`
	}
	preciseParameters struct {
		KVEvents kvEventsConfig `json:"kvEventsConfig"`
	}
	kvEventsConfig struct {
		TopicFilter  string       `json:"topicFilter"`
		Concurrency  int          `json:"concurrency"`
		EngineType   string       `json:"engineType"`
		DiscoverPods bool         `json:"discoverPods"`
		PodDiscovery podDiscovery `json:"podDiscoveryConfig"`
	}
	podDiscovery struct {
		PodLabelSelector string `json:"podLabelSelector"`
		PodNamespace     string `json:"podNamespace"`
		SocketPort       int32  `json:"socketPort"`
		ReplaySocketPort int32  `json:"replaySocketPort"`
	}
	scorerParameters struct {
		Producer string `json:"prefixMatchInfoProducerName"`
	}
	metricsSourceParameters struct {
		Port int32 `json:"port"`
	}
	extractorParameters struct {
		EngineConfigs []engineConfig `json:"engineConfigs"`
	}
	engineConfig struct {
		Name                string `json:"name"`
		QueuedRequestsSpec  string `json:"queuedRequestsSpec"`
		RunningRequestsSpec string `json:"runningRequestsSpec"`
		KVUsageSpec         string `json:"kvUsageSpec"`
	}
	deciderParameters struct {
		// PromptTokens is 0: how long a prompt is does not decide.
		PromptTokens int32 `json:"promptTokens"`
		// NonCachedTokens is 0 where no request is ever split.
		NonCachedTokens int32 `json:"nonCachedTokens"`
	}
	handlerParameters struct {
		// Profiles name the scheduling profile of each half.
		Profiles map[string]string `json:"profiles"`
		// Deciders name the plugin that decides whether a half takes part.
		Deciders map[string]string `json:"deciders"`
	}
)

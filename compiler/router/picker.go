// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
)

// Plugins of the endpoint picker, which are referred to by their type unless
// they have a name.
const (
	kindFilter        = "label-selector-filter"
	tokenizer         = "token-producer"
	endpointSource    = "endpoint-notification-source"
	precisePrefixes   = "precise-prefix-cache-producer"
	approxPrefixes    = "approx-prefix-cache-producer"
	queueScorer       = "queue-scorer"
	utilizationScorer = "kv-cache-utilization-scorer"
	prefixScorer      = "prefix-cache-scorer"
	bestPicker        = "max-score-picker"
	metricsSource     = "metrics-data-source"
	metricsExtractor  = "core-metrics-extractor"
	splitDecider      = "prefix-based-pd-decider"
	splitHandler      = "disagg-profile-handler"
)

// Weights of the scorers against each other.
const (
	queueWeight       = 2
	utilizationWeight = 2
	prefixWeight      = 3
)

// defaultThreshold is how many tokens of a prompt must be missing from the
// caches for a request to be split.
const defaultThreshold int32 = 8

// pickerDocument is the configuration of the endpoint picker. Its keys are
// sorted, so its bytes depend on nothing but its content.
func pickerDocument(in Input) string {
	c := pickerConfig{APIVersion: "llm-d.ai/v1alpha1", Kind: "EndpointPickerConfig"}
	for _, kind := range in.kinds() {
		c.Plugins = append(c.Plugins, plugin{Type: kindFilter, Name: filterName(kind), Parameters: filterParameters{
			MatchLabels: map[string]string{v1.LabelRoleKind: kind},
		}})
		c.SchedulingProfiles = append(c.SchedulingProfiles, kindProfile(kind))
	}
	source := prefixSources[in.engine()](in)
	c.Plugins = append(c.Plugins, source.producers...)
	c.Plugins = append(c.Plugins,
		plugin{Type: queueScorer},
		plugin{Type: utilizationScorer},
		plugin{Type: bestPicker},
		plugin{Type: prefixScorer, Parameters: source.scorer},
		plugin{Type: metricsSource, Parameters: metricsSourceParameters{Port: in.port()}},
		plugin{Type: metricsExtractor, Parameters: extractorParameters{EngineConfigs: []engineConfig{in.engineConfig()}}},
	)
	c.Plugins = append(c.Plugins, in.splitPlugins()...)
	c.DataLayer = source.dataLayer
	b, err := json.Marshal(c)
	if err == nil {
		b, err = yaml.JSONToYAML(escaped(b))
	}
	if err != nil {
		panic(err) // only structs of strings and numbers
	}
	return string(b)
}

// escaped writes the characters of JSON that YAML wants escaped, and that a
// model may have in its name, as escapes.
func escaped(text []byte) []byte {
	var out []byte
	for _, r := range string(text) {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func filterName(kind string) string { return kind + "-pods" }

// kindProfile scores the Pods of one kind. What a decode Pod has cached does
// not count: it is sent the whole KV cache of the prompt.
func kindProfile(kind string) profile {
	p := profile{Name: kind, Plugins: []pluginRef{
		{PluginRef: filterName(kind)},
		{PluginRef: queueScorer, Weight: queueWeight},
		{PluginRef: utilizationScorer, Weight: utilizationWeight},
		{PluginRef: bestPicker},
	}}
	if kind != decodeKind {
		p.Plugins = append(p.Plugins, pluginRef{PluginRef: prefixScorer, Weight: prefixWeight})
	}
	return p
}

// engineConfig tells the picker what the metrics of the engine are called. It is
// found by a label of the Pods, and by the name vllm where they have none.
func (in Input) engineConfig() engineConfig {
	g := engineGauges[in.engine()]
	return engineConfig{
		Name:                in.engineLabel(),
		QueuedRequestsSpec:  g.queued,
		RunningRequestsSpec: g.running,
		KVUsageSpec:         g.cache,
	}
}

func (in Input) engineLabel() string { return strings.ToLower(string(in.engine())) }

// splitPlugins decide for each request whether both halves of a pair serve it.
func (in Input) splitPlugins() []plugin {
	if _, _, ok := in.pair(); !ok {
		return nil
	}
	return []plugin{
		{Type: splitDecider, Parameters: deciderParameters{
			NonCachedTokens: ptr.Deref(in.spec().DisaggregationThresholdTokens, defaultThreshold),
		}},
		{Type: splitHandler, Parameters: handlerParameters{
			Profiles: map[string]string{prefillKind: prefillKind, decodeKind: decodeKind},
			Deciders: map[string]string{prefillKind: splitDecider},
		}},
	}
}

// prefixSource is how the picker learns which replica has cached what.
type prefixSource struct {
	producers []plugin
	// scorer are the parameters of the prefix scorer.
	scorer    any
	dataLayer *dataLayer
}

// The engine alone decides, whether or not every role publishes events.
var prefixSources = map[v1.EngineName]func(Input) prefixSource{
	v1.EngineVLLM:   preciseSource,
	v1.EngineSGLang: approximateSource,
}

// preciseSource follows the events that vLLM publishes. A role that publishes
// none contributes nothing.
func preciseSource(in Input) prefixSource {
	return prefixSource{
		producers: []plugin{
			{Type: tokenizer, Parameters: tokenizerParameters{
				ModelName: in.Deployment.Spec.Model.Name,
				VLLM:      tokenizerVLLM{URL: in.tokenizer().Endpoint},
			}},
			{Type: endpointSource},
			{Type: precisePrefixes, Parameters: preciseParameters{KVEvents: kvEventsConfig{
				TopicFilter:  engine.EventsTopic,
				Concurrency:  4,
				EngineType:   in.engineLabel(),
				DiscoverPods: true,
				PodDiscovery: podDiscovery{
					PodLabelSelector: in.publisherSelector(),
					PodNamespace:     in.Deployment.Namespace,
					SocketPort:       engine.EventsPort,
					ReplaySocketPort: engine.ReplayPort,
				},
			}}},
		},
		scorer: scorerParameters{Producer: precisePrefixes},
		dataLayer: &dataLayer{Sources: []dataSource{
			{PluginRef: metricsSource, Extractors: []pluginRef{{PluginRef: metricsExtractor}}},
			{PluginRef: endpointSource, Extractors: []pluginRef{{PluginRef: precisePrefixes}}},
		}},
	}
}

// approximateSource remembers what was sent where: SGLang publishes no events
// that the picker understands.
func approximateSource(Input) prefixSource {
	return prefixSource{producers: []plugin{{Type: approxPrefixes}}}
}

// tokenizer is the role that is asked to tokenize prompts: one that reads
// prompts anyway, the same whatever the order of the roles.
func (in Input) tokenizer() Role {
	rank := map[v1.RoleKind]int{v1.RolePrefill: -2, v1.RoleServer: -1}
	return slices.MinFunc(in.Roles, func(a, b Role) int {
		return cmp.Or(cmp.Compare(rank[a.Kind], rank[b.Kind]), cmp.Compare(a.Name, b.Name))
	})
}

// publisherSelector leaves out the decode Pods, which publish nothing.
func (in Input) publisherSelector() string {
	s := in.leaderSelector()
	if _, ok := in.first(v1.RoleDecode); ok {
		s += "," + v1.LabelRoleKind + "!=" + decodeKind
	}
	return s
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/router"
)

// decodeInto decodes YAML and ignores fields that v does not have.
func decodeInto(t testing.TB, text string, v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// The public API of the endpoint picker's configuration.
type (
	pickerAPI struct {
		APIVersion         string          `json:"apiVersion"`
		Kind               string          `json:"kind"`
		FeatureGates       []string        `json:"featureGates"`
		Plugins            []pluginAPI     `json:"plugins"`
		SchedulingProfiles []profileAPI    `json:"schedulingProfiles"`
		SaturationDetector json.RawMessage `json:"saturationDetector"`
		FlowControl        json.RawMessage `json:"flowControl"`
		DataLayer          *struct {
			Sources []struct {
				PluginRef  string `json:"pluginRef"`
				Extractors []struct {
					PluginRef string `json:"pluginRef"`
				} `json:"extractors"`
			} `json:"sources"`
		} `json:"dataLayer"`
	}
	pluginAPI struct {
		Name       string          `json:"name"`
		Type       string          `json:"type"`
		Parameters json.RawMessage `json:"parameters"`
	}
	profileAPI struct {
		Name    string `json:"name"`
		Plugins []struct {
			PluginRef string   `json:"pluginRef"`
			Weight    *float64 `json:"weight"`
		} `json:"plugins"`
	}
)

func (p pluginAPI) name() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Type
}

// parametersAPI returns what the parameters of a plugin decode into; nil for a
// plugin without any.
func parametersAPI(plugin string) any {
	switch plugin {
	case "label-selector-filter":
		return &struct {
			MatchLabels map[string]string `json:"matchLabels"`
		}{}
	case "token-producer":
		return &struct {
			ModelName string `json:"modelName"`
			VLLM      struct {
				URL string `json:"url"`
			} `json:"vllm"`
		}{}
	case "precise-prefix-cache-producer":
		return &struct {
			KVEventsConfig struct {
				TopicFilter        string `json:"topicFilter"`
				Concurrency        int    `json:"concurrency"`
				EngineType         string `json:"engineType"`
				DiscoverPods       bool   `json:"discoverPods"`
				PodDiscoveryConfig struct {
					PodLabelSelector string `json:"podLabelSelector"`
					PodNamespace     string `json:"podNamespace"`
					SocketPort       int    `json:"socketPort"`
					ReplaySocketPort int    `json:"replaySocketPort"`
				} `json:"podDiscoveryConfig"`
			} `json:"kvEventsConfig"`
		}{}
	case "prefix-cache-scorer":
		return &struct {
			PrefixMatchInfoProducerName string `json:"prefixMatchInfoProducerName"`
		}{}
	case "metrics-data-source":
		return &struct {
			Port int `json:"port"`
		}{}
	case "core-metrics-extractor":
		return &struct {
			EngineConfigs []struct {
				Name                string `json:"name"`
				QueuedRequestsSpec  string `json:"queuedRequestsSpec"`
				RunningRequestsSpec string `json:"runningRequestsSpec"`
				KVUsageSpec         string `json:"kvUsageSpec"`
			} `json:"engineConfigs"`
		}{}
	case "prefix-based-pd-decider":
		return &struct {
			PromptTokens    int `json:"promptTokens"`
			NonCachedTokens int `json:"nonCachedTokens"`
		}{}
	case "disagg-profile-handler":
		return &struct {
			Profiles map[string]string `json:"profiles"`
			Deciders map[string]string `json:"deciders"`
		}{}
	}
	return nil
}

// readPicker decodes the picker's document strictly and follows its references.
func readPicker(t testing.TB, in router.Input) pickerAPI {
	t.Helper()
	text := data(t, in, "epp.yaml")
	var c pickerAPI
	if err := yaml.UnmarshalStrict([]byte(text), &c, yaml.DisallowUnknownFields); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	plugins := map[string]string{}
	for _, p := range c.Plugins {
		if plugins[p.name()] != "" {
			t.Errorf("two plugins %s", p.name())
		}
		plugins[p.name()] = p.Type
		if p.Parameters == nil {
			continue
		}
		v := parametersAPI(p.Type)
		if v == nil {
			t.Errorf("parameters of %s: %s", p.Type, p.Parameters)
			continue
		}
		if err := yaml.UnmarshalStrict(p.Parameters, v, yaml.DisallowUnknownFields); err != nil {
			t.Errorf("parameters of %s: %v", p.Type, err)
		}
	}
	refer := func(name string) {
		if plugins[name] == "" {
			t.Errorf("no plugin %s", name)
		}
	}
	for _, p := range c.SchedulingProfiles {
		for _, r := range p.Plugins {
			refer(r.PluginRef)
			if scores := strings.HasSuffix(r.PluginRef, "-scorer"); scores != (r.Weight != nil) {
				t.Errorf("%s of profile %s: weight %v", r.PluginRef, p.Name, r.Weight)
			}
		}
	}
	if c.DataLayer != nil {
		for _, s := range c.DataLayer.Sources {
			refer(s.PluginRef)
			for _, e := range s.Extractors {
				refer(e.PluginRef)
			}
		}
	}
	return c
}

func llmd(engine v1.EngineName, roles []router.Role, options ...option) router.Input {
	return newInput("x", "M", engine, v1.RouterSpec{Name: v1.RouterLLMD}, roles, options...)
}

var lone = map[string][]router.Role{
	"prefill": {{Name: "a", Kind: v1.RolePrefill}},
	"decode":  {{Name: "a", Kind: v1.RoleDecode}},
	"server":  servers("b", "a"),
}

// TestPickerIsStrict decodes the document of every shape without ignoring a
// field.
func TestPickerIsStrict(t *testing.T) {
	for _, engine := range []v1.EngineName{v1.EngineVLLM, v1.EngineSGLang} {
		for name, roles := range lone {
			t.Run(string(engine)+", "+name, func(t *testing.T) {
				c := readPicker(t, llmd(engine, slices.Clone(roles)))
				if len(c.SchedulingProfiles) != 1 || c.SchedulingProfiles[0].Name != name {
					t.Errorf("profiles %+v", c.SchedulingProfiles)
				}
				filters, last := 0, c.Plugins[len(c.Plugins)-1].Type
				for _, p := range c.Plugins {
					if p.Type == "label-selector-filter" {
						filters++
					}
				}
				if filters != 1 || last != "core-metrics-extractor" {
					t.Errorf("%d filters, last plugin %s", filters, last)
				}
				if refs := c.SchedulingProfiles[0].Plugins; (refs[len(refs)-1].PluginRef == "prefix-cache-scorer") != (name != "decode") {
					t.Errorf("profile %+v", refs)
				}
				if (c.DataLayer != nil) != (engine == v1.EngineVLLM) {
					t.Errorf("data layer %+v", c.DataLayer)
				}
			})
		}
		t.Run(string(engine)+", pair", func(t *testing.T) {
			c := readPicker(t, llmd(engine, pair()))
			if len(c.SchedulingProfiles) != 2 || c.SchedulingProfiles[0].Name != "decode" || c.SchedulingProfiles[1].Name != "prefill" {
				t.Errorf("profiles %+v", c.SchedulingProfiles)
			}
		})
	}
}

// TestLoneDecode discovers no publishers among decode Pods, pair or not.
func TestLoneDecode(t *testing.T) {
	for name, roles := range lone {
		text := data(t, llmd(v1.EngineVLLM, slices.Clone(roles)), "epp.yaml")
		if got := strings.Contains(text, ",modeldeployment.gpustack.ai/role-kind!=decode"); got != (name == "decode") {
			t.Errorf("%s: decode Pods left out: %t", name, got)
		}
	}
}

func TestThreshold(t *testing.T) {
	for name, tc := range map[string]struct {
		threshold *int32
		roles     []router.Role
		want      string
	}{
		"absent":           {nil, pair(), `{"nonCachedTokens":8,"promptTokens":0}`},
		"0":                {ptr.To[int32](0), pair(), `{"nonCachedTokens":0,"promptTokens":0}`},
		"512":              {ptr.To[int32](512), pair(), `{"nonCachedTokens":512,"promptTokens":0}`},
		"512, prefill":     {ptr.To[int32](512), slices.Clone(lone["prefill"]), ""},
		"512, decode":      {ptr.To[int32](512), slices.Clone(lone["decode"]), ""},
		"512, two servers": {ptr.To[int32](512), servers("a", "b"), ""},
	} {
		for _, engine := range []v1.EngineName{v1.EngineVLLM, v1.EngineSGLang} {
			in := llmd(engine, slices.Clone(tc.roles), spec(func(s *v1.RouterSpec) { s.DisaggregationThresholdTokens = tc.threshold }))
			got := ""
			for _, p := range readPicker(t, in).Plugins {
				if p.Type == "prefix-based-pd-decider" {
					got = string(p.Parameters)
				}
			}
			if got != tc.want {
				t.Errorf("%s, %s: %s, want %s", engine, name, got, tc.want)
			}
		}
	}
}

func TestTokenizer(t *testing.T) {
	role := func(name string, kind v1.RoleKind) router.Role { return router.Role{Name: name, Kind: kind} }
	for name, tc := range map[string]struct {
		roles []router.Role
		want  string
	}{
		"prefill beats decode":   {[]router.Role{role("a", v1.RoleDecode), role("b", v1.RolePrefill)}, "b"},
		"prefill, stated first":  {[]router.Role{role("b", v1.RolePrefill), role("a", v1.RoleDecode)}, "b"},
		"first server by name":   {servers("c", "a", "b"), "a"},
		"prefill beats servers":  {append(servers("a"), role("z", v1.RolePrefill)), "z"},
		"server beats decode":    {append(servers("z"), role("a", v1.RoleDecode)), "z"},
		"decode alone":           {[]router.Role{role("d", v1.RoleDecode)}, "d"},
		"names compare as bytes": {servers("a-b", "a0", "a"), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			in := llmd(v1.EngineVLLM, tc.roles)
			var got struct {
				ModelName string
				VLLM      struct{ URL string }
			}
			for _, p := range readPicker(t, in).Plugins {
				if p.Type == "token-producer" {
					decodeInto(t, string(p.Parameters), &got)
				}
			}
			if want := "http://x-" + tc.want + ".team-a.svc:8000"; got.VLLM.URL != want || got.ModelName != "M" {
				t.Errorf("%+v, want %s", got, want)
			}
		})
	}
}

// TestServingPort: the metrics are where the Pods serve, and the tokenizer is
// called through its Service, whose port may be another.
func TestServingPort(t *testing.T) {
	in := llmd(v1.EngineVLLM, []router.Role{{Name: "a", Kind: v1.RoleServer, Port: 9000}, {Name: "b", Kind: v1.RoleServer, Port: 9000}})
	for _, p := range readPicker(t, in).Plugins {
		if p.Type == "metrics-data-source" && string(p.Parameters) != `{"port":9000}` {
			t.Errorf("%s", p.Parameters)
		}
	}
	if got := data(t, in, "endpoint-target-ports"); got != "9000" {
		t.Errorf("target ports %q", got)
	}
	if text := data(t, in, "epp.yaml"); !strings.Contains(text, "url: http://x-a.team-a.svc:8000\n") {
		t.Error(text)
	}
}

// TestModelName keeps names that YAML could read as something else.
func TestModelName(t *testing.T) {
	for _, name := range []string{
		"yes", "1.5", "0x10", "null", "a: b", "# a", "- a", " a ", "a\nb", `"`, "é", "模型", "<&>", strings.Repeat("long words ", 22),
	} {
		in := newInput("x", name, v1.EngineVLLM, v1.RouterSpec{Name: v1.RouterLLMD}, servers("a"))
		for _, p := range readPicker(t, in).Plugins {
			var got struct{ ModelName string }
			if p.Type == "token-producer" {
				decodeInto(t, string(p.Parameters), &got)
				if got.ModelName != name {
					t.Errorf("%q became %q", name, got.ModelName)
				}
			}
		}
	}
}

func TestExtraArgsText(t *testing.T) {
	for want, args := range map[string][]string{
		"null":                  nil,
		`["--v=2","--x","a b"]`: {"--v=2", "--x", "a b"},
	} {
		in := vllmPair(spec(func(s *v1.RouterSpec) { s.ExtraArgs = args }))
		if diff := cmp.Diff(want, data(t, in, "extra-args.json")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

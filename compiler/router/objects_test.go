// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/router"
)

func TestNoRouter(t *testing.T) {
	in := vllmServer(func(in *router.Input) { in.Deployment.Spec.Router = nil })
	if o := router.Objects(in); o != nil {
		t.Errorf("objects %v", o)
	}
	if s := router.Status(in, "pool:1"); s != nil {
		t.Errorf("status %v", s)
	}
}

// TestMetadata: all objects are told apart by kind alone, and nothing of the
// deployment's own labels and annotations is copied.
func TestMetadata(t *testing.T) {
	for _, in := range []router.Input{vllmPair(), sglangServer(), vllmServer()} {
		md := in.Deployment
		md.Labels, md.Annotations = map[string]string{"team": "x"}, map[string]string{"note": "x"}
		for _, o := range router.Objects(in) {
			if o.GetName() != md.Name+"-router" || o.GetNamespace() != "team-a" || kind(o) == "" {
				t.Errorf("%s %s/%s", kind(o), o.GetNamespace(), o.GetName())
			}
			want := map[string]string{
				"app.kubernetes.io/managed-by":       "mdc",
				"app.kubernetes.io/name":             "model-deployment",
				"app.kubernetes.io/instance":         md.Name,
				"modeldeployment.gpustack.ai/router": string(md.Spec.Router.Name),
			}
			if diff := cmp.Diff(want, o.GetLabels()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", kind(o), diff)
			}
			want = map[string]string{"modeldeployment.gpustack.ai/deployment": md.Name}
			if diff := cmp.Diff(want, o.GetAnnotations()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", kind(o), diff)
			}
			if o.GetOwnerReferences() != nil {
				t.Errorf("%s has an owner", kind(o))
			}
		}
	}
}

func TestPermissions(t *testing.T) {
	want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}}}
	for _, in := range []router.Input{vllmPair(), sglangServer(), vllmServer()} {
		if diff := cmp.Diff(want, find[*rbacv1.Role](in).Rules); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// pod is the labels of a Pod of deployment qwen-pd.
func pod(kind, member string, change ...string) labels.Set {
	s := labels.Set{
		"app.kubernetes.io/name":                   "model-deployment",
		"app.kubernetes.io/instance":               "qwen-pd",
		"app.kubernetes.io/component":              kind,
		"modeldeployment.gpustack.ai/role-kind":    kind,
		"modeldeployment.gpustack.ai/member-index": member,
	}
	for i := 0; i < len(change); i += 2 {
		s[change[i]] = change[i+1]
	}
	return s
}

// TestSelectors matches every selector against Pods as they are labelled.
func TestSelectors(t *testing.T) {
	in := vllmPair()
	pods := map[string]labels.Set{
		"prefill":           pod("prefill", "0"),
		"decode":            pod("decode", "0"),
		"member":            pod("prefill", "1"),
		"other deployment":  pod("prefill", "0", "app.kubernetes.io/instance", "qwen"),
		"other application": pod("prefill", "0", "app.kubernetes.io/name", "x"),
		"router":            find[*appsv1.Deployment](in).Spec.Template.Labels,
		"labelled router":   pod("prefill", "0", "modeldeployment.gpustack.ai/router", "x"),
	}
	var document struct {
		Plugins []struct {
			Type       string
			Parameters struct {
				KVEventsConfig struct {
					PodDiscoveryConfig struct{ PodLabelSelector string }
				}
			}
		}
	}
	decodeInto(t, data(t, in, "epp.yaml"), &document)
	events := ""
	for _, p := range document.Plugins {
		events += p.Parameters.KVEventsConfig.PodDiscoveryConfig.PodLabelSelector
	}
	status := router.Status(in, "")
	plain := newInput("qwen-pd", "M", v1.EngineVLLM, v1.RouterSpec{Name: v1.RouterVLLM}, servers("a"))
	split := newInput("qwen-pd", "M", v1.EngineVLLM, v1.RouterSpec{Name: v1.RouterVLLM}, pair())
	for name, tc := range map[string]struct {
		selector string
		want     []string
	}{
		"endpoints":        {data(t, in, "endpoint-selector"), []string{"decode", "prefill"}},
		"events":           {events, []string{"prefill"}},
		"service":          {labels.FormatLabels(find[*corev1.Service](in).Spec.Selector), []string{"router"}},
		"deployment":       {labels.FormatLabels(find[*appsv1.Deployment](in).Spec.Selector.MatchLabels), []string{"router"}},
		"status prefill":   {labels.FormatLabels(status.Roles[0].Selector), []string{"labelled router", "prefill"}},
		"status decode":    {labels.FormatLabels(status.Roles[1].Selector), []string{"decode"}},
		"argument":         {argument(program(plain).Args, "--selector"), []string{"decode", "labelled router", "prefill"}},
		"argument prefill": {argument(program(split).Args, "--prefill-selector"), []string{"labelled router", "prefill"}},
		"argument decode":  {argument(program(split).Args, "--decode-selector"), []string{"decode"}},
	} {
		t.Run(name, func(t *testing.T) {
			selector, err := labels.Parse(tc.selector)
			if err != nil || selector.Empty() {
				t.Fatalf("selector %q: %v", tc.selector, err)
			}
			var got []string
			for name, set := range pods {
				if selector.Matches(set) {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			if !slices.Equal(tc.want, got) {
				t.Errorf("%s finds %q, want %q", tc.selector, got, tc.want)
			}
		})
	}
}

// argument joins the values of a flag that takes all words up to the next flag.
func argument(args []string, flag string) string {
	values := args[slices.Index(args, flag)+1:]
	if end := slices.IndexFunc(values, func(s string) bool { return strings.HasPrefix(s, "-") }); end >= 0 {
		values = values[:end]
	}
	return strings.Join(values, ",")
}

func TestDeploymentFields(t *testing.T) {
	in := vllmPair(spec(func(s *v1.RouterSpec) {
		s.Replicas = ptr.To[int32](3)
		s.ImagePullSecrets = []v1.LocalObjectReference{{Name: "a"}, {Name: "b"}}
	}))
	d := find[*appsv1.Deployment](in)
	if *d.Spec.Replicas != 3 || *find[*appsv1.Deployment](vllmPair()).Spec.Replicas != 1 {
		t.Errorf("replicas %d", *d.Spec.Replicas)
	}
	if diff := cmp.Diff([]corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}, podSpec(in).ImagePullSecrets); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRolls: the Pods of a router are replaced exactly when it is configured
// otherwise.
func TestRolls(t *testing.T) {
	args := func(a ...string) option { return spec(func(s *v1.RouterSpec) { s.ExtraArgs = a }) }
	timeout := spec(func(s *v1.RouterSpec) { s.RequestTimeoutSeconds = ptr.To[int32](5) })
	for name, tc := range map[string]struct {
		build  func(...option) router.Input
		change option
		rolls  bool
	}{
		"picker, replicas":        {vllmPair, spec(func(s *v1.RouterSpec) { s.Replicas = ptr.To[int32](3) }), false},
		"picker, order":           {vllmPair, func(in *router.Input) { slices.Reverse(in.Roles) }, false},
		"picker, no arguments":    {vllmPair, args(), false},
		"picker, empty arguments": {vllmPair, spec(func(s *v1.RouterSpec) { s.ExtraArgs = []string{} }), false},
		"picker, publishing":      {vllmPair, func(in *router.Input) { in.Roles[0].Publishes = true }, false},
		"picker, arguments":       {vllmPair, args("--v=2"), true},
		"picker, timeout":         {vllmPair, timeout, true},
		"picker, threshold":       {vllmPair, spec(func(s *v1.RouterSpec) { s.DisaggregationThresholdTokens = ptr.To[int32](9) }), true},
		"picker, same threshold":  {vllmPair, spec(func(s *v1.RouterSpec) { s.DisaggregationThresholdTokens = ptr.To[int32](8) }), false},
		"picker, image":           {vllmPair, spec(func(s *v1.RouterSpec) { s.Image = "x:1" }), true},
		"picker, proxy":           {vllmPair, func(in *router.Input) { in.ProxyImage = "x:1" }, true},
		"plain, order":            {vllmServer, func(in *router.Input) { slices.Reverse(in.Roles) }, false},
		"plain, timeout":          {vllmServer, timeout, true},
		"plain, arguments":        {vllmServer, args("--policy=random"), true},
	} {
		t.Run(name, func(t *testing.T) {
			before := find[*appsv1.Deployment](tc.build()).Spec.Template
			after := find[*appsv1.Deployment](tc.build(tc.change)).Spec.Template
			if rolls := !cmp.Equal(before, after); rolls != tc.rolls {
				t.Errorf("rolls: %t", rolls)
			}
		})
	}
}

// TestPrinted: the documents stay readable when the ConfigMap is printed.
func TestPrinted(t *testing.T) {
	in := vllmPair(spec(func(s *v1.RouterSpec) { s.ExtraArgs = []string{"--a=\"b\" c"} }))
	m := find[*corev1.ConfigMap](in)
	var b bytes.Buffer
	if err := emit.YAML(&b, []emit.Object{emit.New(m, "qwen-pd")}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  envoy.yaml: |\n    static_resources:\n", "  epp.yaml: |\n    apiVersion: llm-d.ai/v1alpha1\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	var back corev1.ConfigMap
	decodeInto(t, b.String(), &back)
	if diff := cmp.Diff(m.Data, back.Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeterminism renders the same bytes in any order of the roles.
func TestDeterminism(t *testing.T) {
	four := func() []router.Role { return servers("d", "b", "a", "c") }
	for name, build := range map[string]func() router.Input{
		"picker, pair": func() router.Input { return vllmPair() },
		"picker, servers": func() router.Input {
			return newInput("x", "M", v1.EngineVLLM, v1.RouterSpec{Name: v1.RouterLLMD}, four())
		},
		"plain, pair": func() router.Input {
			return newInput("x", "M", v1.EngineVLLM, v1.RouterSpec{Name: v1.RouterVLLM}, pair())
		},
		"plain, servers": func() router.Input {
			return newInput("x", "M", v1.EngineSGLang, v1.RouterSpec{Name: v1.RouterSGLang}, four())
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := ""
			for range 100 {
				in := build()
				rand.Shuffle(len(in.Roles), func(i, j int) { in.Roles[i], in.Roles[j] = in.Roles[j], in.Roles[i] })
				b, err := json.Marshal(router.Objects(in))
				if err != nil {
					t.Fatal(err)
				}
				if first == "" {
					first = string(b)
				}
				if diff := cmp.Diff(first, string(b)); diff != "" {
					t.Fatalf("(-first +later):\n%s", diff)
				}
			}
		})
	}
}

// TestInputIsKept: rendering changes nothing of its input, and results share
// nothing with each other.
func TestInputIsKept(t *testing.T) {
	args := append(make([]string, 0, 8), "--v=2")
	in := vllmServer(spec(func(s *v1.RouterSpec) { s.ExtraArgs = args }))
	before := in.Deployment.DeepCopy()
	d := find[*appsv1.Deployment](in)
	d.Spec.Selector.MatchLabels["x"] = "y"
	d.Spec.Template.Spec.Containers[0].Args[0] = "x"
	if find[*appsv1.Deployment](in).Spec.Template.Spec.Containers[0].Args[0] == "x" || d.Spec.Template.Labels["x"] != "" || d.Labels["x"] != "" {
		t.Error("results share memory")
	}
	if diff := cmp.Diff(before, in.Deployment); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package emit_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"gpustack.ai/mdc/compiler/emit"
)

func printed(t testing.TB, objects ...emit.Object) string {
	t.Helper()
	var b bytes.Buffer
	if err := emit.YAML(&b, objects); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func configMap(data map[string]string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{Data: data}
	cm.APIVersion, cm.Kind, cm.Name, cm.Namespace = "v1", "ConfigMap", "x", "ns"
	return cm
}

// misread are strings that some YAML parser takes for something else.
var misread = []string{
	"", " ", "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "yes", "Yes", "YES", "no", "No", "on", "On", "ON", "off", "Off",
	"y", "Y", "n", "N", "t", "f",
	"0", "-0", "+1", "1_000", "012", "0o7", "0x1F", "0b101", "08", "1:30", "1:30:00", "190:20:30.15", "1.", ".5", "1e3", "1E3", "-1.5e-3", "6.02E+23",
	".inf", "-.Inf", "+.INF", ".nan", ".NaN", "1__0", "0_", "_1", "+", "-", ".", "..", "9223372036854775808", "-9223372036854775809",
	"2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "2026-11-29T19:31:51Z",
	"=", "<<", "<", "*a", "&a", "!x", "!!str x", "%x", "@x", "`x", "|", ">", "- x", "-", "--- ", "---", "...", "? x", ": x", "a: b", "a:", "a #b", "#a",
	"[a]", "{a: b}", "]", "}", ",", "'", "\"", "'a'", "\"a\"", "a'b", "a\"b", "\\", "\\n", "a\\",
	"\n", "a\n", "a\nb", "a\n\n", "\na", " a\nb", "\ta\nb", "a\n b", "a\n\tb", "a \nb", "a\n ", "a\n\n\nb\n\n", "  \n", "a\r\nb", "a\rb", "\r", "a\tb", "\t", " a", "a ", "a  b",
	"\u0000", "\u0007", "\u001b", "\u007f", "\u0085", "a\u0085b", "\u00a0", "\u2028", "a\u2029b", "\ufeff", "a\ufeffb", "\ufffe", "\u200b", "日本語", "😀", "é\n日", "a\u0085\nb", "a\u2028\nb", "\ufeff\nb", "😀\n\u0007",
	"-" + strings.Repeat("1", 80), "+" + strings.Repeat("1", 80), "." + strings.Repeat("1", 80), strings.Repeat("1", 80), strings.Repeat("a ", 200), strings.Repeat("a", 5000),
	"gpustack/runner:cuda__runtimeVersion__-vllm0.29.0", `{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}`, "a<b>&c",
}

// readBack prints an object with the text as value and as key, and reads it
// with the parser of kubectl.
func readBack(t testing.TB, text string) {
	t.Helper()
	want := configMap(map[string]string{"value": text, text + "k": "key", "k" + text: "key"})
	if text != "" {
		want.Data[text] = "key"
		want.Labels = map[string]string{text: text}
	}
	out := printed(t, emit.New(want, "qwen"))
	got := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict([]byte(out), got); err != nil {
		t.Fatalf("%q: %v in\n%s", text, err, out)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s\nin\n%s", text, diff, out)
	}
	var list struct{ Items []*corev1.ConfigMap }
	var b bytes.Buffer
	if err := emit.JSON(&b, []emit.Object{emit.New(want, "qwen")}); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if err := json.Unmarshal(b.Bytes(), &list); err != nil {
		t.Fatalf("%q: %v in\n%s", text, err, b.String())
	}
	if diff := cmp.Diff(want, list.Items[0]); diff != "" {
		t.Fatalf("%q as JSON (-want +got):\n%s", text, diff)
	}
	// A struct takes a null for an empty string; whoever reads the JSON does not.
	if diff := cmp.Diff(generic(t, want), generic(t, b.Bytes())["items"].([]any)[0]); diff != "" {
		t.Fatalf("%q as JSON (-want +got):\n%s", text, diff)
	}
	// The next compile reads its own output.
	n, err := kyaml.Parse(out)
	if err != nil {
		t.Fatalf("%q: %v in\n%s", text, err, out)
	}
	if again := printed(t, emit.Object{Node: n.YNode()}); again != out {
		t.Fatalf("%q is not stable:\n%s\n%s", text, out, again)
	}
}

// generic is JSON, or what has a JSON form, without the help of types.
func generic(t testing.TB, v any) (out map[string]any) {
	t.Helper()
	b, isJSON := v.([]byte)
	if !isJSON {
		var err error
		if b, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStringsReadBack(t *testing.T) {
	for _, s := range misread {
		readBack(t, s)
	}
}

// TestRandomStringsReadBack puts pieces together that parsers look at.
func TestRandomStringsReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := slices.Concat(misread[:len(misread)-8], strings.Split("abcdefx0123456789.:_+-eE \n\t#'\"\\", ""))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		readBack(t, b.String())
	}
}

func FuzzStringsReadBack(f *testing.F) {
	for _, s := range misread {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// JSON knows no other strings than these.
		readBack(t, strings.ToValidUTF8(s, "?"))
	})
}

func TestQuoting(t *testing.T) {
	for text, want := range map[string]string{
		"on": `"on"`, "yes": `"yes"`, "1_000": `"1_000"`, "012": `"012"`, "0o7": `"0o7"`, "1:30": `"1:30"`, "null": `"null"`, "~": `"~"`,
		"2001-12-14": `"2001-12-14"`, "8000": `"8000"`, "true": `"true"`, "": `""`, "12.9": `"12.9"`,
		"online": "online", "yesterday": "yesterday", "a": "a", "12.9.1": "12.9.1", "vllm": "vllm",
	} {
		n, err := emit.Node(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		if got := printed(t, emit.Object{Node: n}); got != "k: "+want+"\n" {
			t.Errorf("%q is printed as %s", text, got)
		}
	}
}

// TestNode keeps the order of fields and the kind of every scalar. A null says
// nothing and is left out.
func TestNode(t *testing.T) {
	n, err := emit.Node(struct {
		Z string            `json:"z"`
		A int64             `json:"a"`
		B bool              `json:"b"`
		F float64           `json:"f"`
		N *int              `json:"nil"`
		L []string          `json:"l"`
		E []string          `json:"e"`
		M map[string]string `json:"m"`
		O map[string]string `json:"o"`
		Q resource.Quantity `json:"q"`
		H string            `json:"h"`
	}{
		Z: "z", A: 9007199254740993, B: true, F: 0.5, L: []string{"1", "x"}, E: []string{},
		M: map[string]string{"b": "2", "a": "1"}, O: map[string]string{}, Q: resource.MustParse("2000m"), H: "a<b>&c",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `z: z
a: 9007199254740993
b: true
f: 0.5
l:
- "1"
- x
e: []
m:
  a: "1"
  b: "2"
o: {}
q: "2"
h: a<b>&c
`
	if got := printed(t, emit.Object{Node: n}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNew(t *testing.T) {
	s := &corev1.Service{}
	s.APIVersion, s.Kind, s.Namespace, s.Name = "v1", "Service", "ns", "x"
	s.Spec.Type = "ClusterIP"
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "1"}}
	o := emit.New(s, "qwen")
	id := emit.Object{APIVersion: "v1", Kind: "Service", Namespace: "ns", Name: "x", Deployment: "qwen"}
	if diff := cmp.Diff(id, o, cmpopts.IgnoreUnexported(o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := "apiVersion: v1\nkind: Service\nmetadata:\n  name: x\n  namespace: ns\nspec:\n  type: ClusterIP\n"
	if got := printed(t, o); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSort(t *testing.T) {
	order := []emit.Object{
		{Kind: "Namespace", APIVersion: "v1", Name: "z"},
		{Kind: "PodTemplate", APIVersion: "v1", Namespace: "a", Name: "passed"},
		{Kind: "ServiceAccount", Namespace: "a", Deployment: "m", Name: "m-router"},
		{Kind: "Role", Namespace: "a", Deployment: "m", Name: "m-router"},
		{Kind: "RoleBinding", Namespace: "a", Deployment: "m", Name: "m-router"},
		{Kind: "ConfigMap", Namespace: "a", Deployment: "m", Name: "m-router"},
		{Kind: "Service", Namespace: "a", Deployment: "m", Name: "m"},
		{Kind: "Service", Namespace: "a", Deployment: "m", Name: "m-a"},
		{Kind: "Service", Namespace: "a", Deployment: "m", Name: "m-a-r0"},
		{Kind: "Deployment", Namespace: "a", Deployment: "m", Name: "m-router"},
		{Kind: "PodTemplate", Namespace: "a", Deployment: "m", Name: "m-a"},
		{Kind: "PodTemplate", Namespace: "a", Deployment: "m", Name: "m-a.uncached"},
		{Kind: "ModelDeployment", Namespace: "a", Deployment: "m", Name: "m"},
		{Kind: "Service", Namespace: "a", Deployment: "n", Name: "a"},
		{Kind: "ConfigMap", Namespace: "b", Name: "a"},
		{Kind: "ModelDeployment", Namespace: "b", Deployment: "a", Name: "a"},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		got := slices.Clone(order)
		r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		emit.Sort(got)
		if diff := cmp.Diff(order, got, cmpopts.IgnoreUnexported(emit.Object{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func TestYAML(t *testing.T) {
	if got := printed(t); got != "" {
		t.Errorf("nothing is printed as %q", got)
	}
	// An object passed through keeps its comments and its order.
	text := "# head\nkind: ConfigMap # a kind\napiVersion: v1\nmetadata:\n  # why\n  name: x\ndata: # all of it\n  b: \"1\"\n  a: |\n    x\n    y\n"
	n, err := kyaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	o := emit.New(configMap(nil), "qwen")
	want := text + "---\n" + printed(t, o)
	if got := printed(t, emit.Object{Node: n.YNode()}, o); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestJSON(t *testing.T) {
	n, err := kyaml.Parse("# c\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x} # d\ndata: {\"on\": \"yes\", n: \"012\", h: \"a<b>&c\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}, "data": map[string]any{"on": "yes", "n": "012", "h": "a<b>&c"}},
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x", "namespace": "ns"}, "data": map[string]any{"a": "1"}},
	}
	for name, tc := range map[string]struct {
		objects []emit.Object
		want    []map[string]any
	}{
		"none": {nil, []map[string]any{}},
		"two":  {[]emit.Object{{Node: n.YNode()}, emit.New(configMap(map[string]string{"a": "1"}), "qwen")}, want},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := emit.JSON(&b, tc.objects); err != nil {
				t.Fatal(err)
			}
			var got struct {
				APIVersion, Kind string
				Items            []map[string]any
			}
			d := json.NewDecoder(&b)
			d.DisallowUnknownFields()
			if err := d.Decode(&got); err != nil {
				t.Fatal(err)
			}
			if got.APIVersion != "v1" || got.Kind != "List" || got.Items == nil {
				t.Errorf("list %+v", got)
			}
			if diff := cmp.Diff(tc.want, got.Items); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(b.String(), `\u003c`) {
				t.Error("escaped for HTML")
			}
		})
	}
}

func TestGroupKind(t *testing.T) {
	for apiVersion, want := range map[string]string{"v1": "/X", "apps/v1": "apps/X", "worker.gpustack.ai/v1": "worker.gpustack.ai/X"} {
		o := emit.Object{APIVersion: apiVersion, Kind: "X"}
		if got := o.GroupKind(); got != want {
			t.Errorf("%s: %s, want %s", apiVersion, got, want)
		}
	}
}

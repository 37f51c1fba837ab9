// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/source"
)

// specimen is an input whose deployments are edited.
type specimen struct {
	objects, facts []*source.Object
	settings       map[string]string
}

// twoServers has one role of one member and one of three.
const twoServers = `apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
metadata: {name: md, namespace: team-a}
spec:
  model: {name: acme/model}
  engine: {name: vLLM, version: "0.29.0"}
  kvCache: {poolRef: {name: team-a-cache}}
  router: {name: vllm-router}
  roles:
  - {name: small, instanceType: nvidia, replicas: 2}
  - {name: wide, instanceType: nvidia, size: 3, replicas: 2}
  - {name: own, instanceType: nvidia, command: [run]}
`

// specimens are all examples and pairs of every dialect.
func specimens(t *testing.T) map[string]specimen {
	t.Helper()
	out := map[string]specimen{}
	for _, name := range examples(t) {
		read := func(path string) []*source.Object {
			set, err := source.Loader{FS: filesys.MakeFsOnDisk()}.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			return set.Objects
		}
		dir := filepath.Join(examplesDir, name)
		out["example "+name] = specimen{objects: read(dir), facts: read(filepath.Join(dir, "facts.yaml"))}
	}
	for name, s := range map[string]shape{
		"native pair":                       {kind: prefill, router: vllmRouter, transfer: "RDMA"},
		"native pair with proxy and store":  {kind: decode, router: llmd, store: "TCP", transfer: "TCP"},
		"native pair without router":        {kind: prefill, store: "TCP"},
		"native pair, neither":              {kind: prefill},
		"native pair with weights":          {kind: prefill, router: llmd, store: "RDMA", artifact: hubSecret},
		"half taken over":                   {kind: decode, router: llmd, store: "TCP", peerCmd: []string{"run"}},
		"SGLang pair":                       {engine: sglang, kind: prefill, router: gateway},
		"SGLang pair with proxy and store":  {engine: sglang, kind: prefill, router: llmd, store: "RDMA"},
		"SGLang pair on Ascend":             {engine: sglang, maker: "ascend", kind: prefill, router: llmd},
		"Ascend pair":                       {maker: "ascend", kind: prefill, router: llmd, extra: []string{"-tp", "4"}},
		"Ascend pair with store":            {maker: "ascend", kind: decode, router: llmd, store: "CANN", peer: []string{"-tp", "4"}},
		"Ascend pair, half taken over":      {maker: "ascend", kind: prefill, router: llmd, extra: []string{"-tp", "4"}, peerCmd: []string{"run", "-tp", "2"}},
		"Ascend pair that does not connect": {maker: "ascend", kind: prefill, router: vllmRouter, store: "CANN"},
	} {
		out[name] = specimen{parse(t, s.deployment()), parse(t, s.facts()), s.settings}
	}
	out["servers of all sizes"] = specimen{parse(t, twoServers), parse(t, shape{store: "TCP"}.facts()), nil}
	return out
}

func (s specimen) compile() (*compiler.Output, diag.List) {
	return compiler.Compile(compiler.Input{Objects: s.objects, Facts: s.facts, Settings: s.settings, Version: "test"})
}

// edited returns the specimen with one deployment changed.
func (s specimen) edited(t *testing.T, deployment *source.Object, change func(spec map[string]any)) specimen {
	t.Helper()
	text, err := deployment.Node.String()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	change(doc["spec"].(map[string]any))
	changed, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	out := s
	out.objects = slices.Clone(s.objects)
	out.objects[slices.Index(s.objects, deployment)] = parse(t, string(changed))[0]
	return out
}

func roleOf(spec map[string]any, i int) map[string]any {
	return spec["roles"].([]any)[i].(map[string]any)
}

// extend appends to a list of a role.
func extend(role map[string]any, field string, items ...any) {
	list, _ := role[field].([]any)
	role[field] = append(slices.Clone(list), items...)
}

// roleEdits are edits of one role that another does not follow from. Only argv
// and environment tell the width of a half.
var roleEdits = map[string]struct {
	width bool
	edit  func(role map[string]any)
}{
	"extraArgs":     {true, func(r map[string]any) { extend(r, "extraArgs", "--seed", "7") }},
	"width":         {true, func(r map[string]any) { extend(r, "extraArgs", "--max-num-seqs", "8", "-dp", "2", "-dpl", "1") }},
	"env":           {true, func(r map[string]any) { extend(r, "env", map[string]any{"name": "EDITED", "value": "x"}) }},
	"image":         {false, func(r map[string]any) { r["image"] = "registry.example.com/edited:1" }},
	"pull policy":   {false, func(r map[string]any) { r["imagePullPolicy"] = "Always" }},
	"pull secrets":  {false, func(r map[string]any) { extend(r, "imagePullSecrets", map[string]any{"name": "edited"}) }},
	"grace":         {false, func(r map[string]any) { r["terminationGracePeriodSeconds"] = 77 }},
	"topology":      {false, func(r map[string]any) { r["topology"] = map[string]any{"requiredLevel": "example.com/edited"} }},
	"further ports": {false, func(r map[string]any) { r["ports"] = []any{map[string]any{"port": 8000}, map[string]any{"port": 4321}} }},
	"volumes": {false, func(r map[string]any) {
		extend(r, "additionalVolumes", map[string]any{"mountPath": "/edited", "configMap": map[string]any{"name": "edited"}})
	}},
	"cards": {false, func(r map[string]any) { r["resources"] = map[string]any{"accelerator": 16} }},
	"new width": {true, func(r map[string]any) {
		extend(r, "env", map[string]any{"name": "VLLM_DP_SIZE", "value": "2"})
		r["resources"] = map[string]any{"accelerator": 16}
	}},
}

// templatesByRole are the printed PodTemplates of an output, by role.
func templatesByRole(t *testing.T, d compiler.Deployment) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range d.Templates {
		out[p.Labels[v1.LabelComponent]] += string(printed(t, []emit.Object{emit.New(p, "")}))
	}
	return out
}

// TestEditOfOneRole: an edit of one role turns over that role alone.
func TestEditOfOneRole(t *testing.T) {
	judged := 0
	for name, s := range specimens(t) {
		before, findings := s.compile()
		if findings.HasErrors() {
			t.Errorf("%s: %v", name, findings)
			continue
		}
		for _, d := range before.Deployments {
			was := templatesByRole(t, d)
			index := slices.IndexFunc(s.objects, func(o *source.Object) bool {
				return compiler.IsModelDeployment(o) && o.Name == d.Object.Name
			})
			for i, role := range d.ModelDeployment.Spec.Roles {
				for what, e := range roleEdits {
					after, findings := s.edited(t, s.objects[index], func(spec map[string]any) { e.edit(roleOf(spec, i)) }).compile()
					if findings.HasErrors() {
						// This role has moved its port already.
						if what != "further ports" || name != "example take-over" {
							t.Errorf("%s: %s of %s: %v", name, what, role.Name, findings)
						}
						continue
					}
					judged++
					is := templatesByRole(t, deploymentOf(after, d.Object.Name))
					if is[role.Name] == was[role.Name] {
						t.Errorf("%s: %s of %s changed nothing", name, what, role.Name)
					}
					coupled := e.width && couples(d)
					for _, other := range d.ModelDeployment.Spec.Roles {
						if other.Name == role.Name || coupled && len(other.Command) == 0 {
							continue
						}
						if diff := cmp.Diff(was[other.Name], is[other.Name]); diff != "" {
							t.Errorf("%s: %s of %s changed %s (-was +is):\n%s", name, what, role.Name, other.Name, diff)
						}
					}
				}
			}
		}
	}
	if judged < 550 {
		t.Errorf("only %d edits were judged", judged)
	}
}

func deploymentOf(out *compiler.Output, name string) compiler.Deployment {
	i := slices.IndexFunc(out.Deployments, func(d compiler.Deployment) bool { return d.Object.Name == name })
	return out.Deployments[i]
}

// couples reports whether the halves of a deployment carry each other's width:
// vLLM on Ascend, where a leg is rendered.
func couples(d compiler.Deployment) bool {
	return slices.ContainsFunc(d.Templates, func(p *corev1.PodTemplate) bool {
		return slices.ContainsFunc(mainOf(p).Command, func(a string) bool { return strings.Contains(a, "MooncakeConnectorV1") })
	})
}

// TestEditOfAscendHalf: the other half follows in its document when a width
// changes, and else in its hash alone; what tells no width leaves it alone.
func TestEditOfAscendHalf(t *testing.T) {
	for name, s := range map[string]shape{
		"pair":            {maker: "ascend", kind: prefill, router: llmd, extra: []string{"-tp", "4"}},
		"pair with store": {maker: "ascend", kind: prefill, router: llmd, store: "CANN", extra: []string{"-tp", "4"}},
	} {
		for edit, tc := range map[string]struct {
			change     func(*shape)
			hash, argv bool
		}{
			"width":       {func(s *shape) { s.peer = []string{"-tp", "2"} }, true, true},
			"width, env":  {func(s *shape) { s.peerEnv = []string{"VLLM_DP_SIZE=2"} }, true, true},
			"argument":    {func(s *shape) { s.peer = []string{"--seed", "7"} }, true, false},
			"environment": {func(s *shape) { s.peerEnv = []string{"A=b"} }, true, false},
			"image":       {func(s *shape) { s.peerImage = "registry.example.com/own:1" }, false, false},
			"none":        {func(*shape) {}, false, false},
		} {
			t.Run(name+", "+edit, func(t *testing.T) {
				edited := s
				tc.change(&edited)
				for _, suffix := range []string{"", ".uncached"} {
					if suffix != "" && s.store == "" {
						continue
					}
					was, is := s.template(t, "prefill"+suffix), edited.template(t, "prefill"+suffix)
					if moved := was.Annotations[v1.AnnotationSourceHash] != is.Annotations[v1.AnnotationSourceHash]; moved != tc.hash {
						t.Errorf("hash moved: %v", moved)
					}
					if moved := !slices.Equal(mainOf(was).Command, mainOf(is).Command); moved != tc.argv {
						t.Errorf("command line moved: %v", moved)
					}
					for _, p := range []*corev1.PodTemplate{was, is} {
						delete(p.Annotations, v1.AnnotationSourceHash)
						mainOf(p).Command = nil
					}
					if diff := cmp.Diff(was, is); diff != "" {
						t.Errorf("(-was +is):\n%s", diff)
					}
				}
			})
		}
	}
}

// TestScale: another number of replicas changes the deployment, and above size
// 1 adds or removes Services of instances. Nothing restarts, routers included.
func TestScale(t *testing.T) {
	for name, s := range specimens(t) {
		before, findings := s.compile()
		if findings.HasErrors() {
			t.Errorf("%s: %v", name, findings)
			continue
		}
		was := objectTexts(t, before)
		for _, d := range before.Deployments {
			index := slices.IndexFunc(s.objects, func(o *source.Object) bool {
				return compiler.IsModelDeployment(o) && o.Name == d.Object.Name
			})
			for i, role := range d.ModelDeployment.Spec.Roles {
				for _, replicas := range []int32{1, role.Replicas + 3} {
					if replicas == role.Replicas {
						continue
					}
					after, findings := s.edited(t, s.objects[index], func(spec map[string]any) {
						roleOf(spec, i)["replicas"] = replicas
					}).compile()
					if findings.HasErrors() {
						t.Fatalf("%s: %v", name, findings)
					}
					want := []string{"ModelDeployment/" + d.Object.Name}
					if role.Size > 1 {
						for n := min(replicas, role.Replicas); n < max(replicas, role.Replicas); n++ {
							want = append(want, fmt.Sprintf("Service/%s-%s-r%d", d.Object.Name, role.Name, n))
						}
					}
					if got := changedObjects(was, objectTexts(t, after)); !slices.Equal(want, got) {
						t.Errorf("%s: %s from %d to %d: changed %v, want %v", name, role.Name, role.Replicas, replicas, got, want)
					}
				}
			}
		}
	}
}

// objectTexts are the printed objects of an output, by kind and name.
func objectTexts(t *testing.T, out *compiler.Output) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	for _, o := range out.Objects {
		texts[o.Kind+"/"+o.Name] = printed(t, []emit.Object{o})
	}
	return texts
}

// changedObjects are the objects that came, went or changed, sorted.
func changedObjects(was, is map[string][]byte) (out []string) {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(was[key], is[key]) {
			out = append(out, key)
		}
	}
	return out
}

// TestEditOfDeployment: what belongs to all roles may turn over all of them, and
// what belongs to the router none.
func TestEditOfDeployment(t *testing.T) {
	s := shape{kind: prefill, router: llmd, store: "TCP"}
	in := specimen{parse(t, s.deployment()), parse(t, s.facts()), nil}
	before, findings := in.compile()
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	was := objectTexts(t, before)
	for name, tc := range map[string]struct {
		edit      func(spec map[string]any)
		templates bool
	}{
		"transfer":         {func(spec map[string]any) { spec["kvTransfer"] = map[string]any{"protocol": "RDMA"} }, true},
		"version":          {func(spec map[string]any) { spec["engine"].(map[string]any)["version"] = "0.30.0" }, true},
		"router":           {func(spec map[string]any) { delete(spec, "router") }, true},
		"router replicas":  {func(spec map[string]any) { spec["router"].(map[string]any)["replicas"] = 2 }, false},
		"router arguments": {func(spec map[string]any) { spec["router"].(map[string]any)["extraArgs"] = []any{"--v=2"} }, false},
		"router image":     {func(spec map[string]any) { spec["router"].(map[string]any)["image"] = "registry.example.com/r:1" }, false},
		"router timeout":   {func(spec map[string]any) { spec["router"].(map[string]any)["requestTimeoutSeconds"] = 60 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			after, findings := in.edited(t, in.objects[0], tc.edit).compile()
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			changed := changedObjects(was, objectTexts(t, after))
			for _, template := range []string{"md-prefill", "md-prefill.uncached", "md-decode", "md-decode.uncached"} {
				if got := slices.Contains(changed, "PodTemplate/"+template); got != tc.templates {
					t.Errorf("%s changed: %v; all: %v", template, got, changed)
				}
			}
		})
	}
}

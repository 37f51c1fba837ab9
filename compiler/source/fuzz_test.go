// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		deployment,
		"%YAML 1.2\n---\n" + object("A", "a") + "x: &x [1]\ny: {<<: {a: *x}, a: null}\n...\n# end\n",
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"A","x":"\ud83d\ude00\/"}]}`,
		"resources: [a.yaml, sub]\ntransformers: [a.yaml, \"a: b\\n\"]\n",
		withRole("    replicas: 99999999999\n    ports: [{port: 1}, {port: 1}]\n    extraArgs: [on, ~]\n"),
		"a: 'x\n---\n\t- b\n---\n*x\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		fsys := filesys.MakeFsInMemory()
		for _, name := range []string{"d/a.yaml", "d/b.json", "k/a.yaml", "k/kustomization.yaml"} {
			content := data
			if name == "k/kustomization.yaml" {
				content = []byte("resources: [a.yaml]\ntransformers: [a.yaml]\n")
			}
			if err := fsys.WriteFile(name, content); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Loader{FS: fsys}.Load("d", "d/a.yaml", "k")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range s.Objects {
			for _, v := range ModelDeploymentSchema().Validate(o) {
				s.Findings = append(s.Findings, v.Finding(o, v.Rule()))
			}
			ModelDeploymentSchema().Default(o)
			s.Findings = append(s.Findings, Decode(o, &v1.ModelDeployment{})...)
			if _, err := o.Node.String(); err != nil {
				t.Fatalf("%s cannot be printed: %v", o.File, err)
			}
		}
		for _, finding := range s.Findings.Sorted() {
			if finding.File == "" || finding.Message == "" {
				t.Errorf("%+v", finding)
			}
			if finding.Line > 0 {
				if _, ok := s.Line(finding.Position); !ok {
					t.Errorf("no line at %s", finding.Position)
				}
			}
		}
	})
}

func FuzzKustomize(f *testing.F) {
	f.Setenv("PATH", "") // no git, should the test for remote entries miss one
	for _, seed := range []string{
		"resources: [a.yaml, sub]\nnamePrefix: x-\ntransformers:\n- |\n  apiVersion: builtin\n  kind: PrefixTransformer\n  metadata: {name: p}\n  prefix: x\n",
		"resources: [a.yaml]\nconfigMapGenerator:\n- name: a\n  files: [a.yaml]\n  literals: [a=b]\n",
		"resources: [a.yaml]\npatches:\n- patch: |-\n    - op: add\n      path: /spec/roles/0/image\n      value: x\n  target: {kind: ModelDeployment}\n",
		"resources: [a.yaml]\nreplacements:\n- source: {kind: ModelDeployment, fieldPath: metadata.name}\n  targets:\n  - select: {kind: ModelDeployment}\n    fieldPaths: [spec.model.name]\n",
		"components: [c]\nlabels:\n- pairs: {a: b}\ncommonAnnotations: {x: y}\nimages: [{name: a, newTag: b}]\nreplicas: [{name: a, count: 1}]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, kustomization string) {
		s := load(t, map[string]string{
			"k/kustomization.yaml":     kustomization,
			"k/a.yaml":                 deployment,
			"k/sub/kustomization.yaml": "resources: [x.yaml]",
			"k/sub/x.yaml":             object("ConfigMap", "c"),
			"k/c/kustomization.yaml":   "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnamePrefix: z",
		}, "k")
		for _, finding := range s.Findings {
			if finding.File == "" || strings.Contains(finding.Message, "git fetch") || strings.Contains(finding.Message, "dial tcp") {
				t.Errorf("%+v", finding)
			}
		}
		for _, o := range s.Objects {
			o.Position("spec.roles[0].name")
		}
	})
}

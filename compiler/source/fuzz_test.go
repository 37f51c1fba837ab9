// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"time"
	"testing"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
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
		began := time.Now()
		defer func() { if d := time.Since(began); d > 3*time.Second { t.Errorf("slow %s", d) } }()
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

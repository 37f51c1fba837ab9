// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/source"
)

// documents returns every YAML document of the examples that a directory walk
// reads.
func documents(t testing.TB) (out []string) {
	t.Helper()
	err := filepath.WalkDir(examplesDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" || d.Name() == "kustomization.yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out = append(out, strings.Split(string(b), "\n---\n")...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compileDocuments spreads documents over files of a directory and compiles it.
func compileDocuments(t testing.TB, dir string, docs []string, perFile int) []byte {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	for i := 0; i < len(docs); i += perFile {
		text := strings.Join(docs[i:min(i+perFile, len(docs))], "\n---\n")
		if err := disk.WriteFile(fmt.Sprintf("%s/file-%03d.yaml", dir, i), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Loader{FS: disk}.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	out, findings := compiler.Compile(compiler.Input{Objects: set.Objects, Version: "test"})
	if findings = append(set.Findings, findings...); findings.HasErrors() {
		t.Fatalf("findings: %v", findings)
	}
	return printed(t, out.Objects)
}

func TestSameInputSameBytes(t *testing.T) {
	docs := documents(t)
	want := compileDocuments(t, "input", docs, len(docs))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		runtime.GOMAXPROCS([]int{1, 8}[seed%2])
		got := compileDocuments(t, fmt.Sprintf("elsewhere/%d", seed), docs, 1+r.IntN(5))
		if !bytes.Equal(want, got) {
			t.Fatalf("seed %d: the output depends on the order of the input", seed)
		}
	}
}

func TestOutputCompilesToItself(t *testing.T) {
	docs := documents(t)
	first := compileDocuments(t, "input", docs, 3)
	// Facts are not emitted, so they are given again.
	facts := strings.Split(string(first), "\n---\n")
	for _, d := range docs {
		if !strings.Contains(d, "kind: ModelDeployment") {
			facts = append(facts, d)
		}
	}
	second := compileDocuments(t, "input", facts, 4)
	if !bytes.Equal(first, second) {
		t.Fatal("compiling the output again changes it")
	}
}

// TestReplicasChangeNoTemplate: a scale edits the deployment and, above size 1,
// the headless Services, and nothing else.
func TestReplicasChangeNoTemplate(t *testing.T) {
	for _, name := range examples(t) {
		t.Run(name, func(t *testing.T) {
			set, err := source.Loader{FS: filesys.MakeFsOnDisk()}.Load(filepath.Join(examplesDir, name), filepath.Join(examplesDir, name, "facts.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			before, findings := compiler.Compile(compiler.Input{Objects: set.Objects})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			for _, o := range set.Objects {
				if compiler.IsModelDeployment(o) {
					role := yaml.Lookup("spec", "roles", "[name=server]")
					seven := yaml.NewScalarRNode("7")
					seven.YNode().Tag = yaml.NodeTagInt
					if err := o.Node.PipeE(role, yaml.SetField("replicas", seven)); err != nil {
						t.Fatal(err)
					}
				}
			}
			after, findings := compiler.Compile(compiler.Input{Objects: set.Objects})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			for i, template := range before.Deployments[0].Templates {
				if got, want := after.Deployments[0].Templates[i], template; !bytes.Equal(jsonOf(t, got), jsonOf(t, want)) {
					t.Errorf("PodTemplate %s changed", want.Name)
				}
			}
		})
	}
}

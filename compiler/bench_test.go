// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/source"
)

const benchDeployment = `apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
metadata:
  name: chat-%[1]d
  namespace: team-a
spec:
  model:
    name: Qwen/Qwen2.5-72B-Instruct
  engine:
    name: vLLM
    version: "0.29.0"
  kvCache:
    poolRef:
      name: team-a-dram
  roles:
  - name: large
    replicas: 4
    instanceType: gpustack-nvidia-h20-linux-amd64
    resources:
      accelerator: 2
    extraArgs: ["--tensor-parallel-size", "2", "--max-model-len", "32768"]
  - name: small
    replicas: 8
    instanceType: gpustack-nvidia-a10g-linux-amd64
    env:
    - name: LOG_LEVEL
      value: info
---
`

// benchInput is one file of n deployments of two roles, with their facts.
func benchInput(b *testing.B, n int) filesys.FileSystem {
	b.Helper()
	var text bytes.Buffer
	for i := range n {
		fmt.Fprintf(&text, benchDeployment, i)
	}
	facts, err := os.ReadFile("../testdata/worked/facts.yaml")
	if err != nil {
		b.Fatal(err)
	}
	text.Write(facts)
	disk := filesys.MakeFsInMemory()
	if err := disk.WriteFile("input.yaml", text.Bytes()); err != nil {
		b.Fatal(err)
	}
	return disk
}

func load(b *testing.B, disk filesys.FileSystem) []*source.Object {
	set, err := source.Loader{FS: disk}.Load("input.yaml")
	if err != nil || set.Findings.HasErrors() {
		b.Fatal(err, set.Findings)
	}
	return set.Objects
}

func compileObjects(b *testing.B, objects []*source.Object) []emit.Object {
	out, findings := compiler.Compile(compiler.Input{Objects: objects})
	if findings.HasErrors() {
		b.Fatal(findings)
	}
	return out.Objects
}

// BenchmarkBuild compares a build with its floor, which decodes the same input
// and encodes the same output and does nothing in between.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1, 100, 1_000, 10_000} {
		disk := benchInput(b, n)
		b.Run(fmt.Sprintf("deployments=%d/floor", n), func(b *testing.B) {
			output := compileObjects(b, load(b, disk))
			measure(b, n, func(w io.Writer) {
				load(b, disk)
				encode(b, w, output)
			})
		})
		b.Run(fmt.Sprintf("deployments=%d/build", n), func(b *testing.B) {
			measure(b, n, func(w io.Writer) {
				encode(b, w, compileObjects(b, load(b, disk)))
			})
		})
	}
}

func encode(b *testing.B, w io.Writer, objects []emit.Object) {
	if err := emit.YAML(w, objects); err != nil {
		b.Fatal(err)
	}
}

// measure reports, besides time, what one deployment costs.
func measure(b *testing.B, n int, run func(io.Writer)) {
	b.ReportAllocs()
	var written counter
	for b.Loop() {
		written = 0
		run(&written)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/deployment")
	b.ReportMetric(float64(written)/float64(n), "out-B/deployment")
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

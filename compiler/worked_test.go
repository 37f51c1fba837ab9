// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
	"gpustack.ai/mdc/compiler/source"
)

// TestWorked compares whole Pods and Services with ones that were written by
// hand. <hash> and <drain ...> stand for the fingerprint and the drain program.
func TestWorked(t *testing.T) {
	const root = "../testdata/worked"
	for name, drain := range map[string]struct {
		grace        int
		scheme, port string
		engine       v1.EngineName
	}{
		"vllm":         {30, "http", "8000", v1.EngineVLLM},
		"vllm-cache":   {30, "http", "8000", v1.EngineVLLM},
		"sglang-cache": {45, "http", "9000", v1.EngineSGLang},
		"multi-pod":    {30, "http", "8000", v1.EngineVLLM},
		"take-over":    {},
		"ascend":       {30, "https", "8000", v1.EngineVLLM},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			out := mustCompile(t, filepath.Join(dir, "deployment.yaml"), filepath.Join(root, "facts.yaml"))
			d := out.Deployments[0]

			want := read[corev1.Pod](t, filepath.Join(dir, "pod.yaml"))
			for member := range want {
				got, err := replica.Stamp(d.Templates[0], replica.Seat{Member: int32(member)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if hash := got.Annotations[v1.AnnotationPodSpecHash]; len(hash) != 64 {
					t.Errorf("fingerprint %q is not a SHA-256", hash)
				}
				got.Annotations[v1.AnnotationPodSpecHash] = "<hash>"
				if hook := got.Spec.Containers[0].Lifecycle; hook != nil {
					program := hook.PreStop.Exec.Command[2]
					for _, part := range []string{
						fmt.Sprintf("deadline = start + %d\n", drain.grace-5),
						fmt.Sprintf("url = \"%s://127.0.0.1:%s/metrics\"", drain.scheme, drain.port),
					} {
						if !strings.Contains(program, part) {
							t.Errorf("the drain program lacks %q:\n%s", part, program)
						}
					}
					hook.PreStop.Exec.Command[2] = fmt.Sprintf("<drain G=%d %s %s %s>", drain.grace, drain.scheme, drain.port, drain.engine)
				}
				if diff := cmp.Diff(&want[member], got); diff != "" {
					t.Errorf("Pod of member %d (-want +got):\n%s", member, diff)
				}
			}

			services := read[corev1.Service](t, filepath.Join(dir, "services.yaml"))
			got := make([]corev1.Service, len(d.Services))
			for i := range d.Services {
				got[i] = *d.Services[i]
			}
			if diff := cmp.Diff(services, got); diff != "" {
				t.Errorf("Services (-want +got):\n%s", diff)
			}
		})
	}
}

// mustCompile compiles a path of the disk with facts and fails on any error.
func mustCompile(t testing.TB, path, facts string) *compiler.Output {
	t.Helper()
	loader := source.Loader{FS: filesys.MakeFsOnDisk()}
	objects, err := loader.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	in := compiler.Input{Objects: objects.Objects, Version: "test"}
	findings := objects.Findings
	if facts != "" {
		set, err := loader.Load(facts)
		if err != nil {
			t.Fatal(err)
		}
		in.Facts = set.Objects
		findings = append(findings, set.Findings...)
	}
	out, more := compiler.Compile(in)
	if findings = append(findings, more...); findings.HasErrors() {
		t.Fatalf("findings: %v", findings)
	}
	return out
}

// read decodes every document of a file strictly.
func read[T any](t testing.TB, path string) (out []T) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range bytes.Split(b, []byte("\n---\n")) {
		var v T
		if err := utilyaml.UnmarshalStrict(doc, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, v)
	}
	return out
}

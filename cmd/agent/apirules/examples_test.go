// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package apirules

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/replica"
	"gpustack.ai/mdc/compiler/source"
)

const examplesDir = "../../../examples"

// compileExample compiles one example the way its README says.
func compileExample(t *testing.T, name string) *compiler.Output {
	t.Helper()
	loader := source.Loader{FS: filesys.MakeFsOnDisk()}
	dir := filepath.Join(examplesDir, name)
	set, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := loader.Load(filepath.Join(dir, "facts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out, findings := compiler.Compile(compiler.Input{Objects: set.Objects, Facts: facts.Objects, Version: "test"})
	if findings = append(findings, append(set.Findings, facts.Findings...)...); findings.HasErrors() {
		t.Fatal(findings)
	}
	return out
}

// TestExamples applies everything that is compiled from the examples. Nothing
// may be refused or warned of, and the Pods that the agent would make of the
// stored templates must be those that were compiled.
func TestExamples(t *testing.T) {
	s := newServer(t)
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	entries, err := os.ReadDir(examplesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			out := compileExample(t, e.Name())
			if len(out.Deployments) == 0 {
				t.Fatal("no deployment")
			}
			s.warnings.take()
			for _, o := range out.Objects {
				got := s.apply(t, mapper, o)
				if got == nil {
					continue
				}
				if said := s.warnings.take(); len(said) > 0 {
					t.Errorf("%s %s: warnings %q", o.Kind, o.Name, said)
				}
			}
			for _, d := range out.Deployments {
				for _, template := range d.Templates {
					s.compare(t, template)
				}
			}
		})
	}
}

// apply applies an object as a GitOps host does.
func (s *server) apply(t *testing.T, mapper *restmapper.DeferredDiscoveryRESTMapper, o emit.Object) *unstructured.Unstructured {
	t.Helper()
	tree, err := o.Tree()
	if err != nil {
		t.Fatal(err)
	}
	b, err := yaml.NewRNode(tree).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	gvk := u.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		t.Fatal(err)
	}
	var resource dynamic.ResourceInterface = s.Resource(mapping.Resource)
	if mapping.Scope.Name() == "namespace" {
		namespace := cmp.Or(u.GetNamespace(), metav1.NamespaceDefault)
		s.createNamespace(t, namespace)
		resource = s.Resource(mapping.Resource).Namespace(namespace)
	}
	// Apply of the dynamic client states no field validation.
	b, err = u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	force := true
	got, err := resource.Patch(t.Context(), u.GetName(), "application/apply-patch+yaml", b, metav1.PatchOptions{
		FieldManager: "examples", Force: &force, FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		t.Errorf("%s %s: %v", o.Kind, o.Name, err)
		return nil
	}
	return got
}

// compare stamps a compiled template and the stored one of its name.
func (s *server) compare(t *testing.T, compiled *corev1.PodTemplate) {
	t.Helper()
	resource := schema.GroupVersionResource{Version: "v1", Resource: "podtemplates"}
	u, err := s.Resource(resource).Namespace(compiled.Namespace).Get(t.Context(), compiled.Name, metav1.GetOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	var stored corev1.PodTemplate
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &stored); err != nil {
		t.Fatal(err)
	}
	for _, seat := range []replica.Seat{{}, {Ordinal: 3, Member: 1}} {
		want, got := stamp(t, compiled, seat), stamp(t, &stored, seat)
		a, b := fingerprint(t, want), fingerprint(t, got)
		if a == b {
			continue
		}
		t.Errorf("%s: the stored template has another fingerprint; to explain it, the fields that the server filled in:\n%s",
			compiled.Name, gocmp.Diff(want.Spec, got.Spec))
		if strings.HasPrefix(a, b) || a == "" {
			t.Error("no fingerprint")
		}
	}
	// A template is also what the server makes Pods of: its own validation of a
	// Pod is stricter than that of a template.
	pod := stamp(t, compiled, replica.Seat{})
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}
	pods := s.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(pod.Namespace)
	created, err := pods.Create(t.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Errorf("a Pod of %s: %v", compiled.Name, err)
		return
	}
	_ = created
}

func stamp(t *testing.T, template *corev1.PodTemplate, seat replica.Seat) *corev1.Pod {
	t.Helper()
	pod, err := replica.Stamp(template, seat, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func fingerprint(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	hash, err := replica.Fingerprint(pod)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

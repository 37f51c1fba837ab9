// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package apirules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/replica"
	"gpustack.ai/mdc/compiler/source"
)

const examplesDir = "../../../examples"

// compileExample compiles one example the way its README says, and returns its
// facts too.
func compileExample(t *testing.T, name string) (*compiler.Output, []*source.Object) {
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
	return out, facts.Objects
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
			out, facts := compileExample(t, e.Name())
			if len(out.Deployments) == 0 {
				t.Fatal("no deployment")
			}
			s.warnings.take()
			for _, f := range facts {
				s.apply(t, mapper, f.Node)
			}
			for _, o := range out.Objects {
				tree, err := o.Tree()
				if err != nil {
					t.Fatal(err)
				}
				s.apply(t, mapper, yaml.NewRNode(tree))
			}
			if said := s.warnings.take(); len(said) > 0 {
				t.Errorf("warnings %q", said)
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
func (s *server) apply(t *testing.T, mapper *restmapper.DeferredDiscoveryRESTMapper, node *yaml.RNode) {
	t.Helper()
	b, err := node.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	// Facts are of objects that exist in some cluster, though not in this one.
	unstructured.RemoveNestedField(u.Object, "metadata", "uid")
	if b, err = u.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	gvk := u.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		t.Fatal(err)
	}
	var resource dynamic.ResourceInterface = s.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		s.createNamespace(t, u.GetNamespace())
		resource = s.Resource(mapping.Resource).Namespace(u.GetNamespace())
	}
	// The dynamic client's own Apply states no field validation.
	_, err = resource.Patch(t.Context(), u.GetName(), types.ApplyPatchType, b, metav1.PatchOptions{
		FieldManager: "examples", Force: ptr.To(true), FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		t.Errorf("%s %s: %v", u.GetKind(), u.GetName(), err)
	}
}

// compare stamps a compiled template and the stored one of its name.
func (s *server) compare(t *testing.T, compiled *corev1.PodTemplate) {
	t.Helper()
	u, err := s.Resource(corev1.SchemeGroupVersion.WithResource("podtemplates")).Namespace(compiled.Namespace).Get(t.Context(), compiled.Name, metav1.GetOptions{})
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
		filled := cmp.Diff(want.Spec, got.Spec)
		if filled == "" {
			t.Errorf("%s: the server filled in nothing, so nothing is tested", compiled.Name)
		}
		if fingerprint(t, want) != fingerprint(t, got) {
			t.Errorf("%s: the stored template has another fingerprint; the server filled in:\n%s", compiled.Name, filled)
		}
	}
	// A server validates Pods more strictly than templates.
	pod := stamp(t, compiled, replica.Seat{})
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}
	pods := s.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(pod.Namespace)
	_, err = pods.Create(t.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Errorf("a Pod of %s: %v", compiled.Name, err)
	}
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

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package apirules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

var (
	crdResource        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	deploymentResource = v1.GroupVersion.WithResource("modeldeployments")
	namespaceResource  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// server is the API server that the tests of this package share.
type server struct {
	dynamic.Interface
	cluster  *localcluster.Cluster
	config   *rest.Config
	warnings warnings
	spaces   atomic.Int32
}

var (
	shared = localcluster.Shared{APIServer: true}
	// connected is how all tests reach it.
	connected struct {
		once   sync.Once
		server *server
		err    error
	}
)

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// newServer returns the shared server with all CustomResourceDefinitions.
func newServer(t *testing.T) *server {
	t.Helper()
	c := shared.Get(t)
	connected.once.Do(func() {
		s := &server{cluster: c, config: c.Config}
		s.config.WarningHandler = &s.warnings
		s.Interface, connected.err = dynamic.NewForConfig(s.config)
		connected.server = s
	})
	if connected.err != nil {
		t.Fatal(connected.err)
	}
	s := connected.server
	for _, text := range v1.CRDs() {
		s.install(t, parse(t, text))
	}
	return s
}

func parse(t *testing.T, text []byte) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// install creates a CustomResourceDefinition and waits until it is served.
func (s *server) install(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	file := crd.GetName()
	client := s.Resource(crdResource)
	if _, err := client.Create(t.Context(), crd, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return
		}
		t.Fatalf("%s: %v", file, err)
	}
	if said := s.warnings.take(); len(said) > 0 {
		t.Errorf("%s: warnings %q", file, said)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := s.cluster.Served(ctx, crd.GetName()); err != nil {
		t.Fatal(err)
	}
	got, err := client.Get(ctx, crd.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
	if slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == "NonStructuralSchema" && m["status"] == "True"
	}) {
		t.Fatalf("%s: %v", file, conditions)
	}
}

// namespace creates a namespace of its own for a case.
func (s *server) namespace(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("case-%d", s.spaces.Add(1))
	s.createNamespace(t, name)
	return name
}

func (s *server) createNamespace(t *testing.T, name string) {
	t.Helper()
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	if _, err := s.Resource(namespaceResource).Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// create creates a ModelDeployment as strictly as a server can be told to. A dry
// run is judged like any other, and stored nowhere.
func (s *server) create(t *testing.T, namespace, name string, spec any, dryRun ...string) (*unstructured.Unstructured, error) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(),
		"kind":       v1.KindModelDeployment,
		"metadata":   map[string]any{"name": name, "namespace": namespace},
		"spec":       spec,
	}}
	return s.Resource(deploymentResource).Namespace(namespace).Create(t.Context(), o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun})
}

// update replaces the spec of a stored ModelDeployment.
func (s *server) update(t *testing.T, stored *unstructured.Unstructured, spec any) error {
	t.Helper()
	o := stored.DeepCopy()
	o.Object["spec"] = spec
	_, err := s.Resource(deploymentResource).Namespace(o.GetNamespace()).Update(t.Context(), o, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	return err
}

// judge creates the new spec, or creates the old one and updates it to the new.
// stored is false when the old one is itself refused.
func (s *server) judge(t *testing.T, name string, before, after any) (stored bool, err error) {
	t.Helper()
	if before == nil {
		_, err := s.create(t, metav1.NamespaceDefault, name, after, metav1.DryRunAll)
		return true, verdict(t, err)
	}
	namespace := s.namespace(t)
	o, err := s.create(t, namespace, name, before)
	if err != nil {
		return false, verdict(t, err)
	}
	return true, verdict(t, s.update(t, o, after))
}

// verdict lets only refusals of the object through; anything else is a failure
// of the test.
func verdict(t *testing.T, err error) error {
	t.Helper()
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Fatal(err)
	}
	return err
}

// warnings collects what the server warns of.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said
	w.said = nil
	return said
}

// causes are the parts of a refusal, each as "field: message".
func causes(err error) (out []string) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil
	}
	details := status.Status().Details
	if details == nil {
		return []string{status.Status().Message}
	}
	for _, c := range details.Causes {
		out = append(out, c.Field+": "+c.Message)
	}
	if len(out) == 0 {
		out = []string{status.Status().Message}
	}
	return out
}

// names reports whether a refusal carries the slug of one of our own rules.
func names(err error, slug string) bool {
	return slices.ContainsFunc(causes(err), func(c string) bool { return strings.Contains(c, " "+slug+": ") })
}

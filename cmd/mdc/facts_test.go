// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	settingv1 "gpustack.ai/mdc/compiler/api/setting/v1"
	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestFactsOnce: what many roles name is read once, also what does not exist.
func TestFactsOnce(t *testing.T) {
	typ := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": v1.KindInstanceType, "metadata": map[string]any{"name": "there"},
		"spec": map[string]any{"acceleratable": true}, "status": map[string]any{"detail": map[string]any{"manufacturer": "nvidia"}},
	}}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{settingv1.GroupVersion.WithResource("settings"): "SettingList"}, typ)
	md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "m"}}
	for _, name := range slices.Repeat([]string{"there", "missing"}, 10) {
		md.Spec.Roles = append(md.Spec.Roles, v1.Role{InstanceType: name})
	}
	r := newFactReader(client)
	if err := r.readAll(t.Context(), []*v1.ModelDeployment{md, md}); err != nil {
		t.Fatal(err)
	}
	var gets []string
	for _, a := range client.Actions() {
		if get, ok := a.(clienttesting.GetAction); ok {
			gets = append(gets, get.GetResource().Resource+"/"+get.GetName())
		}
	}
	slices.Sort(gets)
	if want := []string{"instancetypes/missing", "instancetypes/there", "runtimeclasses/nvidia"}; !slices.Equal(gets, want) {
		t.Errorf("reads %q, want %q", gets, want)
	}
	if objects := r.objects(); len(objects) != 1 || objects[0].Name != "there" || len(r.missing) != 1 {
		t.Errorf("%+v, missing %q", objects, r.missing)
	}
}

// settingCRD serves the Settings of the GPUStack operator.
const settingCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: settings.gpustack.ai}
spec:
  group: gpustack.ai
  names: {kind: Setting, listKind: SettingList, plural: settings, singular: setting}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// mdc runs a command line in this process.
func mdc(args ...string) (stdout, stderr string, err error) {
	var out, problems bytes.Buffer
	c := newRoot(&app{fs: filesys.MakeFsOnDisk(), stdin: strings.NewReader(""), stdout: &out, stderr: &problems}, "mdc")
	c.SetArgs(args)
	err = c.Execute()
	return out.String(), problems.String(), err
}

// TestFacts: what is read from a cluster that has the facts of an example
// compiles to the same.
func TestFacts(t *testing.T) {
	c := localcluster.ForTest(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", c.Kubeconfig)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()

	// Without the kinds all that is missing is named at once.
	cached := "../../examples/pair-cache/deployment.yaml"
	stdout, stderr, err := mdc("facts", cached)
	if !errors.Is(err, errFindings) || stdout != "" ||
		!strings.Contains(stderr, "InstanceType gpustack-nvidia-a10g-linux-amd64, which ModelDeployment team-a/") ||
		!strings.Contains(stderr, "KVCachePoolBinding team-a/") || strings.Count(stderr, "InstanceType") != 1 {
		t.Errorf("nothing is there: %v, stdout %q, stderr %s", err, stdout, stderr)
	}

	var crds [][]byte
	for _, text := range v1.CRDs() {
		crds = append(crds, text)
	}
	must(c.ApplyYAML(ctx, bytes.Join(append(crds, []byte(settingCRD)), []byte("\n---\n"))))
	namespaces := map[string]bool{}
	namespace := func(name string) {
		t.Helper()
		if name != "" && !namespaces[name] {
			must(c.ApplyYAML(ctx, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")))
			namespaces[name] = true
		}
	}
	examples, err := filepath.Glob("../../examples/*/facts.yaml")
	must(err)
	for _, file := range examples {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			must(err)
			objects, err := localcluster.Parse(text)
			must(err)
			for _, o := range objects {
				namespace(o.GetNamespace())
				for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp"} {
					unstructured.RemoveNestedField(o.Object, "metadata", field)
				}
			}
			must(c.Apply(ctx, objects...))

			deployment := filepath.Join(filepath.Dir(file), "deployment.yaml")
			read, stderr, err := mdc("facts", deployment)
			if err != nil {
				t.Fatal(err, stderr)
			}
			for _, word := range []string{"managedFields", "resourceVersion", "creationTimestamp", "last-applied", "usedBy"} {
				if strings.Contains(read, word) {
					t.Errorf("%s is printed:\n%s", word, read)
				}
			}
			again := filepath.Join(t.TempDir(), "facts.yaml")
			must(os.WriteFile(again, []byte(read), 0o600))
			want, _, err := mdc("build", deployment, "--facts", file)
			must(err)
			got, stderr, err := mdc("build", deployment, "--facts", again)
			if err != nil {
				t.Fatal(err, stderr)
			}
			// The cluster gives objects UIDs of its own.
			for _, o := range objects {
				if o.GetKind() != v1.KindModelArtifact {
					continue
				}
				return
			}
			if got != want {
				t.Errorf("compiles to something else with\n%s", read)
			}
		})
	}

	// Settings and RuntimeClasses come along, those of others do not.
	namespace("gpustack-system")
	must(c.ApplyYAML(ctx, []byte(`
apiVersion: gpustack.ai/v1
kind: Setting
metadata: {name: instance-privileged-allowed, namespace: gpustack-system}
spec: {value: "true"}
---
apiVersion: gpustack.ai/v1
kind: Setting
metadata: {name: server-url, namespace: gpustack-system}
spec: {value: secret}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: nvidia}
handler: nvidia
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
`)))
	stdout, stderr, err = mdc("facts", cached, "-o", "json")
	if err != nil {
		t.Fatal(err, stderr)
	}
	for word, want := range map[string]bool{
		`"name": "instance-privileged-allowed"`: true, "server-url": false, "secret": false,
		`"handler": "nvidia"`: true, "kata": false, `"kind": "List"`: true,
	} {
		if strings.Contains(stdout, word) != want {
			t.Errorf("%s is printed: %v\n%s", word, !want, stdout)
		}
	}

	if _, _, err := mdc("facts", cached, "--context", "nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("another context: %v", err)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	jsonschemalib "github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/api/jsonschema"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/replica"
)

// kubernetesSchemas names the schema of each core kind in the OpenAPI document.
var kubernetesSchemas = map[string]string{
	"v1/Pod":         "io.k8s.api.core.v1.Pod",
	"v1/PodTemplate": "io.k8s.api.core.v1.PodTemplate",
	"v1/Service":     "io.k8s.api.core.v1.Service",
	"v1/ConfigMap":   "io.k8s.api.core.v1.ConfigMap",

	"v1/ServiceAccount":                        "io.k8s.api.core.v1.ServiceAccount",
	"apps/v1/Deployment":                       "io.k8s.api.apps.v1.Deployment",
	"rbac.authorization.k8s.io/v1/Role":        "io.k8s.api.rbac.v1.Role",
	"rbac.authorization.k8s.io/v1/RoleBinding": "io.k8s.api.rbac.v1.RoleBinding",
}

// validator checks objects as strictly as an API server does with field
// validation Strict: a field that the schema does not have is refused.
type validator map[string]*jsonschemalib.Schema

func newValidator(t testing.TB) validator {
	t.Helper()
	const openAPI = "openapi.json"
	c := jsonschemalib.NewCompiler()
	// OpenAPI 3.0 schemas are closest to this draft.
	c.DefaultDraft(jsonschemalib.Draft4)
	b, err := os.ReadFile("../testdata/kubernetes/openapi-v1.35.4.json")
	if err != nil {
		t.Fatal(err)
	}
	doc := decodeJSON(t, b)
	closeObjects(doc)
	if err := c.AddResource(openAPI, doc); err != nil {
		t.Fatal(err)
	}
	v := validator{}
	for kind, name := range kubernetesSchemas {
		if v[kind], err = c.Compile(openAPI + "#/components/schemas/" + name); err != nil {
			t.Fatal(err)
		}
	}
	own, err := jsonschema.Schemas()
	if err != nil {
		t.Fatal(err)
	}
	const file = "worker.gpustack.ai/modeldeployment_v1.json"
	if err := c.AddResource(file, decodeJSON(t, own[file])); err != nil {
		t.Fatal(err)
	}
	if v["worker.gpustack.ai/v1/ModelDeployment"], err = c.Compile(file); err != nil {
		t.Fatal(err)
	}
	return v
}

func decodeJSON(t testing.TB, b []byte) any {
	t.Helper()
	doc, err := jsonschemalib.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// closeObjects makes unknown fields an error.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, child := range v {
			closeObjects(child)
		}
	case []any:
		for _, child := range v {
			closeObjects(child)
		}
	}
}

func (v validator) check(t *testing.T, o emit.Object) {
	t.Helper()
	schema := v[o.APIVersion+"/"+o.Kind]
	if schema == nil {
		t.Errorf("no schema for %s %s", o.APIVersion, o.Kind)
		return
	}
	tree, err := o.Tree()
	if err != nil {
		t.Fatal(err)
	}
	b, err := yaml.NewRNode(tree).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(decodeJSON(t, b)); err != nil {
		t.Errorf("%s %s: %v", o.Kind, o.Name, err)
	}
}

// pods stamps the Pods of the first ordinal of every template.
func pods(t testing.TB, out *compiler.Output) (objects []emit.Object) {
	t.Helper()
	for _, d := range out.Deployments {
		for _, template := range d.Templates {
			pod, err := replica.Stamp(template, replica.Seat{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, emit.New(pod, d.ModelDeployment.Name))
		}
	}
	return objects
}

func TestObjectsAreValid(t *testing.T) {
	v := newValidator(t)
	for _, name := range examples(t) {
		t.Run(name, func(t *testing.T) {
			out := compileExample(t, name)
			for _, o := range append(out.Objects, pods(t, out)...) {
				v.check(t, o)
			}
		})
	}
}

// TestValidatorRefuses keeps the validator honest: it must see both kinds of
// mistakes that the objects are checked for.
func TestValidatorRefuses(t *testing.T) {
	v := newValidator(t)
	for name, text := range map[string]string{
		"unknown field": "apiVersion: v1\nkind: Service\nspec: {portz: []}",
		"wrong type":    "apiVersion: v1\nkind: PodTemplate\ntemplate: {spec: {containers: [{name: main, command: vllm}]}}",
		"deployment":    "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nspec: {model: {name: m}, engine: {name: vLLM}, roles: [{name: a, instanceType: t, replica: 2}]}",
	} {
		t.Run(name, func(t *testing.T) {
			n := yaml.MustParse(text)
			b, err := n.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			err = v[n.GetApiVersion()+"/"+n.GetKind()].Validate(decodeJSON(t, b))
			if err == nil || strings.Contains(err.Error(), "failed to resolve") {
				t.Errorf("accepted: %v", err)
			}
		})
	}
}

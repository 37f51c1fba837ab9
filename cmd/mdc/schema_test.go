// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonschemalib "github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"gpustack.ai/mdc/cmd/agent/simulate"
	"gpustack.ai/mdc/compiler/api/jsonschema"
)

// schemaOf compiles a schema that mdc schema prints.
func schemaOf(t *testing.T, file string) *jsonschemalib.Schema {
	t.Helper()
	schemas, err := jsonschema.Schemas()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschemalib.UnmarshalJSON(bytes.NewReader(schemas[file]))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	c := jsonschemalib.NewCompiler()
	if err := c.AddResource(file, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// fits compares a document with a schema.
func fits(t *testing.T, schema *jsonschemalib.Schema, doc []byte) error {
	t.Helper()
	v, err := jsonschemalib.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(v)
}

// printed runs a command line.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	stdout, err := runs(args...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return stdout
}

func runs(args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	root := newRoot(&app{fs: filesys.MakeFsOnDisk(), stdout: &stdout, stderr: &stderr}, "mdc")
	root.SetArgs(args)
	err := root.Execute()
	return stdout.String(), err
}

func TestSimulationFitsItsSchema(t *testing.T) {
	schema := schemaOf(t, "mdc.gpustack.ai/simulation_v1.json")
	vllm := func(file string) string { return filepath.Join("../../examples/vllm", file) }
	rollout := printed(t, "simulate", "--scenario", vllm("scenario.yaml"), "-o", "json")
	for name, text := range map[string]string{
		"rollout": rollout,
		"nothing": printed(t, "simulate", vllm("deployment.yaml"), "--old", vllm("deployment.yaml"), "--facts", vllm("facts.yaml"), "-o", "json"),
		"unready": printed(t, "simulate", "--scenario", unready(t), "-o", "json", "--seed", "3"),
	} {
		if err := fits(t, schema, []byte(text)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	for what, replace := range map[string][2]string{
		"a state":           {`"gated"`, `"waiting"`},
		"a time":            {`"10m0s"`, `"10 minutes"`},
		"a number as text":  {`"ordinal": 3`, `"ordinal": "3"`},
		"an unknown field":  {`"ordinal": 3`, `"ordinal": 3, "pod": "x"`},
		"a missing field":   {`"replicas": 4,`, ``},
		"another top level": {`"deployments"`, `"results"`},
	} {
		wrong := strings.Replace(rollout, replace[0], replace[1], 1)
		if wrong == rollout {
			t.Fatalf("%s: the output has no %s", what, replace[0])
		}
		if fits(t, schema, []byte(wrong)) == nil {
			t.Errorf("%s is allowed", what)
		}
	}
}

func TestPlanFitsItsSchema(t *testing.T) {
	schema := schemaOf(t, "mdc.gpustack.ai/plan_v1.json")
	const vllm = "../../examples/vllm/"
	text, err := os.ReadFile(vllm + "deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	frozen := filepath.Join(t.TempDir(), "frozen.yaml")
	if err := os.WriteFile(frozen, bytes.Replace(text, []byte("Qwen2.5-72B"), []byte("Qwen3-32B"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	turnover := printed(t, "plan", vllm+"deployment.yaml.next", "--old", vllm+"deployment.yaml", "--facts", vllm+"facts.yaml", "-o", "json")
	refused, err := runs("plan", frozen, "--old", vllm+"deployment.yaml", "--facts", vllm+"facts.yaml", "-o", "json")
	if !errors.Is(err, errFindings) {
		t.Fatal(err)
	}
	for _, text := range []string{turnover, refused} {
		if err := fits(t, schema, []byte(text)); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if wrong := strings.Replace(turnover, `"changed"`, `"edited"`, 1); wrong == turnover || fits(t, schema, []byte(wrong)) == nil {
		t.Error("any change is allowed")
	}
}

// unready is a scenario in which nothing ever becomes Ready.
func unready(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../examples/pair")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	text := "deployments: [" + dir + "]\nfacts: [" + dir + "/facts.yaml]\ncapacity: {gpustack-nvidia-h20-linux-amd64: 1}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestScenarioSchema: the schema and the command allow the same.
func TestScenarioSchema(t *testing.T) {
	schema := schemaOf(t, "mdc.gpustack.ai/scenario_v1.json")
	example, err := os.ReadFile("../../examples/vllm/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const files = "deployments: [a.yaml]\n"
	for text, allowed := range map[string]bool{
		string(example): true,
		files:           true,
		files + "facts: [b]\nrunning: true\ncapacity: {x: 0}\ntiming: {load: 1h30m, drain: 0.5s, roles: {a/b: {load: 0s}}}\nuntil: 2h": true,
		files + "events: [{at: 0s, edit: e.yaml}, {at: 1.5h, deployment: d, scale: {role: r, replicas: 1024}}]":                        true,
		files + "events: [{at: 1m, nodeNotReady: {role: r, ordinal: 3, member: 63}}, {at: 1m, delete: true}]":                          true,
		"{}":                               false,
		"deployments: []":                  false,
		files + "evnets: []":               false,
		files + "until: -1h":               false,
		files + "until: soon":              false,
		files + "capacity: {x: -1}":        false,
		files + "capacity: {x: 1000001}":   false,
		files + "capacity: {x: one}":       false,
		files + "events: [{at: 1m}]":       false,
		files + "events: [{delete: true}]": false,
		files + "events: [{at: 1m, delete: true, edit: x, scale: {role: r, replicas: 1}}]": false,
		files + "events: [{at: 1m, scale: {role: r, replicas: 0}}]":                        false,
		files + "events: [{at: 1m, scale: {replicas: 1}}]":                                 false,
		files + "events: [{at: 1m, scale: {role: r}}]":                                     false,
		files + "events: [{at: 1m, evict: {role: r, ordinal: 1024}}]":                      false,
		files + "events: [{at: 1m, failPod: {role: r, member: 64}}]":                       false,
		files + "events: [{at: 1m, evict: r}]":                                             false,
	} {
		doc, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(t, schema, doc); (err == nil) != allowed {
			t.Errorf("schema: %v\n%s", err, text)
		}
		if _, err := simulate.Parse("", []byte(text)); (err == nil) != allowed {
			t.Errorf("command: %v\n%s", err, text)
		}
	}
}

// TestSchemasAreDocumented: whoever writes by a schema is told what fields mean.
func TestSchemasAreDocumented(t *testing.T) {
	for _, kind := range []string{"scenario", "simulation"} {
		var root map[string]any
		if err := yaml.Unmarshal([]byte(printed(t, "schema", kind)), &root); err != nil {
			t.Fatal(err)
		}
		described(t, kind, root)
	}
}

func described(t *testing.T, field string, schema map[string]any) {
	t.Helper()
	if schema["description"] == nil && schema["type"] != "string" {
		t.Errorf("%s has no description", field)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		described(t, field+"."+name, p.(map[string]any))
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if s, ok := schema[inner].(map[string]any); ok {
			described(t, field+"[]", s)
		}
	}
}

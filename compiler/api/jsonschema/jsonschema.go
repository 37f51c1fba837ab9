// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jsonschema derives JSON schemas for editors and CI from the
// CustomResourceDefinitions, and from the schemas of the documents that are no
// Kubernetes objects.
package jsonschema

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// draft is the version of JSON schema that editors and kubeconform read.
const draft = "http://json-schema.org/draft-07/schema#"

// documents are generated from Go types: "<group>_<kind>_<version>.yaml".
//
//go:embed documents/*.yaml
var documents embed.FS

// Schemas returns every schema by its path in the layout that editors and
// kubeconform look for: "<group>/<kind>_<version>.json", in lower case.
func Schemas() (map[string][]byte, error) {
	out := map[string][]byte{}
	for file, text := range v1.CRDs() {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, version := range crd.Spec.Versions {
			doc, err := convert(&crd, version)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			out[path(&crd, version.Name)] = doc
		}
	}
	files, err := fs.Glob(documents, "documents/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := documents.ReadFile(file)
		if err != nil {
			return nil, err
		}
		doc, err := convertDocument(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "documents/"), ".yaml")
		out[strings.Replace(name, "_", "/", 1)+".json"] = doc
	}
	return out, nil
}

func path(crd *apiextensionsv1.CustomResourceDefinition, version string) string {
	return fmt.Sprintf("%s/%s_%s.json", crd.Spec.Group, strings.ToLower(crd.Spec.Names.Kind), version)
}

func convert(crd *apiextensionsv1.CustomResourceDefinition, version apiextensionsv1.CustomResourceDefinitionVersion) ([]byte, error) {
	b, err := json.Marshal(version.Schema.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		return nil, err
	}
	properties := root["properties"].(map[string]any)
	properties["apiVersion"].(map[string]any)["const"] = crd.Spec.Group + "/" + version.Name
	properties["kind"].(map[string]any)["const"] = crd.Spec.Names.Kind
	root["required"] = append([]any{"apiVersion", "kind"}, list(root["required"])...)
	return finish(root)
}

func convertDocument(text []byte) ([]byte, error) {
	var root map[string]any
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	return finish(root)
}

func finish(root map[string]any) ([]byte, error) {
	strict(root)
	root["$schema"] = draft
	return json.MarshalIndent(root, "", "  ")
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// strict closes every object that an API server would prune, so that an editor
// underlines a misspelled field.
func strict(schema map[string]any) {
	open, _ := schema["x-kubernetes-preserve-unknown-fields"].(bool)
	for key, child := range schema {
		switch key {
		case "properties":
			for _, p := range child.(map[string]any) {
				strict(p.(map[string]any))
			}
			if _, free := schema["additionalProperties"]; !free && !open {
				schema["additionalProperties"] = false
			}
		case "items", "additionalProperties":
			if s, ok := child.(map[string]any); ok {
				strict(s)
			}
		}
		if strings.HasPrefix(key, "x-kubernetes-") {
			delete(schema, key)
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubeschemas cuts the schemas of the kinds that mdc emits out of the
// OpenAPI documents of Kubernetes, so that tests can validate offline.
//
//	kubeschemas KUBERNETES_MODULE_DIR OUTPUT_FILE
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strings"
)

var roots = map[string][]string{
	"api__v1_openapi.json": {
		"io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodTemplate", "io.k8s.api.core.v1.Service",
		"io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.ServiceAccount",
	},
	"apis__apps__v1_openapi.json":                      {"io.k8s.api.apps.v1.Deployment"},
	"apis__rbac.authorization.k8s.io__v1_openapi.json": {"io.k8s.api.rbac.v1.Role", "io.k8s.api.rbac.v1.RoleBinding"},
}

const prefix = "#/components/schemas/"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: kubeschemas KUBERNETES_MODULE_DIR OUTPUT_FILE")
	}
	kept := map[string]any{}
	for file, names := range roots {
		b, err := os.ReadFile(filepath.Join(os.Args[1], "api/openapi-spec/v3", file))
		if err != nil {
			log.Fatal(err)
		}
		var doc struct {
			Components struct {
				Schemas map[string]any `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			log.Fatal(err)
		}
		for len(names) > 0 {
			name := names[0]
			names = names[1:]
			if _, ok := kept[name]; ok {
				continue
			}
			kept[name] = doc.Components.Schemas[name]
			names = append(names, references(kept[name])...)
		}
	}
	describe(kept)
	out, err := json.MarshalIndent(map[string]any{"components": map[string]any{"schemas": kept}}, "", " ")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], append(out, '\n'), 0o644); err != nil {
		log.Fatal(err)
	}
}

// references lists the schemas that one refers to.
func references(v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			if s, ok := child.(string); ok && k == "$ref" {
				out = append(out, strings.TrimPrefix(s, prefix))
			}
			out = append(out, references(child)...)
		}
	case []any:
		for _, child := range v {
			out = append(out, references(child)...)
		}
	}
	return out
}

// describe drops the descriptions, which are most of the text.
func describe(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["description"].(string); ok {
			delete(v, "description")
		}
		for _, child := range v {
			describe(child)
		}
	case []any:
		for _, child := range v {
			describe(child)
		}
	}
}

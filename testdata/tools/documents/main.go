// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Command documents writes the schemas of the documents of mdc that are no
// Kubernetes objects, from their Go types and in the way of controller-gen.
//
//	documents REPOSITORY
package main

import (
	"log"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	toolmarkers "sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/yaml"
)

// documents are the Go types by the file of their schema.
var documents = map[string]struct{ pkg, name string }{
	"mdc.gpustack.ai_plan_v1.yaml":       {"./compiler/impact", "Plan"},
	"mdc.gpustack.ai_scenario_v1.yaml":   {"./cmd/agent/simulate", "Scenario"},
	"mdc.gpustack.ai_simulation_v1.yaml": {"./cmd/agent/simulate", "Simulation"},
}

// duration reads itself from a string, which its Go type does not tell.
var duration = apiextensionsv1.JSONSchemaProps{
	Type:        "string",
	Pattern:     `^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$`,
	Description: "A time as in 90s or 1h30m, of a year at most.",
}

const output = "compiler/api/jsonschema/documents"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: documents REPOSITORY")
	}
	for file, document := range documents {
		schema, err := schemaOf(os.Args[1], document.pkg, document.name)
		if err != nil {
			log.Fatal(err)
		}
		b, err := yaml.Marshal(schema)
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(os.Args[1], output, file), b, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

func schemaOf(dir, pkg, name string) (*apiextensionsv1.JSONSchemaProps, error) {
	roots, err := loader.LoadRootsWithConfig(&packages.Config{Dir: dir}, pkg)
	if err != nil {
		return nil, err
	}
	registry := &toolmarkers.Registry{}
	if err := markers.Register(registry); err != nil {
		return nil, err
	}
	p := &crd.Parser{
		Collector: &toolmarkers.Collector{Registry: registry}, Checker: &loader.TypeChecker{},
		IgnoreUnexportedFields: true,
	}
	crd.AddKnownTypes(p)
	p.NeedPackage(roots[0])
	p.Schemata[crd.TypeIdent{Package: roots[0], Name: "Duration"}] = duration
	id := crd.TypeIdent{Package: roots[0], Name: name}
	p.NeedFlattenedSchemaFor(id)
	// Imports are not loaded, so that nothing is known of their types.
	if loader.PrintErrors(roots, packages.TypeError) {
		log.Fatal("the types have errors")
	}
	schema := p.FlattenedSchemata[id]
	return &schema, nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Schema is the structural schema of one kind, compiled for validation. It is
// safe for concurrent use.
type Schema struct {
	typ        string
	format     string
	properties map[string]*Schema
	names      []string // of properties, sorted
	additional *Schema  // values of a map
	anyKey     bool     // unknown fields are kept
	items      *Schema
	required   []string
	enum       []string

	minimum, maximum     *float64
	minLength, maxLength *int64
	minItems, maxItems   *int64
	pattern              *regexp.Regexp

	nullable    bool
	intOrString bool
	listMapKeys []string
	defaulted   any // nil without a default

	// places maps a field name to the shapes of the parents that have it; only
	// at the root.
	places map[string][]string
}

// ModelDeploymentSchema returns the schema of ModelDeployment.
var ModelDeploymentSchema = sync.OnceValue(func() *Schema {
	s, err := ParseSchema(v1.ModelDeploymentCRD())
	if err != nil {
		panic(err) // embedded at build time
	}
	return s
})

// ParseSchema compiles the schema of the first version of a
// CustomResourceDefinition.
func ParseSchema(crd []byte) (*Schema, error) {
	var def apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd, &def); err != nil {
		return nil, fmt.Errorf("the CustomResourceDefinition cannot be read: %w", err)
	}
	if len(def.Spec.Versions) == 0 || def.Spec.Versions[0].Schema == nil || def.Spec.Versions[0].Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("the CustomResourceDefinition has no schema")
	}
	s, err := compile(def.Spec.Versions[0].Schema.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", def.Name, err)
	}
	s.places = map[string][]string{}
	for _, name := range s.names {
		if name != "metadata" && name != "status" {
			s.index(s.properties[name], name)
		}
	}
	return s, nil
}

func compile(p *apiextensionsv1.JSONSchemaProps) (*Schema, error) {
	s := &Schema{
		typ:         p.Type,
		format:      p.Format,
		required:    slices.Sorted(slices.Values(p.Required)),
		minimum:     p.Minimum,
		maximum:     p.Maximum,
		minLength:   p.MinLength,
		maxLength:   p.MaxLength,
		minItems:    p.MinItems,
		maxItems:    p.MaxItems,
		nullable:    p.Nullable,
		intOrString: p.XIntOrString,
		anyKey:      p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields,
	}
	if p.XListType != nil && *p.XListType == "map" {
		s.listMapKeys = p.XListMapKeys
	}
	for _, e := range p.Enum {
		var v any
		if err := json.Unmarshal(e.Raw, &v); err != nil {
			return nil, err
		}
		s.enum = append(s.enum, fmt.Sprint(v))
	}
	if p.Default != nil {
		if err := yaml.Unmarshal(p.Default.Raw, &s.defaulted); err != nil {
			return nil, err
		}
	}
	var err error
	if p.Pattern != "" {
		if s.pattern, err = regexp.Compile(p.Pattern); err != nil {
			return nil, err
		}
	}
	if p.Items != nil && p.Items.Schema != nil {
		if s.items, err = compile(p.Items.Schema); err != nil {
			return nil, err
		}
	}
	if p.AdditionalProperties != nil {
		if p.AdditionalProperties.Schema == nil {
			s.anyKey = p.AdditionalProperties.Allows
		} else if s.additional, err = compile(p.AdditionalProperties.Schema); err != nil {
			return nil, err
		}
	}
	s.properties = make(map[string]*Schema, len(p.Properties))
	for name, prop := range p.Properties {
		if s.properties[name], err = compile(&prop); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	s.names = slices.Sorted(maps.Keys(s.properties))
	return s, nil
}

func (s *Schema) index(of *Schema, shape string) {
	if of.items != nil {
		s.index(of.items, shape+"[]")
	}
	for _, name := range of.names {
		s.places[name] = append(s.places[name], shape)
		s.index(of.properties[name], shape+"."+name)
	}
}

// textOf renders a bound as people write it.
func textOf[N int64 | float64](n N) string {
	return strconv.FormatFloat(float64(n), 'f', -1, 64)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Kind is one kind of the API.
type Kind struct {
	Name, Version string
	// Aliases are what the kind may be called besides, in lower case.
	Aliases []string
	schema  *apiextensionsv1.JSONSchemaProps
}

// Field is a field of a kind, or the kind itself.
type Field struct {
	Kind *Kind
	// Path is full and without indexes, for example "spec.roles.size"; empty for
	// the kind itself.
	Path     string
	Required bool
	schema   *apiextensionsv1.JSONSchemaProps
}

// Kinds returns all kinds, sorted by name.
func Kinds() ([]*Kind, error) {
	var out []*Kind
	for file, text := range v1.CRDs() {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		names := crd.Spec.Names
		for _, version := range crd.Spec.Versions {
			out = append(out, &Kind{
				Name:    names.Kind,
				Version: crd.Spec.Group + "/" + version.Name,
				Aliases: append([]string{strings.ToLower(names.Kind), names.Singular, names.Plural}, names.ShortNames...),
				schema:  version.Schema.OpenAPIV3Schema,
			})
		}
	}
	slices.SortFunc(out, func(a, b *Kind) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// UnknownError is a name that stands for nothing.
type UnknownError struct {
	// What was asked for, and by which name.
	What, Name string
	// Of is the object that was to have the field; empty for a rule or a kind.
	Of string
	// Closest is what was probably meant; empty when nothing is close.
	Closest string
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.What, e.Name)
	if e.Of != "" {
		s += " of " + e.Of
	}
	if e.Closest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Closest)
	}
	return s
}

// defaultKind is meant by a path that begins with a field.
const defaultKind = "modeldeployment"

// FindField returns the field that a path such as "modeldeployment.spec.roles"
// or "md.spec.roles[].size" names. A path as findings show it,
// "spec.roles[0].size", is one of a ModelDeployment.
func FindField(path string) (Field, error) {
	kinds, err := Kinds()
	if err != nil {
		return Field{}, err
	}
	head, rest, _ := strings.Cut(path, ".")
	k := kindOf(kinds, head)
	if k == nil && isRootField(head) {
		k, rest = kindOf(kinds, defaultKind), path
	}
	if k == nil {
		return Field{}, &UnknownError{What: "rule or kind", Name: head, Closest: closest(head, slices.Concat(Rules(""), aliases(kinds)))}
	}
	f := Field{Kind: k, schema: k.schema}
	if rest == "" {
		return f, nil
	}
	for name := range strings.SplitSeq(rest, ".") {
		name, _, _ = strings.Cut(name, "[")
		next, ok := f.child(name)
		if !ok {
			of := strings.Trim(strings.ToLower(k.Name)+"."+f.Path, ".")
			return Field{}, &UnknownError{What: "field", Name: name, Of: of, Closest: closest(name, f.names())}
		}
		f = next
	}
	return f, nil
}

func kindOf(kinds []*Kind, name string) *Kind {
	name = strings.ToLower(name)
	for _, k := range kinds {
		if slices.Contains(k.Aliases, name) {
			return k
		}
	}
	return nil
}

func isRootField(name string) bool {
	name, _, _ = strings.Cut(name, "[")
	return slices.Contains([]string{"apiVersion", "kind", "metadata", "spec", "status"}, name)
}

func aliases(kinds []*Kind) (out []string) {
	for _, k := range kinds {
		out = append(out, k.Aliases...)
	}
	return out
}

// element is the schema of what a list or a map holds, and of anything else
// itself.
func element(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	for {
		switch {
		case s.Items != nil && s.Items.Schema != nil:
			s = s.Items.Schema
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s = s.AdditionalProperties.Schema
		default:
			return s
		}
	}
}

// names are those of the fields below.
func (f Field) names() []string {
	return slices.Sorted(maps.Keys(element(f.schema).Properties))
}

func (f Field) child(name string) (Field, bool) {
	s := element(f.schema)
	p, ok := s.Properties[name]
	if !ok {
		return Field{}, false
	}
	return Field{
		Kind:     f.Kind,
		Path:     strings.TrimPrefix(f.Path+"."+name, "."),
		Required: slices.Contains(s.Required, name),
		schema:   &p,
	}, true
}

// Children are the fields below, sorted by name.
func (f Field) Children() (out []Field) {
	for _, name := range f.names() {
		c, _ := f.child(name)
		out = append(out, c)
	}
	return out
}

// Name is the last element of the path.
func (f Field) Name() string { return f.Path[strings.LastIndex(f.Path, ".")+1:] }

// Type names the type as kubectl explain does.
func (f Field) Type() string { return typeOf(f.schema) }

func typeOf(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString:
		return "Quantity"
	case s.Items != nil && s.Items.Schema != nil:
		return "[]" + typeOf(s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map[string]" + typeOf(s.AdditionalProperties.Schema)
	case s.Type == "object":
		return "Object"
	}
	return s.Type
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package emit orders the objects of a compile and prints them.
package emit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Object is one object of the output.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	// Deployment is the ModelDeployment that the object was generated for, or
	// that it is; empty for an object passed through.
	Deployment string
	Node       *yaml.Node
}

// GroupKind is the group and kind, for example "apps/Deployment".
func (o *Object) GroupKind() string {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group = ""
	}
	return group + "/" + o.Kind
}

// ranks orders the objects of one deployment: what others refer to comes first.
var ranks = map[string]int{
	"ServiceAccount":  1,
	"Role":            2,
	"RoleBinding":     3,
	"ConfigMap":       4,
	"Service":         5,
	"Deployment":      6,
	"PodTemplate":     7,
	"ModelDeployment": 8,
}

// Sort puts objects into the order of the output: by namespace, deployment,
// kind and name. It does not depend on the order of the input.
func Sort(objects []Object) {
	slices.SortStableFunc(objects, func(a, b Object) int {
		return cmp.Or(
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Deployment, b.Deployment),
			cmp.Compare(ranks[a.Kind], ranks[b.Kind]),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// YAML prints objects as a stream of documents.
func YAML(w io.Writer, objects []Object) error {
	e := yaml.NewEncoder(w)
	for _, o := range objects {
		if err := e.Encode(o.Node); err != nil {
			return fmt.Errorf("printing %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
		}
	}
	if len(objects) == 0 {
		return nil
	}
	return e.Close()
}

// JSON prints objects as one v1 List.
func JSON(w io.Writer, objects []Object) error {
	list := struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}{APIVersion: "v1", Kind: "List", Items: []json.RawMessage{}}
	for _, o := range objects {
		b, err := yaml.NewRNode(o.Node).MarshalJSON()
		if err != nil {
			return fmt.Errorf("printing %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
		}
		list.Items = append(list.Items, bytes.TrimSpace(b))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

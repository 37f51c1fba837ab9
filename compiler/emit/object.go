// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package emit orders the objects of a compile and prints them.
package emit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/source"
)

// Object is one object of the output.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	// Deployment is the ModelDeployment that the object was generated for, or
	// that it is; empty for an object passed through.
	Deployment string
	// Node is the tree of an object of the input; nil for a generated object,
	// whose tree is made when it is printed.
	Node *yaml.Node

	generated any
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
	for i, o := range objects {
		if i > 0 {
			if _, err := io.WriteString(w, "---\n"); err != nil {
				return err
			}
		}
		// One encoder for all would keep every event of the stream in memory.
		e := yaml.NewEncoder(w)
		tree, err := o.Tree()
		if err == nil {
			err = errors.Join(e.Encode(tree), e.Close())
		}
		if err != nil {
			return fmt.Errorf("printing %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
		}
	}
	return nil
}

// JSON prints objects as one v1 List.
func JSON(w io.Writer, objects []Object) error {
	list := struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}{APIVersion: "v1", Kind: "List", Items: []any{}}
	for _, o := range objects {
		tree, err := o.Tree()
		if err != nil {
			return err
		}
		list.Items = append(list.Items, source.Value(tree))
	}
	return encode(w, list)
}

// JSONObject prints one object without a List around it.
func JSONObject(w io.Writer, o Object) error {
	tree, err := o.Tree()
	if err != nil {
		return err
	}
	return encode(w, source.Value(tree))
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

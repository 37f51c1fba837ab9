// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Copy returns an object that can be changed without changing this one.
func (o *Object) Copy() *Object {
	out := *o
	out.Node = o.Node.Copy()
	return &out
}

// SetNamespace writes metadata.namespace.
func (o *Object) SetNamespace(namespace string) error {
	o.Namespace = namespace
	return o.Node.SetNamespace(namespace)
}

// Set writes a string into a field, which keeps the comments of the value it
// had. path is the names of fields and the indexes of lists; mappings on the way
// are made, lists are not.
func (o *Object) Set(value string, path ...any) error {
	n := o.Node
	for i, step := range path {
		var next *yaml.RNode
		var err error
		switch step := step.(type) {
		case int:
			var elements []*yaml.RNode
			if elements, err = n.Elements(); err == nil && step >= len(elements) {
				err = fmt.Errorf("no item %d", step)
			}
			if err == nil {
				next = elements[step]
			}
		case string:
			if i == len(path)-1 {
				return n.PipeE(yaml.SetField(step, yaml.NewStringRNode(value)))
			}
			next, err = n.Pipe(yaml.LookupCreate(yaml.MappingNode, step))
		}
		if err != nil {
			return fmt.Errorf("writing %v: %w", path, err)
		}
		n = next
	}
	return fmt.Errorf("writing %v: the path ends in a list", path)
}

// Compare orders objects by kind, namespace, name and file, whatever the order
// they were read in.
func Compare(a, b *Object) int {
	return cmp.Or(
		cmp.Compare(a.APIVersion, b.APIVersion),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Index, b.Index),
	)
}

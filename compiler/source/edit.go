// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"

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

// SetRoleField writes a string into a field of a role, for example "resources",
// "accelerator". Missing mappings on the way are made.
func (o *Object) SetRoleField(role int, value string, path ...string) error {
	roles, err := o.Node.Pipe(yaml.Lookup("spec", "roles"))
	if err != nil {
		return err
	}
	elements, err := roles.Elements()
	if err != nil {
		return err
	}
	last := len(path) - 1
	return elements[role].PipeE(
		yaml.LookupCreate(yaml.MappingNode, path[:last]...),
		yaml.SetField(path[last], yaml.NewStringRNode(value)),
	)
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

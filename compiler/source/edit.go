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
	n := o.Node.YNode()
	for i, step := range path {
		switch step := step.(type) {
		case int:
			if n.Kind != yaml.SequenceNode || step >= len(n.Content) {
				return fmt.Errorf("writing %v: no item %d", path, step)
			}
			n = n.Content[step]
		case string:
			if n.Kind != yaml.MappingNode {
				return fmt.Errorf("writing %v: %s stands in no mapping", path, step)
			}
			next := lookup(n, step)
			last := i == len(path)-1
			switch {
			case next == nil && last:
				n.Content = append(n.Content, stringNode(step), stringNode(value))
			case next == nil:
				next = &yaml.Node{Kind: yaml.MappingNode, Tag: yaml.NodeTagMap}
				n.Content = append(n.Content, stringNode(step), next)
			case last:
				return yaml.NewRNode(n).PipeE(yaml.SetField(step, yaml.NewStringRNode(value)))
			case isNull(next):
				next.Kind, next.Tag, next.Value = yaml.MappingNode, yaml.NodeTagMap, ""
			}
			n = next
		}
	}
	if n != nil {
		return fmt.Errorf("writing %v: the path ends in a list", path)
	}
	return nil
}

// stringNode makes a node of a string, in quotes where it needs them.
func stringNode(s string) *yaml.Node {
	n := yaml.NewStringRNode(s).YNode()
	if n.Style == 0 && readsAsOther(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
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

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
	out.Node = yaml.NewRNode(copyTree(o.Node.YNode()))
	return &out
}

// copyTree copies nodes whose aliases are expanded. All of them are allocated
// together, which is much of what a copy costs.
func copyTree(n *yaml.Node) *yaml.Node {
	count := countNodes(n)
	s := slab{make([]yaml.Node, 0, count), make([]*yaml.Node, 0, count)}
	return s.copy(n)
}

func countNodes(n *yaml.Node) int {
	count := 1
	for _, c := range n.Content {
		count += countNodes(c)
	}
	return count
}

// slab is where copied nodes and their lists of children are put.
type slab struct {
	nodes    []yaml.Node
	children []*yaml.Node
}

func (s *slab) copy(n *yaml.Node) *yaml.Node {
	s.nodes = append(s.nodes, *n)
	out := &s.nodes[len(s.nodes)-1]
	if n.Content == nil {
		return out
	}
	start := len(s.children)
	s.children = append(s.children, n.Content...)
	// Full, so that a child added later does not overwrite those of another.
	out.Content = s.children[start:len(s.children):len(s.children)]
	for i, c := range n.Content {
		out.Content[i] = s.copy(c)
	}
	return out
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

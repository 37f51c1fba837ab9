// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Default writes the defaults of the schema into the object, as an API server
// does when it stores one: a field that is absent gets its default, and a null
// counts as absent. What is there keeps its place and its comments. The status
// is left alone.
func (s *Schema) Default(o *Object) {
	root := o.Node.YNode()
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch name := root.Content[i].Value; name {
		case "apiVersion", "kind", "metadata", "status":
		default:
			s.properties[name].fill(root.Content[i+1])
		}
	}
}

func (s *Schema) fill(n *yaml.Node) {
	if s == nil {
		return
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			s.items.fill(item)
		}
	case yaml.MappingNode:
		s.dropNulls(n)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if prop, ok := s.properties[n.Content[i].Value]; ok {
				prop.fill(n.Content[i+1])
			} else {
				s.additional.fill(n.Content[i+1])
			}
		}
		for _, name := range s.names {
			if prop := s.properties[name]; prop.defaulted != nil && lookup(n, name) == nil {
				key := stringNode(name)
				if last := len(n.Content) - 2; last >= 0 {
					// A comment at the end stays at the end.
					key.FootComment, n.Content[last].FootComment = n.Content[last].FootComment, ""
				}
				n.Content = append(n.Content, key, nodeOf(prop.defaulted))
			}
		}
	}
}

// dropNulls replaces nulls by the default and removes those without one. The
// comment above a removed key goes to what follows.
func (s *Schema) dropNulls(n *yaml.Node) {
	var kept []*yaml.Node
	comment := ""
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		prop := s.properties[key.Value]
		if prop == nil {
			prop = s.additional
		}
		if prop == nil || prop.nullable || !isNull(value) {
			key.HeadComment = joinComments(comment, key.HeadComment)
			comment = ""
			kept = append(kept, key, value)
			continue
		}
		if prop.defaulted == nil {
			comment = joinComments(comment, key.HeadComment)
			continue
		}
		filled := nodeOf(prop.defaulted)
		filled.LineComment, filled.FootComment = value.LineComment, value.FootComment
		kept = append(kept, key, filled)
	}
	if comment != "" && len(kept) > 0 {
		last := kept[len(kept)-2]
		last.FootComment = joinComments(last.FootComment, comment)
	}
	n.Content = kept
}

// nodeOf makes a node of a default.
func nodeOf(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := v.(type) {
	case string:
		n = stringNode(v)
	case map[string]any:
		n.Kind, n.Tag = yaml.MappingNode, yaml.NodeTagMap
		for _, name := range sortedKeys(v) {
			n.Content = append(n.Content, stringNode(name), nodeOf(v[name]))
		}
	case []any:
		n.Kind, n.Tag = yaml.SequenceNode, yaml.NodeTagSeq
		for _, item := range v {
			n.Content = append(n.Content, nodeOf(item))
		}
	case bool:
		n.Tag, n.Value = yaml.NodeTagBool, fmt.Sprint(v)
	case float64:
		n.Tag, n.Value = yaml.NodeTagInt, textOf(v)
	}
	return n
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// Position returns where the value of a field stands. The field is spelled as
// field.Path of apimachinery prints it, for example "spec.roles[0].extraArgs[1]"
// or "metadata.labels[app.kubernetes.io/name]". For a field that is missing it
// is the key of the nearest parent that exists, or the start of the object.
func (o *Object) Position(field string) diag.Position {
	unknown := diag.Position{File: displayName(o.File)}
	if o.doc == nil {
		return unknown
	}
	if o.origin != nil {
		return o.originPosition(field)
	}
	node, place := o.Node.YNode(), o.Node.YNode()
	for _, step := range parseField(field) {
		key, value := step.in(node)
		if value == nil || value.Line == 0 && (key == nil || key.Line == 0) {
			return o.doc.node(place)
		}
		node = value
		if key != nil {
			place = key
		} else {
			place = value
		}
	}
	if node.Line == 0 {
		node = place
	}
	return o.doc.node(node)
}

// originPosition finds a field of a built object in the document the object was
// built from. The field may have moved or come from a patch, so the place is
// given only when the document says the same.
func (o *Object) originPosition(field string) diag.Position {
	unknown := diag.Position{File: displayName(o.File)}
	built, written, place := o.Node.YNode(), o.origin, o.origin
	for _, step := range parseField(field) {
		_, value := step.in(built)
		if value == nil {
			return o.doc.node(place)
		}
		key, source := step.in(written)
		if built.Kind == yaml.SequenceNode {
			source = sameItem(written, value, source)
			key = source
		}
		if source == nil || source.Kind != value.Kind {
			return unknown
		}
		built, written, place = value, source, key
	}
	if built.Kind == yaml.ScalarNode && built.Value != written.Value {
		return unknown
	}
	return o.doc.node(written)
}

// sameItem returns the item of a list as it was written: the one of the same
// name, or of the same value.
func sameItem(list, item, candidate *yaml.Node) *yaml.Node {
	if list.Kind != yaml.SequenceNode {
		return nil
	}
	same := func(n *yaml.Node) bool { return n.Kind == item.Kind && n.Value == item.Value }
	if item.Kind == yaml.MappingNode {
		for _, id := range []string{"name", "mountPath", "port"} {
			if v := lookup(item, id); v != nil {
				same = func(n *yaml.Node) bool { return stringOf(lookup(n, id)) == v.Value }
				break
			}
		}
	}
	if candidate != nil && same(candidate) {
		return candidate
	}
	for _, n := range list.Content {
		if same(n) {
			return n
		}
	}
	return nil
}

// step is one element of a field path: the key of a mapping or, in brackets,
// the index of a list.
type step string

// in returns the key and value that the step leads to; the key of a list item
// is nil.
func (s step) in(n *yaml.Node) (key, value *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		return lookupPair(n, string(s))
	}
	i, err := strconv.Atoi(string(s))
	if err != nil || i < 0 || i >= len(n.Content) {
		return nil, nil
	}
	return nil, n.Content[i]
}

// parseField splits a field path. Keys in brackets may hold dots and slashes.
func parseField(field string) []step {
	var steps []step
	for field != "" {
		switch field[0] {
		case '.':
			field = field[1:]
		case '[':
			end := strings.IndexByte(field, ']')
			if end < 0 {
				return append(steps, step(field[1:]))
			}
			steps = append(steps, step(field[1:end]))
			field = field[end+1:]
		default:
			end := strings.IndexAny(field, ".[")
			if end < 0 {
				end = len(field)
			}
			steps = append(steps, step(field[:end]))
			field = field[end:]
		}
	}
	return steps
}

// trail is the path to the node being walked, kept as links so that walking
// costs nothing until a path is printed.
type trail struct {
	parent *trail
	key    string
	index  int
	item   bool // of a list
	inMap  bool // a key that the user chose, not the name of a field
	secret bool // the value of a flag whose values may be secrets
}

// String renders the path as field.Path of apimachinery does. Keys of labels
// and annotations stand in brackets.
func (t *trail) String() string {
	if t == nil {
		return ""
	}
	parent := t.parent.String()
	switch {
	case t.item:
		return parent + "[" + strconv.Itoa(t.index) + "]"
	case t.inMap, parent == "metadata.labels", parent == "metadata.annotations", strings.ContainsAny(t.key, "./[]"):
		return parent + "[" + t.key + "]"
	case parent == "":
		return t.key
	}
	return parent + "." + t.key
}

// shape renders the path with the indexes of lists left out.
func (t *trail) shape() string {
	if t == nil {
		return ""
	}
	parent := t.parent.shape()
	switch {
	case t.item, t.inMap:
		return parent + "[]"
	case parent == "":
		return t.key
	}
	return parent + "." + t.key
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// Object is one KRM object of the input.
type Object struct {
	// Node is the object: a mapping with its comments, aliases and merge keys
	// expanded.
	Node *yaml.RNode

	// File is the path of the file, as the user gave it or below the directory
	// the user gave, with slashes; "-" is standard input.
	File string

	// Index is the place among the objects of its file, as a ResourceList or
	// the reader counts it.
	Index int

	APIVersion, Kind, Namespace, Name string

	// PreviousName is the name before kustomize changed it; empty if it did not.
	PreviousName string

	doc    *document  // where positions come from; nil when they are not known
	origin *yaml.Node // what stands in doc when that is not Node itself
}

const (
	// AnnotationPath and AnnotationIndex tell a function where an item was read.
	AnnotationPath = "internal.config.kubernetes.io/path"
	// AnnotationIndex is the place of the item in its file.
	AnnotationIndex = "internal.config.kubernetes.io/index"

	legacyAnnotationPath    = "config.kubernetes.io/path"
	legacyAnnotationIndex   = "config.kubernetes.io/index"
	annotationPreviousNames = "internal.config.kubernetes.io/previousNames"
)

// Annotation returns the value of an annotation, empty when it is absent.
func (o *Object) Annotation(key string) string { return o.metadata("annotations", key) }

// Label returns the value of a label, empty when it is absent.
func (o *Object) Label(key string) string { return o.metadata("labels", key) }

// Group returns the API group; empty for the core group.
func (o *Object) Group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// IsDeleting reports whether the object says that its deletion has begun.
func (o *Object) IsDeleting() bool {
	return stringOf(lookup(lookup(o.Node.YNode(), "metadata"), "deletionTimestamp")) != ""
}

// Finding makes a finding about a field of the object; an empty field is the
// object as a whole.
func (o *Object) Finding(severity diag.Severity, rule, field, message, remedy string) diag.Finding {
	return o.findingAt(o.Position(field), severity, rule, field, message, remedy)
}

func (o *Object) findingAt(at diag.Position, severity diag.Severity, rule, field, message, remedy string) diag.Finding {
	return diag.Finding{
		Rule:       rule,
		Severity:   severity,
		APIVersion: o.APIVersion,
		Kind:       o.Kind,
		Namespace:  o.Namespace,
		Name:       o.Name,
		Field:      field,
		Message:    message,
		Remedy:     remedy,
		Position:   at,
	}
}

func (o *Object) metadata(section, key string) string {
	n := lookup(lookup(lookup(o.Node.YNode(), "metadata"), section), key)
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// identify fills the fields that identify the object. It reports those that are
// not strings, and keys that stand twice.
func (o *Object) identify() diag.List {
	root := o.Node.YNode()
	metadata := lookup(root, "metadata")
	o.APIVersion = stringOf(lookup(root, "apiVersion"))
	o.Kind = stringOf(lookup(root, "kind"))
	o.Namespace = stringOf(lookup(metadata, "namespace"))
	o.Name = stringOf(lookup(metadata, "name"))
	o.PreviousName, _, _ = strings.Cut(o.Annotation(annotationPreviousNames), ",")

	// The schema reports these again, in the same words, so that they are shown
	// once.
	var findings diag.List
	for _, v := range atMost(append(identityViolations(o), duplicates(root, nil)...)) {
		findings = append(findings, v.Finding(o, v.Rule()))
	}
	return findings
}

// lookup returns the value of a key of a mapping, nil when there is none.
func lookup(n *yaml.Node, key string) *yaml.Node {
	_, value := lookupPair(n, key)
	return value
}

func lookupPair(n *yaml.Node, key string) (k, v *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func stringOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == yaml.NodeTagNull {
		return ""
	}
	return n.Value
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == yaml.NodeTagNull
}

// FromNodes makes objects of the items of a ResourceList. The file of each is
// what its annotations say. Lines stay unknown, because those of the nodes count
// in the stream and not in the file.
func FromNodes(nodes []*yaml.RNode) *Set {
	s := &Set{}
	budget := MaxExpansion
	for _, n := range nodes {
		if n == nil || n.YNode() == nil {
			continue
		}
		o := &Object{Node: n}
		o.File = firstAnnotation(o, AnnotationPath, legacyAnnotationPath)
		o.Index = atoi(firstAnnotation(o, AnnotationIndex, legacyAnnotationIndex))
		r := report{file: o.File, findings: &s.Findings}
		if n.YNode().Kind != yaml.MappingNode {
			r.add(nil, "an item of the ResourceList is not an object", "")
			continue
		}
		if !normalise(n.YNode(), &budget, r) {
			continue
		}
		if o.admit(r) {
			s.Objects = append(s.Objects, o)
		}
	}
	return s
}

// admit identifies an object and reports whether it is one at all.
func (o *Object) admit(r report) bool {
	root := o.Node.YNode()
	for _, key := range []string{"apiVersion", "kind"} {
		if n := lookup(root, key); n == nil || isNull(n) || n.Value == "" && n.Kind == yaml.ScalarNode {
			message := "the object has no " + key
			if written := misspeltAs(root, key); n == nil && written != nil {
				r.addField(written, written.Value, message, fmt.Sprintf("did you mean %q?", key))
				return false
			}
			r.add(root, message, "add "+key+", or remove the document if it is no Kubernetes object")
			return false
		}
	}
	found := o.identify()
	*r.findings = append(*r.findings, found...)
	return !slices.ContainsFunc(found, func(f diag.Finding) bool { return f.Rule == RuleType && (f.Field == "apiVersion" || f.Field == "kind") })
}

// misspeltAs returns the key of a mapping that was probably meant to be one of
// those every object has; nil when none was.
func misspeltAs(root *yaml.Node, key string) *yaml.Node {
	names := []string{"apiVersion", "kind", "metadata", "spec", "status"}
	for i := 0; i+1 < len(root.Content); i += 2 {
		written := root.Content[i]
		if meant, ok := Suggest(written.Value, names); ok && meant == key && !slices.Contains(names, written.Value) {
			return written
		}
	}
	return nil
}

func firstAnnotation(o *Object, keys ...string) string {
	for _, k := range keys {
		if v := o.Annotation(k); v != "" {
			return v
		}
	}
	return ""
}

// atoi reads a small decimal number and takes anything else for zero.
func atoi(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 1<<24 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// duplicates returns the keys that stand twice in one mapping, anywhere below;
// not many more than are reported.
func duplicates(n *yaml.Node, at *trail) []Violation {
	var out []Violation
	if n.Kind == yaml.MappingNode {
		if second := secondObject(n, at); second != nil {
			return []Violation{*second}
		}
		for _, i := range duplicateKeys(n) {
			if len(out) > mostViolations {
				break
			}
			out = append(out, duplicateKey(n.Content[i], &trail{parent: at, key: n.Content[i].Value}))
		}
		for i := 0; i+1 < len(n.Content) && len(out) <= mostViolations; i += 2 {
			if len(n.Content[i+1].Content) > 0 {
				out = append(out, duplicates(n.Content[i+1], &trail{parent: at, key: n.Content[i].Value})...)
			}
		}
		return out
	}
	for i, c := range n.Content {
		if len(out) > mostViolations {
			break
		}
		if len(c.Content) > 0 {
			out = append(out, duplicates(c, &trail{parent: at, index: i, item: true})...)
		}
	}
	return out
}

// secondObject recognises two objects that stand in one document because the
// line between them is missing. What else is wrong with it follows from that.
func secondObject(n *yaml.Node, at *trail) *Violation {
	if at != nil {
		return nil
	}
	for _, i := range duplicateKeys(n) {
		key := n.Content[i]
		if key.Value != "apiVersion" && key.Value != "kind" {
			continue
		}
		v := duplicateKey(key, &trail{key: key.Value})
		v.Message = "a second object begins here, in the document of the first"
		v.Remedy = "put a line with --- between them"
		return &v
	}
	return nil
}

func duplicateKey(key *yaml.Node, at *trail) Violation {
	return Violation{
		Kind:    DuplicateKey,
		Field:   at.String(),
		Shape:   at.shape(),
		Value:   shorten(key.Value),
		Message: fmt.Sprintf("the key %s stands twice in %s", quote(key.Value), orObject(at.parent.String())),
		Remedy:  "remove one of the two",
		node:    key,
	}
}

// duplicateKeys returns the indexes of the keys of a mapping that stood before.
func duplicateKeys(n *yaml.Node) []int {
	var out []int
	if len(n.Content) > 32 {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			if seen[n.Content[i].Value] {
				out = append(out, i)
			}
			seen[n.Content[i].Value] = true
		}
		return out
	}
	for i := 2; i < len(n.Content); i += 2 {
		for j := 0; j < i; j += 2 {
			if n.Content[j].Value == n.Content[i].Value {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

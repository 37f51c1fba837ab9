// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// normalise checks a document and expands its aliases and merge keys in place.
// It reports false when the document must not be used. The budget is what
// aliases may still add in this run.
func normalise(root *yaml.Node, budget *int, r report) bool {
	c := &checker{report: r, ok: true}
	c.check(root, nil, 1)
	if !c.ok || !c.aliases {
		return c.ok
	}
	m := measure{sizes: map[*yaml.Node]extent{}}
	size := m.of(root)
	switch {
	case m.cycle != nil:
		r.add(m.cycle, fmt.Sprintf("the alias *%s stands inside of what it stands for", m.cycle.Value), "write the value out")
		return false
	case size.added > *budget:
		r.add(root, fmt.Sprintf("the aliases of the document expand to more than %d nodes", MaxExpansion), "write the values out, or use fewer nested aliases")
		return false
	case size.depth > MaxDepth:
		r.add(root, fmt.Sprintf("the document is nested more than %d levels deep once its aliases are expanded", MaxDepth), "")
		return false
	}
	*budget -= size.added
	e := expander{report: r, ok: true}
	e.expand(root)
	return e.ok
}

// checker walks the nodes as they were written.
type checker struct {
	report  report
	ok      bool
	aliases bool
}

func (c *checker) check(n *yaml.Node, at *trail, depth int) {
	if depth > MaxDepth {
		if c.ok {
			c.report.add(n, fmt.Sprintf("the document is nested more than %d levels deep", MaxDepth), "")
		}
		c.ok = false
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		c.aliases = true
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if item.Kind == yaml.ScalarNode {
				if why := unreadable(item); why != "" {
					c.refuse(item, &trail{parent: at, index: i, item: true}, why)
				}
				continue
			}
			c.check(item, &trail{parent: at, index: i, item: true}, depth+1)
		}
	case yaml.MappingNode:
		c.keys(n, at)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Tag == yaml.MergeTag {
				c.aliases = true // to be expanded, too
			}
			if value.Kind == yaml.ScalarNode {
				if why := unreadable(value); why != "" {
					c.refuse(value, &trail{parent: at, key: key.Value}, why)
				}
				continue
			}
			c.check(value, &trail{parent: at, key: key.Value}, depth+1)
		}
	}
}

func (c *checker) refuse(n *yaml.Node, at *trail, why string) {
	c.report.addField(n, at.String(), why, "write the value as plain text")
	c.ok = false
}

// unreadable says why no reader of Kubernetes manifests can read a scalar; empty
// for nearly all.
func unreadable(n *yaml.Node) string {
	switch {
	case n.Style&yaml.TaggedStyle != 0 && n.Tag != yaml.NodeTagString && strings.HasPrefix(n.Tag, "!!"):
		var v any
		if err := n.Decode(&v); err != nil {
			return "the value is not what its tag " + shorten(n.Tag) + " says"
		}
	case n.Tag == yaml.NodeTagFloat && n.Style == 0:
		switch strings.ToLower(strings.TrimLeft(n.Value, "+-")) {
		case ".nan", ".inf":
			return "Kubernetes has no number " + shorten(n.Value)
		}
	}
	return ""
}

// keys reports keys that are no strings and more than one merge key.
func (c *checker) keys(n *yaml.Node, at *trail) {
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.ScalarNode && unreadable(key) == "" {
			continue
		}
		c.report.addField(key, at.String(), "a key is not a string", "write the key as plain text")
		c.ok = false
		return
	}
	merges := 0
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag != yaml.MergeTag {
			continue
		}
		if merges++; merges > 1 {
			c.report.addField(n.Content[i], at.String(), "the merge key << stands twice in one mapping", "write <<: [*a, *b]")
			c.ok = false
			return
		}
	}
}

// extent is how large a node is once its aliases are expanded. Counts saturate
// above the limit, so that they cannot overflow.
type extent struct{ nodes, added, depth int }

type measure struct {
	sizes map[*yaml.Node]extent // of anchored nodes; zero while being measured
	cycle *yaml.Node
}

func (m *measure) of(n *yaml.Node) extent {
	if n.Kind == yaml.AliasNode {
		size, known := m.sizes[n.Alias]
		switch {
		case !known: // the anchor stands in another item of a ResourceList
			size = m.of(n.Alias)
			m.sizes[n.Alias] = size
		case size.nodes == 0:
			m.cycle = n
		}
		size.added = size.nodes
		return size
	}
	if n.Anchor != "" {
		m.sizes[n] = extent{}
	}
	size := extent{nodes: 1, depth: 1}
	for _, c := range n.Content {
		child := m.of(c)
		size.nodes = min(size.nodes+child.nodes, 2*MaxExpansion)
		size.added = min(size.added+child.added, 2*MaxExpansion)
		size.depth = max(size.depth, 1+child.depth)
	}
	if n.Anchor != "" {
		m.sizes[n] = size
	}
	return size
}

type expander struct {
	report report
	ok     bool
}

// expand replaces aliases by copies of what they stand for.
func (e *expander) expand(n *yaml.Node) {
	n.Anchor = ""
	for i, c := range n.Content {
		if c.Kind != yaml.AliasNode {
			e.expand(c)
			continue
		}
		// The anchor stands before its aliases and is expanded, unless it is in
		// another item of a ResourceList.
		if c.Alias.Anchor != "" {
			e.expand(c.Alias)
		}
		copied := copyNode(c.Alias)
		copied.HeadComment, copied.LineComment, copied.FootComment = c.HeadComment, c.LineComment, c.FootComment
		n.Content[i] = copied
	}
	if n.Kind == yaml.MappingNode {
		e.merge(n)
	}
}

// merge puts what a merge key refers to in its place. Keys of the mapping win,
// and earlier sources win over later ones.
func (e *expander) merge(n *yaml.Node) {
	at := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == yaml.MergeTag {
			at = i
			break
		}
	}
	if at < 0 {
		return
	}
	sources := []*yaml.Node{n.Content[at+1]}
	if sources[0].Kind == yaml.SequenceNode {
		sources = sources[0].Content
	}
	taken := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		taken[n.Content[i].Value] = true
	}
	var merged []*yaml.Node
	for _, s := range sources {
		if s.Kind != yaml.MappingNode {
			e.report.add(s, "the value of the merge key << is not a mapping", "merge an alias of a mapping")
			e.ok = false
			return
		}
		for i := 0; i+1 < len(s.Content); i += 2 {
			if !taken[s.Content[i].Value] {
				taken[s.Content[i].Value] = true
				merged = append(merged, s.Content[i], s.Content[i+1])
			}
		}
	}
	content := append([]*yaml.Node{}, n.Content[:at]...)
	content = append(content, merged...)
	n.Content = append(content, n.Content[at+2:]...)
}

func copyNode(n *yaml.Node) *yaml.Node {
	out := *n
	out.Anchor = ""
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out.Content[i] = copyNode(c)
	}
	return &out
}

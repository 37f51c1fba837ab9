// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
)

// heading says which deployment a graph is of.
func (g *Graph) heading() string {
	return fmt.Sprintf("%s/%s: %s on %s", g.Namespace, g.Name, g.Model, g.Engine)
}

// texts are the lines of a node where only text can be drawn.
func (n Node) texts() []string {
	out := []string{n.Title}
	switch {
	case n.Role != nil:
		out[0] = n.Role.Kind + " " + n.Title
		out = append(out, n.Role.instances())
	case captions[n.Kind] != "":
		out[0] = captions[n.Kind] + " " + n.Title
	}
	for _, l := range n.Lines {
		out = append(out, l.Text)
	}
	return out
}

// instances names the replicas of a role.
func (r Role) instances() string {
	var s string
	switch n := r.Replicas; n {
	case 1:
		s = "r0"
	case 2:
		s = "r0, r1"
	default:
		s = fmt.Sprintf("r0 … r%d", n-1)
	}
	if r.Size > 1 {
		s += fmt.Sprintf(" × %d Pods", r.Size)
	}
	return s
}

// texts are the lines of a queue.
func (g Group) texts() []string {
	queue := g.Queue
	if queue == "" {
		queue = unknown
	}
	return []string{"Kueue queue " + queue, "InstanceType " + g.InstanceType}
}

// legend explains the values that only the cluster knows.
func (g *Graph) legend() []string {
	out := []string{unknown + " is known only to the cluster; the agent fills it in:"}
	for _, l := range g.Late {
		out = append(out, l.Name+" from "+l.Source)
	}
	return out
}

// ids gives the nodes names that need no quotes.
func (g *Graph) ids() map[string]string {
	out := map[string]string{}
	for i, n := range g.Nodes {
		out[n.ID] = fmt.Sprintf("n%d", i)
	}
	return out
}

// eachByGroup visits the nodes outside every queue, and then those of each.
func (g *Graph) eachByGroup(visit func(group *Group, index int, nodes []Node)) {
	of := func(id string) (out []Node) {
		for _, n := range g.Nodes {
			if n.Group == id {
				out = append(out, n)
			}
		}
		return out
	}
	visit(nil, -1, of(""))
	for i := range g.Groups {
		visit(&g.Groups[i], i, of(g.Groups[i].ID))
	}
}

func escaped(lines []string, escape func(string) string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSpace(escape(l))
	}
	return out
}

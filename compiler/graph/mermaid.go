// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Mermaid prints the graphs as flowcharts, each under a comment with its name: a
// block of Markdown holds one flowchart.
func Mermaid(w io.Writer, graphs []*Graph) error {
	out := bufio.NewWriter(w)
	for i, g := range graphs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		g.mermaid(out)
	}
	return out.Flush()
}

// mermaidShapes are the brackets around the text of a node.
var mermaidShapes = map[Kind][2]string{
	KindService:  {"([", "])"},
	KindRouter:   {"{{", "}}"},
	KindRole:     {"[", "]"},
	KindProxy:    {"(", ")"},
	KindPool:     {"[(", ")]"},
	KindArtifact: {"[/", "/]"},
}

func (g *Graph) mermaid(w io.Writer) {
	ids := g.ids()
	fmt.Fprintf(w, "%%%% %s/%s\nflowchart LR\n", g.Namespace, g.Name)
	fmt.Fprintf(w, "  subgraph d[\"%s\"]\n", escapeMermaid(g.heading()))
	g.eachByGroup(func(group *Group, index int, nodes []Node) {
		indent := "    "
		if group != nil {
			fmt.Fprintf(w, "    subgraph g%d[\"%s\"]\n", index, strings.Join(escaped(group.texts(), escapeMermaid), "<br/>"))
			indent += "  "
		}
		for _, n := range nodes {
			shape := mermaidShapes[n.Kind]
			fmt.Fprintf(w, "%s%s%s\"%s\"%s\n", indent, ids[n.ID], shape[0], strings.Join(escaped(n.texts(), escapeMermaid), "<br/>"), shape[1])
		}
		if group != nil {
			fmt.Fprintln(w, "    end")
		}
	})
	fmt.Fprintln(w, "  end")
	for _, e := range g.Edges {
		line := map[bool]string{false: "-->", true: "-.->"}[e.Half]
		if e.Both {
			line = "<" + line
		}
		text := ""
		if e.Label != "" {
			text = "|\"" + escapeMermaid(label(e)) + "\"|"
		}
		fmt.Fprintf(w, "  %s %s%s %s\n", ids[e.From], line, text, ids[e.To])
	}
	if len(g.Late) > 0 {
		fmt.Fprintf(w, "  legend[\"%s\"]\n", strings.Join(escaped(g.legend(), escapeMermaid), "<br/>"))
		fmt.Fprintln(w, "  style legend fill:#ffffff,stroke:"+inkLate+",color:"+inkLate+",stroke-dasharray:5 4")
	}
	for _, n := range g.Nodes {
		t := n.tint()
		dashed := ""
		if n.Late() {
			dashed = ",stroke-dasharray:5 4"
		}
		fmt.Fprintf(w, "  style %s fill:%s,stroke:%s,color:%s%s\n", ids[n.ID], t.fill, t.line, ink, dashed)
	}
	for i, group := range g.Groups {
		if group.Queue == "" {
			fmt.Fprintf(w, "  style g%d stroke-dasharray:5 4\n", i)
		}
	}
}

// escapeMermaid writes everything but letters, digits and plain punctuation as
// an entity, so that no text ends a label, is markup or a Markdown list.
func escapeMermaid(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ' || r == 0x7F:
			b.WriteByte(' ')
		case r >= 0x80, r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', strings.ContainsRune(" ,.:/-%()?+", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

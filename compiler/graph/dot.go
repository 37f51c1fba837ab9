// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// DOT prints the graphs for Graphviz, one digraph each.
func DOT(w io.Writer, graphs []*Graph) error {
	out := bufio.NewWriter(w)
	for i, g := range graphs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		g.dot(out)
	}
	return out.Flush()
}

// dotShapes are the shapes of nodes.
var dotShapes = map[Kind]string{
	KindService:  "oval",
	KindRouter:   "hexagon",
	KindRole:     "box",
	KindProxy:    "box",
	KindPool:     "cylinder",
	KindArtifact: "folder",
}

func (g *Graph) dot(w io.Writer) {
	ids := g.ids()
	fmt.Fprintf(w, "digraph %s {\n", quoteDOT(g.Namespace+"/"+g.Name))
	fmt.Fprintf(w, "  graph [rankdir=LR, labelloc=t, fontname=\"sans-serif\", fontsize=12, label=%s]\n", quoteDOT(g.heading()))
	fmt.Fprintln(w, `  node [style="filled,rounded", fontname="sans-serif", fontsize=11, margin="0.15,0.08"]`)
	fmt.Fprintln(w, `  edge [fontname="sans-serif", fontsize=10]`)
	g.eachByGroup(func(group *Group, index int, nodes []Node) {
		indent := "  "
		if group != nil {
			style := "rounded"
			if group.Queue == "" {
				style = "rounded,dashed"
			}
			fmt.Fprintf(w, "  subgraph cluster_%d {\n    label=%s\n    style=%s\n    color=%s\n", index,
				quoteDOT(strings.Join(group.texts(), "\n")), quoteDOT(style), quoteDOT(bandLine))
			indent += "  "
		}
		for _, n := range nodes {
			t, style := n.tint(), ""
			if n.Late() {
				style = `, style="filled,rounded,dashed"`
			}
			fmt.Fprintf(w, "%s%s [shape=%s, label=%s, fillcolor=%s, color=%s%s]\n", indent, ids[n.ID], dotShapes[n.Kind],
				quoteDOT(strings.Join(n.texts(), "\n")), quoteDOT(t.fill), quoteDOT(t.line), style)
		}
		if group != nil {
			fmt.Fprintln(w, "  }")
		}
	})
	for _, e := range g.Edges {
		attributes := "color=" + quoteDOT(colors[e.Kind])
		if e.Label != "" {
			attributes += ", label=" + quoteDOT(label(e)) + ", fontcolor=" + quoteDOT(colors[e.Kind])
		}
		if e.Both {
			attributes += ", dir=both"
		}
		if e.Half {
			attributes += ", style=dashed"
		}
		if e.Kind == EdgeEvents {
			attributes += ", constraint=false" // runs against the requests
		}
		fmt.Fprintf(w, "  %s -> %s [%s]\n", ids[e.From], ids[e.To], attributes)
	}
	if len(g.Late) > 0 {
		fmt.Fprintf(w, "  legend [shape=note, style=dashed, color=%s, fontcolor=%s, label=%s]\n",
			quoteDOT(inkLate), quoteDOT(inkLate), quoteDOT(strings.Join(g.legend(), "\n")))
	}
	fmt.Fprintln(w, "}")
}

// quoteDOT writes a string of DOT. The backslash begins an escape that some
// attributes expand, and nothing else needs one.
func quoteDOT(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7F {
			return ' '
		}
		return r
	}, s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;").Replace(s) + `"`
}

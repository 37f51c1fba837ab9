// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Font families, the first that the reader has is used.
const (
	sansFonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
	monoFonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
)

// SVG prints the graphs below each other, as one document that needs nothing
// else.
func SVG(w io.Writer, graphs []*Graph) error {
	var s scene
	for _, g := range graphs {
		if s.height > 0 {
			s.boxes = append(s.boxes, box{rect: rect{margin, s.height, s.width - 2*margin, 1}, fill: rule})
		}
		s.append(layout(g), 1)
	}
	out := bufio.NewWriter(w)
	names := make([]string, len(graphs))
	for i, g := range graphs {
		names[i] = g.Namespace + "/" + g.Name
	}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s">`+"\n",
		s.width, s.height, s.width, s.height, sansFonts)
	fmt.Fprintf(out, "<title>%s</title>\n", escapeXML(strings.Join(names, ", ")))
	fmt.Fprintf(out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", s.width, s.height)
	for _, b := range s.boxes {
		b.print(out)
	}
	for _, a := range s.arrows {
		a.print(out)
	}
	for _, t := range s.texts {
		t.print(out)
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

const dash = ` stroke-dasharray="5 4"`

func (b box) print(w io.Writer) {
	fmt.Fprintf(w, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s"`, b.x, b.y, b.w, b.h, b.radius, b.fill)
	if b.stroke != "" {
		fmt.Fprintf(w, ` stroke="%s"`, b.stroke)
	}
	if b.dashed {
		fmt.Fprint(w, dash)
	}
	if b.title == "" {
		fmt.Fprintln(w, "/>")
		return
	}
	fmt.Fprintf(w, "><title>%s</title></rect>\n", escapeXML(b.title))
}

func (t text) print(w io.Writer) {
	fmt.Fprintf(w, `<text x="%d" y="%d" font-size="%d" fill="%s"`, t.x, t.y, t.size, t.fill)
	if t.mono {
		fmt.Fprintf(w, ` font-family="%s"`, monoFonts)
	}
	if t.bold {
		fmt.Fprint(w, ` font-weight="600"`)
	}
	if t.italic {
		fmt.Fprint(w, ` font-style="italic"`)
	}
	if t.anchor != "" && t.anchor != "start" {
		fmt.Fprintf(w, ` text-anchor="%s"`, t.anchor)
	}
	fmt.Fprintf(w, ">%s</text>\n", escapeXML(t.s))
}

// Size of an arrow's head.
const (
	headLength = 9
	headHalf   = 4
)

func (a arrow) print(w io.Writer) {
	dx, dy := sign(a.x2-a.x1), sign(a.y2-a.y1)
	// The line ends within the heads, so that it does not blunt them.
	x1, y1, x2, y2 := a.x1, a.y1, a.x2-dx*headLength/2, a.y2-dy*headLength/2
	if a.both {
		x1, y1 = x1+dx*headLength/2, y1+dy*headLength/2
	}
	fmt.Fprintf(w, `<path d="M%d %dL%d %d" fill="none" stroke="%s" stroke-width="1.6"`, x1, y1, x2, y2, a.stroke)
	if a.dashed {
		fmt.Fprint(w, dash)
	}
	fmt.Fprintln(w, "/>")
	a.head(w, a.x2, a.y2, dx, dy)
	if a.both {
		a.head(w, a.x1, a.y1, -dx, -dy)
	}
}

// head prints the head of an arrow that points in a direction.
func (a arrow) head(w io.Writer, x, y, dx, dy int) {
	bx, by := x-dx*headLength, y-dy*headLength
	fmt.Fprintf(w, `<path d="M%d %dL%d %dL%d %dZ" fill="%s"/>`+"\n",
		x, y, bx+dy*headHalf, by+dx*headHalf, bx-dy*headHalf, by-dx*headHalf, a.stroke)
}

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder does not fail
	return b.String()
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

// Fonts of the picture.
var (
	fontHeading = font{size: 20, bold: true}
	fontModel   = font{size: 13}
	fontTitle   = font{size: 14, bold: true}
	fontCaption = font{size: 11}
	fontLine    = font{size: 12}
	fontCode    = font{size: 11, mono: true}
	fontBadge   = font{size: 11, bold: true}
	fontLabel   = font{size: 11}
	fontPill    = font{size: 11}
	fontSmall   = font{size: 11}
)

// block is a column of lines that are set below each other.
type block struct {
	width int
	lines []text
	h     int
}

// add wraps a text into the block.
func (b *block) add(f font, fill, s string) {
	for _, part := range f.wrap(s, b.width) {
		b.lines = append(b.lines, text{y: b.h + f.size, s: part, font: f, fill: fill})
		b.h += f.lineHeight()
	}
}

func (b *block) gap(h int) { b.h += h }

// place draws the block with its left upper corner at a point.
func (b *block) place(s *scene, x, y int) {
	for _, t := range b.lines {
		t.x, t.y = t.x+x, t.y+y
		s.texts = append(s.texts, t)
	}
}

// content sets what a node says, without its title.
func (b *block) content(n Node) {
	for _, l := range n.Lines {
		f, fill := fontLine, inkSoft
		if l.Code {
			f = fontCode
		}
		if l.Late {
			f.italic, f.bold, fill = true, true, inkLate
		}
		b.add(f, fill, l.Text)
	}
}

// described is the block of a node that is not a role.
func described(n Node, width int) block {
	b := block{width: width}
	if c := captions[n.Kind]; c != "" {
		b.add(fontCaption, n.tint().line, c)
	}
	b.add(fontTitle, ink, n.Title)
	b.gap(2)
	b.content(n)
	return b
}

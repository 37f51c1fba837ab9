// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

// across draws a horizontal arrow with its label in the gutter, above the line
// or below.
func (l *layouter) across(x1, y, x2 int, e Edge, below bool) {
	l.arrows = append(l.arrows, arrow{x1: x1, y1: y, x2: x2, y2: y, stroke: colors[e.Kind], both: e.Both, dashed: e.Half})
	center := l.left.right() + gutter/2
	if max(x1, x2) > l.middle.right() {
		center = l.middle.right() + gutter/2
	}
	lines := fontLabel.wrap(label(e), gutter-6)
	for i, s := range lines {
		at := y - 6 - (len(lines)-1-i)*fontLabel.lineHeight()
		if below {
			at = y + 14 + i*fontLabel.lineHeight()
		}
		l.texts = append(l.texts, text{x: center, y: at, s: s, font: fontLabel, fill: colors[e.Kind], anchor: "middle", label: true})
	}
}

// beside puts the label of a vertical arrow to its right.
func (l *layouter) beside(x, y1, y2, right int, e Edge) {
	lines := fontLabel.wrap(label(e), right-x-8)
	y := (y1+y2)/2 + 4 - (len(lines)-1)*fontLabel.lineHeight()/2
	for i, s := range lines {
		l.texts = append(l.texts, text{x: x + 8, y: y + i*fontLabel.lineHeight(), s: s, font: fontLabel, fill: colors[e.Kind], label: true})
	}
}

// label is the text of an edge.
func label(e Edge) string {
	if e.Half {
		return e.Label + ", set up on one half only"
	}
	return e.Label
}

// exchanges draws what runs between the halves of a pair.
func (l *layouter) exchanges() {
	for _, e := range l.g.Edges {
		from, to := l.card(e.From), l.card(e.To)
		if from == nil || to == nil || from == to {
			continue
		}
		// Prompts leave on the left, where a proxy is; blocks are handed over on
		// the right.
		x, right := from.x+from.w*56/100, from.right()
		y1, y2 := from.bottom(), to.y
		if e.Kind == EdgePrompts {
			x, right = from.x+60, from.x+from.w*56/100
			y1, y2 = from.y, to.bottom()
			if from.proxy != nil {
				y1 = from.proxyBox().y
			}
		}
		l.arrows = append(l.arrows, arrow{x1: x, y1: y1, x2: x, y2: y2, stroke: colors[e.Kind], dashed: e.Half})
		upper, lower := l.between(from, to)
		l.beside(x, upper, lower, right, e)
	}
}

// between is the room between two cards that belongs to neither.
func (l *layouter) between(a, b *card) (upper, lower int) {
	if a.y > b.y {
		a, b = b, a
	}
	upper, lower = a.bottom(), b.y
	if a.band != b.band {
		upper, lower = l.bands[a.band].bottom(), l.bands[b.band].y
	}
	return upper, lower
}

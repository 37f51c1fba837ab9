// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

// scene is a picture as plain shapes, in the order in which they are drawn.
type scene struct {
	width, height int
	boxes         []box
	arrows        []arrow
	texts         []text
}

// rect is a place. All lengths are pixels.
type rect struct{ x, y, w, h int }

func (r rect) right() int   { return r.x + r.w }
func (r rect) bottom() int  { return r.y + r.h }
func (r rect) centerX() int { return r.x + r.w/2 }
func (r rect) centerY() int { return r.y + r.h/2 }

// overlaps reports whether two places share more than an edge.
func (r rect) overlaps(o rect) bool {
	return r.x < o.right() && o.x < r.right() && r.y < o.bottom() && o.y < r.bottom()
}

// within reports whether r lies in o.
func (r rect) within(o rect) bool {
	return r.x >= o.x && r.right() <= o.right() && r.y >= o.y && r.bottom() <= o.bottom()
}

func (r rect) moved(dy int) rect { r.y += dy; return r }

// box is a rectangle with a border.
type box struct {
	rect
	radius       int
	fill, stroke string
	dashed       bool
	// solid boxes are crossed by no arrow and no label of one.
	solid bool
	// title is shown when the reader points at the box.
	title string
}

// text is one line of text.
type text struct {
	x, y int // of the baseline
	s    string
	font
	fill string
	// anchor is "start", "middle" or "end".
	anchor string
	// of an arrow: may not lie on a box.
	label bool
}

// bounds is the room a text takes at most.
func (t text) bounds() rect {
	w := t.width(t.s)
	r := rect{t.x, t.y - t.size*4/5, w, t.size}
	switch t.anchor {
	case "middle":
		r.x -= w / 2
	case "end":
		r.x -= w
	}
	return r
}

// arrow is a straight line, horizontal or vertical.
type arrow struct {
	x1, y1, x2, y2 int
	stroke         string
	dashed         bool
	// both ends have a head.
	both bool
}

// append adds a scene below.
func (s *scene) append(o scene, gap int) {
	dy := 0
	if s.height > 0 {
		dy = s.height + gap
	}
	for _, b := range o.boxes {
		b.rect = b.moved(dy)
		s.boxes = append(s.boxes, b)
	}
	for _, a := range o.arrows {
		a.y1, a.y2 = a.y1+dy, a.y2+dy
		s.arrows = append(s.arrows, a)
	}
	for _, t := range o.texts {
		t.y += dy
		s.texts = append(s.texts, t)
	}
	s.width, s.height = max(s.width, o.width), dy+o.height
}

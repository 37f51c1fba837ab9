// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import "strconv"

const (
	cardPad = 14
	// proxyWidth is the room of a proxy within the card of its role.
	proxyWidth = 104
	proxyPad   = 8

	badgeHeight = 18
	pillHeight  = 20
	pillPad     = 7
	pillGap     = 6
	// memberSide is the side of the square that stands for one Pod.
	memberSide = 8
	memberGap  = 3
	// membersShown is how many Pods of one instance are drawn one by one.
	membersShown = 8
)

// card is the box of a role: its name and kind, its instances, its lines, and
// the proxy in its Pods.
type card struct {
	rect
	node  Node
	proxy *Node
	// band is the index of its queue.
	band int

	title, lines, proxyText block
	badge                   int
}

func newCard(n Node, proxy *Node, width int) *card {
	c := &card{rect: rect{w: width}, node: n, proxy: proxy}
	c.badge = fontBadge.width(n.Role.Kind) + 2*8
	inner := c.inner()
	c.title = block{width: inner.w - c.badge - 8}
	c.title.add(fontTitle, ink, n.Title)
	c.lines = block{width: inner.w}
	c.lines.content(n)
	c.h = cardPad + c.title.h + 6 + pillHeight + 8 + c.lines.h + cardPad - 4
	if proxy != nil {
		c.proxyText = block{width: proxyWidth - 2*proxyPad}
		c.proxyText.add(fontBadge, ink, proxy.Title)
		c.proxyText.gap(2)
		for _, l := range proxy.Lines {
			c.proxyText.add(fontSmall, inkSoft, l.Text)
		}
		c.h = max(c.h, c.proxyText.h+4*proxyPad)
	}
	return c
}

// inner is the room for the role itself.
func (c *card) inner() rect {
	left := cardPad
	if c.proxy != nil {
		left = proxyPad + proxyWidth + 16
	}
	return rect{c.x + left, c.y + cardPad, c.w - left - cardPad, c.h - 2*cardPad}
}

// proxyBox is the room for the proxy.
func (c *card) proxyBox() rect {
	return rect{c.x + proxyPad, c.y + proxyPad, proxyWidth, c.h - 2*proxyPad}
}

// draw draws the card where it has been placed.
func (c *card) draw(s *scene) {
	tint := c.node.tint()
	s.boxes = append(s.boxes, box{rect: c.rect, radius: 10, fill: tint.fill, stroke: tint.line, dashed: c.node.Late(), solid: true,
		title: c.node.Role.Kind + " " + c.node.Title})
	in := c.inner()
	c.title.place(s, in.x, in.y)
	badge := rect{in.right() - c.badge, in.y, c.badge, badgeHeight}
	s.boxes = append(s.boxes, box{rect: badge, radius: badgeHeight / 2, fill: tint.line})
	s.texts = append(s.texts, text{x: badge.centerX(), y: badge.y + 13, s: c.node.Role.Kind, font: fontBadge, fill: white, anchor: "middle"})
	y := in.y + c.title.h + 6
	c.instances(s, rect{in.x, y, in.w, pillHeight})
	c.lines.place(s, in.x, y+pillHeight+8)
	if c.proxy != nil {
		p, tint := c.proxyBox(), c.proxy.tint()
		s.boxes = append(s.boxes, box{rect: p, radius: 7, fill: white, stroke: tint.line, title: c.proxy.Title + " in every Pod of " + c.node.Title})
		c.proxyText.place(s, p.x+proxyPad, p.centerY()-c.proxyText.h/2)
		// To the engine, in the same Pod.
		s.arrows = append(s.arrows, arrow{x1: p.right(), y1: p.centerY(), x2: in.x - 2, y2: p.centerY(), stroke: colors[EdgeRequests]})
	}
}

// instances draws the replicas side by side: all of them when they fit, else the
// first ones and the last.
func (c *card) instances(s *scene, at rect) {
	n := int(c.node.Role.Replicas)
	dots := fontPill.width("…") + 2
	total := 0
	for i := range n {
		if total += c.pillWidth(i) + pillGap; total > at.w {
			break
		}
	}
	shown := n
	if total-pillGap > at.w {
		room := at.w - c.pillWidth(n-1) - dots - pillGap
		for shown = 0; shown < n-2; shown++ {
			if room -= c.pillWidth(shown) + pillGap; room < 0 {
				break
			}
		}
	}
	x := at.x
	for i := range shown {
		x = c.pill(s, x, at.y, i) + pillGap
	}
	if shown < n {
		s.texts = append(s.texts, text{x: x, y: at.y + 14, s: "…", font: fontPill, fill: inkSoft})
		c.pill(s, x+dots+pillGap, at.y, n-1)
	}
}

// squares is how many Pods of an instance are drawn one by one: all of them
// where there is room for two instances.
func (c *card) squares() int {
	n := int(c.node.Role.Size)
	if n == 1 || n > membersShown || 2*(pillWidth(ordinalText(c.node.Role.Replicas-1), n)+pillGap)+fontPill.width("…") > c.inner().w {
		return 0
	}
	return n
}

func ordinalText[T int | int32](ordinal T) string { return "r" + strconv.Itoa(int(ordinal)) }

func pillWidth(label string, squares int) int {
	return 2*pillPad + fontPill.width(label) + squares*(memberSide+memberGap)
}

// pillText is what the pill of an instance says.
func (c *card) pillText(ordinal int) string {
	s := ordinalText(ordinal)
	if n := c.node.Role.Size; n > 1 && c.squares() == 0 {
		s += " × " + strconv.Itoa(int(n))
	}
	return s
}

func (c *card) pillWidth(ordinal int) int {
	return pillWidth(c.pillText(ordinal), c.squares())
}

// pill draws one instance and returns where it ends.
func (c *card) pill(s *scene, x, y, ordinal int) int {
	tint := c.node.tint()
	b := rect{x, y, c.pillWidth(ordinal), pillHeight}
	s.boxes = append(s.boxes, box{rect: b, radius: 4, fill: white, stroke: tint.line})
	label := c.pillText(ordinal)
	s.texts = append(s.texts, text{x: x + pillPad, y: y + 14, s: label, font: fontPill, fill: ink})
	at := x + pillPad + fontPill.width(label) + memberGap
	for m := range c.squares() {
		fill := white
		if m == 0 {
			fill = tint.line // the leader
		}
		s.boxes = append(s.boxes, box{rect: rect{at, y + (pillHeight-memberSide)/2, memberSide, memberSide}, fill: fill, stroke: tint.line})
		at += memberSide + memberGap
	}
	return b.right()
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

// Requests come from the left and the shared cache stands on the right. Roles
// are stacked between them, and a router and a pool are as tall as what they are
// connected to, so that every arrow is straight and none crosses a box.

const (
	margin      = 24
	sideWidth   = 166
	gutter      = 120
	cardWidth   = 348
	bandPad     = 14
	sidePad     = 12
	cardGap     = 16
	bandGap     = 20
	exchangeGap = 66 // between halves of a pair
	serviceGap  = 42 // between a Service and its router
	arrowGap    = 17 // between two arrows of one role
)

// layouter places one graph.
type layouter struct {
	scene
	g     *Graph
	bands []*band
	cards []*card
	// left, middle and right are the columns; right has no width without a pool.
	left, middle, right rect
}

// band is a queue with the cards of its roles.
type band struct {
	rect
	group  Group
	header block
	cards  []*card
	// below: the header stands under the cards, because arrows enter from above.
	below bool
}

// layout places a graph.
func layout(g *Graph) scene {
	l := &layouter{g: g}
	l.columns()
	l.cardsAndBands()
	top := l.heading()
	services, router := l.entrance(top)
	l.stack(top + l.shift(router, top))
	l.width = l.middle.right() + margin
	if l.right.w > 0 {
		l.width = l.right.right() + margin
	}
	for _, b := range l.bands {
		b.draw(&l.scene)
	}
	for _, c := range l.cards {
		c.draw(&l.scene)
	}
	bottom := l.bands[len(l.bands)-1].bottom()
	bottom = max(bottom, l.requests(services, router), l.pool())
	l.exchanges()
	bottom = l.weights(bottom)
	bottom = l.legend(bottom)
	l.height = bottom + margin
	return l.scene
}

func (l *layouter) columns() {
	l.left = rect{x: margin, w: sideWidth}
	l.middle = rect{x: l.left.right() + gutter, w: cardWidth + 2*bandPad}
	if l.g.node(idPool).ID != "" {
		l.right = rect{x: l.middle.right() + gutter, w: sideWidth}
	}
}

func (l *layouter) pageWidth() int { return max(l.middle.right(), l.right.right()) - margin }

// heading says which deployment it is, and returns where the picture begins.
func (l *layouter) heading() int {
	b := block{width: l.pageWidth()}
	b.add(fontHeading, ink, l.g.Namespace+"/"+l.g.Name)
	b.add(fontModel, inkSoft, l.g.Model+" on "+l.g.Engine)
	b.place(&l.scene, margin, margin)
	return margin + b.h + 18
}

func (l *layouter) cardsAndBands() {
	proxies := map[string]Node{}
	for _, p := range l.g.ofKind(KindProxy) {
		proxies[p.Within] = p
	}
	for i, group := range l.g.Groups {
		b := &band{group: group, header: block{width: cardWidth}}
		if group.Queue == "" {
			late := fontLine
			late.bold, late.italic = true, true
			b.header.add(late, inkLate, "Kueue queue "+unknown)
		} else {
			b.header.add(fontLine, ink, "Kueue queue "+group.Queue)
		}
		b.header.add(fontCaption, inkSoft, "InstanceType "+group.InstanceType)
		for _, n := range l.g.ofKind(KindRole) {
			if n.Group != group.ID {
				continue
			}
			var proxy *Node
			if p, ok := proxies[n.ID]; ok {
				proxy = &p
			}
			c := newCard(n, proxy, cardWidth)
			c.band = i
			b.cards = append(b.cards, c)
			l.cards = append(l.cards, c)
		}
		l.bands = append(l.bands, b)
	}
}

// card returns the card of a role, or the one that a proxy is part of.
func (l *layouter) card(id string) *card {
	for _, c := range l.cards {
		if c.node.ID == id || c.proxy != nil && c.proxy.ID == id {
			return c
		}
	}
	return nil
}

// exchanging reports whether an arrow runs between two cards.
func (l *layouter) exchanging(a, b *card) bool {
	for _, e := range l.g.Edges {
		from, to := l.card(e.From), l.card(e.To)
		if from == a && to == b || from == b && to == a {
			return true
		}
	}
	return false
}

// stack places bands and cards below each other.
func (l *layouter) stack(y int) {
	var last *card
	for i, b := range l.bands {
		b.below = i > 0 && l.exchanging(last, b.cards[0])
		switch {
		case b.below:
			y += exchangeGap
		case i > 0:
			y += bandGap
		}
		b.rect = rect{x: l.middle.x, y: y, w: l.middle.w}
		y += bandPad
		if !b.below {
			y += b.header.h + 6
		}
		for j, c := range b.cards {
			switch {
			case j > 0 && l.exchanging(last, c):
				y += exchangeGap
			case j > 0:
				y += cardGap
			}
			c.x, c.y = b.x+bandPad, y
			y = c.bottom()
			last = c
		}
		if b.below {
			y += 8 + b.header.h
		}
		y += bandPad
		b.h = y - b.y
	}
}

func (b *band) draw(s *scene) {
	s.boxes = append(s.boxes, box{rect: b.rect, radius: 12, fill: bandFill, stroke: bandLine, dashed: b.group.Queue == ""})
	y := b.y + bandPad
	if b.below {
		y = b.bottom() - bandPad - b.header.h
	}
	b.header.place(s, b.x+bandPad, y)
}

// legend explains what is not labelled, and returns where it ends.
func (l *layouter) legend(bottom int) int {
	b := block{width: l.pageWidth() - 20}
	members := false
	for _, c := range l.cards {
		members = members || c.squares() > 0
	}
	y := bottom + 22
	if members {
		t := tint{white, inkSoft}
		side := rect{margin, y + 2, memberSide, memberSide}
		l.boxes = append(l.boxes, box{rect: side, fill: t.line, stroke: t.line})
		side.x += memberSide + memberGap
		l.boxes = append(l.boxes, box{rect: side, fill: t.fill, stroke: t.line})
		line := block{width: l.pageWidth() - 30}
		line.add(fontSmall, inkSoft, "Pods of one instance; the filled one is the leader, which serves requests")
		line.place(&l.scene, margin+30, y)
		y += line.h + 2
		bottom = y - 6
	}
	if len(l.g.Late) > 0 {
		late := fontSmall
		late.italic, late.bold = true, true
		l.boxes = append(l.boxes, box{rect: rect{margin, y, 19, 13}, radius: 3, fill: white, stroke: inkLate, dashed: true})
		l.texts = append(l.texts, text{x: margin + 10, y: y + 10, s: unknown, font: late, fill: inkLate, anchor: "middle"})
		b.width = l.pageWidth() - 30
		b.add(fontSmall, inkSoft, "is known only to the cluster; the agent fills it in when it creates Pods:")
		for _, v := range l.g.Late {
			b.add(fontSmall, inkLate, v.Name+" from "+v.Source)
		}
		b.place(&l.scene, margin+30, y)
		bottom = y + b.h - 6
	}
	return bottom
}

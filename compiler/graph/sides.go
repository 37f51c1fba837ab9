// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

// side is a node in an outer column.
type side struct {
	rect
	node Node
	text block
}

func newSide(n Node, x, w int) *side {
	s := &side{node: n, text: described(n, w-2*sidePad)}
	s.rect = rect{x: x, w: w, h: s.text.h + 2*sidePad - 2}
	return s
}

func (d *side) draw(s *scene) {
	tint := d.node.tint()
	s.boxes = append(s.boxes, box{rect: d.rect, radius: 10, fill: tint.fill, stroke: tint.line, dashed: d.node.Late(), solid: true,
		title: captions[d.node.Kind] + " " + d.node.Title})
	d.text.place(s, d.x+sidePad, d.y+sidePad)
}

// entrance places what stands on the left as far as it is known before the
// cards are placed.
func (l *layouter) entrance(top int) (services []*side, router *side) {
	for _, n := range l.g.ofKind(KindService) {
		d := newSide(n, l.left.x, l.left.w)
		d.y = top
		services = append(services, d)
	}
	for _, n := range l.g.ofKind(KindRouter) {
		router = newSide(n, l.left.x, l.left.w)
		router.y = services[0].bottom() + serviceGap
		return services, router
	}
	// Without a router each Service stands beside its role.
	for _, e := range l.g.edges(EdgeRequests) {
		for _, d := range services {
			if c := l.card(e.To); d.node.ID == e.From && c.h < d.h {
				c.h = d.h
			}
		}
	}
	return services, nil
}

// shift is how far down the cards begin, so that the first is beside its router.
func (l *layouter) shift(router *side, top int) int {
	if router == nil {
		return 0
	}
	first := l.bands[0].cards[0]
	bottom := top + bandPad + l.bands[0].header.h + 6 + first.h
	return max(0, router.y+4*arrowGap+10-bottom)
}

// requests draws the left column and its arrows, and returns where it ends.
func (l *layouter) requests(services []*side, router *side) int {
	if router == nil {
		bottom := 0
		for _, e := range l.g.edges(EdgeRequests) {
			c := l.card(e.To)
			for _, d := range services {
				if d.node.ID != e.From {
					continue
				}
				d.y = c.centerY() - d.h/2
				d.draw(&l.scene)
				l.across(d.right(), c.centerY(), c.x, e, false)
				bottom = max(bottom, d.bottom())
			}
		}
		return bottom
	}
	services[0].draw(&l.scene)
	last := l.cards[len(l.cards)-1]
	router.h = max(router.h, last.bottom()-router.y)
	router.draw(&l.scene)
	for _, e := range l.g.Edges {
		from, to := l.card(e.From), l.card(e.To)
		switch {
		case e.To == idRouter && from == nil:
			x := services[0].centerX()
			l.arrows = append(l.arrows, arrow{x1: x, y1: services[0].bottom(), x2: x, y2: router.y, stroke: colors[e.Kind]})
			l.beside(x, services[0].bottom(), router.y, l.left.right(), e)
		case e.From == idRouter:
			x := to.x
			if to.proxy != nil && to.proxy.ID == e.To {
				x = to.proxyBox().x
			}
			l.across(router.right(), l.attach(to, router)-l.spread(to), x, e, false)
		case e.To == idRouter:
			l.across(from.x, l.attach(from, router)+l.spread(from), router.right(), e, true)
		}
	}
	return router.bottom()
}

// attach is the height at which a card is connected with the router.
func (l *layouter) attach(c *card, router *side) int {
	above := max(c.y, router.y)
	return (above + c.bottom()) / 2
}

// served reports whether the router sends something to the card itself.
func (l *layouter) served(c *card) bool {
	for _, e := range l.g.Edges {
		if e.From == idRouter && l.card(e.To) == c {
			return true
		}
	}
	return false
}

// spread keeps two arrows of one card apart.
func (l *layouter) spread(c *card) int {
	for _, e := range l.g.edges(EdgeEvents) {
		if e.From == c.node.ID && l.served(c) {
			return arrowGap
		}
	}
	return 0
}

// pool draws the right column, and returns where it ends.
func (l *layouter) pool() int {
	n := l.g.node(idPool)
	if n.ID == "" {
		return 0
	}
	d := newSide(n, l.right.x, l.right.w)
	first, last := l.cards[0], l.cards[0]
	attached := false
	for _, e := range l.g.edges(EdgeStore) {
		c := l.card(e.From)
		if c == nil {
			c = l.card(e.To)
		}
		if !attached || c.y < first.y {
			first = c
		}
		if !attached || c.y > last.y {
			last = c
		}
		attached = true
	}
	d.y = first.y
	d.h = max(d.h, last.bottom()-first.y)
	d.draw(&l.scene)
	for _, e := range l.g.edges(EdgeStore) {
		if c := l.card(e.From); c != nil {
			l.across(c.right(), c.centerY(), d.x, e, false)
		} else {
			c = l.card(e.To)
			l.across(d.x, c.centerY(), c.right(), e, false)
		}
	}
	return d.bottom()
}

// weights draws where the model comes from, under all roles, and returns where
// it ends.
func (l *layouter) weights(bottom int) int {
	n := l.g.node(idArtifact)
	if n.ID == "" {
		return bottom
	}
	edges := l.g.edges(EdgeWeights)
	under := l.bands[len(l.bands)-1].bottom()
	if len(l.bands) > 1 {
		// A frame stands for every role.
		frame := rect{l.middle.x - 8, l.bands[0].y - 8, l.middle.w + 16, under - l.bands[0].y + 16}
		l.boxes = append([]box{{rect: frame, radius: 16, fill: "none", stroke: rule}}, l.boxes...)
		under = frame.bottom()
	}
	d := newSide(n, l.middle.x+bandPad, cardWidth)
	d.y = under + serviceGap
	d.draw(&l.scene)
	if len(edges) > 0 {
		e := edges[0]
		if len(edges) < len(l.cards) {
			e.Label += " for the roles without a command of their own"
		}
		x := l.middle.x + bandPad + 60
		l.arrows = append(l.arrows, arrow{x1: x, y1: d.y, x2: x, y2: under, stroke: colors[e.Kind]})
		l.beside(x, under, d.y, d.right(), e)
	}
	return max(bottom, d.bottom())
}

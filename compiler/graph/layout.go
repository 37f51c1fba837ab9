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
			y := l.attach(from, router) + l.spread(from)
			if !l.served(from) {
				y = l.attach(from, router)
			}
			l.across(from.x, y, router.right(), e, true)
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

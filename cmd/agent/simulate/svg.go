// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

// Measures of the chart, in pixels.
const (
	margin     = 24
	labels     = 150
	plot       = 900
	rowHeight  = 18
	rowGap     = 5
	roleHeight = 34
	width      = margin + labels + plot + margin
)

// colors of the stages: what fills a bar, and its edge.
var colors = []struct {
	stage            Stage
	name, fill, edge string
}{
	{Gated, "gated", "#e2e8f0", "#94a3b8"},
	{Starting, "loading", "#fde68a", "#d97706"},
	{Ready, "ready", "#86efac", "#15803d"},
	{Draining, "draining", "#fda4af", "#be123c"},
}

// SVG prints results as one chart that needs nothing else: a row for each
// instance, time to the right.
func SVG(w io.Writer, results []*Result) error {
	out := bufio.NewWriter(w)
	height := margin
	for _, r := range results {
		height += r.height()
	}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s" font-size="12">`+"\n",
		width, height, width, height, fonts)
	fmt.Fprintf(out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	y := margin
	for _, r := range results {
		c := &chart{w: out, r: r, end: r.shown()}
		c.draw(y)
		y += r.height()
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// shown is how much of the time is worth showing: a tenth beyond the last
// change.
func (r *Result) shown() time.Duration {
	last := time.Second
	for _, e := range r.Timeline {
		last = max(last, e.time)
	}
	return min(r.until, last+last/10+time.Second)
}

// events are those from outside.
func (r *Result) events() (out []Entry) {
	for _, e := range r.Timeline {
		if e.Role == "" {
			out = append(out, e)
		}
	}
	return out
}

func (r *Result) height() int {
	return 64 + len(r.Summary)*roleHeight + len(r.rows)*(rowHeight+rowGap) + 40 + 16*len(r.events()) + margin
}

type chart struct {
	w   io.Writer
	r   *Result
	end time.Duration
}

// x is where a time is drawn.
func (c *chart) x(d time.Duration) float64 {
	return margin + labels + plot*min(1, float64(d)/float64(c.end))
}

func (c *chart) text(x float64, y int, attrs, s string) {
	fmt.Fprintf(c.w, `<text x="%.1f" y="%d" %s>%s</text>`+"\n", x, y, attrs, escape(s))
}

func (c *chart) draw(y int) {
	c.text(margin, y+14, `font-size="16" font-weight="600" fill="#0f172a"`, c.r.Namespace+"/"+c.r.Name)
	outcome := fmt.Sprintf("not as declared after %s", c.r.Until)
	if c.r.Settled != "" {
		outcome = fmt.Sprintf("as declared from %s on", c.r.Settled)
	}
	c.text(margin, y+34, `fill="#475569"`, outcome)
	c.legend(y + 24)
	top := y + 48
	bottom := top + len(c.r.Summary)*roleHeight + len(c.r.rows)*(rowHeight+rowGap)
	c.axis(top, bottom)
	at := top
	for _, s := range c.r.Summary {
		at += roleHeight
		for _, row := range c.r.rows {
			if row.role == s.Role {
				c.row(row, at)
				at += rowHeight + rowGap
			}
		}
	}
	c.marks(top, bottom)
	at = top
	for _, s := range c.r.Summary {
		c.role(s, at+24)
		at += roleHeight
		for _, row := range c.r.rows {
			if row.role == s.Role {
				at += rowHeight + rowGap
			}
		}
	}
}

func (c *chart) legend(y int) {
	x := float64(margin + labels + plot - 90*len(colors))
	for _, l := range colors {
		fmt.Fprintf(c.w, `<rect x="%.1f" y="%d" width="14" height="12" rx="2" fill="%s" stroke="%s"/>`+"\n", x, y, l.fill, l.edge)
		c.text(x+20, y+10, `fill="#334155"`, l.name)
		x += 90
	}
}

// steps between marks on the axis, the first that leaves room is taken.
var ticks = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
}

func (c *chart) axis(top, bottom int) {
	tick := ticks[len(ticks)-1]
	for _, t := range ticks {
		if c.end/t <= 12 {
			tick = t
			break
		}
	}
	for d := time.Duration(0); d <= c.end; d += tick {
		x := c.x(d)
		fmt.Fprintf(c.w, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#e2e8f0"/>`+"\n", x, top, x, bottom+4)
		c.text(x, bottom+18, `text-anchor="middle" font-size="11" fill="#64748b"`, short(d))
	}
}

// short spells a time without parts that are zero.
func short(d time.Duration) string {
	s := d.String()
	s = strings.TrimSuffix(s, "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	if s == "" || d < time.Minute {
		return d.String()
	}
	return s
}

func (c *chart) role(s Summary, y int) {
	c.text(margin, y, `font-weight="600" fill="#0f172a"`, s.Role)
	note := "never all Ready"
	if s.LowestReady != nil {
		note = fmt.Sprintf("%d of %d Ready at the end; lowest %d, at %s", s.Ready, s.Replicas, *s.LowestReady, s.LowestAt)
	}
	c.text(margin+labels, y, `fill="#475569" stroke="#ffffff" stroke-width="5" paint-order="stroke"`, note)
}

func (c *chart) row(r row, y int) {
	c.text(margin+labels-10, y+13, `text-anchor="end" fill="#334155"`, fmt.Sprintf("%s/%d", r.role, r.ordinal))
	for _, s := range r.spans {
		from, to := c.x(s.from), c.x(s.to)
		if s.from > c.end {
			continue
		}
		for _, l := range colors {
			if l.stage != s.stage {
				continue
			}
			fmt.Fprintf(c.w, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="%s" stroke-width="0.8"><title>%s</title></rect>`+"\n",
				from, y, max(to-from, 1), rowHeight, l.fill, l.edge,
				escape(fmt.Sprintf("%s/%d %s from %s to %s", r.role, r.ordinal, l.name, clock(s.from), clock(s.to))))
		}
	}
}

// marks draws what happens from outside as numbered lines.
func (c *chart) marks(top, bottom int) {
	y := bottom + 40
	for i, e := range c.r.events() {
		x := c.x(e.time)
		fmt.Fprintf(c.w, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#6d28d9" stroke-width="1.4" stroke-dasharray="4 3"/>`+"\n", x, top, x, bottom)
		fmt.Fprintf(c.w, `<circle cx="%.1f" cy="%d" r="8" fill="#6d28d9"/>`+"\n", x, top)
		c.text(x, top+4, `text-anchor="middle" font-size="10" font-weight="600" fill="#ffffff"`, fmt.Sprint(i+1))
		c.text(margin+labels, y, `fill="#334155"`, fmt.Sprintf("%d · %s · %s", i+1, e.At, e.Event))
		y += 16
	}
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}

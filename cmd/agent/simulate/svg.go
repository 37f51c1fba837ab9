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
	plot       = 900
	header     = 64
	rowHeight  = 18
	rowGap     = 5
	roleHeight = 34
	lineHeight = 16
	// leastLabels and mostLabels are the width of the column of names.
	leastLabels, mostLabels = 110, 420
	// letter is about the width of one.
	letter = 7
	// mostEvents is how many events are listed below a chart.
	mostEvents = 40
)

// colors of the stages: what fills a bar, and its edge.
var colors = []struct {
	stage      Stage
	fill, edge string
}{
	{Gated, "#e2e8f0", "#94a3b8"},
	{Starting, "#fde68a", "#d97706"},
	{Ready, "#86efac", "#15803d"},
	{Draining, "#fda4af", "#be123c"},
}

// SVG prints results as charts that need nothing else, of one time axis: a row
// for each instance, time to the right.
func SVG(w io.Writer, results []*Result) error {
	out := bufio.NewWriter(w)
	c := &chart{w: out, labels: leastLabels}
	height := margin
	for _, r := range results {
		height += r.height()
		c.end = max(c.end, r.shown())
		for _, row := range r.rows {
			c.labels = max(c.labels, min(mostLabels, letter*len([]rune(row.name()))+20))
		}
	}
	width := margin + c.labels + plot + margin
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s" font-size="12">`+"\n",
		width, height, width, height, fonts)
	fmt.Fprintf(out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	c.legend(margin + 4)
	y := margin
	for _, r := range results {
		c.r = r
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
	return header + r.body() + 40 + lineHeight*min(len(r.events()), mostEvents+1) + margin
}

// body is the height of the rows.
func (r *Result) body() int {
	return len(r.Summary)*roleHeight + len(r.rows)*(rowHeight+rowGap)
}

func (r *row) name() string { return fmt.Sprintf("%s/%d", r.role, r.ordinal) }

// chart draws one result after the other.
type chart struct {
	w      io.Writer
	r      *Result
	labels int
	end    time.Duration
}

// x is where a time is drawn.
func (c *chart) x(d time.Duration) float64 {
	return float64(margin+c.labels) + plot*min(1, float64(d)/float64(c.end))
}

func (c *chart) text(x float64, y int, attrs, s string) {
	fmt.Fprintf(c.w, `<text x="%.1f" y="%d" %s>%s</text>`+"\n", x, y, attrs, escape(s))
}

// fit shortens a text to a width.
func fit(s string, width int) string {
	if r := []rune(s); len(r) > width/letter {
		return string(r[:width/letter-1]) + "…"
	}
	return s
}

func (c *chart) draw(y int) {
	c.text(margin, y+14, `font-size="16" font-weight="600" fill="#0f172a"`, fit(c.r.Namespace+"/"+c.r.Name, c.labels+plot/3))
	outcome := fmt.Sprintf("not as declared after %s", c.r.Until)
	if c.r.Settled != "" {
		outcome = fmt.Sprintf("as declared from %s on", c.r.Settled)
	}
	c.text(margin, y+34, `fill="#475569"`, outcome)
	top := y + header
	bottom := top + c.r.body()
	c.axis(top, bottom)
	each := func(role func(s Summary, y int), instance func(r row, y int)) {
		at := top
		for _, s := range c.r.Summary {
			role(s, at)
			at += roleHeight
			for _, row := range c.r.rows {
				if row.role == s.Role {
					instance(row, at)
					at += rowHeight + rowGap
				}
			}
		}
	}
	each(func(Summary, int) {}, c.row)
	c.marks(top, bottom)
	each(c.role, func(row, int) {})
}

func (c *chart) legend(y int) {
	x := float64(margin + c.labels + plot - 90*len(colors))
	for _, l := range colors {
		fmt.Fprintf(c.w, `<rect x="%.1f" y="%d" width="14" height="12" rx="2" fill="%s" stroke="%s"/>`+"\n", x, y, l.fill, l.edge)
		c.text(x+20, y+10, `fill="#334155"`, string(l.stage))
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
	note := "never all Ready"
	if s.LowestReady != nil {
		note = fmt.Sprintf("%d of %d Ready at the end; lowest %d, at %s", s.Ready, s.Replicas, *s.LowestReady, s.LowestAt)
	}
	const halo = `stroke="#ffffff" stroke-width="5" paint-order="stroke"`
	c.text(margin, y+24, `font-weight="600" fill="#0f172a" `+halo, fit(s.Role, c.labels-10))
	c.text(float64(margin+c.labels), y+24, `fill="#475569" `+halo, note)
}

func (c *chart) row(r row, y int) {
	c.text(float64(margin+c.labels-10), y+13, `text-anchor="end" fill="#334155"`, fit(r.name(), c.labels-10))
	for _, s := range r.spans {
		if s.from > c.end {
			continue
		}
		from, to := c.x(s.from), c.x(s.to)
		for _, l := range colors {
			if l.stage != s.stage {
				continue
			}
			fmt.Fprintf(c.w, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="%s" stroke-width="0.8"><title>%s</title></rect>`+"\n",
				from, y, max(to-from, 1), rowHeight, l.fill, l.edge,
				escape(fmt.Sprintf("%s %s from %s to %s", r.name(), l.stage, clock(s.from), clock(s.to))))
		}
	}
}

// marks draws what happens from outside as numbered lines. Numbers that would
// overlap share one mark.
func (c *chart) marks(top, bottom int) {
	const violet, apart = "#6d28d9", 20
	events := c.r.events()
	for i := 0; i < len(events); {
		first, last, from := i, i, c.x(events[i].time)
		to := from
		for ; i < len(events) && c.x(events[i].time) < to+apart; i++ {
			x := c.x(events[i].time)
			if i == first || x > to+1 {
				fmt.Fprintf(c.w, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-width="1.4" stroke-dasharray="4 3"/>`+"\n", x, top, x, bottom, violet)
			}
			last, to = i, x
		}
		label := fmt.Sprint(first + 1)
		if last > first {
			label = fmt.Sprintf("%d–%d", first+1, last+1)
		}
		at, half := (from+to)/2, max((to-from)/2+8, float64(3*len(label)))
		fmt.Fprintf(c.w, `<rect x="%.1f" y="%d" width="%.1f" height="16" rx="8" fill="%s"/>`+"\n", at-half, top-8, 2*half, violet)
		c.text(at, top+4, `text-anchor="middle" font-size="10" font-weight="600" fill="#ffffff"`, label)
	}
	y := bottom + 40
	for i, e := range events {
		line := fmt.Sprintf("%d · %s · %s", i+1, e.At, e.Event)
		if i == mostEvents {
			line = fmt.Sprintf("and %d more", len(events)-i)
		}
		c.text(float64(margin+c.labels), y, `fill="#334155"`, fit(line, plot))
		if y += lineHeight; i == mostEvents {
			break
		}
	}
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}

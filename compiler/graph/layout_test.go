// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"
	"testing"
)

// line is the room of an arrow.
func (a arrow) line() rect {
	return rect{min(a.x1, a.x2), min(a.y1, a.y2), max(max(a.x1, a.x2)-min(a.x1, a.x2), 1), max(max(a.y1, a.y2)-min(a.y1, a.y2), 1)}
}

// TestLayout judges every picture: nothing lies on anything else.
func TestLayout(t *testing.T) {
	for name, graphs := range all(t) {
		for _, g := range graphs {
			s := layout(g)
			t.Run(name+"/"+g.Name, func(t *testing.T) {
				if s.width < 700 || s.width > 1000 {
					t.Errorf("width %d", s.width)
				}
				page := rect{margin / 2, margin / 2, s.width - margin, s.height - margin}
				for i, text := range s.texts {
					at := text.bounds()
					if !at.within(page) {
						t.Errorf("%q at %v leaves the page", text.s, at)
					}
					for _, other := range s.texts[i+1:] {
						if at.overlaps(other.bounds()) {
							t.Errorf("%q and %q overlap", text.s, other.s)
						}
					}
					for _, a := range s.arrows {
						if at.overlaps(a.line()) {
							t.Errorf("an arrow crosses %q", text.s)
						}
					}
					for _, b := range s.boxes {
						switch {
						case !at.overlaps(b.rect), b.h < 2:
						case text.label && b.solid:
							t.Errorf("label %q lies on %q", text.s, b.title)
						case !at.within(b.rect):
							t.Errorf("%q crosses the border of a box at %v", text.s, b.rect)
						}
					}
				}
				for i, a := range s.boxes {
					for _, b := range s.boxes[i+1:] {
						if a.overlaps(b.rect) && !a.within(b.rect) && !b.within(a.rect) {
							t.Errorf("boxes at %v and %v overlap", a.rect, b.rect)
						}
					}
				}
				for i, a := range s.arrows {
					if a.x1 != a.x2 && a.y1 != a.y2 {
						t.Errorf("the arrow %v is not straight", a)
					}
					for _, b := range s.arrows[i+1:] {
						if a.line().overlaps(b.line()) {
							t.Errorf("arrows %v and %v cross", a, b)
						}
					}
				}
			})
		}
	}
}

// TestEverythingIsDrawn looks for every text of the model in the picture.
func TestEverythingIsDrawn(t *testing.T) {
	for name, graphs := range all(t) {
		for _, g := range graphs {
			s := layout(g)
			var b strings.Builder
			for _, text := range s.texts {
				b.WriteString(text.s)
			}
			// Where a text was wrapped is not of interest.
			squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
			drawn := squeeze(b.String())
			want := []string{g.Namespace + "/" + g.Name, g.Model, g.Engine}
			for _, n := range g.Nodes {
				want = append(want, n.Title)
				for _, l := range n.Lines {
					want = append(want, l.Text)
				}
			}
			for _, group := range g.Groups {
				want = append(want, group.texts()...)
			}
			arrows := len(g.Edges)
			for _, e := range g.Edges {
				want = append(want, label(e))
			}
			if n := len(g.edges(EdgeWeights)); n > 0 {
				arrows -= n - 1 // one for all roles
			}
			for _, w := range want {
				if !strings.Contains(drawn, squeeze(w)) {
					t.Errorf("%s/%s: %q is not drawn", name, g.Name, w)
				}
			}
			if len(s.arrows) != arrows {
				t.Errorf("%s/%s: %d arrows for %d edges", name, g.Name, len(s.arrows), arrows)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	f := font{size: 10, mono: true} // about 6 pixels a character
	for in, want := range map[string][]string{
		"":                    {""},
		"short":               {"short"},
		"two words here":      {"two words", "here"},
		"a/long-path":         {"a/long-path"},
		"abcdef/ghijklmno":    {"abcdef/", "ghijklmno"},
		"abcdefghijklmnopqrs": {"abcdefghijkl", "mnopqrs"},
		"image:cuda12.9":      {"image:", "cuda12.9"},
		"模型模型模型模型":            {"模型模型模型模", "型"},
	} {
		if got := f.wrap(in, 75); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("wrap(%q) = %q, want %q", in, got, want)
		}
	}
	if got := f.wrap("wide", 1); strings.Join(got, "|") != "w|i|d|e" {
		t.Errorf("no room: %q", got)
	}
}

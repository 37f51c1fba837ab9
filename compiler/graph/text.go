// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"
	"unicode/utf8"
)

// font is how a text is set.
type font struct {
	size   int
	bold   bool
	mono   bool
	italic bool
}

// lineHeight is the distance between two lines of text.
func (f font) lineHeight() int { return f.size + f.size*2/5 }

// advances are the widths of the printable ASCII characters of Helvetica, in
// thousandths of the font size.
var advances = [...]int{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // space to /
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
}

// Which font a reader has is not known, so texts are taken to be wider than in
// Helvetica, as wide as in the widest of the usual ones.
const (
	widerPlain = 116
	widerBold  = 128
	monoWidth  = 612
	wideWidth  = 1000
	otherWidth = 700
)

// width is the room that a text needs at most.
func (f font) width(s string) int {
	sum := 0
	for _, r := range s {
		switch {
		case r >= 0x2E80:
			sum += wideWidth
		case f.mono:
			sum += monoWidth
		case r >= ' ' && int(r-' ') < len(advances):
			wider := widerPlain
			if f.bold {
				wider = widerBold
			}
			sum += advances[r-' '] * wider / 100
		default:
			sum += otherWidth
		}
	}
	return (sum*f.size + 999) / 1000
}

// wrap breaks a text into lines of a width: between words where that leaves no
// line half empty, else after a separator, else anywhere. No text is left out.
func (f font) wrap(s string, width int) (lines []string) {
	for f.width(s) > width {
		at := f.breakAt(s, width)
		lines = append(lines, strings.TrimRight(s[:at], " "))
		if s = s[at:]; s == "" {
			return lines
		}
	}
	return append(lines, s)
}

// breakAt is where the second line of a text begins.
func (f font) breakAt(s string, width int) int {
	fits, word, separator := 0, 0, 0
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		if f.width(strings.TrimRight(s[:end], " ")) > width && i > 0 {
			break
		}
		fits = end
		switch {
		case r == ' ':
			word = end
		case strings.ContainsRune("-/:_@,", r), r == '.' && end < len(s) && (s[end] < '0' || s[end] > '9'): // no version in two
			separator = end
		}
	}
	switch {
	case word > 0 && (separator <= word || f.width(s[:word]) >= width/2):
		return word
	case separator > 0:
		return separator
	}
	return fits
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text prints findings for people: the place, what is wrong, the source line
// with a caret, and the remedy.
type Text struct {
	// Line returns the source line of a position; nil prints none.
	Line func(Position) (string, bool)
	// Color uses terminal colours.
	Color bool
}

// Terminal colours.
const (
	red    = "31;1"
	yellow = "33;1"
	bold   = "1"
	faint  = "2"
)

// Print writes the findings and, after them, how many there are.
func (t Text) Print(w io.Writer, l List) error {
	var b strings.Builder
	errors, warnings := 0, 0
	for _, f := range l {
		if f.Severity == Error {
			errors++
		} else {
			warnings++
		}
		t.finding(&b, f)
	}
	if len(l) > 0 {
		fmt.Fprintf(&b, "%s, %s\n", plural(errors, "error"), plural(warnings, "warning"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t Text) finding(b *strings.Builder, f Finding) {
	place := f.Position
	for _, s := range []*string{&f.File, &f.Kind, &f.Namespace, &f.Name, &f.Field, &f.Message, &f.Remedy} {
		*s = printable(*s)
	}
	if p := f.Position.String(); p != "" {
		b.WriteString(t.paint(bold, p+": "))
	}
	color := yellow
	if f.Severity == Error {
		color = red
	}
	fmt.Fprintf(b, "%s %s %s\n", t.paint(color, string(f.Severity)+":"), f.Message, t.paint(faint, "["+f.Rule+"]"))
	t.excerpt(b, place)
	if subject := subject(f); subject != "" {
		fmt.Fprintf(b, "  %s\n", t.paint(faint, "in "+subject))
	}
	if f.Remedy != "" {
		fmt.Fprintf(b, "  fix: %s\n", f.Remedy)
	}
}

// excerpt shows the line with a caret under the column.
func (t Text) excerpt(b *strings.Builder, p Position) {
	if t.Line == nil || p.Line == 0 {
		return
	}
	line, ok := t.Line(p)
	if !ok || !utf8.ValidString(line) {
		return
	}
	line, p.Column = nearby(line, p.Column)
	line, moved := mask(line, func(n int) (string, bool) {
		return t.Line(Position{File: p.File, Line: p.Line - n})
	})
	if p.Column > 0 {
		p.Column = moved(p.Column-1) + 1
	}
	line, column := window(line, characters(line, p.Column))
	fmt.Fprintf(b, "%5d | %s\n", p.Line, printable(line))
	if column > 0 {
		fmt.Fprintf(b, "      | %s%s\n", indent(line, column), t.paint(bold, "^"))
	}
}

// characters turns a column that counts bytes into one that counts characters.
func characters(line string, column int) int {
	if column < 1 {
		return column
	}
	return utf8.RuneCountInString(line[:min(column-1, len(line))]) + 1
}

// printable keeps a text from commanding the terminal.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return ' '
		}
		return harmless(r)
	}, line)
}

// harmless is a character that a terminal shows, in place of one that it obeys.
func harmless(r rune) rune {
	if (unicode.IsControl(r) && r != '\t') || unicode.Is(unicode.Bidi_Control, r) {
		return utf8.RuneError
	}
	return r
}

// widest is the number of characters of a source line that are shown.
const widest = 160

// window cuts a long line to a piece around the column.
func window(line string, column int) (string, int) {
	runes := []rune(line)
	if len(runes) <= widest {
		return line, column
	}
	start := min(max(column-widest/2, 0), len(runes)-widest)
	return string(runes[start : start+widest]), column - start
}

// indent is as wide as what stands before the column; tabs stay tabs.
func indent(line string, column int) string {
	var b strings.Builder
	i := 1
	for _, r := range line {
		if i >= column {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
		i++
	}
	return b.String()
}

func subject(f Finding) string {
	s := f.Kind
	if f.Name != "" {
		name := f.Name
		if f.Namespace != "" {
			name = f.Namespace + "/" + name
		}
		s = strings.TrimSpace(s + " " + name)
	}
	if f.Field != "" {
		if s != "" {
			s += ", "
		}
		s += f.Field
	}
	return s
}

func (t Text) paint(code, s string) string {
	if !t.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// healthColors are the terminal colours of states.
var healthColors = map[health]string{healthy: "32", progressing: "33", degraded: "31;1"}

// narrow is how few columns are left to what is said, however deep the tree.
const narrow = 30

// drawTree draws trees with their columns aligned. What is said is broken at a
// width; zero: never.
func drawTree(nodes []*treeNode, width int, color bool) string {
	if len(nodes) == 0 {
		return ""
	}
	d := &drawing{rows: []drawnRow{{name: "NAME", state: "STATE", node: &treeNode{said: []string{"DETAILS"}}}}}
	for _, n := range nodes {
		d.add(n, "", "")
	}
	return d.text(width, color)
}

// drawing is a tree on its way into lines.
type drawing struct{ rows []drawnRow }

type drawnRow struct {
	// name has the branches before it, below is what runs on under it.
	name, below, state string
	node               *treeNode
}

// add adds a node: first stands before its name, rest before what is under it.
func (d *drawing) add(n *treeNode, first, rest string) {
	below := rest
	if len(n.children) > 0 {
		below += "│"
	}
	d.rows = append(d.rows, drawnRow{name: first + printableText(n.name), below: below, state: printableText(n.state), node: n})
	for i, child := range n.children {
		if i < len(n.children)-1 {
			d.add(child, rest+"├─ ", rest+"│  ")
		} else {
			d.add(child, rest+"└─ ", rest+"   ")
		}
	}
}

func (d *drawing) text(width int, color bool) string {
	const gap = "  "
	names, states := 0, 0
	for _, r := range d.rows {
		names, states = max(names, columns(r.name)), max(states, columns(r.state))
	}
	room := 0
	if width > 0 {
		room = max(width-names-states-2*len(gap), narrow)
	}
	paint := func(text, code string) string {
		if !color || text == "" || code == "" {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	var b strings.Builder
	line := func(name, state, code, said string) {
		line := pad(name, names) + gap + paint(state, code) + strings.Repeat(" ", states-columns(state)) + gap + said
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, r := range d.rows {
		var details []string
		for _, text := range r.node.said {
			details = append(details, wrapText(printableText(text), room)...)
		}
		for _, text := range r.node.next {
			lines := wrapText("next: "+printableText(text), room)
			if strings.Contains(text, "kubectl ") {
				lines = []string{"next: " + printableText(text)} // to be copied
			}
			lines[0] = strings.Replace(lines[0], "next:", paint("next:", "1"), 1)
			details = append(details, lines...)
		}
		if len(details) == 0 {
			details = []string{""}
		}
		line(r.name, r.state, healthColors[r.node.health], details[0])
		for _, more := range details[1:] {
			line(r.below, "", "", more)
		}
	}
	return b.String()
}

// wrapText breaks a text between words; one that is too long stays whole.
func wrapText(text string, width int) (lines []string) {
	if width <= 0 || columns(text) <= width {
		return []string{text}
	}
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns(text)))
}

// columns is how wide a text is, without what a terminal does not print.
func columns(text string) int {
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		if !found {
			return utf8.RuneCountInString(strings.TrimSuffix(text, "\n"))
		}
		_, rest, _ = strings.Cut(rest, "m")
		text = before + rest
	}
}

// printableText keeps what a cluster says from commanding a terminal.
func printableText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// text is one file as it was read, without byte order mark.
type text struct {
	file string // as in Object.File
	data []byte

	// Guards starts and the cursors of the documents: positions are asked for
	// from everywhere, and what is needed for them is computed when it first is.
	mu     sync.Mutex
	starts []int // offset of every line
}

// at returns the position of a byte offset. Lines are those of an editor: they
// end at \n, \r\n or \r.
func (t *text) at(offset int) diag.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	starts := t.lineStarts()
	line, found := slices.BinarySearch(starts, offset)
	if !found {
		line--
	}
	return diag.Position{File: displayName(t.file), Line: line + 1, Column: offset - starts[line] + 1}
}

func (t *text) line(n int) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	starts := t.lineStarts()
	if n < 1 || n > len(starts) {
		return "", false
	}
	end := len(t.data)
	if n < len(starts) {
		end = starts[n]
	}
	return strings.TrimRight(string(t.data[starts[n-1]:end]), "\r\n"), true
}

func (t *text) lineStarts() []int {
	if t.starts == nil {
		t.starts = lineStarts(t.data, false)
	}
	return t.starts
}

// lineStarts returns the offsets at which lines start. The YAML scanner also
// breaks lines at NEL, LS and PS, which no editor does.
func lineStarts(data []byte, scanner bool) []int {
	starts := []int{0}
	for i := 0; i < len(data); {
		width := lineBreak(data[i:], scanner)
		if width == 0 {
			i++
			continue
		}
		i += width
		starts = append(starts, i)
	}
	return starts
}

func lineBreak(b []byte, scanner bool) int {
	switch {
	case b[0] == '\n':
		return 1
	case b[0] == '\r':
		if len(b) > 1 && b[1] == '\n' {
			return 2
		}
		return 1
	case !scanner || b[0] < 0x80:
		return 0
	case bytes.HasPrefix(b, []byte("\u0085")):
		return 2
	case bytes.HasPrefix(b, []byte("\u2028")), bytes.HasPrefix(b, []byte("\u2029")):
		return 3
	}
	return 0
}

// document is one YAML document of a text. Its nodes count lines from the start
// of the chunk that was given to the scanner.
type document struct {
	text  *text
	start int    // offset of the chunk in the text
	body  []byte // the chunk as it was scanned, same offsets as the text
	root  *yaml.Node

	cursor *cursor // shared by the documents of a chunk
}

// cursor is where the last position of a chunk was found. Positions are mostly
// asked for in order, and a JSON file may be a single line.
type cursor struct {
	starts               []int // of the lines, as the scanner counts them
	line, column, offset int
}

// node returns where a node starts. It is without a line for a node that was
// not read from the document, such as a default.
func (d *document) node(n *yaml.Node) diag.Position {
	if n.Line == 0 {
		return diag.Position{File: displayName(d.text.file)}
	}
	return d.at(n.Line, n.Column)
}

// at maps a line of the scanner, and a column in code points, to the file.
func (d *document) at(line, column int) diag.Position {
	return d.text.at(d.start + d.offset(line, column))
}

func (d *document) offset(line, column int) int {
	d.text.mu.Lock()
	defer d.text.mu.Unlock()
	c := d.cursor
	if c.starts == nil {
		c.starts = lineStarts(d.body, true)
	}
	line = min(line, len(c.starts))
	if c.line != line || c.column > column {
		c.line, c.column, c.offset = line, 1, c.starts[line-1]
	}
	for ; c.column < column && c.offset < len(d.body); c.column++ {
		_, width := utf8.DecodeRune(d.body[c.offset:])
		c.offset += width
	}
	return c.offset
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"io"
	"strings"
)

// Escapes of GitHub's workflow commands.
var (
	githubData     = []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	githubProperty = []string{"%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C"}
)

// GitHub prints findings as workflow commands, which GitHub Actions shows beside
// the changed lines.
func GitHub(w io.Writer, l List, line func(Position) (string, bool)) error {
	data, property := strings.NewReplacer(githubData...), strings.NewReplacer(githubProperty...)
	var b strings.Builder
	for _, f := range l {
		command := "error"
		if f.Severity == Warning {
			command = "warning"
		}
		var properties []string
		add := func(name, value string) { properties = append(properties, name+"="+property.Replace(value)) }
		if p := f.Position; p.isFile() {
			add("file", p.File)
			if p.Line > 0 {
				add("line", fmt.Sprint(p.Line))
			}
			if column := p.character(line); column > 0 {
				add("col", fmt.Sprint(column))
			}
		}
		add("title", f.Rule)
		message := f.sentence()
		if s := subject(f); s != "" {
			message += "\nin " + s
		}
		message = strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' { // which are escaped
				return r
			}
			return harmless(r)
		}, message)
		fmt.Fprintf(&b, "::%s %s::%s\n", command, strings.Join(properties, ","), data.Replace(message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence is the message with its remedy.
func (f Finding) sentence() string {
	if f.Remedy == "" {
		return f.Message
	}
	return f.Message + "; to fix: " + f.Remedy
}

// isFile reports whether the position is in a file, which standard input is not.
func (p Position) isFile() bool { return p.File != "" && !strings.HasPrefix(p.File, "<") }

// character is the column counted in characters; 0 when it is not known.
func (p Position) character(line func(Position) (string, bool)) int {
	if p.Line == 0 || line == nil {
		return p.Column
	}
	if text, ok := line(p); ok {
		return characters(text, p.Column)
	}
	return p.Column
}

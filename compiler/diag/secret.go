// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// masked stands for a value that may be a secret.
const masked = "***"

var (
	// pairInLine is a key of a mapping, in quotes or not, up to its value.
	pairInLine = lazy(`(?:^|[\s{,\["'-])(?:"([^"]+)"\s*|'([^']+)'\s*|([\w./$-]+)\s*):(?:[ \t]+|$|["'])`)
	// flagInLine is the name of an argument or of a variable up to its value.
	flagInLine = lazy(`(?:^|[\s"',{\[;])(-{1,2}[A-Za-z][\w.-]*|[A-Za-z_]\w*)(=|["']?[ \t]*,?[ \t]+["']?|["'],["']?)`)
	// pairInJSON is a key of a JSON document, whose quotes may be escaped because
	// the document stands in quotes itself, up to its value.
	pairInJSON = lazy(`(?:\\*"|'{1,2})([\w./$-]+)(?:\\*"|'{1,2})\s*:\s*`)
	// quoteInJSON is the quote that a JSON string begins with.
	quoteInJSON = lazy(`^(?:\\*"|'{1,2})`)
	// userInLine is the user information of a URL.
	userInLine = lazy(`://([^/@\s"']+)@`)
	// bareFlag is a list item that is a flag and nothing else.
	bareFlag = lazy(`^\s*-\s+["']?(-{1,2}[A-Za-z][\w.-]*)["']?\s*,?\s*$`)
	// blockKey is a key whose value stands in the lines below.
	blockKey  = lazy(`^\s*(?:-\s+)*["']?([\w./$-]+)["']?\s*:\s*(?:[|>][-+\d]*)?\s*(?:#.*)?$`)
	envInLine = lazy(`(?:^|[\s{,"'-])env["']?\s*:\s*[\[{]`)
	listItem  = lazy(`^(\s*(?:-\s+)*)\S`)
)

// lazy compiles an expression when it is first needed.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// span is a part of a line.
type span struct{ start, end int }

// mask hides what may be a secret in a line of YAML. above returns the lines
// above it, the nearest first; nil means that they are not known. It returns the
// line and where the byte at an index has gone.
func mask(line string, above func(n int) (string, bool)) (string, func(int) int) {
	spans := secretSpans(line, environment(line, above))
	if isSecretData(line, above) {
		spans = []span{{indentOf(line), len(line)}}
		if m := pairInLine().FindStringIndex(line); m != nil {
			spans[0].start = m[1]
		}
	}
	if start := listItem().FindStringSubmatchIndex(line); start != nil && isBelowSecret(line, above) {
		spans = []span{{start[3], len(line)}}
	}
	spans = merged(spans)
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(line[end:s.start] + masked)
		end = s.end
	}
	b.WriteString(line[end:])
	return b.String(), func(i int) int {
		moved := i
		for _, s := range spans {
			switch {
			case i >= s.end:
				moved += len(masked) - (s.end - s.start)
			case i > s.start:
				return moved - (i - s.start)
			}
		}
		return moved
	}
}

// merged sorts spans and joins those that overlap.
func merged(spans []span) (out []span) {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.start < out[last].end {
			out[last].end = max(out[last].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

// nearby cuts a very long line to what lies around a column, far enough for the
// name of a value to be seen.
func nearby(line string, column int) (string, int) {
	const reach = 4 << 10
	if len(line) <= 2*reach {
		return line, column
	}
	at := min(max(column-1, 0), len(line))
	start, end := max(at-reach, 0), min(at+reach, len(line))
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	if column > 0 {
		column -= start
	}
	return line[start:end], column
}

// flags are the matches of flagInLine. A word before a flag looks like one too, so
// that the next is looked for from the end of its name.
func flags(line string) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		for from := 0; ; {
			m := flagInLine().FindStringSubmatchIndex(line[from:])
			if m == nil {
				return
			}
			for i := range m {
				m[i] += from
			}
			if from = m[3]; !yield(m) {
				return
			}
		}
	}
}

// secretSpans finds the values of secret names. In the environment every value
// may be one, even below a misspelt key.
func secretSpans(line string, env span) (out []span) {
	add := func(name string, start int) {
		inEnv := env.start <= start && start < env.end && name != "name" && name != "env"
		if !IsSecretName(name) && !inEnv {
			return
		}
		s := span{start, valueEnd(line, start)}
		if name == "value" && start < len(line) && strings.IndexByte("{[", line[start]) >= 0 {
			s.end = len(line) // no value at all, but what was meant to be one
		}
		value := strings.Trim(line[s.start:s.end], `"'`)
		if s.end > s.start && !isCount(name, value) {
			out = append(out, s)
		}
	}
	for _, m := range pairInLine().FindAllStringSubmatchIndex(line, -1) {
		start := m[1]
		if start > 0 && (line[start-1] == '"' || line[start-1] == '\'') && start-1 > lastOf(m) {
			start-- // the quote belongs to the value
		}
		add(group(line, m), start)
	}
	for m := range flags(line) {
		name, separator := line[m[2]:m[3]], line[m[4]:m[5]]
		switch {
		case separator == "=":
			add(name, m[5])
		case strings.HasPrefix(name, "-") && !strings.HasPrefix(line[m[5]:], "-"):
			add(name, m[5])
		}
	}
	for _, m := range pairInJSON().FindAllStringSubmatchIndex(line, -1) {
		s := span{m[1], valueEndInJSON(line, m[1])}
		if name := line[m[2]:m[3]]; s.end > s.start && IsSecretName(name) && !isCount(name, line[s.start:s.end]) {
			out = append(out, s)
		}
	}
	for _, m := range userInLine().FindAllStringSubmatchIndex(line, -1) {
		out = append(out, span{m[2], m[3]})
	}
	return out
}

// group is the one of several alternatives that matched.
func group(line string, m []int) string {
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 {
			return line[m[i]:m[i+1]]
		}
	}
	return ""
}

// lastOf is where the name ends, its quote included.
func lastOf(m []int) int {
	end := 0
	for i := 3; i < len(m); i += 2 {
		end = max(end, m[i])
	}
	return end
}

// isFlow reports whether a mapping or a list in flow style is open at the end of
// a text.
func isFlow(s string) bool {
	return strings.Count(s, "{")+strings.Count(s, "[") > strings.Count(s, "}")+strings.Count(s, "]")
}

// deepest is how many lines above are looked at.
const deepest = 200

// parents yields the keys above a line that it lies below, the nearest first,
// each with its own line.
func parents(line string, above func(int) (string, bool)) func(func(key, text string) bool) {
	return func(yield func(string, string) bool) {
		if above == nil {
			return
		}
		depth := indentOf(line)
		for n := 1; n <= deepest; n++ {
			up, ok := above(n)
			if !ok {
				return
			}
			indent := indentOf(up)
			// The items of a list may stand below its key without an indent.
			sibling := indent == depth && strings.HasPrefix(line[depth:], "-") && !strings.HasPrefix(up[depth:], "-")
			if indent == len(up) || indent >= depth && !sibling {
				continue
			}
			m := blockKey().FindStringSubmatch(up)
			if sibling && m == nil {
				continue
			}
			line, depth = up, indent
			if m != nil && !yield(m[1], up) {
				return
			}
		}
	}
}

// environment is the part of a line that belongs to an environment.
func environment(line string, above func(int) (string, bool)) span {
	for key := range parents(line, above) {
		if key == "env" {
			return span{0, len(line)}
		}
	}
	m := envInLine().FindStringIndex(line)
	if m == nil {
		return span{}
	}
	open := 0
	for i := m[1] - 1; i < len(line); i++ {
		switch line[i] {
		case '[', '{':
			open++
		case ']', '}':
			open--
		}
		if open == 0 {
			return span{m[1] - 1, i}
		}
	}
	return span{m[1] - 1, len(line)}
}

// isBelowSecret reports whether the line is the value of something above it: of
// a flag in the list item before it, or of a key whose block it is in.
func isBelowSecret(line string, above func(int) (string, bool)) bool {
	if above == nil {
		return false
	}
	if up, ok := above(1); ok {
		if m := bareFlag().FindStringSubmatch(up); m != nil && IsSecretName(m[1]) && !strings.Contains(line, "--") {
			return true
		}
	}
	for key, up := range parents(line, above) {
		// A key with nothing behind it may hold a mapping, whose lines are judged
		// by their own keys.
		isBlock := strings.ContainsAny(up[strings.LastIndexByte(up, ':'):], "|>")
		if IsSecretName(key) && (isBlock || key == "value" || !pairInLine().MatchString(line)) {
			return true
		}
	}
	return false
}

var (
	// secretKind is the kind of an object whose data are secrets.
	secretKind = lazy(`^kind:\s*["']?Secret["']?\s*(?:#.*)?$`)
	// separator begins another object.
	separator = lazy(`^---(?:\s|$)`)
)

// isSecretData reports whether a line lies in the data of a Secret.
func isSecretData(line string, above func(int) (string, bool)) bool {
	root := ""
	for key, up := range parents(line, above) {
		if indentOf(up) == 0 {
			root = key
		}
	}
	if root != "data" {
		return root == "stringData"
	}
	for n := 1; n <= deepest; n++ {
		up, ok := above(n)
		if !ok || separator().MatchString(up) {
			return false
		}
		if secretKind().MatchString(up) {
			return true
		}
	}
	return false
}

// Mask hides what may be a secret in a stream of YAML.
func Mask(text string) string {
	var b strings.Builder
	for object := range objects(text) {
		lines := slices.Collect(strings.Lines(object))
		isSecret := slices.ContainsFunc(lines, func(l string) bool { return secretKind().MatchString(strings.TrimSpace(l)) && indentOf(l) == 0 })
		for i, line := range lines {
			// The kind may stand below the data.
			above := func(n int) (string, bool) {
				switch {
				case n <= i:
					return strings.TrimRight(lines[i-n], "\r\n"), true
				case n == i+1 && isSecret:
					return "kind: Secret", true
				}
				return "", false
			}
			body := strings.TrimRight(line, "\r\n")
			hidden, _ := mask(body, above)
			b.WriteString(hidden + line[len(body):])
		}
	}
	return b.String()
}

// objects splits a stream before each separator.
func objects(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, at := 0, 0
		for line := range strings.Lines(text) {
			if at > start && separator().MatchString(strings.TrimRight(line, "\r\n")) {
				if !yield(text[start:at]) {
					return
				}
				start = at
			}
			at += len(line)
		}
		yield(text[start:])
	}
}

func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

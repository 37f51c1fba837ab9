// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import "strings"

// valueEnd is where the scalar ends that begins at an index. It errs toward a
// later end. A mapping, a list or the sign of a block is no scalar.
func valueEnd(line string, start int) int {
	rest := line[start:]
	if rest == "" || strings.ContainsRune("{[|>#", rune(rest[0])) {
		return start
	}
	if q := rest[0]; q == '"' || q == '\'' {
		return start + quotedEnd(rest, q)
	}
	if q := openQuote(line[:start]); q != 0 {
		return start + strings.IndexByte(rest+string(q), q)
	}
	if isFlow(line[:start]) {
		if i := strings.IndexAny(rest, ",}]"); i >= 0 {
			return start + i
		}
	}
	if i := strings.Index(rest, " #"); i >= 0 {
		return start + i
	}
	return len(line)
}

// valueEndInJSON is where a value of a JSON document ends that begins at an
// index. It errs toward a later end. An object is no value: its own keys are
// judged.
func valueEndInJSON(line string, start int) int {
	rest := line[start:]
	quote := quoteInJSON().FindString(rest)
	switch {
	case quote != "":
		for i := len(quote); i+len(quote) <= len(rest); i++ {
			if rest[i-1] != '\\' && strings.HasPrefix(rest[i:], quote) {
				return start + i + len(quote)
			}
		}
		return len(line)
	case strings.HasPrefix(rest, "["):
		if i := strings.IndexByte(rest, ']'); i >= 0 {
			return start + i + 1
		}
		return len(line)
	case strings.HasPrefix(rest, "{"):
		return start
	}
	if i := strings.IndexAny(rest, " ,}]\"'\\"); i >= 0 {
		return start + i
	}
	return len(line)
}

// quotedEnd is where a quoted scalar ends, its quotes included.
func quotedEnd(s string, q byte) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q == '"':
			i++
		case s[i] == q && q == '\'' && i+1 < len(s) && s[i+1] == q:
			i++
		case s[i] == q:
			return i + 1
		}
	}
	return len(s)
}

// openQuote is the quote that is open at the end of a text, 0 when none is.
func openQuote(s string) (open byte) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case open == '"' && c == '\\':
			i++
		case open != 0 && c == open:
			open = 0
		case open == 0 && (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t,:[{=-", s[i-1]) >= 0):
			open = c
		}
	}
	return open
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func looksLikeJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 1 && (b[0] == '{' || b[0] == '[')
}

// jsonEscapes rewrites the escapes of JSON strings that YAML does not have: \/
// and pairs of surrogates. What a string loses in length it gets as blanks
// behind it, so that columns stay what they are.
func jsonEscapes(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\/`)) && !bytes.Contains(b, []byte(`\ud`)) && !bytes.Contains(b, []byte(`\uD`)) {
		return b
	}
	out := make([]byte, 0, len(b))
	inside, blanks := false, 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '"':
			out = append(out, c)
			if inside {
				out = append(out, bytes.Repeat([]byte{' '}, blanks)...)
				blanks = 0
			}
			inside = !inside
		case !inside || c != '\\' || i+1 == len(b):
			out = append(out, c)
		case b[i+1] == '/':
			out = append(out, '/')
			blanks++
			i++
		default:
			first, ok := surrogate(b[i:])
			if !ok {
				out = append(out, c, b[i+1])
				i++
				break
			}
			second, ok := surrogate(b[i+6:])
			r := utf16.DecodeRune(first, second)
			if !ok || r == '\uFFFD' {
				out = append(out, `\uFFFD`...)
				i += 5
				break
			}
			out = append(out, `\U000`...)
			hex := strconv.FormatInt(int64(r), 16)
			out = append(out, "00000"[:5-len(hex)]...)
			out = append(out, hex...)
			blanks += 2
			i += 11
		}
	}
	return out
}

// surrogate reads \uD800 to \uDFFF.
func surrogate(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil && utf16.IsSurrogate(rune(n))
}

// blockStyle turns the flow style of JSON into what people read: block style,
// quotes only where they are needed.
func blockStyle(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle
	if n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0 && !needsQuotes(n.Value) {
		n.Style &^= yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}

func needsQuotes(s string) bool {
	return s == "" || s == "<<" || s == "=" || readsAsOther(s)
}

// readsAsOther reports whether kubectl, which reads YAML 1.1, takes the plain
// text for something else than a string. Only what can be a number or one of
// the few words is given to the real parser, because that is slow.
func readsAsOther(s string) bool {
	if s == "" {
		return true
	}
	switch c := s[0]; {
	case c == '~', strings.IndexByte("yYnNtTfFoO", c) >= 0:
		return len(s) <= len("false") && yaml.IsValueNonString(s)
	case c == '+' || c == '-':
		if len(s) == 1 || s[1] != '.' && (s[1] < '0' || s[1] > '9') {
			return false
		}
	case c >= '1' && c <= '9' && decimal(s):
		return true
	case c == '.' || c >= '0' && c <= '9':
	default:
		return false
	}
	return strings.Trim(s, "0123456789abcdefABCDEFxXoOiInN_.+-") == "" && yaml.IsValueNonString(s)
}

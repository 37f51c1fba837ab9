// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"slices"
	"strings"
	"unicode"
)

// notSecret are words that only look like those of secret names.
var notSecret = strings.NewReplacer("tokenizer", "", "imagepullsecrets", "")

// secretWords make a name that of a secret.
var secretWords = []string{"key", "token", "secret", "password", "passwd", "credential", "authorization"}

// misspeltWords are found in a name with one slip too: a secret is no less one
// behind a misspelt flag.
var misspeltWords = append(slices.Clone(secretWords), "apikey")

// IsSecretName reports whether the value of that name, a field, a variable or a
// flag, may be a secret. The value of an environment variable always may; a bare
// key is one that is looked up.
func IsSecretName(name string) bool {
	name = notSecret.Replace(strings.ToLower(name))
	switch {
	case name == "key":
		return false
	case name == "value", slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) }):
		return true
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(typed string) bool {
		return slices.ContainsFunc(misspeltWords, func(w string) bool {
			return isSlip(typed, w) && (w != "key" || len(words) > 1)
		})
	})
}

// isSlip reports whether a word is another with one letter wrong, missing or too
// many, or with two neighbours swapped.
func isSlip(typed, meant string) bool {
	short, long := typed, meant
	if len(short) > len(long) {
		short, long = long, short
	}
	i := 0
	for i < len(short) && short[i] == long[i] {
		i++
	}
	short, long = short[i:], long[i:]
	switch {
	case len(long) == len(short)+1:
		return short == long[1:]
	case len(long) != len(short) || long == "":
		return false
	case short[1:] == long[1:]:
		return true
	}
	return len(short) > 1 && short[0] == long[1] && short[1] == long[0] && short[2:] == long[2:]
}

// isCount reports whether a name counts tokens, and the value is a number.
func isCount(name, value string) bool {
	return strings.HasSuffix(strings.ToLower(name), "tokens") && value != "" && strings.Trim(value, "0123456789.") == ""
}

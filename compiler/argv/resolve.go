package argv

import (
	"slices"
	"strings"
)

// shortest is the shortest prefix still read as a flag, for flags whose
// shorter prefixes plainly mean other flags to the engine (--p, --pp-size).
var shortest = map[Engine]map[string]string{
	VLLM:   {FlagPort: "--por"},
	SGLang: {FlagPort: "--po"},
}

// Resolve says which of keys the token spells, if any. Keys are canonical long
// flags of engine; of several the token could abbreviate, the first is taken.
//
// Both engines accept a prefix of a flag in its place. An exact key wins over
// prefixes of longer ones, and so does any other flag of [OwnedArgs]. Whether
// the engine knows more flags with the same prefix is not asked: it rejects an
// ambiguous one at start, so reading it as ours only says so earlier.
func Resolve(engine Engine, token string, keys []string) (key string, ok bool) {
	name := longName(engine, token)
	if name == "" {
		return "", false
	}
	if slices.Contains(keys, name) {
		return name, true
	}
	if slices.Contains(ownedArgs[engine], name) {
		return "", false
	}
	for _, key := range keys {
		if strings.HasPrefix(key, name) && len(name) >= len(shortest[engine][key]) {
			return key, true
		}
	}
	return "", false
}

// Index is the position of the last token that spells flag, or -1.
func Index(engine Engine, args []string, flag string) int {
	keys := []string{flag}
	for i := len(args) - 1; i >= 0; i-- {
		if _, ok := Resolve(engine, args[i], keys); ok {
			return i
		}
	}
	return -1
}

// Names reports whether some token spells flag, with or without a value.
// A flag mdc only defaults is dropped when the role names it.
func Names(engine Engine, args []string, flag string) bool {
	return Index(engine, args, flag) >= 0
}

package argv

import (
	"slices"
	"strings"
	"sync"
)

// vocabulary is the long flags of an engine that this package has heard of. It
// is never complete, since every release adds flags: a flag missing here is a
// flag like any other, and only resemblance to one that is here says anything.
type vocabulary struct {
	// flags are the canonical spellings, sorted.
	flags []string
	set   map[string]bool
	// short are the single-dash spellings of more than one letter, without dash.
	short map[string]bool
}

// vocabularies are built from the tables on first use.
var vocabularies = sync.OnceValue(func() map[Engine]vocabulary {
	return map[Engine]vocabulary{
		VLLM:   newVocabulary(VLLM, vllmFlags+vllmSwitches, vllmSwitches),
		SGLang: newVocabulary(SGLang, sglangFlags, ""),
	}
})

// newVocabulary collects the listed flags and those that have a meaning to this
// package. negatable switches exist a second time as --no-<flag>: vLLM declares
// its switches with argparse's BooleanOptionalAction.
func newVocabulary(engine Engine, flags, negatable string) vocabulary {
	v := vocabulary{set: map[string]bool{"--help": true}, short: map[string]bool{}}
	for name := range strings.FieldsSeq(flags) {
		v.set["--"+name] = true
	}
	for name := range strings.FieldsSeq(negatable) {
		v.set["--no-"+name] = true
	}
	for _, flag := range slices.Concat(ownedArgs[engine], artifactArgs[engine], listenKeys[engine]) {
		v.set[flag] = true
	}
	for _, row := range parallelFlags[engine] {
		for _, spelling := range row.spellings {
			if strings.HasPrefix(spelling, "--") {
				v.set[spelling] = true
			} else if len(spelling) > 2 {
				v.short[spelling[1:]] = true
			}
		}
	}
	for flag := range v.set {
		v.flags = append(v.flags, flag)
	}
	slices.Sort(v.flags)
	return v
}

// legal reports whether name is a known flag or the beginning of exactly one.
func (v vocabulary) legal(name string) bool {
	if v.set[name] {
		return true
	}
	at, _ := slices.BinarySearch(v.flags, name)
	begins := func(i int) bool { return i < len(v.flags) && strings.HasPrefix(v.flags[i], name) }
	return begins(at) && !begins(at+1)
}

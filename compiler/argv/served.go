package argv

import "strings"

// severalNames: vLLM declares --served-model-name with nargs="+", so every
// value up to the next flag is one more name. SGLang takes one.
var severalNames = map[Engine]bool{VLLM: true}

// Served is the names a command line serves its model under.
type Served struct {
	// Names are the values of the last --served-model-name, in order. The flag
	// without a value has none.
	Names []string
	// Index is the token with the flag, -1 when there is none.
	Index int
}

// Stated reports whether the line names the flag at all.
func (s Served) Stated() bool { return s.Index >= 0 }

// Only reports whether name is the one and only served name.
func (s Served) Only(name string) bool { return len(s.Names) == 1 && s.Names[0] == name }

// ReadServed reads the names the model is served under. Like the engines, it
// lets the last of several --served-model-name count.
func ReadServed(engine Engine, args []string) Served {
	served := Served{Index: -1}
	if _, known := ownedArgs[engine]; !known {
		return served
	}
	served.Index = Index(engine, args, FlagServedModelName)
	if served.Index < 0 {
		return served
	}
	if _, value, glued := strings.Cut(args[served.Index], "="); glued {
		served.Names = []string{value}
		return served
	}
	for _, token := range args[served.Index+1:] {
		if !isValue(token) {
			break
		}
		served.Names = append(served.Names, token)
		if !severalNames[engine] {
			break
		}
	}
	return served
}

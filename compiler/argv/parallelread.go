package argv

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reason is why a declared degree cannot be read.
type Reason string

// The reasons, worded to follow a flag in a sentence.
const (
	NoValue      Reason = "has no value"
	NotInteger   Reason = "is not an integer"
	OutOfRange   Reason = "does not fit in 64 bits"
	BelowMinimum Reason = "is below its minimum"
	// Glued: a value joined to an abbreviation (-t2, -tp2, -t=2). Python's
	// argparse refuses it, or does so before 3.12.
	Glued Reason = "has its value joined to an abbreviation"
)

// Problem is a degree that a command line, or [EnvDPSize], declares and that
// cannot be read.
type Problem struct {
	// Flag is the canonical spelling, or [EnvDPSize]. Written is the spelling
	// found, which is Flag for the variable.
	Flag, Written string
	// Value is the text that cannot be read, the whole token when Glued; empty
	// when there is none.
	Value string
	// Env: Index counts the variable's values; otherwise it counts tokens.
	Env    bool
	Index  int
	Reason Reason
	// Minimum is the smallest legal degree.
	Minimum int64
}

// Error says what is wrong in one sentence without a full stop.
func (p Problem) Error() string {
	switch p.Reason {
	case NoValue:
		return fmt.Sprintf("%s %s", p.Flag, p.Reason)
	case BelowMinimum:
		return fmt.Sprintf("%s: %q %s of %d", p.Flag, p.Value, p.Reason, p.Minimum)
	case Glued:
		return fmt.Sprintf("%s %s: %q", p.Flag, p.Reason, p.Written)
	}
	return fmt.Sprintf("%s: %q %s", p.Flag, p.Value, p.Reason)
}

// ReadParallelism reads the degrees off a command line. dpSize are the literal
// values of [EnvDPSize] in the role's environment, in order; only vLLM reads
// them. Problems come in the order of the tokens, the variable's last.
//
// The last of several occurrences counts, but every one must be readable, as
// the engine's parser reads each of them. A lone "--" ends the flags. Flags
// that have no part in parallelism are passed over.
func ReadParallelism(engine Engine, args, dpSize []string) (Parallelism, []Problem) {
	r := reader{
		flags: parallelFlags[engine],
		out:   Parallelism{Engine: engine, TP: 1, PP: 1, DP: 1, PCP: 1, DCP: 1, EP: 1, AttnCP: 1, MoEDP: 1, DWDP: 1},
		last:  map[*parallelFlag]occurrence{},
	}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			break
		}
		i = r.token(engine, args, i)
	}
	r.settle()
	if engine == VLLM {
		r.environment(dpSize)
	}
	r.out.Failed = len(r.problems) > 0
	return r.out, r.problems
}

type occurrence struct {
	index          int
	written, value string
	n              int64
}

type reader struct {
	flags    []parallelFlag
	out      Parallelism
	last     map[*parallelFlag]occurrence // last readable value of each degree
	problems []Problem
}

// token reads the flag at args[i] and returns the index of the last token it
// took: i, or i+1 with a value.
func (r *reader) token(engine Engine, args []string, i int) int {
	flag, form := matchParallel(engine, r.flags, args[i])
	if flag == nil {
		return i
	}
	key, value, hasValue := strings.Cut(args[i], "=")
	taken := i
	switch {
	case form == joined:
		r.problem(flag, i, args[i], args[i], Glued)
		return i
	case form == oneLetter:
		key, value, hasValue = args[i][:2], args[i][2:], true
	case !flag.takesValue():
		if !hasValue {
			if flag.kind == mode {
				*flag.mode(&r.out) = true
			} else {
				r.out.Wired = true
			}
		}
		return i
	case !hasValue:
		if value, hasValue = valueAt(args, i); hasValue {
			taken = i + 1
		}
	}
	if flag.kind == wiringValue {
		r.out.Wired = true
		return taken
	}
	if !hasValue {
		r.problem(flag, i, key, "", NoValue)
		return taken
	}
	n, err := integer(value)
	switch {
	case errors.Is(err, errNotInteger):
		r.problem(flag, i, key, value, NotInteger)
	case err != nil:
		r.problem(flag, i, key, value, OutOfRange)
	default:
		r.last[flag] = occurrence{i, key, value, n}
	}
	return taken
}

func (r *reader) problem(flag *parallelFlag, i int, written, value string, reason Reason) {
	r.problems = append(r.problems, Problem{
		Flag: flag.canonical(), Written: written, Value: value, Index: i, Reason: reason, Minimum: flag.min,
	})
}

// settle keeps the last value of each degree. Only that one meets the
// minimum: the engine checks it once the whole line is read.
func (r *reader) settle() {
	for i := range r.flags {
		flag := &r.flags[i]
		o, ok := r.last[flag]
		if !ok {
			continue
		}
		if o.n < flag.min {
			r.problem(flag, o.index, o.written, o.value, BelowMinimum)
			continue
		}
		*flag.degree(&r.out) = o.n
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Index - b.Index })
}

// environment lets [EnvDPSize] supply the data parallel size where vLLM asks
// for it: the line leaves the size at 1 and does not state a local size of 0.
func (r *reader) environment(dpSize []string) {
	if len(dpSize) == 0 || r.out.DP > 1 {
		return
	}
	for i := range r.flags {
		if flag := &r.flags[i]; flag.canonical() == vllmDPLocal {
			if o, ok := r.last[flag]; ok && o.n == 0 {
				return
			}
		}
	}
	for _, p := range r.problems {
		if p.Flag == vllmDP || p.Flag == vllmDPLocal {
			return // what the line leaves to the variable is not known
		}
	}
	problem := Problem{Flag: EnvDPSize, Written: EnvDPSize, Env: true, Index: len(dpSize) - 1, Value: dpSize[len(dpSize)-1], Minimum: 1}
	n, err := integer(problem.Value)
	switch {
	case errors.Is(err, errNotInteger):
		problem.Reason = NotInteger
	case err != nil:
		problem.Reason = OutOfRange
	case n < 1:
		problem.Reason = BelowMinimum
	default:
		r.out.DP, r.out.DPFromEnv = n, true
		return
	}
	r.problems = append(r.problems, problem)
}

// form is how a token spells the flag it matches.
type form int

const (
	whole     form = iota // the key before "=" is the flag
	oneLetter             // -n2: a one-letter flag and its value
	joined                // -t2, -t=2: a value the parser does not take there
)

// matchParallel finds the row a token spells. A long flag may be cut short as
// long as only one spelling of the table begins with it.
func matchParallel(engine Engine, flags []parallelFlag, token string) (*parallelFlag, form) {
	if !strings.HasPrefix(token, "-") {
		return nil, whole
	}
	key, _, hasValue := strings.Cut(token, "=")
	long := strings.HasPrefix(key, "--")
	if long && engine == VLLM {
		if strings.Contains(key, ".") {
			return nil, whole
		}
		key = strings.ReplaceAll(key, "_", "-")
	}
	if flag := spelled(flags, key); flag != nil {
		return flag, whole
	}
	if long {
		return abbreviated(flags, key), whole
	}
	if flag := listed(flags, key); flag != nil {
		if hasValue && flag.kind == degree {
			return flag, joined
		}
		return flag, whole
	}
	if hasValue || len(key) <= 2 {
		return nil, whole
	}
	if flag := spelled(flags, key[:2]); flag != nil {
		return flag, oneLetter
	}
	return listed(flags, key[:2]), joined
}

func spelled(flags []parallelFlag, key string) *parallelFlag {
	for i := range flags {
		if slices.Contains(flags[i].spellings, key) {
			return &flags[i]
		}
	}
	return nil
}

func listed(flags []parallelFlag, key string) *parallelFlag {
	for i := range flags {
		if slices.Contains(flags[i].abbreviations, key) {
			return &flags[i]
		}
	}
	return nil
}

func abbreviated(flags []parallelFlag, key string) *parallelFlag {
	var found *parallelFlag
	for i := range flags {
		for _, spelling := range flags[i].spellings {
			if !strings.HasPrefix(spelling, key) {
				continue
			}
			if found != nil {
				return nil
			}
			found = &flags[i]
		}
	}
	return found
}

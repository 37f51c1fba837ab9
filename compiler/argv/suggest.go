package argv

import "strings"

// tolerance is how many single-letter edits still count as a slip, by the
// number of letters behind "--". Short names differ from each other by so
// little that resemblance means nothing.
var tolerance = []struct{ letters, edits int }{
	{10, 2},
	{3, 1},
}

func edits(name string) int {
	for _, row := range tolerance {
		if len(name)-len("--") >= row.letters {
			return row.edits
		}
	}
	return 0
}

// Suggest names the known flag that token most likely means to spell. It says
// nothing about a token that is no long flag, one the engine reads as a known
// flag (whole, cut short without ambiguity, or in another legal spelling), and
// one that resembles none.
func Suggest(engine Engine, token string) (flag string, ok bool) {
	v, known := vocabularies()[engine]
	if !known {
		return "", false
	}
	name := longName(engine, token)
	if name == "" || v.legal(name) {
		return "", false
	}
	// --tp for -tp: other engines write those with two dashes.
	if v.short[name[len("--"):]] {
		return name[len("-"):], true
	}
	written := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	best := match{edits: edits(written) + 1}
	for _, candidate := range v.flags {
		limit := min(best.edits, edits(candidate))
		if abs(len(candidate)-len(written)) > limit {
			continue
		}
		m := match{candidate, distance(candidate, written, limit), commonPrefix(candidate, written)}
		if m.edits <= limit && m.better(best) && !otherNumber(candidate, written) {
			best = m
		}
	}
	return best.flag, best.flag != ""
}

type match struct {
	flag   string
	edits  int
	prefix int
}

// better prefers fewer edits, then a later first difference: slips come late in
// a word. Equal matches keep the alphabetical first.
func (m match) better(than match) bool {
	if m.edits != than.edits {
		return m.edits < than.edits
	}
	return m.prefix > than.prefix && than.flag != ""
}

// otherNumber reports whether both names hold digits and not the same ones, as
// --fp4-gemm-backend and --fp8-gemm-backend do: that is another flag.
func otherNumber(a, b string) bool {
	a, b = digitsOf(a), digitsOf(b)
	return a != "" && b != "" && a != b
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func abs(n int) int { return max(n, -n) }

// distance counts the edits from a to b: a letter inserted, removed or
// replaced, or two neighbours swapped (optimal string alignment). Beyond limit
// it stops counting and answers limit+1.
func distance(a, b string, limit int) int {
	before := make([]int, len(b)+1) // the row two letters of a ago
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	lowest := 0 // of the row before
	for i := 1; i <= len(a); i++ {
		row[0] = i
		lowestBefore := lowest
		lowest = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			lowest = min(lowest, row[j])
		}
		if lowest > limit && lowestBefore > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

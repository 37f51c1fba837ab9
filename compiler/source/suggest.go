// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest orders candidates by how close they are to what was typed.
func nearest(typed string, candidates []string) []string {
	out := slices.Clone(candidates)
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(typed, a), distance(typed, b)), cmp.Compare(a, b))
	})
	return out
}

// Suggest returns the candidate that was probably meant.
func Suggest(typed string, candidates []string) (string, bool) {
	const longest = 64 // nobody mistypes more
	if len(typed) > longest || len(candidates) == 0 {
		return "", false
	}
	best := nearest(typed, candidates)[0]
	return best, distance(typed, best) <= max(1, min(len(typed), len(best))/3)
}

// distance ignores case, and hyphens and underscores with it. Two letters that
// changed places are one slip.
func distance(a, b string) int {
	fold := strings.NewReplacer("-", "", "_", "")
	a, b = fold.Replace(strings.ToLower(a)), fold.Replace(strings.ToLower(b))
	if isSwap(a, b) {
		return 1
	}
	return levenshtein.ComputeDistance(a, b)
}

// isSwap reports whether two neighbouring letters are all that differs.
func isSwap(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

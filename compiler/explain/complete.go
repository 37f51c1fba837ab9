// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Complete returns what may follow in a name that was typed in part. A result
// that ends with a dot can be continued.
func Complete(typed string) (out []string) {
	kinds, err := Kinds()
	if err != nil {
		return nil
	}
	dot := strings.LastIndex(typed, ".")
	if dot < 0 {
		out = Rules("")
		for _, k := range kinds {
			out = append(out, strings.ToLower(k.Name)+".")
		}
	} else if f, err := FindField(typed[:dot]); err == nil {
		for _, c := range f.Children() {
			name := typed[:dot+1] + c.Name()
			if len(c.names()) > 0 {
				name += "."
			}
			out = append(out, name)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return !strings.HasPrefix(s, typed) })
}

// closest returns the candidate that was probably meant, empty when none is
// near.
func closest(typed string, candidates []string) string {
	const longest = 64 // nobody mistypes more
	if len(typed) > longest || len(candidates) == 0 {
		return ""
	}
	distance := func(s string) int {
		return levenshtein.ComputeDistance(strings.ToLower(typed), strings.ToLower(s))
	}
	best := slices.MinFunc(candidates, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(a, b))
	})
	shorter := min(len(typed), len(best))
	if distance(best) > max(1, min(shorter/2, max(2, shorter/3))) {
		return ""
	}
	return best
}

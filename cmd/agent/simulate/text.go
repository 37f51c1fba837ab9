// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Text prints results for people.
func Text(w io.Writer, results []*Result) error {
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s/%s\n\n", r.Namespace, r.Name)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, e := range r.Timeline {
			fmt.Fprintf(t, "%8s\t%s\t%s\t%s\n", e.At, r.where(e), e.State, e.Event)
		}
		fmt.Fprintln(t)
		for _, s := range r.Summary {
			lowest := "never all Ready"
			if s.LowestReady != nil {
				lowest = fmt.Sprintf("lowest %d Ready, at %s", *s.LowestReady, s.LowestAt)
			}
			fmt.Fprintf(t, "%s\t%d of %d Ready\t%s\tPods: %d created, %d deleted\n",
				s.Role, s.Ready, s.Replicas, lowest, s.Created, s.Deleted)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if r.Settled != "" {
			fmt.Fprintf(w, "as declared from %s on\n", r.Settled)
		} else {
			fmt.Fprintf(w, "not as declared after %s\n", r.Until)
			for _, line := range r.waits {
				fmt.Fprintf(w, "  %s\n", line)
			}
		}
	}
	return nil
}

// where names a Pod: the role and ordinal, and the member above size 1.
func (r *Result) where(e Entry) string {
	switch {
	case e.Role == "":
		return "-"
	case r.size[e.Role] > 1:
		return fmt.Sprintf("%s/%d/%d", e.Role, *e.Ordinal, *e.Member)
	}
	return fmt.Sprintf("%s/%d", e.Role, *e.Ordinal)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package impact

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// JSON prints a plan for programs.
func (p *Plan) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// Text prints a plan for a terminal.
func (p *Plan) Text(w io.Writer) error {
	var b strings.Builder
	for _, d := range p.Deployments {
		fmt.Fprintf(&b, "%s/%s%s\n", d.Namespace, d.Name, d.verdict())
		for _, r := range d.Roles {
			r.text(&b)
		}
		for _, o := range d.Objects {
			fmt.Fprintf(&b, "  %s %s %s\n", o.Change.sign(), o.Kind, o.Name)
		}
		for _, f := range d.Refused {
			fmt.Fprintf(&b, "  %s: %s [%s]\n", f.Field, f.Message, f.Rule)
		}
	}
	b.WriteString(p.summary() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict is what a deployment with nothing to tell gets.
func (d Deployment) verdict() string {
	switch {
	case len(d.Refused) > 0:
		return ": refused"
	case len(d.Objects) == 0 && !d.Rolls():
		return ": unchanged"
	}
	return ""
}

func (r Role) text(b *strings.Builder) {
	if n := len(r.Turnover.Replicas); n > 0 {
		fmt.Fprintf(b, "  role %s: %s: %s (%s)%s\n", r.Name, r.turns(n), descending(r.Turnover.Replicas), count(r.Turnover.Pods, "Pod"), r.outage())
		for _, c := range r.Turnover.Because {
			fmt.Fprintf(b, "      %s: %s\n", c.Path, c.text())
		}
	}
	for _, part := range []struct {
		what     string
		replicas []int32
	}{{"added", r.Added}, {"removed", r.Removed}, {"untouched", r.Untouched}} {
		if len(part.replicas) > 0 {
			fmt.Fprintf(b, "  role %s: %s %s\n", r.Name, part.what, ascending(part.replicas))
		}
	}
}

func (r Role) turns(n int) string {
	if n == 1 {
		return "1 replica turns over"
	}
	return count(n, "replica") + " turn over, one at a time"
}

// outage warns of a role whose only replica turns over.
func (r Role) outage() string {
	if len(r.Turnover.Replicas) == 1 && len(r.Untouched)+len(r.Added) == 0 {
		return "; the role serves nothing until it is ready again"
	}
	return ""
}

func (c Change) text() string {
	switch {
	case c.Old == "":
		return "+ " + c.New
	case c.New == "":
		return "- " + c.Old
	}
	return c.Old + " -> " + c.New
}

func (k Kind) sign() string { return map[Kind]string{Added: "+", Changed: "~", Removed: "-"}[k] }

// summary is one sentence about the whole.
func (p *Plan) summary() string {
	var changed, refused, rolls, pods, added, removed int
	for _, d := range p.Deployments {
		if len(d.Refused) > 0 {
			refused++
			continue
		}
		if len(d.Objects) > 0 || d.Rolls() {
			changed++
		}
		for _, r := range d.Roles {
			rolls += len(r.Turnover.Replicas)
			pods += r.Turnover.Pods
			added += len(r.Added)
			removed += len(r.Removed)
		}
	}
	turn := "turn over"
	if rolls == 1 {
		turn = "turns over"
	}
	text := fmt.Sprintf("%d of %s changed: %s (%s) %s, %d added, %d removed", changed, count(len(p.Deployments), "deployment"),
		count(rolls, "replica"), count(pods, "Pod"), turn, added, removed)
	if refused > 0 {
		text += fmt.Sprintf("; %d refused", refused)
	}
	return text
}

// Markdown prints a plan as a comment on a pull request.
func (p *Plan) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(p.summary() + ".\n")
	for _, d := range p.Deployments {
		if d.verdict() == ": unchanged" {
			continue
		}
		fmt.Fprintf(&b, "\n### %s/%s\n\n", d.Namespace, d.Name)
		if len(d.Refused) > 0 {
			b.WriteString("Refused:\n\n")
			for _, f := range d.Refused {
				fmt.Fprintf(&b, "- %s: %s (`%s`). To fix: %s\n", code(f.Field), f.Message, f.Rule, f.Remedy)
			}
			continue
		}
		b.WriteString("| Role | Turn over | Added | Removed | Untouched |\n| --- | --- | --- | --- | --- |\n")
		for _, r := range d.Roles {
			turn := descending(r.Turnover.Replicas)
			if r.Turnover.Pods > len(r.Turnover.Replicas) {
				turn += fmt.Sprintf(" (%s)", count(r.Turnover.Pods, "Pod"))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Name, turn, ascending(r.Added), ascending(r.Removed), ascending(r.Untouched))
		}
		for _, r := range d.Roles {
			if len(r.Turnover.Because) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\nRole %s: %s%s, because of\n\n", r.Name, r.turns(len(r.Turnover.Replicas)), r.outage())
			for _, c := range r.Turnover.Because {
				fmt.Fprintf(&b, "- %s: %s\n", code(c.Path), code(c.text()))
			}
		}
		if len(d.Objects) > 0 {
			b.WriteString("\n<details><summary>Objects</summary>\n\n")
			for _, o := range d.Objects {
				fmt.Fprintf(&b, "- %s: %s %s\n", o.Change, o.Kind, o.Name)
			}
			b.WriteString("\n</details>\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// code is text in a code span of Markdown, within one line.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// ascending spells ordinals in their order: 0, 2-5.
func ascending(ordinals []int32) string { return spell(ordinals, 1) }

// descending spells ordinals from the highest down: 5-2, 0.
func descending(ordinals []int32) string {
	down := slices.Clone(ordinals)
	slices.Reverse(down)
	return spell(down, -1)
}

func spell(ordinals []int32, step int32) string {
	var parts []string
	for i := 0; i < len(ordinals); {
		j := i
		for j+1 < len(ordinals) && ordinals[j+1] == ordinals[j]+step {
			j++
		}
		switch {
		case j-i < 2:
			for ; i <= j; i++ {
				parts = append(parts, strconv.Itoa(int(ordinals[i])))
			}
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", ordinals[i], ordinals[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

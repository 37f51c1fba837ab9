// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	"gpustack.ai/mdc/compiler/argv"
)

// parallelism reads the degrees of a role. The variable counts only where it is
// a literal, which every value of env is.
func (r *role) parallelism() (argv.Parallelism, []argv.Problem) {
	var dpSize []string
	for _, e := range r.Env {
		if e.Name == argv.EnvDPSize {
			dpSize = append(dpSize, e.Value)
		}
	}
	return argv.ReadParallelism(r.of.engine, r.args, dpSize)
}

func parallelParse(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.inShell() {
			continue
		}
		_, problems := r.parallelism()
		if len(problems) == 0 {
			continue
		}
		var texts []string
		for _, p := range problems {
			p.Value, p.Written = shorten(p.Value), shorten(p.Written)
			text := p.Error()
			if p.Written != p.Flag && p.Reason != argv.Glued {
				text += " (written " + p.Written + ")"
			}
			texts = append(texts, text)
		}
		f := Fault{
			Field:   r.path,
			Message: fmt.Sprintf("the parallel degrees of role %q cannot be read, so nobody can tell how many cards it needs: %s", r.Name, strings.Join(texts, "; ")),
			Remedy:  fmt.Sprintf("write a whole number after the full flag, or own the whole command line with %s", r.takeOverField()),
			Where:   fmt.Sprintf("%s[%d]", r.argsField(), problems[0].Index),
		}
		if r.takeOver() {
			f.Remedy = fmt.Sprintf("write a whole number after the full flag in %s", r.field("command"))
		}
		if problems[0].Env {
			f.Where = r.field("env")
		}
		out = append(out, f)
	}
	return out
}

func parallelWidth(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		cards, ok := r.cards()
		if !ok || cards <= 0 || r.inShell() || s.meant(r.path, "resources") || s.meant(r.field("resources"), "accelerator") {
			continue
		}
		p, _ := r.parallelism()
		width := p.Width(cards)
		if !p.Judgeable() || width.Cards <= cards {
			continue
		}
		var degrees []string
		for _, f := range width.Factors {
			degrees = append(degrees, fmt.Sprintf("%s %d", f.Name, f.Degree))
		}
		need := fmt.Sprintf("%d", width.Cards)
		if width.Overflow {
			need = "more than any"
		}
		out = append(out, Fault{
			Field:   r.field("resources.accelerator"),
			Message: fmt.Sprintf("a Pod of role %q has %s, and %s needs %s", r.Name, plural(cards, "card"), strings.Join(degrees, " times "), need),
			Remedy:  fmt.Sprintf("ask for the cards or lower a degree; %s is no remedy, because it adds Pods that are each as narrow", r.field("size")),
		})
	}
	return out
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

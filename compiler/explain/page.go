// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package explain documents the rules and the fields of the API: a page for
// every rule, and what the CustomResourceDefinitions say about a field.
//
// Nothing is parsed before it is asked for.
package explain

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Pages lie in one directory per group, named after their rule.
//
//go:embed pages
var pageFiles embed.FS

// Groups of rules, in the order in which they are listed. Each is a directory of
// pages.
var Groups = []Group{
	{"reading", "Reading: the text of the input"},
	{"schema", "Schema: fields and their bounds"},
	{"rules", "Rules: what an API server would refuse too"},
	{"frozen", "Frozen: what an update cannot change"},
	{"compile", "Compile: what cannot be rendered"},
}

// Group is rules of one kind.
type Group struct{ Name, Title string }

// Page is the documentation of one rule.
type Page struct {
	// Rule is the slug, Group the name of its group.
	Rule, Group string
	// Text is the whole page as Markdown.
	Text string
}

// Rules returns the slugs of a group, or of all groups for an empty name, in
// their order.
func Rules(group string) (out []string) {
	if group == "" {
		for _, g := range Groups {
			out = append(out, Rules(g.Name)...)
		}
		slices.Sort(out)
		return out
	}
	files, err := fs.Glob(pageFiles, "pages/"+group+"/*.md")
	if err != nil {
		panic(err) // the names of groups are constants
	}
	for _, f := range files {
		out = append(out, strings.TrimSuffix(path.Base(f), ".md"))
	}
	return out
}

// Find returns the page of a rule.
func Find(rule string) (Page, bool) {
	if strings.ContainsAny(rule, "/.*") {
		return Page{}, false
	}
	for _, g := range Groups {
		text, err := pageFiles.ReadFile(fmt.Sprintf("pages/%s/%s.md", g.Name, rule))
		if err == nil {
			return Page{Rule: rule, Group: g.Name, Text: string(text)}, true
		}
	}
	return Page{}, false
}

// Sections of a page, in their order.
const (
	SectionWhat   = "What"
	SectionWhy    = "Why"
	SectionFix    = "How to fix"
	SectionFails  = "Fails"
	SectionPasses = "Passes"
)

// Summary is the line below the title.
func (p Page) Summary() string {
	_, rest, _ := strings.Cut(p.Text, "\n\n")
	summary, _, _ := strings.Cut(rest, "\n\n")
	return oneLine(summary)
}

// Section returns the text below a heading; empty when there is none.
func (p Page) Section(name string) string {
	_, rest, found := strings.Cut(p.Text, "\n## "+name+"\n")
	if !found {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(text)
}

// Example is a file of an example.
type Example struct{ File, Text string }

// defaultFile is the file of an example that names none.
const defaultFile = "deployment.yaml"

// Examples returns the files shown in a section. The name of a file stands in
// the line before its block.
func (p Page) Examples(section string) (out []Example) {
	const open, end = "```yaml\n", "```"
	before := ""
	for rest := p.Section(section); ; {
		head, tail, found := strings.Cut(rest, open)
		if !found {
			return out
		}
		before = strings.Trim(strings.TrimSpace(head), "`:")
		if before == "" {
			before = defaultFile
		}
		var body string
		body, rest, _ = strings.Cut(tail, end)
		out = append(out, Example{before, body})
	}
}

// oneLine joins the lines of a paragraph.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// width of printed text.
const width = 80

// List prints every rule with its summary.
func List(w io.Writer) error {
	var b strings.Builder
	longest := 0
	for _, rule := range Rules("") {
		longest = max(longest, len(rule))
	}
	for _, g := range Groups {
		b.WriteString(g.Title + "\n")
		for _, rule := range Rules(g.Name) {
			p, _ := Find(rule)
			fmt.Fprintf(&b, "  %-*s  %s\n", longest, rule, p.Summary())
		}
		b.WriteString("\n")
	}
	kinds, err := Kinds()
	if err != nil {
		return err
	}
	var names []string
	for _, k := range kinds {
		names = append(names, strings.ToLower(k.Name))
	}
	b.WriteString("Fields of the API are explained too, for example\n" +
		"  mdc explain modeldeployment.spec.roles.size\n" +
		"  mdc explain modeldeployment.spec --recursive\n")
	wrap(&b, "", "Kinds: "+strings.Join(names, ", "))
	_, err = io.WriteString(w, b.String())
	return err
}

// Print prints the documentation of the field; recursive lists all fields below
// it instead of describing those that are next.
func (f Field) Print(w io.Writer, recursive bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "KIND:     %s\nVERSION:  %s\n\n", f.Kind.Name, f.Kind.Version)
	if f.Path != "" {
		fmt.Fprintf(&b, "FIELD: %s\n\n", f.label())
	}
	b.WriteString("DESCRIPTION:\n")
	describe(&b, "    ", f.description())
	for _, d := range f.details() {
		fmt.Fprintf(&b, "\n%s:\n", d.title)
		wrap(&b, "    ", d.text)
	}
	if children := f.Children(); len(children) > 0 {
		b.WriteString("\nFIELDS:\n")
		if recursive {
			f.tree(&b, "  ")
		} else {
			for _, c := range children {
				fmt.Fprintf(&b, "  %s\n", c.label())
				wrap(&b, "    ", firstSentence(c.description()))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// label is the name with its type.
func (f Field) label() string {
	s := fmt.Sprintf("%s <%s>", f.Name(), f.Type())
	if f.Required {
		s += " -required-"
	}
	return s
}

func (f Field) tree(b *strings.Builder, indent string) {
	for _, c := range f.Children() {
		fmt.Fprintf(b, "%s%s\n", indent, c.label())
		c.tree(b, indent+"  ")
	}
}

// description is that of the field, or else that of what it holds. The metadata
// of an object is documented nowhere in a CustomResourceDefinition.
func (f Field) description() string {
	for _, s := range []string{f.schema.Description, element(f.schema).Description} {
		if s != "" {
			return s
		}
	}
	if f.Path == "metadata" {
		return "Standard metadata of a Kubernetes object: name, namespace, labels, annotations."
	}
	return "No documentation."
}

// detail is what a schema says besides words.
type detail struct{ title, text string }

func (f Field) details() (out []detail) {
	add := func(title, text string) {
		if text != "" {
			out = append(out, detail{title, text})
		}
	}
	if f.schema.Default != nil {
		add("DEFAULT", strings.Trim(string(f.schema.Default.Raw), `"`))
	}
	add("ENUM", enum(element(f.schema)))
	add("BOUNDS", strings.Join(bounds(f.schema), "; "))
	if f.Path != "" && f.Required {
		add("REQUIRED", "yes")
	}
	return out
}

func enum(s *apiextensionsv1.JSONSchemaProps) string {
	var out []string
	for _, e := range s.Enum {
		out = append(out, strings.Trim(string(e.Raw), `"`))
	}
	return strings.Join(out, ", ")
}

// bounds of a value and, where it is a list, of its items.
func bounds(s *apiextensionsv1.JSONSchemaProps) (out []string) {
	add := func(unit string, least, most *int64) {
		if text := between(number(least), number(most)); text != "" {
			out = append(out, text+unit)
		}
	}
	if text := between(float(s.Minimum), float(s.Maximum)); text != "" {
		out = append(out, text)
	}
	add(" characters", s.MinLength, s.MaxLength)
	add(" items", s.MinItems, s.MaxItems)
	if s.Pattern != "" && !s.XIntOrString {
		out = append(out, "matches "+s.Pattern)
	}
	if len(s.XListMapKeys) > 0 {
		out = append(out, "one item for each "+strings.Join(s.XListMapKeys, " and "))
	}
	if s.Items != nil && s.Items.Schema != nil {
		for _, text := range bounds(s.Items.Schema) {
			out = append(out, "each item "+text)
		}
	}
	return out
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func float(n *float64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func between(least, most string) string {
	switch {
	case least != "" && most != "":
		return least + " to " + most
	case least != "":
		return "at least " + least
	case most != "":
		return "at most " + most
	}
	return ""
}

// firstSentence of a description.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(s, "\n\n")
	s = oneLine(s)
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i+1]
	}
	return s
}

// describe wraps each paragraph of a doc comment. Lists and indented lines stay
// as they are.
func describe(b *strings.Builder, indent, text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		lines := strings.Split(paragraph, "\n")
		if slices.ContainsFunc(lines, isLiteral) {
			for _, line := range lines {
				b.WriteString(indent + line + "\n")
			}
			continue
		}
		wrap(b, indent, paragraph)
	}
}

func isLiteral(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "- ")
}

// wrap prints the words of a text in lines of the width.
func wrap(b *strings.Builder, indent, text string) {
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+len(word) > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	if column > 0 {
		b.WriteString("\n")
	}
}

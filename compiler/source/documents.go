// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// report collects findings about the text of one file.
type report struct {
	file     string
	doc      *document // nil when positions are not known
	findings *diag.List
}

// add reports a node of the document; nil is the file as a whole.
func (r report) add(n *yaml.Node, message, remedy string) {
	r.addField(n, "", message, remedy)
}

func (r report) addField(n *yaml.Node, field, message, remedy string) {
	p := diag.Position{File: displayName(r.file)}
	if r.doc != nil && n != nil {
		p = r.doc.node(n)
	}
	r.addAt(p, RuleYAML, field, message, remedy)
}

func (r report) addAt(p diag.Position, rule, field, message, remedy string) {
	*r.findings = append(*r.findings, diag.Finding{
		Rule: rule, Severity: diag.Error, Field: field, Message: message, Remedy: remedy, Position: p,
	})
}

// parse returns the documents of a text. Each is scanned by itself, so that a
// syntax error in one does not hide the others.
func parse(t *text, findings *diag.List) []*document {
	t.data = bytes.TrimPrefix(t.data, []byte("\uFEFF"))
	r := report{file: t.file, findings: findings}
	var docs []*document
	for _, c := range chunks(t.data) {
		if offset, what := notText(c.body); offset >= 0 {
			r.addAt(t.at(c.start+offset), RuleYAML, "", "the file holds "+what, "save the file as UTF-8 text")
			continue
		}
		docs = append(docs, scan(t, c, r)...)
	}
	return docs
}

// chunk is a part of a text that the scanner gets: a document with the comments
// and directives before it.
type chunk struct {
	start int
	body  []byte
}

// chunks splits before every line that starts with the document marker and
// after every line that starts with the end marker.
func chunks(data []byte) []chunk {
	var out []chunk
	start, preamble := 0, true
	cut := func(end int) {
		if end > start {
			out = append(out, chunk{start, data[start:end]})
		}
		start = end
	}
	for i := 0; i < len(data); {
		end := len(data)
		if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
			end = i + n + 1
		}
		line := data[i:end]
		switch {
		case isMarker(line, "---"):
			if !preamble {
				cut(i)
			}
			preamble = false
		case isMarker(line, "..."):
			cut(end)
			preamble = true
		default:
			if l := bytes.TrimSpace(line); preamble && len(l) > 0 && l[0] != '#' && line[0] != '%' {
				preamble = false
			}
		}
		i = end
	}
	cut(len(data))
	return out
}

func isMarker(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	return len(line) == len(marker) || bytes.IndexByte([]byte(" \t\r\n"), line[len(marker)]) >= 0
}

func notText(b []byte) (offset int, what string) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return i, "a NUL byte"
	}
	if utf8.Valid(b) {
		return -1, ""
	}
	for i := 0; ; {
		r, width := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && width <= 1 {
			return i, "bytes that are not UTF-8"
		}
		i += width
	}
}

func scan(t *text, c chunk, r report) []*document {
	var docs []*document
	shared := &cursor{}
	body := withoutDirective(c.body)
	if looksLikeJSON(body) {
		body = jsonEscapes(body)
	}
	dec := yaml.NewDecoder(bytes.NewReader(body))
	for {
		d := &document{text: t, start: c.start, body: body, cursor: shared}
		n := &yaml.Node{}
		if err := decode(dec, n); errors.Is(err, io.EOF) {
			return docs
		} else if err != nil {
			line, message, remedy := syntaxError(err)
			p := d.at(line, 1)
			p.Column = 0
			if m := unknownAnchor.FindStringSubmatch(err.Error()); m != nil {
				p = d.text.at(d.start + aliasOffset(body, m[1]))
			}
			r.addAt(p, RuleYAML, "", message, remedy)
			return docs
		}
		if d.root = content(n); d.root != nil {
			docs = append(docs, d)
		}
	}
}

func decode(dec *yaml.Decoder, n *yaml.Node) error {
	return dec.Decode(n)
}

// content unwraps a document node and hands its comments to what stands in it;
// nil for an empty document.
func content(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.DocumentNode || len(n.Content) == 0 {
		return nil
	}
	root := n.Content[0]
	if isNull(root) {
		return nil
	}
	if len(root.Content) == 0 || root.Style&yaml.FlowStyle != 0 {
		root.HeadComment = joinComments(n.HeadComment, root.HeadComment)
		root.FootComment = joinComments(root.FootComment, n.FootComment)
		return root
	}
	first := root.Content[0]
	first.HeadComment = joinComments(n.HeadComment, first.HeadComment)
	last := root.Content[len(root.Content)-1]
	if root.Kind == yaml.MappingNode && len(root.Content) > 1 {
		last = root.Content[len(root.Content)-2]
	}
	last.FootComment = joinComments(last.FootComment, n.FootComment)
	return root
}

func joinComments(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// withoutDirective blanks %YAML lines: the scanner refuses any version but 1.1,
// and nothing here depends on it.
func withoutDirective(b []byte) []byte {
	if !bytes.Contains(b, []byte("%YAML")) {
		return b
	}
	out := bytes.Clone(b)
	for i := 0; i < len(out); {
		end := len(out)
		if n := bytes.IndexByte(out[i:], '\n'); n >= 0 {
			end = i + n
		}
		line := out[i:end]
		if l := bytes.TrimSpace(line); len(l) > 0 && l[0] != '#' && l[0] != '%' {
			break
		}
		if bytes.HasPrefix(line, []byte("%YAML")) {
			for j := range line {
				if line[j] != '\r' {
					line[j] = ' '
				}
			}
		}
		i = end + 1
	}
	return out
}

var errorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

var unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)

// aliasOffset finds an alias, as the scanner does not say where it is.
func aliasOffset(body []byte, name string) int {
	alias := []byte("*" + name)
	for from := 0; ; {
		i := bytes.Index(body[from:], alias)
		if i < 0 {
			return 0
		}
		from += i + len(alias)
		if from == len(body) || bytes.IndexByte([]byte(" \t\r\n,]}"), body[from]) >= 0 {
			return from - len(alias)
		}
	}
}

// parserProblems are the problems that the parser, and not the scanner, finds.
// Their line counts from zero.
var parserProblems = []string{
	"did not find expected key",
	"did not find expected ','",
	"did not find expected '-'",
	"did not find expected node",
	"did not find expected <",
	"found undefined tag handle",
	"found duplicate %",
}

// plainWords explains the problems that people meet.
var plainWords = []struct{ problem, message, remedy string }{
	{"mapping values are not allowed", "this is not YAML: there is a second \": \" where a value was expected", "check the indentation, or put the value in quotes"},
	{"did not find expected key", "this is not YAML: the block that starts here goes on with something that is not one of its keys", "check the indentation of the lines below"},
	{"did not find expected '-'", "this is not YAML: the list that starts here goes on with something that is not an item", "check the indentation of the lines below"},
	{"did not find expected ','", "this is not YAML: the brackets that open here are not closed", "close them, and put a comma between the values"},
	{"did not find expected node", "this is not YAML: a value was expected", "write a value, or put it in quotes"},
	{"found a tab character", "this is not YAML: the line is indented with a tab", "indent with spaces"},
	{"found character that cannot start any token", "this is not YAML: a value starts with a character that has a meaning of its own, or the line is indented with a tab", "put the value in quotes, and indent with spaces"},
	{"found unexpected end of stream", "this is not YAML: the quotes are not closed", "close the quotes"},
	{"could not find expected ':'", "this is not YAML: a line is neither a key with a value nor an item of a list", "check the indentation, and the ':' after the key"},
	{"unknown anchor", "this is not YAML: the alias refers to an anchor that is not defined above it in the document", "define the anchor before it is used"},
	{"control characters are not allowed", "this is not YAML: it holds a control character", "remove it, or write it as an escape in double quotes"},
}

// syntaxError reads the line and the problem out of an error of the scanner.
func syntaxError(err error) (line int, message, remedy string) {
	m := errorLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 1, "this is not YAML: " + err.Error(), ""
	}
	problem := m[2]
	if m[1] == "" {
		line = 1
	} else {
		line, _ = strconv.Atoi(m[1])
		for _, p := range parserProblems {
			if strings.HasPrefix(problem, p) {
				line++
				break
			}
		}
	}
	line = max(line, 1)
	for _, w := range plainWords {
		if strings.HasPrefix(problem, w.problem) {
			return line, w.message, w.remedy
		}
	}
	return line, "this is not YAML: " + problem, ""
}

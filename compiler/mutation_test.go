// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/source"
)

// patience is how long each step may take with the largest input.
const patience = 2 * time.Minute

// survive sends a text through everything a user's file goes through. It fails
// when that panics, hangs, gives an output together with errors, or gives one
// that cannot be read again. It reports whether there is an output.
func survive(t testing.TB, name string, text []byte) (compiles bool) {
	t.Helper()
	watchdog := time.AfterFunc(patience, func() { panic(fmt.Sprintf("%s hangs", name)) })
	defer watchdog.Stop()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s panics: %v\n%s\n%q", name, r, debug.Stack(), text[:min(len(text), 4000)])
		}
	}()
	set := loaded(t, name, text)
	in := compiler.Input{Objects: set.Objects}
	watchdog.Reset(patience)
	validated := slices.Concat(set.Findings, compiler.Validate(in, nil))
	watchdog.Reset(patience)
	if len(text) < 1<<20 {
		// The input as its own former state.
		validated = append(validated, compiler.Validate(in, set.Objects)...)
		watchdog.Reset(patience)
	}
	for _, f := range validated {
		if f.Rule == "" || f.Message == "" || f.File == "" {
			t.Fatalf("%s: an empty finding: %+v", name, f)
		}
		if _, ok := set.Line(f.Position); f.Line > 0 && !ok {
			t.Fatalf("%s: there is no line of %+v", name, f)
		}
	}
	out, findings := compiler.Compile(in)
	if (out == nil) != findings.HasErrors() {
		t.Fatalf("%s: output %v with findings %v", name, out != nil, findings)
	}
	watchdog.Reset(patience)
	if out == nil || set.Findings.HasErrors() {
		return false
	}
	var b bytes.Buffer
	if err := emit.YAML(&b, out.Objects); err != nil {
		t.Fatalf("%s: the output cannot be printed: %v\n%s", name, err, text[:min(len(text), 4000)])
	}
	if again := loaded(t, name, b.Bytes()); again.Findings.HasErrors() || len(again.Objects) != len(out.Objects) {
		t.Fatalf("%s: %d objects are printed and %d read, with %v\n%s", name, len(out.Objects), len(again.Objects), again.Findings, text[:min(len(text), 4000)])
	}
	if err := emit.JSON(&b, out.Objects); err != nil {
		t.Fatalf("%s: the output cannot be printed as JSON: %v", name, err)
	}
	return true
}

func loaded(t testing.TB, name string, text []byte) *source.Set {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	if err := disk.WriteFile("input.yaml", text); err != nil {
		t.Fatal(err)
	}
	set, err := source.Loader{FS: disk}.Load("input.yaml")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return set
}

// exampleFiles returns the deployment and the facts of every example as one
// text each.
func exampleFiles(t testing.TB) (out []string) {
	t.Helper()
	for _, name := range examples(t) {
		var parts []string
		for _, file := range []string{"deployment.yaml", "facts.yaml"} {
			b, err := os.ReadFile(filepath.Join(examplesDir, name, file))
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, strings.TrimSpace(string(b))+"\n")
		}
		out = append(out, strings.Join(parts, "---\n"))
	}
	return out
}

// TestMutations breaks the examples in 10,000 ways, the same ones each time.
func TestMutations(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 1_000
	}
	// Little lives long here, and collecting it would take most of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	texts := exampleFiles(t)
	survived := 0
	for seed := range uint64(count) {
		m := mutation{Rand: rand.New(rand.NewPCG(seed, 7))}
		text := m.apply(texts[m.IntN(len(texts))])
		if survive(t, fmt.Sprintf("mutation %d", seed), []byte(text)) {
			survived++
		}
	}
	t.Logf("%d of %d mutations still compile", survived, count)
	if survived < count/100 || survived > count*9/10 {
		t.Errorf("%d of %d mutations still compile: they do not probe both", survived, count)
	}
}

// mutation changes a text at random.
type mutation struct{ *rand.Rand }

func (m mutation) pick(of []string) string { return of[m.IntN(len(of))] }

// apply makes one to four changes, to the tree and then to the text.
func (m mutation) apply(text string) string {
	if m.IntN(3) > 0 {
		text = m.tree(text)
	}
	for range m.IntN(3) {
		text = m.text(text)
	}
	return text
}

// oddValues are what no author of a schema thinks of.
var oddValues = []string{
	"~", "null", "[]", "{}", `""`, "''", "true", "no", "on", "0", "-1", "-0", "1.5", "1e400", ".nan", ".inf", "-.inf",
	"0x7fffffffffffffff", "0o17", "1_000", "12:30:45", "9223372036854775808", "-9223372036854775809", "2147483648",
	"99999999999999999999999999999999999999", "2001-12-14t21:59:43.10-05:00", "2001-01-01", "!!binary aGVsbG8=", "!!binary '***'",
	"!!set {a, b}", "!!omap [a: 1]", "!!pairs [a: 1]", "!!str 12", "!!int '12'", "!!int abc", "!!float 1", "!!bool yes", "!!null ''", "!!timestamp 2001-01-01",
	"!!map []", "!!seq {}", "!custom x", "!<tag:example.com,2026:x> y", "! x", "!!python/object:os.system x",
	"*nowhere", "&a [*a]", "&a {b: *a}", "{<<: 1}", "{<<: [1, 2]}", "{<<: {name: x}, name: y}", "{? [a] : b}", "{1: a, true: b, ~: c, 1.5: d}", "{a: 1, a: 2}", `{"": x}`,
	"<<", "=", `"\0"`, `"\x00\uFFFE\U0010FFFF"`, `"\uD800"`, "'a: b'", "a: b: c", "|\n  two\n  lines", ">-\n   folded", "[a, [b, [c, [d]]]]", "{a: {b: {c: {d: e}}}}",
	"1Ei", "1E1000000", "1e-1000", "-1Gi", "0.0001m", "${VAR}", "$(VAR)", "__runtimeVersion__", "{{ .Values.x }}", "../../etc/passwd", "a/b:c@sha256:0", "\u2028", "\u0085", "\u200b", "\U0001F600", "İ",
	"[null]", "[{}]", "[[]]", "[{name: null}]", "[{name: a}, {name: a}]", "[1, two, 3.0, ~]", "--port=99999999999", "[--port, '']", "[--tensor-parallel-size, 9223372036854775807, --pipeline-parallel-size, '2']",
}

// tree changes the nodes of one document.
func (m mutation) tree(text string) string {
	docs := strings.Split(text, "\n---\n")
	at := m.IntN(len(docs))
	if m.IntN(3) > 0 {
		at = 0 // the deployment
	}
	root, err := yaml.Parse(docs[at])
	if err != nil {
		return text
	}
	for range 1 + m.IntN(3) {
		if nodeCount(root.YNode()) < 5_000 {
			m.node(root.YNode())
		}
	}
	if s, err := root.String(); err == nil {
		docs[at] = s
	}
	return strings.Join(docs, "\n---\n")
}

func nodeCount(n *yaml.Node) int {
	count := 1
	for _, c := range n.Content {
		count += nodeCount(c)
	}
	return count
}

// node changes a node somewhere below one.
func (m mutation) node(root *yaml.Node) {
	var parents []*yaml.Node
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if len(n.Content) > 0 && n.Kind != yaml.AliasNode {
			parents = append(parents, n)
			for _, c := range n.Content {
				visit(c)
			}
		}
	}
	visit(root)
	if len(parents) == 0 {
		return
	}
	n := parents[m.IntN(len(parents))]
	width := 1
	if n.Kind == yaml.MappingNode {
		width = 2
	}
	i := m.IntN(len(n.Content)/width) * width
	item := n.Content[i : i+width : i+width]
	value := &n.Content[i+width-1]
	other := parents[m.IntN(len(parents))]
	switch m.IntN(12) {
	case 0, 1: // an odd value, as plain text
		*value = &yaml.Node{Kind: yaml.ScalarNode, Value: m.pick(oddValues)}
	case 2: // an odd value, as YAML reads it
		if v, err := yaml.Parse(m.pick(oddValues)); err == nil {
			*value = v.YNode()
		}
	case 3: // dropped
		n.Content = slices.Delete(n.Content, i, i+width)
	case 4: // twice
		for _, c := range item {
			n.Content = append(n.Content, yaml.CopyYNode(c))
		}
	case 5: // many times
		for range m.IntN(500) {
			n.Content = append(n.Content, yaml.CopyYNode(item[0]), yaml.CopyYNode(item[width-1]))
		}
	case 6: // in a list, or out of one
		if (*value).Kind == yaml.SequenceNode && len((*value).Content) > 0 {
			*value = (*value).Content[0]
		} else {
			*value = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{*value}}
		}
	case 7: // null
		*value = &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagNull}
	case 8: // a long text
		*value = &yaml.Node{Kind: yaml.ScalarNode, Value: strings.Repeat(m.pick([]string{"a", "-", "9", "é", "/x", " "}), 1<<m.IntN(17))}
	case 9: // another part of the document
		*value = yaml.CopyYNode(other)
	case 10: // another key
		if width == 2 {
			n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Value: m.pick([]string{"", "<<", "name", "kind", "null", "a.b", "[0]", "metadata", "spec", "-", "..", "\n"})}
		}
	case 11: // deep
		for range m.IntN(1200) {
			*value = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{*value}, Style: yaml.FlowStyle}
		}
	}
}

// text changes bytes and lines.
func (m mutation) text(text string) string {
	if text == "" {
		return text
	}
	at := m.IntN(len(text) + 1)
	lines := strings.SplitAfter(text, "\n")
	line := m.IntN(len(lines))
	insert := func(s string) string { return text[:at] + s + text[at:] }
	switch m.IntN(16) {
	case 0:
		return insert(m.pick([]string{"\x00", "\xff", "\xc3", "\xed\xa0\x80", "\t", "\r", "\x1b", "\u0085", "\u2028", "\uFEFF"}))
	case 1:
		return text[:at]
	case 2:
		return insert(m.pick([]string{": ", "- ", "#", "'", `"`, "{", "}", "[", "]", "&", "*", "!", "|", ">", "%", "@", "`", "?", "\n", "\n---\n", "\n...\n", " "}))
	case 3:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 4:
		return "\uFEFF" + text
	case 5:
		return strings.ReplaceAll(text, "  ", "\t")
	case 6:
		return strings.Join(slices.Delete(lines, line, line+1), "")
	case 7:
		return strings.Join(slices.Insert(lines, line, lines[m.IntN(len(lines))]), "")
	case 8:
		return insert(strings.Repeat(m.pick([]string{"a", " ", "[", "{a: ", "- ", "\n", "#", "*a ", "? "}), 1<<m.IntN(13)))
	case 9:
		return strings.Repeat(text+"\n---\n", 1+m.IntN(6))
	case 10, 11, 12: // a value, keeping the rest of the document whole
		if key, _, ok := strings.Cut(lines[line], ": "); ok {
			lines[line] = key + ": " + m.pick(oddValues) + "\n"
		}
		return strings.Join(lines, "")
	case 13:
		return "x: &x {name: x, spec: {a: b}}\n" + insert(m.pick([]string{"*x", "<<: *x\n", "&x ", "\n<<: [*x, *x]\n"}))
	case 14:
		if n, err := yaml.Parse(strings.Split(text, "\n---\n")[0]); err == nil {
			if b, err := n.MarshalJSON(); err == nil {
				return string(b)
			}
		}
		return text
	}
	b := []byte(text)
	for range 1 + m.IntN(8) {
		b[m.IntN(len(b))] = byte(m.IntN(256))
	}
	return string(b)
}

const objectHead = "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata: {name: a, namespace: b}\n"

// nasty are whole files that were written to do harm, by name.
func nasty(t testing.TB) map[string]string {
	t.Helper()
	example := exampleFiles(t)[0]
	deployment, facts, _ := strings.Cut(example, "\n---\n")
	laughs := objectHead + "spec:\n  a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	merges := objectHead + "spec:\n  a0: &a0 {k: v}\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("  a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9))
		merges += fmt.Sprintf("  a%d: &a%d {<<: [%s], k%d: *a%d}\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i, i-1)
	}
	with := func(key, value string) string {
		lines := strings.Split(deployment, "\n")
		for i, l := range lines {
			if strings.HasPrefix(strings.TrimSpace(l), key+":") {
				lines[i] = strings.TrimSuffix(l, strings.TrimLeft(l, " -")) + key + ": " + value
			}
		}
		return strings.Join(lines, "\n")
	}
	keys := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	asJSON, err := yaml.Parse(deployment)
	if err != nil {
		t.Fatal(err)
	}
	jsonText, err := asJSON.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	const megabyte = 1 << 20
	return map[string]string{
		"empty":                     "",
		"blank lines":               strings.Repeat("\n", megabyte),
		"only comments":             strings.Repeat("# comment\n", 100_000),
		"NUL":                       deployment + "\x00",
		"only NULs":                 strings.Repeat("\x00", megabyte),
		"not UTF-8":                 strings.Replace(deployment, "Qwen", "Qw\xff\xfeen", 1),
		"UTF-16":                    "\xff\xfe" + strings.Join(strings.Split(deployment, ""), "\x00"),
		"binary":                    strings.Repeat("\x7fELF\x02\x01\x01\x80", 10_000),
		"tabs":                      strings.ReplaceAll(deployment, "  ", "\t"),
		"billion laughs":            laughs,
		"laughs by merge":           merges,
		"alias of itself":           objectHead + "spec: &a {b: *a}\n",
		"alias of a list of itself": objectHead + "spec: {roles: &a [*a, *a]}\n",
		"merge of itself":           objectHead + "spec: &a\n  <<: *a\n",
		"unknown alias":             objectHead + "spec: *nothing\n",
		"many anchors":              objectHead + "spec:\n" + keys(20_000, "  k%d: &k%[1]d x\n"),
		"many aliases":              objectHead + "x: &x y\nspec:\n" + keys(50_000, "  k%d: *x\n"),
		"deep flow":                 objectHead + "spec: " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "\n",
		"deep flow, open":           objectHead + "spec: " + strings.Repeat("{a: ", 200_000),
		"deep block": objectHead + "spec:\n" + func() string {
			var b strings.Builder
			for i := range 2_000 {
				b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
			}
			return b.String()
		}(),
		"deep sequences":             objectHead + "spec:\n  " + strings.Repeat("- ", 50_000) + "a\n",
		"deep JSON":                  strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"10 MB scalar":               with("name", strings.Repeat("a", 10*megabyte)),
		"10 MB of digits":            with("replicas", strings.Repeat("9", 10*megabyte)),
		"10 MB quantity":             with("accelerator", strings.Repeat("9", 10*megabyte)),
		"10 MB of keys":              objectHead + "spec:\n" + keys(700_000, "  key%d: 1\n"),
		"10 MB of one key":           objectHead + "spec:\n" + strings.Repeat("  key: 1\n", megabyte),
		"10 MB of roles":             deployment + "\n" + keys(200_000, "  - name: server-%d\n    instanceType: x\n"),
		"10 MB of arguments":         deployment + "\n    extraArgs:\n" + keys(300_000, "    - --tensor-paralel-size-%d\n"),
		"10 MB block scalar":         objectHead + "spec:\n  model:\n    name: |\n" + strings.Repeat("      line\n", megabyte),
		"10 MB of quotes":            objectHead + "spec: " + strings.Repeat(`"`, 10*megabyte),
		"long line":                  objectHead + "spec: {roles: [" + strings.Repeat("{name: a, instanceType: b}, ", 100_000) + "]}\n",
		"thousands of documents":     strings.Repeat(deployment+"\n---\n", 3_000) + facts,
		"thousands of names":         strings.Repeat("---\n", 100_000),
		"thousands of nulls":         strings.Repeat("---\nnull\n", 100_000),
		"thousands of broken ones":   strings.Repeat("---\n{a: [\n", 20_000),
		"empty keys":                 objectHead + "spec: {\"\": 1, '': 2, ? : 3}\n",
		"keys that are no strings":   objectHead + "spec: {1: a, true: b, ~: c, 1.5: d, [e]: f, {g: h}: i}\n",
		"duplicate keys":             deployment + "\nspec: {}\nspec: {}\nmetadata: {}\n",
		"duplicate names":            deployment + "\n---\n" + deployment + "\n---\n" + facts,
		"tag binary":                 with("name", "!!binary gICA"),
		"tag set":                    objectHead + "spec: !!set {model, engine, roles}\n",
		"tag of ours":                objectHead + "spec: !ours {model: !theirs x}\n",
		"tag int of text":            with("replicas", "!!int many"),
		"timestamp":                  with("name", "2001-12-14t21:59:43.10-05:00"),
		"nulls":                      objectHead + "spec: {model: ~, engine: ~, roles: ~, router: ~, kvCache: ~, kvTransfer: ~}\n",
		"nulls in lists":             objectHead + "spec: {model: {name: a}, engine: {name: vLLM, version: ~}, roles: [~, ~, {name: ~, instanceType: ~, env: [~], ports: [~], extraArgs: [~], additionalVolumes: [~]}]}\n",
		"null spec":                  objectHead + "spec:\n",
		"no spec":                    objectHead,
		"list as an object":          "- a\n- b\n",
		"scalar":                     "hello\n",
		"metadata is a list":         "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata: [a]\nspec: []\n",
		"kind is a list":             "apiVersion: [a]\nkind: {b: c}\nmetadata: {name: a}\n",
		"JSON without facts":         string(jsonText),
		"JSON, cut":                  string(jsonText[:len(jsonText)-7]),
		"JSON with odd escapes":      strings.Replace(string(jsonText), "Qwen", `\ud800\/\u0000`, 1),
		"CRLF and BOM without facts": "\uFEFF" + strings.ReplaceAll(deployment, "\n", "\r\n"),
		"carriage returns":           strings.ReplaceAll(deployment, "\n", "\r"),
		"odd line breaks":            strings.ReplaceAll(deployment, "\n", "\u2028"),
		"directives":                 "%YAML 9.9\n%TAG ! tag:x,2026:\n---\n" + deployment,
		"list in a list":             strings.Repeat("{apiVersion: v1, kind: List, items: [", 400) + strings.Repeat("]}", 400),
		"list of itself":             "&a {apiVersion: v1, kind: List, items: [*a]}\n",
		"list of nothing":            "{apiVersion: v1, kind: List, items: [~, 1, [], {}]}\n",
		"huge numbers":               with("replicas", "1e400"),
		"huge exponent":              with("accelerator", "1E1000000000"),
		"anchor as a name":           with("name", "&name"),
	}
}

// TestNasty gives whole files that were written to do harm.
func TestNasty(t *testing.T) {
	files := nasty(t)
	for _, name := range sorted(files) {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			survive(t, name, []byte(files[name]))
			if took := time.Since(start); took > time.Second {
				t.Logf("%d bytes took %s", len(files[name]), took.Round(time.Millisecond))
			}
		})
	}
}

func sorted[V any](m map[string]V) (out []string) {
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// TestNastyCommand builds the command and gives it the same files. All of them
// are wrong in some way, so that it must answer with findings alone.
func TestNastyCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "mdc.exe")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../cmd/mdc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := nasty(t)
	for i, name := range sorted(files) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
			if err := os.WriteFile(file, []byte(files[name]), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var stdout, stderr bytes.Buffer
			c := exec.CommandContext(ctx, binary, "build", file)
			c.Stdout, c.Stderr = &stdout, &stderr
			err := c.Run()
			if ctx.Err() != nil {
				t.Fatalf("not done after %s", patience)
			}
			said := stderr.String()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 2 {
				t.Errorf("ended with %v: %.500s", err, said)
			}
			if stdout.Len() > 0 {
				t.Errorf("an output together with errors: %.200s", stdout.String())
			}
			if said == "" || strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") {
				t.Errorf("stderr: %.2000s", said)
			}
		})
	}
}

// FuzzCompile looks for inputs that the mutations do not make.
func FuzzCompile(f *testing.F) {
	for _, text := range exampleFiles(f)[:6] {
		f.Add([]byte(text))
	}
	files := nasty(f)
	for _, name := range sorted(files) {
		if len(files[name]) < 4096 {
			f.Add([]byte(files[name]))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		survive(t, "input", text)
	})
}

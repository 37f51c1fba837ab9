// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// files makes a file system of name and content.
func files(t testing.TB, in map[string]string) filesys.FileSystem {
	t.Helper()
	fsys := filesys.MakeFsInMemory()
	for name, content := range in {
		if err := fsys.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

func load(t testing.TB, in map[string]string, paths ...string) *Set {
	t.Helper()
	s, err := Loader{FS: files(t, in)}.Load(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// list renders objects as "file[index] Kind namespace/name".
func list(objects []*Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, fmt.Sprintf("%s[%d] %s %s/%s", o.File, o.Index, o.Kind, o.Namespace, o.Name))
	}
	return out
}

// problems renders findings as "position: rule: message".
func problems(l diag.List) []string {
	var out []string
	for _, f := range l {
		out = append(out, fmt.Sprintf("%s: %s: %s", f.Position, f.Rule, f.Message))
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got:\n\t%s\nwant:\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func object(kind, name string) string {
	return "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n"
}

func TestLoad(t *testing.T) {
	deep := "apiVersion: v1\nkind: A\nx: " + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + "\n"
	var laughs strings.Builder
	laughs.WriteString("apiVersion: v1\nkind: A\nl0: &l0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&laughs, "l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 10), ", "))
	}

	tests := map[string]struct {
		files    map[string]string
		paths    []string
		objects  []string
		findings []string
	}{
		"several documents, empty ones skipped": {
			files:   map[string]string{"a.yaml": "# only a comment\n---\n---\n" + object("A", "a") + "---\n# nothing\n---\n" + object("B", "b") + "...\n"},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A /a", "a.yaml[1] B /b"},
		},
		"directives, byte order mark and line ends": {
			files:   map[string]string{"a.yaml": "\uFEFF%YAML 1.2\r\n---\r\napiVersion: v1\r\nkind: A\r\nmetadata: {name: a, namespace: ns}\r\n...\r\n%YAML 1.2\r\n---\r\napiVersion: v1\r\nkind: B\r\n"},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A ns/a", "a.yaml[1] B /"},
		},
		"a document on the line of its marker": {
			files:   map[string]string{"a.yaml": "--- {apiVersion: v1, kind: A}\n--- # b\napiVersion: v1\nkind: B\n"},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A /", "a.yaml[1] B /"},
		},
		"a marker within a value is text": {
			files:   map[string]string{"a.yaml": object("A", "a") + "text: |\n  ---\n  x\nmore: ---x\n"},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A /a"},
		},
		"one syntax error does not hide the rest": {
			files: map[string]string{"a.yaml": object("A", "a") + "---\napiVersion: v1\nkind: B\nx: [1\n---\napiVersion: v1\n  kind: C\n---\n" + object("D", "d") + "---\n\tx: 1\n---\nx: 'y\n---\nx: *y\n"},
			paths: []string{"a.yaml"},
			objects: []string{
				"a.yaml[0] A /a", "a.yaml[1] D /d",
			},
			findings: []string{
				"a.yaml:8: schema-yaml: this is not YAML: the brackets that open here are not closed",
				"a.yaml:11: schema-yaml: this is not YAML: there is a second \": \" where a value was expected",
				"a.yaml:18: schema-yaml: this is not YAML: a value starts with a character that has a meaning of its own, or the line is indented with a tab",
				"a.yaml:20: schema-yaml: this is not YAML: the quotes are not closed",
				"a.yaml:22:4: schema-yaml: this is not YAML: the alias refers to an anchor that is not defined above it in the document",
			},
		},
		"bytes that are not text": {
			files:   map[string]string{"a.yaml": "a: b\nx: \xff\n---\nk: y\x00\n---\n" + object("A", "a")},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A /a"},
			findings: []string{
				"a.yaml:2:4: schema-yaml: the file holds bytes that are not UTF-8",
				"a.yaml:4:5: schema-yaml: the file holds a NUL byte",
			},
		},
		"documents that are no objects": {
			files: map[string]string{"a.yaml": "- a\n---\ntext\n---\nfoo: bar\n---\nkind: A\n---\napiVersion: v1\nkind:\n---\napiVersion: v1\nkind: 5\n"},
			paths: []string{"a.yaml"},
			findings: []string{
				"a.yaml:1:1: schema-yaml: the document is not an object but a list",
				"a.yaml:3:1: schema-yaml: the document is not an object but the string \"text\"",
				"a.yaml:5:1: schema-yaml: the object has no apiVersion",
				"a.yaml:7:1: schema-yaml: the object has no apiVersion",
				"a.yaml:9:1: schema-yaml: the object has no kind",
				"a.yaml:13:7: schema-type: kind must be a string, not the number 5",
			},
		},
		"names that are no strings": {
			files:   map[string]string{"a.yaml": "apiVersion: v1\nkind: A\nmetadata:\n  name: 123\n  namespace: on\n  labels: {a: 1, b/c: yes, d: \"1\"}\n---\napiVersion: v1\nkind: B\nmetadata: []\n"},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A on/123", "a.yaml[1] B /"},
			findings: []string{
				"a.yaml:4:9: schema-type: metadata.name must be a string, not the number 123",
				"a.yaml:5:14: schema-type: metadata.namespace must be a string, and Kubernetes reads a plain on as a boolean or a number",
				"a.yaml:6:15: schema-type: metadata.labels[a] must be a string, not the number 1",
				"a.yaml:6:23: schema-type: metadata.labels[b/c] must be a string, and Kubernetes reads a plain yes as a boolean or a number",
				"a.yaml:10:11: schema-type: metadata must be a mapping, not a list",
			},
		},
		"keys that stand twice": {
			files:   map[string]string{"a.yaml": object("A", "a") + "spec:\n  x:\n  - {a: 1, a: 2}\n  y: 1\n  y: 2\n"},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A /a"},
			findings: []string{
				"a.yaml:9:3: schema-yaml: the key \"y\" stands twice in spec",
				"a.yaml:7:12: schema-yaml: the key \"a\" stands twice in spec.x[0]",
			},
		},
		"keys that are no strings": {
			files:    map[string]string{"a.yaml": object("A", "a") + "spec:\n  ? [x]\n  : 1\n"},
			paths:    []string{"a.yaml"},
			findings: []string{"a.yaml:6:5: schema-yaml: a key is not a string"},
		},
		"aliases that never end": {
			files: map[string]string{
				"a.yaml": object("A", "a") + "spec: &x\n  y: *x\n---\n" + laughs.String() + "---\n" + object("B", "b"),
				"b.yaml": deep,
				"c.yaml": object("C", "c") + "spec: {<<: 1}\n",
			},
			paths:   []string{"."},
			objects: []string{"a.yaml[0] B /b"},
			findings: []string{
				"a.yaml:6:6: schema-yaml: the alias *x stands inside of what it stands for",
				"a.yaml:8:1: schema-yaml: the aliases of the document expand to more than 1000000 nodes",
				"b.yaml:3:1003: schema-yaml: the document is nested more than 1000 levels deep",
				"c.yaml:5:12: schema-yaml: the value of the merge key << is not a mapping",
			},
		},
		"lists": {
			files: map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems:\n- " + indent(object("A", "a")) +
				"- apiVersion: v1\n  kind: BList\n  items:\n  - metadata: {name: b}\n- 5\n- {}\n---\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- " + indent(object("C", "c")) +
				"---\napiVersion: v1\nkind: List\n---\napiVersion: x/v1\nkind: AllowList\nspec: {}\n"},
			paths:   []string{"a.yaml"},
			objects: []string{"a.yaml[0] A /a", "a.yaml[1] B /b", "a.yaml[2] C /c", "a.yaml[3] AllowList /"},
			findings: []string{
				"a.yaml:12:3: schema-yaml: the item of the list is not an object but the number 5",
				"a.yaml:13:3: schema-yaml: the object has no apiVersion",
			},
		},
		"directories": {
			files: map[string]string{
				"d/b.yml":                  object("B", "b"),
				"d/a.yaml":                 object("A", "a"),
				"d/c.json":                 `{"apiVersion":"v1","kind":"C","metadata":{"name":"c"}}`,
				"d/sub/d.yaml":             "just: data\n---\n" + object("D", "d"),
				"d/patch.yaml":             "- op: add\n  path: /x\n",
				"d/list.yaml":              "- x\n",
				"d/read.txt":               "no",
				"d/.hidden.yaml":           object("X", "x"),
				"d/.git/x.yaml":            object("X", "x"),
				"d/Kptfile":                object("X", "x"),
				"d/sub/kustomization.yaml": "resources: []\n",
				"d/out/x.yaml":             object("X", "x"),
			},
			paths:    []string{"./d/", "d/a.yaml", "d/sub/../b.yml"},
			objects:  []string{"d/a.yaml[0] A /a", "d/b.yml[0] B /b", "d/c.json[0] C /c", "d/sub/d.yaml[0] D /d"},
			findings: []string{"d/list.yaml:1:1: schema-yaml: the document is not an object but a list"},
		},
		"a file given in several ways is read once": {
			files:   map[string]string{"a.yaml": object("A", "a")},
			paths:   []string{"a.yaml", "./a.yaml", ".", "x/../a.yaml"},
			objects: []string{"a.yaml[0] A /a"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := Loader{FS: files(t, tc.files), Exclude: []string{"d/out", "nowhere"}}.Load(tc.paths...)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "objects", list(s.Objects), tc.objects)
			equal(t, "findings", problems(s.Findings), tc.findings)
		})
	}
}

func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

func TestLoadStdin(t *testing.T) {
	s, err := Loader{FS: files(t, nil), Stdin: strings.NewReader(object("A", "a") + "---\nx: [\n")}.Load("-", "-")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "objects", list(s.Objects), []string{"-[0] A /a"})
	equal(t, "findings", problems(s.Findings), []string{"<stdin>:7: schema-yaml: this is not YAML: a value was expected"})
	if line, ok := s.Line(s.Objects[0].Position("metadata.name")); !ok || line != "  name: a" {
		t.Errorf("line %q %v", line, ok)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, p := range []string{"missing.yaml", "-", "https://example.com/x.yaml"} {
		if _, err := (Loader{FS: files(t, nil)}).Load(p); err == nil {
			t.Errorf("%s: no error", p)
		}
	}
}

func TestLoadTooLarge(t *testing.T) {
	big := "#" + strings.Repeat("x", MaxInput-100) + "\n"
	s := load(t, map[string]string{"a.yaml": big + object("A", "a"), "b.yaml": big + object("B", "b"), "c.yaml": object("C", "c")}, ".")
	equal(t, "objects", list(s.Objects), []string{"a.yaml[0] A /a"})
	equal(t, "findings", problems(s.Findings), []string{"b.yaml: input-too-large: the input is larger than 64 MB; this file and those after it were not read"})
}

func TestLoadKeepsComments(t *testing.T) {
	const in = "# license\n\n# about a\napiVersion: v1 # version\nkind: A\n# on x\nx:\n- 1 # one\n# end\n---\n# about b\napiVersion: v1\nkind: B\n"
	s := load(t, map[string]string{"a.yaml": in}, "a.yaml")
	var out []string
	for _, o := range s.Objects {
		out = append(out, o.Node.MustString())
	}
	if got := strings.Join(out, "---\n"); got != in {
		t.Errorf("got %s", got)
	}
}

func TestLoadExpandsAliases(t *testing.T) {
	s := load(t, map[string]string{"a.yaml": "apiVersion: v1\nkind: A\n" +
		"base: &base {a: 1, b: &b [x]}\nother: &other {b: 2, c: 3}\nx:\n  z: 0\n  <<: [*base, *other] # merged\n  a: 9\ny: *b # same\nq: \"<<\"\n"}, "a.yaml")
	equal(t, "findings", problems(s.Findings), nil)
	const want = "apiVersion: v1\nkind: A\nbase: {a: 1, b: [x]}\nother: {b: 2, c: 3}\nx:\n  z: 0\n  b: [x]\n  c: 3\n  a: 9\ny: [x] # same\nq: \"<<\"\n"
	if got := s.Objects[0].Node.MustString(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestLoadJSON(t *testing.T) {
	const second = `"x":["on","1","\/p\ud83d\ude00","\ud83d","a\\\"/b","",true,null,1.5,"plain text","a: b"],"y":"z"}`
	s := load(t, map[string]string{"a.json": `{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},` + "\n" + second}, "a.json")
	equal(t, "findings", problems(s.Findings), nil)
	const want = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\nx:\n- \"on\"\n- \"1\"\n- \"/p\\U0001F600\"\n- \uFFFD\n- a\\\"/b\n- \"\"\n- true\n- null\n- 1.5\n- plain text\n- 'a: b'\n\"y\": z\n"
	if got := s.Objects[0].Node.MustString(); got != want {
		t.Errorf("got %s", got)
	}
	if p := s.Objects[0].Position("y"); p.Line != 2 || p.Column != strings.Index(second, `"z"`)+1 {
		t.Errorf("position %s", p)
	}
}

func TestFromNodes(t *testing.T) {
	node := yaml.MustParse
	items := []*yaml.RNode{
		node("apiVersion: v1\nkind: A\nmetadata:\n  name: pre-a\n  annotations:\n    config.kubernetes.io/path: x/a.yaml\n    internal.config.kubernetes.io/index: '3'\n    internal.config.kubernetes.io/previousNames: a,b\nx: &x [1]\ny: *x\ny: 2\n"),
		node("[]"),
		nil,
		node("kind: B\n"),
	}
	s := FromNodes(items)
	equal(t, "objects", list(s.Objects), []string{"x/a.yaml[3] A /pre-a"})
	equal(t, "findings", problems(s.Findings), []string{
		"x/a.yaml: schema-yaml: the key \"y\" stands twice in the object",
		": schema-yaml: an item of the ResourceList is not an object",
		": schema-yaml: the object has no apiVersion",
	})
	o := s.Objects[0]
	if o.Node != items[0] || o.PreviousName != "a" || o.Position("x").String() != "x/a.yaml" {
		t.Errorf("%+v", o)
	}
}

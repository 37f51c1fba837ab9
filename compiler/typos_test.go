// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	k8syaml "sigs.k8s.io/yaml"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// neighbours are the keys beside each key of a keyboard.
var neighbours = map[byte]string{
	'a': "sq", 'b': "vn", 'c': "xv", 'd': "sf", 'e': "wr", 'f': "dg", 'g': "fh", 'h': "gj", 'i': "uo", 'j': "hk",
	'k': "jl", 'l': "ko", 'm': "nk", 'n': "bm", 'o': "ip", 'p': "ol", 'q': "wa", 'r': "et", 's': "ad", 't': "ry",
	'u': "yi", 'v': "cb", 'w': "qe", 'x': "zc", 'y': "tu", 'z': "xa", '-': "0", '0': "9", '2': "13",
}

// misspellings yields what a hurried hand makes of a word: every single slip,
// and the wrong cases.
func misspellings(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{word: true}
		try := func(s string) bool {
			if seen[s] || s == "" {
				return true
			}
			seen[s] = true
			return yield(s)
		}
		for i := range len(word) {
			if word[:i] != "" && strings.Trim(word[:i], "-") == "" && word[i] == '-' || i == 0 && word[0] == '-' {
				continue // the dashes of a flag
			}
			before, at, after := word[:i], word[i:i+1], word[i+1:]
			slips := []string{before + after, before + at + at + after}
			if after != "" {
				slips = append(slips, before+after[:1]+at+after[1:])
			}
			for _, c := range neighbours[strings.ToLower(at)[0]] {
				other := string(c)
				if at != strings.ToLower(at) {
					other = strings.ToUpper(other)
				}
				slips = append(slips, before+other+after)
			}
			for _, s := range slips {
				if !try(s) {
					return
				}
			}
		}
		for _, s := range []string{strings.ToLower(word), strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:], strings.ToLower(word[:1]) + word[1:]} {
			if !try(s) {
				return
			}
		}
	}
}

// slip is one word of a document that can be misspelt.
type slip struct {
	field        string
	word         string
	valid        []string // what else may stand there
	isValue      bool
	line, column int
}

// metadataNames are the fields that every object has in metadata.
var metadataNames = []string{
	"annotations", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generateName",
	"generation", "labels", "managedFields", "name", "namespace", "ownerReferences", "resourceVersion", "selfLink", "uid",
}

// deploymentSchema is the schema that is published, read without the code under
// test.
func deploymentSchema(t testing.TB) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := k8syaml.Unmarshal(v1.ModelDeploymentCRD(), &crd); err != nil {
		t.Fatal(err)
	}
	s := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	metadata := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, name := range metadataNames {
		metadata.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	s.Properties["metadata"] = metadata
	return s
}

func namesOf(s *apiextensionsv1.JSONSchemaProps) (out []string) {
	for name := range s.Properties {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// slipsOf lists the field names and the values of closed sets in a document.
func slipsOf(t testing.TB, n *yaml.Node, s *apiextensionsv1.JSONSchemaProps, at string) (out []slip) {
	t.Helper()
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			prop, ok := s.Properties[key.Value]
			if !ok {
				continue // chosen by the user
			}
			field := strings.TrimPrefix(at+"."+key.Value, ".")
			out = append(out, slip{field: at, word: key.Value, valid: namesOf(s), line: key.Line, column: key.Column})
			out = append(out, slipsOf(t, value, &prop, field)...)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			out = append(out, slipsOf(t, item, s.Items.Schema, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case yaml.ScalarNode:
		if len(s.Enum) == 0 {
			break
		}
		e := slip{field: at, word: n.Value, isValue: true, line: n.Line, column: n.Column}
		for _, raw := range s.Enum {
			var v string
			if err := json.Unmarshal(raw.Raw, &v); err != nil {
				t.Fatal(err)
			}
			e.valid = append(e.valid, v)
		}
		out = append(out, e)
	}
	return out
}

// replaceAt writes a word over another at a place of a text.
func replaceAt(t testing.TB, text string, line, column int, old, replacement string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	l := lines[line-1]
	for _, quote := range []string{"", `"`} {
		if strings.HasPrefix(l[column-1:], quote+old) {
			lines[line-1] = l[:column-1] + quote + replacement + l[column-1+len(quote+old):]
			return strings.Join(lines, "")
		}
	}
	t.Fatalf("%q does not stand at %d:%d of %q", old, line, column, l)
	return ""
}

// judged validates a text the way the command does.
func judged(t testing.TB, text string, facts []*source.Object) diag.List {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	if err := disk.WriteFile("deployment.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	set, err := source.Loader{FS: disk}.Load("deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return append(set.Findings, compiler.Validate(compiler.Input{Objects: set.Objects, Facts: facts}, nil)...)
}

// exampleText is the deployment of an example with its facts.
func exampleText(t testing.TB, name string) (text string, facts []*source.Object) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(examplesDir, name, "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := source.Loader{FS: filesys.MakeFsOnDisk()}.Load(filepath.Join(examplesDir, name, "facts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), set.Objects
}

// tally counts how often a slip was understood.
type tally struct {
	right  int
	failed []string
}

func (c *tally) add(ok bool, format string, args ...any) {
	if ok {
		c.right++
		return
	}
	c.failed = append(c.failed, fmt.Sprintf(format, args...))
}

// require wants 95 of 100.
func (c *tally) require(t *testing.T, what string) {
	t.Helper()
	total := c.right + len(c.failed)
	if total == 0 {
		t.Fatalf("%s: nothing was misspelt", what)
	}
	t.Logf("%s: %d of %d misspellings understood (%.2f%%)", what, c.right, total, 100*float64(c.right)/float64(total))
	if c.right*100 < total*95 {
		t.Errorf("%s: too few; not understood:\n%s", what, strings.Join(c.failed, "\n"))
	} else if testing.Verbose() {
		for _, f := range c.failed {
			t.Log(f)
		}
	}
}

func TestTypos(t *testing.T) {
	schema := deploymentSchema(t)
	var fields, values tally
	seen := map[string]bool{}
	for _, name := range examples(t) {
		text, facts := exampleText(t, name)
		if found := judged(t, text, facts); found.HasErrors() {
			t.Fatalf("%s: %v", name, found)
		}
		root, err := yaml.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range slipsOf(t, root.YNode(), schema, "") {
			if id := s.field + " " + s.word; testing.Short() && seen[id] {
				continue
			} else {
				seen[id] = true
			}
			for wrong := range misspellings(s.word) {
				if slices.Contains(s.valid, wrong) {
					continue
				}
				found := judged(t, replaceAt(t, text, s.line, s.column, s.word, wrong), facts)
				field, count := s.field, &values
				if !s.isValue {
					field, count = strings.TrimPrefix(s.field+"."+wrong, "."), &fields
				}
				i := slices.IndexFunc(found, func(f diag.Finding) bool { return f.Field == field && f.Severity == diag.Error })
				if i < 0 || found[i].Line != s.line || found[i].Column != s.column {
					t.Errorf("%s: %q for %q at %s is not refused there: %v", name, wrong, s.word, field, found)
					continue
				}
				count.add(found[i].Remedy == fmt.Sprintf("did you mean %q?", s.word),
					"%s: %q for %q in %s: %s", name, wrong, s.word, s.field, found[i].Remedy)
			}
		}
	}
	fields.require(t, "field names")
	values.require(t, "values")
}

// TestTyposEverywhere misspells every field of the schema, those of every kind
// of volume included.
func TestTyposEverywhere(t *testing.T) {
	var count tally
	seen := map[string]bool{}
	var walk func(s *apiextensionsv1.JSONSchemaProps, open, shut, at string)
	walk = func(s *apiextensionsv1.JSONSchemaProps, open, shut, at string) {
		if s.Items != nil {
			walk(s.Items.Schema, open+"[", "]"+shut, at+"[0]")
		}
		names := namesOf(s)
		for _, name := range names {
			prop := s.Properties[name]
			walk(&prop, open+"{"+name+": ", "}"+shut, at+"."+name)
			// Volumes hold the same few structs many times.
			if id := fmt.Sprint(name, names); seen[id] {
				continue
			} else {
				seen[id] = true
			}
			for wrong := range misspellings(name) {
				if slices.Contains(names, wrong) {
					continue
				}
				text := "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata: {name: a, namespace: b}\nspec: " + open + "{" + wrong + ": 1}" + shut + "\n"
				field := at + "." + wrong
				found := judged(t, text, nil)
				i := slices.IndexFunc(found, func(f diag.Finding) bool { return f.Field == field })
				if i < 0 {
					t.Errorf("%s is not refused: %v in\n%s", field, found, text)
					return
				}
				count.add(found[i].Remedy == fmt.Sprintf("did you mean %q?", name), "%q for %q in %s: %s", wrong, name, at, found[i].Remedy)
			}
		}
	}
	spec := deploymentSchema(t).Properties["spec"]
	walk(&spec, "", "", "spec")
	count.require(t, "field names of the schema")
}

// commonFlags are flags that people write, by engine.
var commonFlags = map[string][]string{
	"vLLM": {
		"--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size", "--max-model-len", "--max-num-seqs",
		"--max-num-batched-tokens", "--gpu-memory-utilization", "--enable-prefix-caching", "--no-enable-prefix-caching",
		"--enable-chunked-prefill", "--enforce-eager", "--trust-remote-code", "--quantization", "--dtype", "--block-size",
		"--swap-space", "--cpu-offload-gb", "--chat-template", "--enable-auto-tool-choice", "--tool-call-parser",
		"--reasoning-parser", "--served-model-name", "--port", "--host", "--seed", "--load-format", "--tokenizer",
		"--enable-expert-parallel", "--speculative-config", "--compilation-config", "--enable-lora", "--lora-modules",
		"--max-loras", "--max-lora-rank", "--limit-mm-per-prompt", "--api-key", "--uvicorn-log-level",
		"--distributed-executor-backend", "--hf-overrides", "--async-scheduling",
	},
	"SGLang": {
		"--tp-size", "--dp-size", "--pp-size", "--ep-size", "--tensor-parallel-size", "--mem-fraction-static",
		"--context-length", "--chunked-prefill-size", "--max-running-requests", "--max-prefill-tokens", "--max-total-tokens",
		"--schedule-policy", "--attention-backend", "--sampling-backend", "--disable-radix-cache", "--disable-cuda-graph",
		"--cuda-graph-max-bs", "--enable-torch-compile", "--trust-remote-code", "--quantization", "--dtype", "--page-size",
		"--chat-template", "--tool-call-parser", "--reasoning-parser", "--served-model-name", "--port", "--host",
		"--log-level", "--enable-metrics", "--enable-dp-attention", "--moe-a2a-backend", "--deepep-mode",
		"--speculative-algorithm", "--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens",
		"--enable-hierarchical-cache", "--hicache-ratio", "--random-seed", "--load-format", "--watchdog-timeout",
	},
}

const flagDeployment = `apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
metadata: {name: a, namespace: b}
spec:
  model: {name: m}
  engine: {name: %s, version: "1.0.0"}
  roles:
  - {name: server, instanceType: gpu, extraArgs: [%q]}
`

func TestTyposOfFlags(t *testing.T) {
	for _, engine := range []string{"vLLM", "SGLang"} {
		flags := slices.Clone(commonFlags[engine])
		for _, name := range examples(t) {
			text, _ := exampleText(t, name)
			var md v1.ModelDeployment
			if err := k8syaml.Unmarshal([]byte(text), &md); err != nil {
				t.Fatal(err)
			}
			for _, r := range md.Spec.Roles {
				for _, arg := range r.ExtraArgs {
					if flag, _, _ := strings.Cut(arg, "="); string(md.Spec.Engine.Name) == engine && strings.HasPrefix(flag, "--") && !slices.Contains(flags, flag) {
						flags = append(flags, flag)
					}
				}
			}
		}
		var count tally
		for _, flag := range flags {
			for wrong := range misspellings(flag) {
				// A flag cut short is legal, and so is another flag.
				if strings.HasPrefix(flag, wrong) || slices.Contains(flags, wrong) {
					continue
				}
				found := judged(t, fmt.Sprintf(flagDeployment, engine, wrong), nil)
				i := slices.IndexFunc(found, func(f diag.Finding) bool { return f.Rule == "arg-typo" })
				remedy := ""
				if i >= 0 {
					f := found[i]
					if remedy = f.Remedy; f.Field != "spec.roles[0].extraArgs[0]" || f.Severity != diag.Warning || f.Line != 8 {
						t.Fatalf("%+v", f)
					}
				}
				count.add(remedy == "did you mean "+flag+"?", "%s for %s: %q", wrong, flag, remedy)
			}
		}
		count.require(t, "flags of "+engine)
	}
}

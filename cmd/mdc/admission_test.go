// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// admissionCase is a deployment as a user writes it, with what is to be said
// about it.
type admissionCase struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Namespace     string            `json:"namespace"`
	Expect        string            `json:"expect"`
	Rule          string            `json:"rule"`
	Field         []string          `json:"field"`
	Tokens        []string          `json:"messageMustContain"`
	Deleting      bool              `json:"deleting"`
	New           json.RawMessage   `json:"new"`
	Old           json.RawMessage   `json:"old"`
	InstanceTypes []json.RawMessage `json:"instanceTypes"`
	KVObjects     []json.RawMessage `json:"kvObjects"`
	Settings      map[string]string `json:"settings"`
}

type findingJSON struct {
	Rule, Severity, Namespace, Name, Field, Message, Remedy, File string
	Line, Column                                                  int
}

func readCases(t *testing.T, path string) (out []admissionCase) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var c admissionCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// write puts the case into files and returns the arguments of the command.
func (c admissionCase) write(t *testing.T, dir string) []string {
	t.Helper()
	put := func(name string, objects ...any) string {
		var b bytes.Buffer
		for _, o := range objects {
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("---\n")
			b.Write(text)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	deployment := func(spec json.RawMessage, deleting bool) any {
		metadata := map[string]any{"name": c.Name, "namespace": c.Namespace}
		if deleting {
			metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		}
		return map[string]any{"apiVersion": "worker.gpustack.ai/v1", "kind": "ModelDeployment", "metadata": metadata, "spec": spec}
	}
	var facts []any
	for _, o := range slices.Concat(c.InstanceTypes, c.KVObjects) {
		facts = append(facts, o)
	}
	for name, value := range c.Settings {
		facts = append(facts, map[string]any{
			"apiVersion": "gpustack.ai/v1", "kind": "Setting",
			"metadata": map[string]any{"name": name, "namespace": "gpustack-system"},
			"spec":     map[string]any{"value": value},
		})
	}
	args := []string{"validate", "-o", "json", put("deployment.yaml", deployment(c.New, c.Deleting)), "--facts", put("facts.yaml", facts...)}
	if len(c.Old) > 0 && string(c.Old) != "null" {
		args = append(args, "--old", put("old.yaml", deployment(c.Old, false)))
	}
	return args
}

// runCommand runs the command in this process.
func runCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot(&app{fs: filesys.MakeFsOnDisk(), stdin: strings.NewReader(""), stdout: &out, stderr: &errs}, "mdc")
	root.SetArgs(args)
	switch err := root.Execute(); {
	case err == nil:
	case errors.Is(err, errFindings):
		code = exitFindings
	default:
		code = exitUsage
		errs.WriteString(err.Error())
	}
	return code, out.String(), errs.String()
}

func TestAdmissionCases(t *testing.T) {
	path := os.Getenv("MDC_ADMISSION_CASES")
	if path == "" {
		path = "../../testdata/admission/cases.jsonl"
	}
	cases := readCases(t, path)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			code, stdout, stderr := runCommand(t, c.write(t, t.TempDir())...)
			var got struct{ Findings []findingJSON }
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatalf("%v in %q, exit %d: %s", err, stdout, code, stderr)
			}
			if c.Expect == "accept" {
				if code != 0 {
					t.Errorf("exit %d: %s", code, stdout)
				}
				return
			}
			if code != exitFindings {
				t.Errorf("exit %d: %s", code, stdout)
			}
			if !slices.ContainsFunc(got.Findings, c.satisfied) {
				t.Errorf("want %s at %q naming %q, got %s", c.Rule, c.Field, c.Tokens, stdout)
			}
			fields := map[string]bool{}
			for _, f := range got.Findings {
				if f.Line == 0 || f.Column == 0 || f.Remedy == "" || f.Message == "" {
					t.Errorf("incomplete: %+v", f)
				}
				if key := f.Rule + f.Field + f.Message; fields[key] {
					t.Errorf("twice: %+v", f)
				} else {
					fields[key] = true
				}
			}
		})
	}
}

// satisfied reports whether a finding is the one the case asks for.
func (c admissionCase) satisfied(f findingJSON) bool {
	field := func(want string) bool {
		if !strings.HasPrefix(want, "metadata.") && !strings.HasPrefix(want, "spec.") {
			want = "spec." + want
		}
		return f.Field == want
	}
	text := strings.ToLower(f.Message + "\n" + f.Remedy)
	missing := func(token string) bool { return !strings.Contains(text, strings.ToLower(token)) }
	return f.Rule == c.Rule && f.Severity == "error" &&
		(len(c.Field) == 0 || slices.ContainsFunc(c.Field, field)) &&
		!slices.ContainsFunc(c.Tokens, missing)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestKustomizeTransformer builds kustomize from its module and runs it with mdc as its transformer
// and compares the objects with those of mdc build.
func TestKustomizeTransformer(t *testing.T) {
	kustomize := filepath.Join(t.TempDir(), "kustomize")
	build := exec.Command("go", "build", "-modfile=testdata/tools/go.mod", "-o", kustomize, "sigs.k8s.io/kustomize/kustomize/v5")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building kustomize: %v\n%s", err, out)
	}
	mdc, err := exec.LookPath("mdc") // installed by TestMain
	if err != nil {
		t.Fatal(err)
	}
	const example = "../../examples/kustomize"
	viaKustomize := output(t, mdc, kustomize, "build", "--enable-alpha-plugins", "--enable-exec", example)
	direct := output(t, mdc, mdc, "build", example, "--facts", filepath.Join(example, "facts.yaml"))
	if diff := cmp.Diff(objects(t, direct), objects(t, viaKustomize)); diff != "" {
		t.Errorf("mdc build and kustomize differ (-mdc +kustomize):\n%s", diff)
	}
}

// output runs a command with the directory of mdc on its PATH.
func output(t *testing.T, mdc, command string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.Command(command, args...)
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(mdc)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, &stderr)
	}
	return out
}

// objects decodes a stream by kind and name.
func objects(t *testing.T, stream []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	for doc := range strings.SplitSeq(string(stream), "\n---\n") {
		doc += "\n" // the end of the last line, which the separator took
		var o struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		var tree any
		for _, into := range []any{&o, &tree} {
			if err := yaml.Unmarshal([]byte(doc), into); err != nil {
				t.Fatal(err)
			}
		}
		out[o.Kind+"/"+o.Metadata.Name] = tree
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/source"
)

const (
	// manifestFile lists the files that mdc wrote into a directory, so that a
	// later run removes only its own.
	manifestFile      = source.OutputManifest
	kustomizationFile = "kustomization.yaml"
	// configurationsFile tells kustomize which fields of our kinds are names of
	// other objects.
	configurationsFile = "mdc-kustomizeconfig.yaml"
)

//go:embed kustomizeconfig.yaml
var configurations []byte

// outputDir is a directory that holds the output of mdc.
type outputDir struct {
	*app
	path   string
	format string
}

// run brings the directory up to date, or with check tells the difference.
func (d outputDir) run(objects []emit.Object, check bool) error {
	want, err := d.files(objects)
	if err != nil {
		return err
	}
	owned, err := d.owned()
	if err != nil {
		return err
	}
	if d.fs.Exists(d.path) && !d.fs.IsDir(d.path) {
		return fmt.Errorf("%s is not a directory", d.path)
	}
	if check {
		return d.check(want, owned)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		mine := slices.Contains(owned, name) || name == manifestFile
		if d.taken(name) && (!mine || !d.plain(name)) {
			return fmt.Errorf("%s exists and was not written by mdc; remove it or choose another directory", d.join(name))
		}
	}
	if err := d.fs.MkdirAll(d.path); err != nil {
		return err
	}
	for _, name := range owned {
		if _, ok := want[name]; !ok && d.plain(name) {
			if err := d.fs.RemoveAll(d.join(name)); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if old, err := d.fs.ReadFile(d.join(name)); err == nil && bytes.Equal(old, want[name]) {
			continue
		}
		if err := d.fs.WriteFile(d.join(name), want[name]); err != nil {
			return err
		}
	}
	return nil
}

func (d outputDir) join(name string) string { return filepath.Join(d.path, name) }

// owned lists the files that an earlier run wrote.
func (d outputDir) owned() ([]string, error) {
	if !d.fs.Exists(d.join(manifestFile)) {
		return nil, nil
	}
	b, err := d.fs.ReadFile(d.join(manifestFile))
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		// The list is a file that anybody can edit: only names that mdc gives
		// are taken from it.
		if name := strings.TrimSpace(line); written.MatchString(name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// taken reports whether a name is in use. A link counts that leads nowhere:
// writing would create a file at its end.
func (d outputDir) taken(name string) bool {
	if d.fs.Exists(d.join(name)) {
		return true
	}
	_, err := os.Lstat(d.join(name))
	return err == nil
}

// plain reports whether a name is that of a file, and not a directory or a link
// that leads elsewhere.
func (d outputDir) plain(name string) bool {
	dir, err := filepath.EvalSymlinks(d.path)
	if err != nil {
		return false
	}
	file, err := filepath.EvalSymlinks(d.join(name))
	return err == nil && file == filepath.Join(dir, name) && !d.fs.IsDir(d.join(name))
}

// files returns the content of the directory by file name.
func (d outputDir) files(objects []emit.Object) (map[string][]byte, error) {
	files := map[string][]byte{configurationsFile: configurations}
	kustomization := types.Kustomization{
		TypeMeta:       types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Configurations: []string{configurationsFile},
	}
	for i, name := range fileNames(objects, d.format) {
		var b bytes.Buffer
		if err := filePrinters[d.format](&b, objects[i]); err != nil {
			return nil, err
		}
		files[name] = b.Bytes()
		kustomization.Resources = append(kustomization.Resources, name)
	}
	b, err := yaml.Marshal(kustomization)
	if err != nil {
		return nil, err
	}
	files[kustomizationFile] = b
	files[manifestFile] = []byte(strings.Join(slices.Sorted(maps.Keys(files)), "\n") + "\n")
	return files, nil
}

// filePrinters print the one object of a file.
var filePrinters = map[string]func(w io.Writer, o emit.Object) error{
	"yaml": func(w io.Writer, o emit.Object) error { return emit.YAML(w, []emit.Object{o}) },
	"json": emit.JSONObject,
}

var (
	// wordStart is where a word of a kind begins: KVCachePool has three.
	wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	unsafe    = regexp.MustCompile(`[^a-z0-9]+`)
	// written is what the names of all files look like.
	written = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*\.(yaml|json)$`)
)

// longestName is a file name that every file system takes.
const longestName = 200

// fileNames gives each object a file of its own, for example
// "team-a-pod-template-qwen-chat-server.yaml".
func fileNames(objects []emit.Object, format string) []string {
	names := make([]string, len(objects))
	count := map[string]int{}
	for i, o := range objects {
		kind := wordStart.ReplaceAllString(o.Kind, "$1$3-$2$4")
		name := strings.ToLower(strings.Join([]string{o.Namespace, kind, o.Name}, "-"))
		names[i] = strings.Trim(unsafe.ReplaceAllString(name, "-"), "-")
		names[i] = names[i][:min(len(names[i]), longestName)]
		count[names[i]]++
	}
	for i, o := range objects {
		if count[names[i]] > 1 || len(names[i]) == longestName {
			sum := sha256.Sum256([]byte(o.GroupKind() + "/" + o.Namespace + "/" + o.Name))
			names[i] += "-" + hex.EncodeToString(sum[:4])
		}
		names[i] += "." + format
	}
	return names
}

// check prints how the directory differs from what would be written.
func (d outputDir) check(want map[string][]byte, owned []string) error {
	names := slices.Sorted(maps.Keys(want))
	for _, name := range owned {
		if _, ok := want[name]; !ok && d.fs.Exists(d.join(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	differs := false
	for _, name := range names {
		from, to := d.join(name), d.join(name)
		var have []byte
		if d.fs.Exists(from) {
			b, err := d.fs.ReadFile(from)
			if err != nil {
				return err
			}
			have = b
		} else {
			from = os.DevNull
		}
		if _, ok := want[name]; !ok {
			to = os.DevNull
		}
		if bytes.Equal(have, want[name]) {
			continue
		}
		differs = true
		diff := difflib.UnifiedDiff{
			A: lines(have), FromFile: from,
			B: lines(want[name]), ToFile: to,
			Context: 3,
		}
		text, err := difflib.GetUnifiedDiffString(diff)
		if err != nil {
			return err
		}
		if text == "" {
			text = fmt.Sprintf("%s differs in a value that may be a secret\n", d.join(name))
		}
		if _, err := io.WriteString(d.stderr, text); err != nil {
			return err
		}
	}
	if differs {
		fmt.Fprintf(d.stderr, "%s is not what the input compiles to; run mdc build with --output-dir %s\n", d.path, d.path)
		return errFindings
	}
	return nil
}

// lines splits a file for a difference, with what may be a secret hidden.
func lines(content []byte) []string {
	var out []string
	for line := range strings.Lines(diag.Mask(string(content))) {
		out = append(out, line)
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

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
	if check {
		return d.check(want, owned)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if d.fs.Exists(d.join(name)) && !slices.Contains(owned, name) && name != manifestFile {
			return fmt.Errorf("%s exists and was not written by mdc; remove it or choose another directory", d.join(name))
		}
	}
	if err := d.fs.MkdirAll(d.path); err != nil {
		return err
	}
	for _, name := range owned {
		if _, ok := want[name]; !ok && d.fs.Exists(d.join(name)) {
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
		// A name with a separator is not one that mdc wrote; a manifest that was
		// tampered with must not reach other directories.
		if name := strings.TrimSpace(line); name != "" && filepath.Base(name) == name && name != ".." {
			out = append(out, name)
		}
	}
	return out, nil
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
		if err := printers[d.format](&b, objects[i:i+1]); err != nil {
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

var (
	wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	unsafe    = regexp.MustCompile(`[^a-z0-9.-]+`)
)

// fileNames gives each object a file of its own, for example
// "team-a-pod-template-qwen-chat-server.yaml".
func fileNames(objects []emit.Object, format string) []string {
	names := make([]string, len(objects))
	count := map[string]int{}
	for i, o := range objects {
		kind := wordStart.ReplaceAllString(o.Kind, "$1-$2")
		name := strings.ToLower(strings.Join([]string{o.Namespace, kind, o.Name}, "-"))
		names[i] = strings.Trim(unsafe.ReplaceAllString(name, "-"), "-.")
		count[names[i]]++
	}
	for i, o := range objects {
		if count[names[i]] > 1 {
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
		if _, ok := want[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	differs := false
	for _, name := range names {
		var have []byte
		if d.fs.Exists(d.join(name)) {
			b, err := d.fs.ReadFile(d.join(name))
			if err != nil {
				return err
			}
			have = b
		}
		if bytes.Equal(have, want[name]) {
			continue
		}
		differs = true
		diff := difflib.UnifiedDiff{
			A: difflib.SplitLines(string(have)), FromFile: d.join(name),
			B: difflib.SplitLines(string(want[name])), ToFile: d.join(name) + " (compiled)",
			Context: 3,
		}
		if err := difflib.WriteUnifiedDiff(d.stderr, diff); err != nil {
			return err
		}
	}
	if differs {
		fmt.Fprintf(d.stderr, "%s is not what the input compiles to; run mdc build with --output-dir %s\n", d.path, d.path)
		return errFindings
	}
	return nil
}

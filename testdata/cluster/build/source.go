// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/cmd/agent/localcluster/tools"
)

// edited writes the main file of a tool with its edits into scratch, and
// returns an overlay that shows it to the go command as the main file of the
// pinning module. The module cache itself cannot be overlaid.
func edited(t tools.Tool, module, scratch string) (string, error) {
	dir, err := list(module, "-f", "{{.Dir}}", t.Package)
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("%s has %d files, and only a program of one can be edited", t.Package, len(files))
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return "", err
	}
	text := string(b)
	for _, e := range t.Edits {
		if n := strings.Count(text, e.Old); n != 1 {
			return "", fmt.Errorf("%s occurs %d times in %s: this version is not the one that the edit was made for", e.Old, n, files[0])
		}
		text = strings.Replace(text, e.Old, e.New, 1)
	}
	main := filepath.Join(scratch, "main.go")
	if err := os.WriteFile(main, []byte(text), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(module, "main.go"): main},
	})
	if err != nil {
		return "", err
	}
	file := filepath.Join(scratch, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o644)
}

// writeManifests builds the kustomizations that a tool comes with.
func writeManifests(t tools.Tool, module, dir string) error {
	if len(t.Manifests) == 0 {
		return nil
	}
	root, err := list(module, "-f", "{{.Module.Dir}}", t.Package)
	if err != nil {
		return err
	}
	for _, m := range t.Manifests {
		objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, m.Kustomization))
		if err != nil {
			return err
		}
		text, err := objects.AsYaml()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, m.Name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

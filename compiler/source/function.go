// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// isOwnFunction reports whether a document configures mdc as a function. Built
// by kustomize it would start mdc from within mdc.
func isOwnFunction(root *yaml.Node) bool {
	o := &Object{Node: yaml.NewRNode(root)}
	o.APIVersion = stringOf(lookup(root, "apiVersion"))
	switch o.Group() {
	case "worker.gpustack.ai":
		if stringOf(lookup(root, "kind")) == "ModelDeployment" {
			return true
		}
	case "mdc.gpustack.ai":
		return true
	}
	spec := firstAnnotation(o, "config.kubernetes.io/function", "config.k8s.io/function")
	if spec == "" {
		return false
	}
	var f struct {
		Exec      struct{ Path string }
		Container struct{ Image string }
	}
	if err := yaml.Unmarshal([]byte(spec), &f); err != nil {
		return false
	}
	program := strings.TrimSuffix(path.Base(filepath.ToSlash(f.Exec.Path)), ".exe")
	image, _, _ := strings.Cut(path.Base(f.Container.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	return slices.Contains([]string{"mdc", "kubectl-mdc"}, program) || image == "mdc"
}

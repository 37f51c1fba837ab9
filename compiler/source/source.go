// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package source turns bytes into objects that remember where they were
// written: files, directories, standard input, kustomize directories and the
// items of a ResourceList. It also knows the structural schema of the kinds, so
// that a wrong field is reported at the place where it was typed.
//
// Everything a user can get wrong in a file is a finding; an error is left for
// what is not about the content, such as a path that does not exist.
package source

import (
	"gpustack.ai/mdc/compiler/diag"
)

// Rules of the findings that this package makes.
const (
	// RuleYAML is about text that is not YAML or not an object.
	RuleYAML = "schema-yaml"
	// RuleType is a value of the wrong type.
	RuleType = "schema-type"
	// RuleUnknown is a field that the schema does not have.
	RuleUnknown = "schema-unknown"
	// RuleTooLarge is an input over MaxInput bytes.
	RuleTooLarge = "input-too-large"
	// RuleKustomizeRemote is a kustomization that refers to the network.
	RuleKustomizeRemote = "kustomize-remote"
	// RuleKustomizeBuild is a kustomization that does not build.
	RuleKustomizeBuild = "kustomize-build"
)

// Limits of one run. They keep a hostile or broken input from taking the
// machine down and are far above anything that is written by hand.
const (
	// MaxInput is the size of all files together, in bytes.
	MaxInput = 64 << 20
	// MaxExpansion is the number of nodes that aliases may add.
	MaxExpansion = 1_000_000
	// MaxDepth is the nesting of one document.
	MaxDepth = 1000
)

// stdinPath is the path that stands for standard input, and stdinName what
// positions call it.
const (
	stdinPath = "-"
	stdinName = "<stdin>"
)

// Set is everything that was read.
type Set struct {
	// Objects are in the order of the paths given, files of a directory sorted,
	// documents as they stand.
	Objects []*Object

	// Skipped are the function configurations of mdc itself that kustomizations
	// list as transformers, generators or validators. They were left out of the
	// kustomize build, where mdc would have called itself.
	Skipped []*Object

	// Findings are what is wrong with the text itself.
	Findings diag.List

	texts map[string]*text
}

// Line returns the source line of a position, without its line break, for
// printing below a finding.
func (s *Set) Line(p diag.Position) (string, bool) {
	t, ok := s.texts[p.File]
	if !ok {
		return "", false
	}
	return t.line(p.Line)
}

func displayName(file string) string {
	if file == stdinPath {
		return stdinName
	}
	return file
}

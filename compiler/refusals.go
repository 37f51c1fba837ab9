// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

// Refusals are the rules of findings that only a compile makes, or the program
// around it. What a deployment is judged by before is in the tables of package
// check, and what can be wrong with text in package source.
var Refusals = []string{
	"artifact-unresolved",
	"cache-facts",
	"engine-port",
	"function-config",
	"generated-name",
	"image-maker",
	"image-maker-unknown",
	"image-variant",
	"image-version",
	"namespace-required",
	"no-deployment",
	"object-clash",
	"pair-width",
	"partition-size",
	"pod-invalid",
	"schema-kind",
	"setting-value",
	"transport-unsupported",
	"type-units",
}

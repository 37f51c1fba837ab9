// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CustomResourceDefinitions of every kind that mdc writes or
// reads, as YAML by file name ("<group>_<plural>.yaml").
func CRDs() map[string][]byte {
	out := map[string][]byte{}
	files, err := fs.Glob(crdFiles, "crds/*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, f := range files {
		out[strings.TrimPrefix(f, "crds/")] = mustRead(f)
	}
	return out
}

// ModelDeploymentCRD returns the CustomResourceDefinition of ModelDeployment as
// YAML.
func ModelDeploymentCRD() []byte {
	return mustRead("crds/worker.gpustack.ai_modeldeployments.yaml")
}

func mustRead(name string) []byte {
	b, err := crdFiles.ReadFile(name)
	if err != nil {
		panic(err) // embedded at build time
	}
	return b
}

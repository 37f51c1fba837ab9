// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// A GitOps repository in one file: 10,000 deployments, 15 MB.
func BenchmarkLoad(b *testing.B) {
	one := withRole("    replicas: 2\n    env:\n"+strings.Repeat("    - {name: VARIABLE_X, value: some value}\n", 1)+
		"    extraArgs:\n"+strings.Repeat("    - --some-flag-of-the-engine=with-a-value\n", 25)) + "---\n"
	fsys := files(b, map[string]string{"all.yaml": strings.Repeat(one, 10_000)})
	for b.Loop() {
		s, err := Loader{FS: fsys}.Load("all.yaml")
		if err != nil || len(s.Objects) != 10_000 || len(s.Findings) > 0 {
			b.Fatal(err, len(s.Objects), s.Findings[:min(len(s.Findings), 3)])
		}
		for _, o := range s.Objects {
			if v := ModelDeploymentSchema().Validate(o); len(v) > 0 {
				b.Fatal(v)
			}
			var md v1.ModelDeployment
			if f := Decode(o, &md); len(f) > 0 {
				b.Fatal(f)
			}
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	"gpustack.ai/mdc/compiler/argv"
)

// ownedEnv also holds for a take-over role: its Pod gets the rank variables,
// and nothing tells one user's connector from another's there.
func ownedEnv(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		for j, e := range r.Env {
			if !argv.OwnsEnv(s.now.engine, e.Name) {
				continue
			}
			out = append(out, Fault{
				Field:   r.field("env[%d]", j),
				Message: fmt.Sprintf("the variable %s is left to mdc on %s; a second value would replace the one the Pod needs", e.Name, s.now.engine),
				Remedy:  fmt.Sprintf("remove it; a program started through %s can set variables of its own", r.takeOverField()),
			})
		}
	}
	return out
}

func artifactEnv(s *Subject) (out []Fault) {
	if s.now.Spec.Model.ArtifactRef == nil {
		return nil
	}
	for _, r := range s.now.roles {
		if r.takeOver() {
			continue
		}
		for j, e := range r.Env {
			if !argv.OwnsArtifactEnv(s.now.engine, e.Name) {
				continue
			}
			out = append(out, Fault{
				Field:   r.field("env[%d]", j),
				Message: fmt.Sprintf("the variable %s is decided by spec.model.artifactRef, which says where weights come from and where they are kept", e.Name),
				Remedy: fmt.Sprintf("remove it (mdc decides %s here), or own the role with %s",
					strings.Join(argv.ArtifactEnv(s.now.engine), ", "), r.takeOverField()),
			})
		}
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// engineKinds are the kinds of role that each engine can be started as.
var engineKinds = map[v1.EngineName][]v1.RoleKind{
	v1.EngineVLLM:   {v1.RoleServer, v1.RolePrefill, v1.RoleDecode},
	v1.EngineSGLang: {v1.RoleServer, v1.RolePrefill, v1.RoleDecode},
}

func kindMix(s *Subject) (out []Fault) {
	whole := func(r *role) bool { return r.kind() == v1.RoleServer && !s.meant(r.path, "kind") }
	half := func(r *role) bool { return r.kind() == v1.RolePrefill || r.kind() == v1.RoleDecode }
	if !slices.ContainsFunc(s.now.roles, whole) || !slices.ContainsFunc(s.now.roles, half) {
		return nil
	}
	for _, r := range s.now.roles {
		out = append(out, Fault{
			Field: r.field("kind"),
			Message: fmt.Sprintf("role %q is %s, and a Server cannot stand beside a Prefill or Decode: a request would reach one or the other by chance",
				r.Name, r.kind()),
			Remedy: "make all roles Server (which an unset kind means), or make them one Prefill and one Decode",
		})
	}
	return out
}

func kindRepeat(s *Subject) (out []Fault) {
	first := map[v1.RoleKind]*role{}
	for _, r := range s.now.roles {
		k := r.kind()
		if k != v1.RolePrefill && k != v1.RoleDecode {
			continue
		}
		if other := first[k]; other != nil {
			out = append(out, Fault{
				Field:   r.field("kind"),
				Message: fmt.Sprintf("role %q is a second %s beside role %q; a pair has one of each", r.Name, k, other.Name),
				Remedy:  fmt.Sprintf("raise spec.roles[].replicas of role %q, or move role %q to a deployment of its own", other.Name, r.Name),
			})
			continue
		}
		first[k] = r
	}
	return out
}

func kindEngine(s *Subject) (out []Fault) {
	kinds, known := engineKinds[s.now.Spec.Engine.Name]
	if !known {
		return nil
	}
	for _, r := range s.now.roles {
		if slices.Contains(kinds, r.kind()) {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("kind"),
			Message: fmt.Sprintf("%s cannot be started as %s", s.now.engine, r.kind()),
			Remedy:  fmt.Sprintf("use one of %v", kinds),
		})
	}
	return out
}

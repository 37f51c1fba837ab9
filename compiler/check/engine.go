// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "fmt"

// engineVersion reports the first role only: the version is stated once.
func engineVersion(s *Subject) []Fault {
	if s.now.Spec.Engine.Version != "" {
		return nil
	}
	for _, r := range s.now.roles {
		if r.Image != "" || s.misspelt(r.path) || s.misspelt("spec.engine") {
			continue
		}
		return one(Fault{
			Field:   "spec.engine.version",
			Message: fmt.Sprintf("role %q states no image, and spec.engine.version, which its image tag is made of, is missing", r.Name),
			Remedy:  fmt.Sprintf("set spec.engine.version, or state %s", r.field("image")),
		})
	}
	return nil
}

func kvCachePoolRef(s *Subject) []Fault {
	c := s.now.Spec.KVCache
	if c == nil || c.PoolRef.Name != "" || s.broken("spec.kvCache.poolRef") {
		return nil
	}
	return one(Fault{
		Field:   "spec.kvCache.poolRef.name",
		Message: "spec.kvCache.poolRef.name is empty; the KVCachePoolBinding it names is what grants access to the pool, and an empty name grants nothing",
		Remedy:  "name a KVCachePoolBinding of the deployment's namespace, or remove spec.kvCache",
	})
}

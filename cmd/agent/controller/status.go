// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/observe"
)

// statusOf returns the stored status with what later passes read back: how many
// instances each role was last meant to have, and the reuse domain.
func statusOf(v *observe.View) v1.ModelDeploymentStatus {
	md := v.Deployment
	out := *md.Status.DeepCopy()
	out.ObservedGeneration = md.Generation
	if v.Observation.Deleting {
		return out
	}
	stored := map[string]v1.RoleStatus{}
	for _, r := range md.Status.Roles {
		stored[r.Name] = r
	}
	compiled := allCompiled(v)
	out.Roles = nil
	for _, r := range v.Roles {
		s := stored[r.Spec.Name]
		s.Name, s.Kind, s.Unmanaged = r.Spec.Name, r.Spec.Kind, len(r.Spec.Command) > 0
		// While the compile lags behind, what was not there before is growth
		// and waits; so is what was given up in the meantime.
		if compiled {
			s.Desired = r.Spec.Replicas
		} else {
			s.Desired = min(s.Desired, r.Spec.Replicas)
		}
		out.Roles = append(out.Roles, s)
	}
	if v.Observation.Cache.Resolved {
		b := v.Chain.Binding
		domain := b.Spec.Domain
		domain.Name = v.Chain.Domain()
		out.KVCache = &v1.KVCacheStatus{Binding: b.Name, Pool: b.Spec.PoolRef.Name, Domain: domain}
	}
	return out
}

// allCompiled reports whether every template is there and compiled from the
// live spec.
func allCompiled(v *observe.View) bool {
	for _, r := range v.Roles {
		if r.Stale || r.Fault.Reason == observe.ReasonNotCompiled {
			return false
		}
	}
	return true
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// creditPrefix is that of the resource by which a queue counts cards.
const creditPrefix = "credits.gpustack.ai/"

func (s *state) roleStatuses() (out []v1.RoleStatus) {
	stored := map[string]int32{}
	for _, r := range s.in.Deployment.Status.Roles {
		stored[r.Name] = r.Desired
	}
	for _, r := range s.roles {
		row := v1.RoleStatus{
			Name: r.Name, Kind: r.spec.Kind, Unmanaged: !r.managed(),
			Desired: s.desired(r, stored[r.Name]), AssignedFlavors: r.flavors(),
		}
		for _, one := range r.replicas {
			if one.ready() {
				row.Ready++
			}
			if one.reserved() {
				row.QuotaReserved++
			}
		}
		out = append(out, row)
	}
	return out
}

// desired is how many instances the role was last meant to have, which later
// passes read back. While the compile lags behind, what was not there before is
// growth and waits; so is what was given up in the meantime.
func (s *state) desired(r *roleState, stored int32) int32 {
	switch {
	case s.deleting():
		return stored
	case s.inSync():
		return r.spec.Replicas
	}
	return min(stored, r.spec.Replicas)
}

// inSync reports whether every template is there and compiled from the live
// spec.
func (s *state) inSync() bool {
	return !slices.ContainsFunc(s.roles, func(r *roleState) bool {
		return r.Stale || r.Fault.Reason == ReasonNotCompiled
	})
}

// flavors are those that Kueue has assigned to the cards of the role.
func (r *roleState) flavors() []string {
	found := map[string]bool{}
	for _, one := range r.replicas {
		if w := one.queued(); w != nil {
			if flavor := r.flavor(w.Assigned[r.Name]); flavor != "" {
				found[flavor] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// flavor is that of the credits, of which a role has one kind; without any, that
// of the cards themselves. It is empty when that is not clear.
func (r *roleState) flavor(assigned map[string]string) string {
	credits, cards := map[string]bool{}, map[string]bool{}
	found := 0
	for resource, flavor := range assigned {
		switch {
		case strings.HasPrefix(resource, creditPrefix):
			found++
			credits[flavor] = true
		case slices.Contains(r.Accelerators, resource):
			cards[flavor] = true
		}
	}
	from := credits
	if found == 0 {
		from = cards
	}
	if found > 1 || len(from) != 1 {
		return ""
	}
	for flavor := range from {
		return flavor
	}
	return ""
}

// letters of the kinds, in the order of a summary.
var letters = []struct {
	kind   v1.RoleKind
	letter string
}{{v1.RoleServer, "S"}, {v1.RolePrefill, "P"}, {v1.RoleDecode, "D"}}

// roleSummary counts what is ready, such as "1R3P4D".
func (s *state) roleSummary() string {
	var b strings.Builder
	if s.in.Deployment.Spec.Router != nil {
		fmt.Fprintf(&b, "%dR", s.in.Router.Ready)
	}
	for _, l := range letters {
		if n, declared := s.readyOf(l.kind); declared {
			fmt.Fprintf(&b, "%d%s", n, l.letter)
		}
	}
	return b.String()
}

func (s *state) readyOf(kind v1.RoleKind) (n int32, declared bool) {
	for _, r := range s.counted {
		if r.Kind == kind {
			n, declared = n+r.Ready, true
		}
	}
	return n, declared
}

// ready is the number of instances that serve.
func (s *state) ready() (n int32) {
	for _, r := range s.counted {
		n += r.Ready
	}
	return n
}

// endpoint is where clients go: to the first role, or to a router that answers.
func (s *state) endpoint() string {
	switch c := s.in.Router.Contract; {
	case c != nil && s.in.Router.Ready > 0:
		return c.Endpoint
	case c != nil:
		return ""
	}
	return s.in.Endpoint
}

// kvCache is the reuse domain as the Binding last declared it, once the cache
// could be used.
func (s *state) kvCache() *v1.KVCacheStatus {
	c := s.in.Cache
	if !c.Resolved || c.Binding == nil {
		return s.in.Deployment.Status.KVCache.DeepCopy()
	}
	return &v1.KVCacheStatus{Binding: c.Name, Pool: c.Binding.Pool, Domain: c.Binding.Domain}
}

func roleKindsReady(s *state) verdict {
	return first(s,
		func(s *state) *verdict {
			if len(s.counted) > 0 {
				return nil
			}
			return unknown(ReasonNoRoleStatuses, "No role has been counted")
		},
		func(s *state) *verdict {
			var without []string
			for _, r := range s.counted {
				if n, _ := s.readyOf(r.Kind); n == 0 && !slices.Contains(without, string(r.Kind)) {
					without = append(without, string(r.Kind))
				}
			}
			if len(without) == 0 {
				return nil
			}
			return no(ReasonKindsNotReady, "No replica is ready of kind %s", strings.Join(without, ", "))
		},
		func(*state) *verdict {
			return yes(ReasonAllKindsReady, "Every kind of role has a replica that is ready")
		},
	)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"cmp"
	"maps"
	"slices"
)

// roleState is one role within a pass.
type roleState struct {
	*Role
	report RoleReport
	// live are the Pods of the role that are not on their way out, in the order
	// of ordinal, member and name.
	live []*Pod
	// instances are the live Pods of declared ordinals.
	instances map[int32][]*Pod
	// uncached: Pods are compared with, and made from, the template without a
	// store.
	uncached bool
}

func newRoleState(p *pass, r *Role) *roleState {
	s := &roleState{
		Role:      r,
		report:    RoleReport{Name: r.Name, Waits: map[int32]Wait{}},
		instances: map[int32][]*Pod{},
		uncached:  p.obs.Cache.Declared && !p.obs.Cache.Resolved && r.Managed,
	}
	for _, pod := range p.pods {
		if pod.Role != r.Name || pod.Deleting {
			continue
		}
		s.live = append(s.live, pod)
		if s.declared(pod) {
			s.instances[pod.Ordinal] = append(s.instances[pod.Ordinal], pod)
		}
	}
	slices.SortFunc(s.live, comparePods)
	for _, pods := range s.instances {
		slices.SortFunc(pods, comparePods)
	}
	for n := range r.Replicas {
		if len(s.instances[n]) == 0 {
			s.report.Missing = append(s.report.Missing, n)
		}
	}
	return s
}

func comparePods(a, b *Pod) int {
	return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Member, b.Member), cmp.Compare(a.Name, b.Name))
}

func (s *roleState) declared(p *Pod) bool { return p.Ordinal >= 0 && p.Ordinal < s.Replicas }

// ordinals are those with live Pods, highest first.
func (s *roleState) ordinals() []int32 {
	var out []int32
	for n := range s.instances {
		out = append(out, n)
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// compare counts the replicas that are not what the template asks for.
func (s *roleState) compare() {
	if s.Template == NotCompiled || s.Template == Unstampable {
		return // there is nothing to compare with
	}
	s.report.Compared = len(s.instances)
	for _, pods := range s.instances {
		if s.outdated(pods) {
			s.report.Outdated++
		}
	}
}

// matches reports whether a Pod is what its seat asks for.
func (s *roleState) matches(p *Pod) bool {
	want := ""
	if p.Member >= 0 && p.Member < s.Size {
		want = s.Hash(p.seat(), s.uncached)
	}
	return want != "" && want == p.Hash
}

// complete reports whether every member of an instance is there.
func (s *roleState) complete(pods []*Pod) bool {
	seen := map[int32]bool{}
	for _, p := range pods {
		if p.Member >= 0 && p.Member < s.Size {
			seen[p.Member] = true
		}
	}
	return len(seen) == int(s.Size)
}

// outdated reports whether an instance is not what its role asks for.
func (s *roleState) outdated(pods []*Pod) bool {
	return !s.complete(pods) || slices.ContainsFunc(pods, func(p *Pod) bool { return !s.matches(p) })
}

func (s *roleState) ready(pods []*Pod) bool {
	return s.complete(pods) && !slices.ContainsFunc(pods, func(p *Pod) bool { return !p.Ready || p.NodeGone })
}

// grouped reports whether the Pods of an instance are of its group. No Workload
// ever admits others in its place.
func (s *roleState) grouped(ordinal int32) bool {
	group := s.Group(ordinal)
	return !slices.ContainsFunc(s.instances[ordinal], func(p *Pod) bool { return p.Group != group })
}

// lost reports whether an instance has a Pod on a Node that answers no more.
func lost(pods []*Pod) bool {
	return slices.ContainsFunc(pods, func(p *Pod) bool { return p.stuck() })
}

// scaleDown deletes the instances above the declared number, highest first and
// each as a whole.
func (p *pass) scaleDown(s *roleState) (shed bool) {
	instances := map[int32][]*Pod{}
	for _, pod := range slices.Backward(s.live) {
		if pod.Ordinal >= s.Replicas {
			instances[pod.Ordinal] = append(instances[pod.Ordinal], pod)
		}
	}
	ordinals := slices.Sorted(maps.Keys(instances))
	for _, n := range slices.Backward(ordinals) {
		p.drop(CauseScale, instances[n]...)
	}
	return len(ordinals) > 0
}

// duplicates leaves one Pod on each seat: one that matches the template, else
// the one with the greatest name.
func (p *pass) duplicates(s *roleState) (shed bool) {
	for _, n := range s.ordinals() {
		seats := map[int32]*Pod{}
		for _, pod := range s.instances[n] {
			rival := seats[pod.Member]
			switch {
			case rival == nil:
				seats[pod.Member] = pod
				continue
			case s.matches(rival) && !s.matches(pod):
				p.drop(CauseSurplus, pod)
			default: // in the order of names, so this one's is greater
				p.drop(CauseSurplus, rival)
				seats[pod.Member] = pod
			}
			shed = true
		}
		s.instances[n] = slices.DeleteFunc(s.instances[n], func(pod *Pod) bool { return p.dropped[pod.UID] })
	}
	return shed
}

// surplus deletes what is more than the role declares in all: first Pods that
// do not tell where they belong, then those on seats that do not exist, then
// from the highest ordinal down.
func (p *pass) surplus(s *roleState) (shed bool) {
	var kept []*Pod
	for _, pod := range s.live {
		if !p.dropped[pod.UID] {
			kept = append(kept, pod)
		}
	}
	excess := len(kept) - int(s.Replicas*s.Size)
	if excess <= 0 {
		return false
	}
	misfit := func(pod *Pod) int {
		switch {
		case pod.Ordinal < 0:
			return 0
		case pod.Member >= s.Size:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(kept, func(a, b *Pod) int {
		return cmp.Or(cmp.Compare(misfit(a), misfit(b)), -cmp.Compare(a.Ordinal, b.Ordinal), -cmp.Compare(a.Name, b.Name))
	})
	p.drop(CauseSurplus, kept[:excess]...)
	return true
}

// ended deletes the instances with a Pod that has ended: it serves nothing, and
// while it reads nothing can take its place.
func (p *pass) ended(s *roleState) (found bool) {
	for _, n := range s.ordinals() {
		if slices.ContainsFunc(s.instances[n], func(pod *Pod) bool { return pod.Ended }) {
			p.drop(CauseEnded, s.instances[n]...)
			found = true
		}
	}
	return found
}

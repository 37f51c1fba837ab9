// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import "slices"

// create makes the missing instances of a role, lowest ordinal first. An
// instance is made only when neither a Pod nor a Workload of its group reads on
// the API server, in whatever state: Kueue would take a newcomer for an excess,
// and a Workload that is about to be collected would take it along.
func (p *pass) create(s *roleState) {
	wanted := int(s.Replicas) - len(s.instances)
	for _, pod := range s.live {
		if pod.Ordinal < 0 {
			wanted--
		}
	}
	for _, n := range s.report.Missing {
		if wanted <= 0 {
			return
		}
		if wait := p.wait(s, n); wait != "" {
			s.report.Waits[n] = wait
			continue
		}
		if !p.live() {
			return
		}
		if p.occupied(s, n) {
			s.report.Waits[n] = WaitOccupied
			p.soon()
			continue
		}
		p.plan.Creates = append(p.plan.Creates, Create{Role: s.Name, Ordinal: n, Uncached: s.uncached})
		wanted--
	}
}

// wait is why an instance may not be made now, whoever keeps its slot.
func (p *pass) wait(s *roleState, ordinal int32) Wait {
	growth := ordinal >= s.Settled
	switch {
	case p.obs.NamespaceTerminating:
		return WaitNamespace
	case slices.ContainsFunc(p.pods, func(pod *Pod) bool { return !pod.Deleting && !pod.Managed }):
		return WaitUnmanaged
	case p.obs.Weights.Blocked:
		p.within(delivery)
		return WaitWeights
	case p.firstStart():
		p.within(p.obs.Created.Add(firstCache).Sub(p.now))
		return WaitCache
	case s.Template == NotCompiled, s.Template == Unstampable,
		growth && (s.Template == Stale || p.halfCompiled()):
		return WaitCompile
	case s.Size > 1 && !s.Services[ordinal]:
		return WaitService
	}
	return ""
}

// firstStart reports whether the deployment still waits for a cache that it has
// never had.
func (p *pass) firstStart() bool {
	return p.obs.Cache.Declared && !p.obs.Cache.Usable && !p.obs.Cache.Seen && p.now.Before(p.obs.Created.Add(firstCache))
}

// halfCompiled reports whether a part of a set of roles cannot be made as it is
// declared now. Growing the others would only reserve quota to wait with.
func (p *pass) halfCompiled() bool {
	return len(p.obs.Roles) > 1 && slices.ContainsFunc(p.obs.Roles, func(r Role) bool { return r.Template != InSync })
}

// occupied reports whether anything of an instance's group reads. A Workload
// that has outlived its Pods is deleted after a while.
func (p *pass) occupied(s *roleState, ordinal int32) bool {
	group, taken := s.Group(ordinal), false
	for i := range p.obs.Live.Pods {
		pod := &p.obs.Live.Pods[i]
		if pod.Group != group {
			continue
		}
		taken = true
		if pod.Foreign {
			p.plan.Blocked = append(p.plan.Blocked, Blocked{s.Name, ordinal, pod.Name})
		}
	}
	left := !taken
	for _, w := range p.workloads {
		if w.Name != group {
			continue
		}
		if left && p.now.Sub(w.Created) > collected {
			p.free(w, CauseStranded)
		}
		taken = true
	}
	return taken
}

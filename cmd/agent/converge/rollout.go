// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import "slices"

// repair deletes one instance that can never be admitted as declared: a Pod
// that does not tell its ordinal, or an instance without all its members. A
// cache that lags must not make an instance look partial, so that is read past
// the cache. Without weights nothing could take its place.
func (p *pass) repair(s *roleState) bool {
	if p.obs.Weights.Blocked {
		return false
	}
	for _, pod := range slices.Backward(s.live) {
		if pod.Ordinal < 0 && !pod.stuck() {
			p.drop(CauseIncomplete, pod)
			return true
		}
	}
	for _, n := range s.ordinals() {
		pods := s.instances[n]
		if s.complete(pods) || lost(pods) {
			continue
		}
		if p.live() {
			p.drop(CauseIncomplete, pods...)
		}
		return true
	}
	return false
}

// turnover replaces at most one replica of the role that is not what the
// template asks for, in this order, each from the highest ordinal down:
//
//   - one that is not admitted: it serves nothing;
//   - one that is admitted and not Ready, when every declared replica is
//     admitted: so a bad image can always be fixed forward;
//   - one that is Ready, when every declared replica is admitted and every
//     replica of the new template is Ready: so a rollout never takes a second
//     serving replica.
func (p *pass) turnover(s *roleState) {
	switch {
	case s.report.Outdated == 0:
		return
	case s.report.Hold != "":
		p.soon()
		return
	case !p.live():
		return
	}
	victim, ok := p.guard(s).victim()
	if !ok {
		s.report.Hold = HeldByGuard
		p.soon()
		return
	}
	p.drop(CauseRollout, s.instances[victim]...)
}

// hold is why no outdated replica of the role may be turned over at all.
func (p *pass) hold(s *roleState) Hold {
	switch {
	case s.Template == NotCompiled, s.Template == Unstampable:
		return HeldByCompile
	case s.report.Outdated == 0:
		return ""
	case p.obs.Weights.Blocked:
		return HeldByWeights
	case s.uncached && p.obs.Cache.Seen:
		return HeldByCache
	case s.Template == Stale:
		return HeldByCompile
	}
	return ""
}

// guard is what decides which replica of a role may be turned over.
type guard struct {
	// The candidates, highest ordinal first.
	unadmitted, unready, serving []int32
	// allAdmitted: every declared replica holds an admitted Workload.
	allAdmitted bool
	// newReady: every replica of the new template is Ready.
	newReady bool
	// lost: a replica is on a Node that answers no more.
	lost bool
	// ready is the number of replicas that serve.
	ready int
}

func (p *pass) guard(s *roleState) (g guard) {
	g.newReady, g.allAdmitted = true, true
	workloads := map[string]*Workload{}
	for _, w := range p.workloads {
		workloads[w.Name] = w
	}
	admitted := map[int32]bool{}
	for n := range s.Replicas {
		group := s.Group(n)
		w := workloads[group]
		stranded := p.stranded(group, w)
		admitted[n] = w.admits(s.instances[n])
		g.allAdmitted = g.allAdmitted && (admitted[n] || stranded)
		g.lost = g.lost || stranded
	}
	for _, n := range s.ordinals() {
		pods := s.instances[n]
		isLost, ready, outdated := lost(pods), s.ready(pods), s.outdated(pods)
		g.lost = g.lost || isLost
		if ready && !isLost {
			g.ready++
		}
		switch {
		case isLost: // passed around; it is replaced when its Node goes
		case !outdated:
			g.newReady = g.newReady && ready
		case s.Size > 1 && !s.Services[n]: // nothing could take its place
		case ready && s.grouped(n):
			g.serving = append(g.serving, n)
		case admitted[n]:
			g.unready = append(g.unready, n)
		default:
			g.unadmitted = append(g.unadmitted, n)
		}
	}
	return g
}

// victim is the replica to turn over.
func (g guard) victim() (ordinal int32, ok bool) {
	switch {
	case len(g.unadmitted) > 0:
		return g.unadmitted[0], true
	case !g.allAdmitted:
		return 0, false
	case len(g.unready) > 0:
		return g.unready[0], true
	case len(g.serving) == 0, !g.newReady:
		return 0, false
	case g.lost && g.ready == 1:
		return 0, false // the last one that serves
	}
	return g.serving[0], true
}

// admits reports whether a Workload is admitted for one of some live Pods. The
// conditions alone also read true while Pods are being evicted, and for dead
// ones.
func (w *Workload) admits(pods []*Pod) bool {
	return w != nil && w.Admitted && !w.Evicted && !w.Deleting &&
		slices.ContainsFunc(pods, func(pod *Pod) bool { return slices.Contains(w.Pods, pod.UID) })
}

// stranded reports whether a group's Pod is on its way out on a Node that answers
// no more. It keeps its cards and its Workload until the Node is removed.
func (p *pass) stranded(group string, w *Workload) bool {
	return slices.ContainsFunc(p.pods, func(pod *Pod) bool {
		return pod.Group == group && pod.Deleting && pod.stuck() && w.admits([]*Pod{pod})
	})
}

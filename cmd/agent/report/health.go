// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// stalled is true of what only a person can end.
func stalled(s *state) verdict {
	of := func(condition, reason string) rule {
		return func(s *state) *verdict {
			v := s.said[condition]
			if s.deleting() || v.reason != reason {
				return nil
			}
			return yes(reason, "%s", v.message)
		}
	}
	return first(s,
		func(s *state) *verdict {
			before, _ := find(s.in.Deployment.Status.Conditions, Stalled)
			if s.in.Settling && before.Reason != ReasonNotCompiled {
				return nil
			}
			return of(Compiled, ReasonNotCompiled)(s)
		},
		of(Compiled, ReasonTenantMismatch),
		imageUnresolvable,
		// Read off the Pods: missing replicas are reported before.
		func(s *state) *verdict {
			if s.deleting() {
				return nil
			}
			v := outsideQueue(s)
			if v != nil {
				v.status = metav1.ConditionTrue
			}
			return v
		},
		of(QuotaReserved, ReasonParked),
		func(*state) *verdict { return no(ReasonNotStalled, "Nothing is stuck for good") },
	)
}

// imageUnresolvable: replicas are missing, and by which version their image is to
// be chosen is told by nothing.
func imageUnresolvable(s *state) *verdict {
	for _, r := range s.missing() {
		if r.role.NoImage && r.waitsFor() == waitValue {
			return yes(ReasonImageUnresolvable, "Role %s: %s; or set its image", r.role.Name, r.role.Fault.Message)
		}
	}
	return nil
}

// ready is for those who only ask whether all is well. It is False when an
// instance that served is missing and nothing is replacing it: what is still
// starting, growing or rolling is no failure.
func ready(s *state) verdict {
	return first(s,
		func(s *state) *verdict {
			if s.summed != v1.PhaseReady {
				return nil
			}
			return yes(ReasonReady, "Ready: %s", count(s.total(), "replica"))
		},
		func(s *state) *verdict {
			lost := s.unavailable()
			if s.deleting() || len(lost) == 0 || s.said[ReplicasUpToDate].reason == ReasonRolloutInProgress {
				return nil
			}
			return no(ReasonReplicaUnavailable, "%d of %d replicas are ready, and nothing is replacing: %s", s.ready(), s.total(), few(lost, "; "))
		},
		func(s *state) *verdict {
			if s.summed != v1.PhaseStarting {
				return nil
			}
			return unknown(ReasonStarting, "%s", s.summary)
		},
		func(s *state) *verdict { return unknown(ReasonProgressing, "%s", s.summary) },
	)
}

// unavailable are the replicas that were ready, are not, and that nothing replaces.
func (s *state) unavailable() (out []string) {
	lost := map[string][]*replica{} // by Node
	for _, r := range s.replicas(func(r *replica) bool { return !r.ready() && r.wasReady() }) {
		switch node := r.lost(); {
		case node != "":
			lost[node] = append(lost[node], r)
		case len(r.leaving) == 0 && r.complete() && r.admitted():
			out = append(out, fmt.Sprintf("%s/%d, which is not ready any more%s", r.role.Name, r.ordinal, r.crashed()))
		}
	}
	for _, node := range slices.Sorted(maps.Keys(lost)) {
		out = append(out, fmt.Sprintf("%s, on Node %q, which does not answer: to serve again when the Node answers, and to be replaced once the object of the Node is deleted", slots(lost[node]), node))
	}
	before, _ := find(s.in.Deployment.Status.Conditions, Ready)
	// What is not there tells nothing. Once all was ready under this spec, it was
	// there; under a new spec it may be new.
	served := (before.Status == metav1.ConditionTrue || before.Status == metav1.ConditionFalse) &&
		s.in.Deployment.Status.ObservedGeneration == s.in.Deployment.Generation
	if len(out) > 0 || !served {
		return out
	}
	for _, r := range s.replicas(func(r *replica) bool { return !r.lives() && len(r.leaving) == 0 }) {
		if wait := r.waitsFor(); wait != "" && wait != converge.WaitOccupied {
			out = append(out, waits([]*replica{r}))
		}
	}
	return out
}

// wasReady reports whether those of its Pods that are not ready were.
func (r *replica) wasReady() bool {
	return !slices.ContainsFunc(slices.Concat(r.live, r.leaving), func(p *Pod) bool { return !p.Ready && !p.WasReady })
}

// crashed tells where to look when containers have ended.
func (r *replica) crashed() string {
	if slices.ContainsFunc(r.live, func(p *Pod) bool { return p.Restarted }) {
		return ": its containers have restarted, look at their logs"
	}
	return ""
}

// reconciling is true while the agent has work, or waits for what it can go on
// with by itself.
func reconciling(s *state) verdict {
	return first(s,
		func(s *state) *verdict {
			if !s.deleting() {
				return nil
			}
			return yes(ReasonDeleting, "%s", s.summary)
		},
		func(s *state) *verdict {
			if s.said[Stalled].status != metav1.ConditionTrue {
				return nil
			}
			return no(ReasonStalled, "See condition %s", Stalled)
		},
		func(s *state) *verdict {
			_, outdated, _, _ := s.tally()
			if s.in.Weights.Blocked.Reason == "" || len(s.missing()) == 0 && outdated == 0 && s.summed == v1.PhaseReady {
				return nil
			}
			return yes(ReasonWaitingForWeights, "%s", s.said[WeightsReady].message)
		},
		func(s *state) *verdict {
			if !s.waitsForAny(converge.WaitCache) && s.said[ReplicasUpToDate].reason != ReasonRolloutHeldByCache {
				return nil
			}
			return yes(ReasonWaitingForCache, "%s", s.said[DomainRegistered].message)
		},
		func(s *state) *verdict {
			if s.said[ReplicasUpToDate].reason == ReasonRolloutInProgress {
				return yes(ReasonRollingOut, "%s", s.said[ReplicasUpToDate].message)
			}
			if c := s.said[Compiled]; c.status != metav1.ConditionTrue && len(s.missing()) == 0 {
				return yes(ReasonRollingOut, "%s", c.message)
			}
			return nil
		},
		func(s *state) *verdict {
			absent := s.replicas(func(r *replica) bool { return !r.complete() })
			if len(absent) == 0 {
				return nil
			}
			return yes(ReasonCreating, "%s", join("To be created: "+slots(absent), waits(absent)))
		},
		func(s *state) *verdict {
			q := s.said[QuotaReserved]
			if q.status == metav1.ConditionTrue {
				return nil
			}
			return yes(ReasonWaitingForQuota, "%s", q.message)
		},
		func(s *state) *verdict {
			switch w := s.said[WeightsReady]; {
			case s.summed == v1.PhaseReady:
				return nil
			case w.status == metav1.ConditionFalse:
				return yes(ReasonWaitingForWeights, "%s", w.message)
			}
			return yes(ReasonWaitingForReady, "%s", s.unready())
		},
		func(s *state) *verdict {
			if s.in.Cache.Name == "" || s.in.Cache.Resolved {
				return nil
			}
			message := s.said[DomainRegistered].message
			if s.said[DomainRegistered].status == metav1.ConditionTrue {
				message = fmt.Sprintf("KVCachePool %q does not tell its address yet, or has no backend", s.in.Cache.Binding.Pool)
			}
			return yes(ReasonWaitingForCache, "%s", message)
		},
		func(*state) *verdict { return no(ReasonAsDeclared, "All is as declared") },
	)
}

// unready names what is there and does not serve.
func (s *state) unready() string {
	var parts, checks []string
	if slow := s.replicas(func(r *replica) bool { return !r.ready() }); len(slow) > 0 {
		parts = append(parts, slots(slow))
		for _, r := range slow {
			if w := r.queued(); w != nil && w.Reserved && !w.Admitted && len(w.Checks) > 0 {
				checks = append(checks, fmt.Sprintf("%s/%d holds quota and waits for %s", r.role.Name, r.ordinal, strings.Join(w.Checks, ", ")))
			}
		}
	}
	if len(checks) > 0 {
		parts = append(parts, few(checks, "; "))
	}
	if r := s.said[RouterReady]; r.status != metav1.ConditionTrue {
		parts = append(parts, r.message)
	}
	return "Not ready: " + strings.Join(parts, "; ")
}

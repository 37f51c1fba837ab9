// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
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
		of(Compiled, "NotCompiled"),
		of(Compiled, "TenantMismatch"),
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
		of(QuotaReserved, "Parked"),
		func(*state) *verdict { return no("NotStalled", "Nothing is stuck for good") },
	)
}

// imageUnresolvable: replicas are missing, and by which version their image is to
// be chosen is told by nothing.
func imageUnresolvable(s *state) *verdict {
	for _, r := range s.missing() {
		if r.role.NoImage && r.waitsFor() == waitValue {
			return yes("ImageUnresolvable", "Role %s: %s; or set its image", r.role.Name, r.role.Fault.Message)
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
			return yes("Ready", "Ready: %s", count(s.total(), "replica"))
		},
		func(s *state) *verdict {
			lost := s.unavailable()
			if s.deleting() || len(lost) == 0 || s.said[ReplicasUpToDate].reason == reasonRollout {
				return nil
			}
			return no("ReplicaUnavailable", "%d of %d replicas are ready, and nothing is replacing: %s", s.ready(), s.total(), few(lost, "; "))
		},
		func(s *state) *verdict {
			if s.summed != v1.PhaseStarting {
				return nil
			}
			return unknown("Starting", "%s", s.summary)
		},
		func(s *state) *verdict { return unknown("Progressing", "%s", s.summary) },
	)
}

// unavailable are the replicas that do not serve and that nothing replaces.
func (s *state) unavailable() (out []string) {
	before, _ := find(s.in.Deployment.Status.Conditions, Ready)
	// Once all was ready under this spec, what is not ready now was so before.
	// Under a new spec it may be new.
	served := (before.Status == metav1.ConditionTrue || before.Status == metav1.ConditionFalse) &&
		s.in.Deployment.Status.ObservedGeneration == s.in.Deployment.Generation
	if !served {
		return nil
	}
	for _, r := range s.replicas(func(r *replica) bool { return !r.ready() && len(r.leaving) == 0 }) {
		name, wait := fmt.Sprintf("%s/%d", r.role.Name, r.ordinal), r.waitsFor()
		switch {
		case r.lost() != "":
			out = append(out, fmt.Sprintf("%s, on Node %q, which does not answer: it serves again when the Node answers, and is replaced once the object of the Node is deleted", name, r.lost()))
		case r.complete() && r.admitted():
			out = append(out, name+", which is not ready any more"+r.crashed())
		case !r.lives() && wait != "" && wait != converge.WaitOccupied:
			out = append(out, waits([]*replica{r}))
		}
	}
	return out
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
			return yes("Deleting", "%s", s.summary)
		},
		func(s *state) *verdict {
			if s.said[Stalled].status != metav1.ConditionTrue {
				return nil
			}
			return no("Stalled", "See condition %s", Stalled)
		},
		func(s *state) *verdict {
			w := s.said[WeightsReady]
			_, outdated, _, _ := s.tally()
			if w.status != metav1.ConditionFalse || len(s.missing()) == 0 && outdated == 0 && s.summed == v1.PhaseReady {
				return nil
			}
			return yes("WaitingForWeights", "%s", w.message)
		},
		func(s *state) *verdict {
			if !s.waitsForAny(converge.WaitCache) && s.said[ReplicasUpToDate].reason != reasonHeldByCache {
				return nil
			}
			return yes(waitingForCache, "%s", s.said[DomainRegistered].message)
		},
		func(s *state) *verdict {
			if s.said[ReplicasUpToDate].reason == reasonRollout {
				return yes("RollingOut", "%s", s.said[ReplicasUpToDate].message)
			}
			if c := s.said[Compiled]; c.status != metav1.ConditionTrue && len(s.missing()) == 0 {
				return yes("RollingOut", "%s", c.message)
			}
			return nil
		},
		func(s *state) *verdict {
			absent := s.replicas(func(r *replica) bool { return !r.complete() })
			if len(absent) == 0 {
				return nil
			}
			return yes("Creating", "%s", join("To be created: "+slots(absent), waits(absent)))
		},
		func(s *state) *verdict {
			q := s.said[QuotaReserved]
			if q.status == metav1.ConditionTrue {
				return nil
			}
			return yes("WaitingForQuota", "%s", q.message)
		},
		func(s *state) *verdict {
			if s.summed == v1.PhaseReady {
				return nil
			}
			return yes("WaitingForReady", "%s", s.unready())
		},
		func(s *state) *verdict {
			if s.in.Cache.Name == "" || s.in.Cache.Resolved {
				return nil
			}
			message := s.said[DomainRegistered].message
			if s.said[DomainRegistered].status == metav1.ConditionTrue {
				message = fmt.Sprintf("KVCachePool %q does not tell its address yet, or has no backend", s.in.Cache.Binding.Pool)
			}
			return yes(waitingForCache, "%s", message)
		},
		func(*state) *verdict { return no("AsDeclared", "All is as declared") },
	)
}

const waitingForCache = "WaitingForCache"

// unready names what is there and does not serve.
func (s *state) unready() string {
	var parts []string
	if slow := s.replicas(func(r *replica) bool { return !r.ready() }); len(slow) > 0 {
		parts = append(parts, slots(slow))
	}
	if r := s.said[RouterReady]; r.status != metav1.ConditionTrue {
		parts = append(parts, r.message)
	}
	return "Not ready: " + strings.Join(parts, "; ")
}

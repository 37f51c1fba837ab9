// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

func replicasUpToDate(s *state) verdict {
	return first(s, rolloutNotObserved, heldByWeights, heldByCache, rolling, replacing, upToDate)
}

// tally adds up how the roles stood in the pass.
func (s *state) tally() (compared, outdated, held, created int) {
	for _, r := range s.roles {
		compared += r.Pass.Compared
		outdated += r.Pass.Outdated
		created += r.Created
		if r.Pass.Hold == converge.HeldByCache {
			held += r.Pass.Outdated
		}
	}
	return compared, outdated, held, created
}

// gaps are the replicas without a live Pod of roles that have been in the queue:
// a first creation replaces nothing.
func (s *state) gaps() []*replica {
	return s.replicas(func(r *replica) bool { return !r.lives() && r.role.queued })
}

func rolloutNotObserved(s *state) *verdict {
	compared, _, _, created := s.tally()
	switch {
	case s.deleting():
		return unknown(ReasonRolloutNotObserved, "The deployment is being deleted")
	case compared+created == 0:
		return unknown(ReasonRolloutNotObserved, "There is no replica to compare with what is declared")
	}
	return nil
}

func heldByWeights(s *state) *verdict {
	compared, outdated, _, _ := s.tally()
	if s.in.Weights.Blocked.Reason == "" || outdated == 0 {
		return nil
	}
	return no(ReasonRolloutHeldByWeights, "%d of %d replicas are outdated and stay as they are, since none could take their place: see condition %s",
		outdated, compared, WeightsReady)
}

func heldByCache(s *state) *verdict {
	_, outdated, held, _ := s.tally()
	if held == 0 {
		return nil
	}
	return no(ReasonRolloutHeldByCache, "%d of %d replicas that differ stay as they are while the cache cannot be resolved, and an edit would wait as well: see condition %s",
		held, outdated, DomainRegistered)
}

func rolling(s *state) *verdict {
	compared, outdated, _, _ := s.tally()
	// What is lost with its Node is not being replaced by a rollout.
	gaps := slices.DeleteFunc(s.gaps(), func(r *replica) bool { return r.lost() != "" })
	before, _ := find(s.in.Deployment.Status.Conditions, ReplicasUpToDate)
	switch {
	case outdated > 0:
		return no(ReasonRolloutInProgress, "%d of %d replicas are outdated; of a role they are replaced one by one%s%s%s", outdated, compared, s.heldBack(), s.crashing(), s.around())
	case len(gaps) > 0 && before.Reason == ReasonRolloutInProgress:
		return no(ReasonRolloutInProgress, "The last ones are being replaced: %s", slots(gaps))
	}
	return nil
}

// heldBack tells why no replica is being replaced just now.
func (s *state) heldBack() string {
	var compile, guard []string
	for _, r := range s.roles {
		switch r.Pass.Hold {
		case converge.HeldByCompile:
			compile = append(compile, r.Name)
		case converge.HeldByGuard:
			guard = append(guard, r.Name)
		}
	}
	text := ""
	if len(compile) > 0 {
		text += fmt.Sprintf("; %s waits until it is compiled, see condition %s", rolesNamed(compile), Compiled)
	}
	if len(guard) > 0 {
		text += fmt.Sprintf("; the next one of %s waits until every declared replica is admitted and every new one is ready", rolesNamed(guard))
	}
	return text
}

// crashing names the replicas that a rollout waits for and whose containers do not
// stay up.
func (s *state) crashing() string {
	crashed := s.replicas(func(r *replica) bool { return !r.ready() && r.crashed() != "" })
	if len(crashed) == 0 {
		return ""
	}
	return fmt.Sprintf("; not ready: %s%s", slots(crashed), crashed[0].crashed())
}

// around names the replicas that a rollout passes by.
func (s *state) around() string {
	var parts []string
	for _, r := range s.replicas(func(r *replica) bool { return r.lost() != "" }) {
		parts = append(parts, fmt.Sprintf("%s/%d on Node %q", r.role.Name, r.ordinal, r.lost()))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("; passed by, as the Node does not answer: %s. They serve again when the Node answers, and are replaced once its object is deleted", few(parts, ", "))
}

func replacing(s *state) *verdict {
	gaps := s.gaps()
	if len(gaps) == 0 {
		return nil
	}
	return no(ReasonReplacementInProgress, "Being replaced: %s; see condition %s%s", slots(gaps), QuotaReserved, s.around())
}

func upToDate(s *state) *verdict {
	compared, _, _, created := s.tally()
	if s.said[Compiled].status == metav1.ConditionFalse {
		return yes(ReasonUpToDate, "As compiled: %s; what is declared is another thing, see condition %s", count(compared+created, "replica"), Compiled)
	}
	return yes(ReasonUpToDate, "As declared: %s", count(compared+created, "replica"))
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ". ")
}

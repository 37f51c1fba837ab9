// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"
)

func quotaReserved(s *state) verdict {
	return first(s, parked, preemptedInPart, noReplicas, allTerminating, incomplete, outsideQueue, inFlight, reserved, pending)
}

// parked: a Workload has kept quota for too long that it could not use. One that
// is merely inactive is somebody else's affair.
func parked(s *state) *verdict {
	var names, commands []string
	for i := range s.in.Workloads {
		if w := &s.in.Workloads[i]; w.Inactive && w.Parked {
			names, commands = append(names, w.Name), append(commands, w.Unpark)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	slices.Sort(commands)
	return no(ReasonParked, "%s deactivated, since the other replicas got no quota for too long: %s. Nothing starts until a person acts: "+
		"either free capacity and reactivate every one (%s), or delete the ModelDeployment and create it again",
		were(len(names), "Workload"), few(names, ", "), few(commands, "; "))
}

func were(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return fmt.Sprintf("%d %ss were", n, thing)
}

func preemptedInPart(s *state) *verdict {
	lost := s.replicas((*replica).preempted)
	kept := s.replicas(func(r *replica) bool { return r.admitted() && !r.preempted() })
	if len(lost) == 0 || len(kept) == 0 {
		return nil
	}
	message := fmt.Sprintf("Kueue reclaimed the quota of %d of %d replicas (%s); replicas of %s still run", len(lost), s.total(), rolesOf(lost), rolesOf(kept))
	var without []string
	for _, r := range s.roles {
		kind := string(r.spec.Kind)
		has := slices.ContainsFunc(kept, func(k *replica) bool { return string(k.role.spec.Kind) == kind })
		if !has && !slices.Contains(without, kind) {
			without = append(without, kind)
		}
	}
	if len(without) > 0 {
		message += ", and no replica of kind " + strings.Join(without, ", ")
	}
	return no(ReasonPreemptedInPart, "%s. They are created again and join the queue", message)
}

func noReplicas(s *state) *verdict {
	if len(s.in.Pods) > 0 {
		return nil
	}
	message := "There is no Pod"
	if why := waits(s.missing()); why != "" {
		message += ": " + why
	}
	return unknown(ReasonNoReplicas, "%s", message)
}

func allTerminating(s *state) *verdict {
	if len(s.replicas((*replica).lives)) > 0 {
		return nil
	}
	message := fmt.Sprintf("None of %s is alive", count(s.total(), "replica"))
	if why := waits(s.missing()); why != "" {
		message += ": " + why
	}
	return unknown(ReasonAllReplicasTerminating, "%s%s", message, s.reclaimed())
}

func incomplete(s *state) *verdict {
	for _, r := range s.roles {
		have := 0
		for _, one := range r.replicas {
			if one.complete() {
				have++
			}
		}
		if have == len(r.replicas) {
			continue
		}
		message := fmt.Sprintf("Role %s: %d of %d replicas have all their Pods (ClusterQueue %q)", r.Name, have, len(r.replicas), r.spec.InstanceType)
		if why := waits(r.partial()); why != "" {
			message += ": " + why
		}
		return no(ReasonPodGroupIncomplete, "%s%s", message, s.reclaimed())
	}
	return nil
}

// partial are the replicas that have not all their Pods.
func (r *roleState) partial() (out []*replica) {
	for _, one := range r.replicas {
		if !one.complete() {
			out = append(out, one)
		}
	}
	return out
}

// outsideQueue: what Kueue does not take up runs outside any quota.
func outsideQueue(s *state) *verdict {
	if !s.unmanaged() {
		return nil
	}
	namespace := s.in.Deployment.Namespace
	return no(ReasonNoQueueInReservedNamespace, "Kueue does not take up Pods in namespace %q, so that they run outside any quota and no more are created; "+
		"deploy into another namespace, or let Kueue manage this one", namespace)
}

func (s *state) unmanaged() bool {
	return slices.ContainsFunc(s.in.Pods, func(p Pod) bool { return !p.Deleting && !p.Managed })
}

func inFlight(s *state) *verdict {
	without := s.replicas(func(r *replica) bool { return r.lives() && r.queued() == nil })
	if len(without) == 0 {
		return nil
	}
	return unknown(ReasonAdmissionInFlight, "%d of %d replicas are not in the queue yet (%s)%s", len(without), s.total(), s.where(without), s.reclaimed())
}

func reserved(s *state) *verdict {
	live := s.replicas((*replica).lives)
	if slices.ContainsFunc(live, func(r *replica) bool { return !r.reserved() }) {
		return nil
	}
	if len(s.roles) == 1 {
		return yes(ReasonReserved, "Quota of %s is reserved for %s", s.where(nil), count(len(live), "replica"))
	}
	return yes(ReasonReserved, "Quota is reserved for %s", count(len(live), "replica"))
}

func pending(s *state) *verdict {
	waiting := s.replicas(func(r *replica) bool { return r.lives() && !r.reserved() })
	var each []string
	for _, r := range waiting {
		w := r.queued()
		said := w.Message
		switch {
		case said != "":
		case w.Inactive:
			said = "it is not active"
		default:
			said = "Kueue has not said anything yet"
		}
		said = cut(said, quoteLimit)
		if w.Inactive {
			said += "; reactivate it: " + w.Unpark
		}
		each = append(each, fmt.Sprintf("%s/%d (Workload %s): %s", r.role.Name, r.ordinal, w.Name, said))
	}
	// What was reclaimed is said first: the list may be cut.
	return no(ReasonPending, "%d of %d replicas wait for quota (%s)%s. %s", len(waiting), s.total(), s.where(waiting), s.reclaimed(), few(each, "; "))
}

// where is the queue of the only role, else the roles: several may share one.
func (s *state) where(replicas []*replica) string {
	if len(s.roles) == 1 {
		return fmt.Sprintf("ClusterQueue %q", s.roles[0].spec.InstanceType)
	}
	return rolesOf(replicas)
}

// reclaimed tells of quota that was taken away.
func (s *state) reclaimed() string {
	lost := s.replicas((*replica).preempted)
	if len(lost) == 0 {
		return ""
	}
	return "; the quota of " + rolesOf(lost) + " was reclaimed"
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package joint decides whether the Workloads of a ModelDeployment may start. A
// deployment with several roles serves nothing before all of them run, so its
// Workloads keep the quota that they have been given and wait until every
// declared replica has been given some.
//
// The decision is a pure function of what was observed and the time. Its answers
// are states of a Kueue AdmissionCheck.
package joint

import (
	"fmt"
	"slices"
	"strings"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// Verdict is the answer to every Workload of one deployment.
type Verdict struct {
	// Ready: they may start.
	Ready bool
	// Settled: nothing but quota is missing, so that waiting is all there is to
	// do.
	Settled bool
	// Message tells why.
	Message string
}

// The verdicts on Workloads that belong to no set.
var (
	// Stranger is the verdict on a Workload of something else than a
	// ModelDeployment. A queue asks about all of its Workloads.
	Stranger = Verdict{Ready: true, Message: "Not a replica of a ModelDeployment"}
	// Unreadable is the verdict on a Workload whose Pods, or whose deployment,
	// could not be found.
	Unreadable = Verdict{Message: "The Pods of this Workload or their ModelDeployment cannot be read, so that whose it is is not known; this is tried again and is no ordinary wait"}
)

// Judge returns the verdict on the Workloads of a deployment. Of an observation
// it reads the roles, the Pods and the Workloads.
func Judge(obs *converge.Observation) Verdict {
	if len(obs.Roles) < 2 {
		return Verdict{Ready: true, Message: "The deployment has one role, whose replicas start one by one"}
	}
	s := setOf(obs)
	switch {
	case s.reserved == s.total:
		return Verdict{Ready: true, Message: fmt.Sprintf("All %d replicas hold quota", s.total)}
	case len(s.assembling) > 0:
		return Verdict{Message: fmt.Sprintf("Waits for the Pods of %s, which are being created; this resolves itself", roles(s.assembling))}
	}
	return Verdict{Settled: true, Message: fmt.Sprintf("%d of %d replicas hold quota; waits for quota of %s",
		s.reserved, s.total, roles(s.waiting))}
}

// set counts the declared replicas of a deployment.
type set struct {
	total, reserved int
	// waiting are the roles with a replica without quota, assembling those with
	// one that has not all its Pods.
	waiting, assembling []string
}

func setOf(obs *converge.Observation) (s set) {
	pods := map[string][]*converge.Pod{}
	for i := range obs.Pods {
		p := &obs.Pods[i]
		pods[p.Group] = append(pods[p.Group], p)
	}
	workloads := map[string]*converge.Workload{}
	for i := range obs.Workloads {
		workloads[obs.Workloads[i].Name] = &obs.Workloads[i]
	}
	for i := range obs.Roles {
		r := &obs.Roles[i]
		waiting, assembling := false, false
		for n := range r.Replicas {
			group := r.Group(n)
			slot := slot{pods[group], workloads[group]}
			s.total++
			if slot.reserved() || !obs.Deleting && slot.turningOver() {
				s.reserved++
			} else {
				waiting = true
			}
			assembling = assembling || slot.live() < int(r.Size)
		}
		if waiting {
			s.waiting = append(s.waiting, r.Name)
		}
		if assembling {
			s.assembling = append(s.assembling, r.Name)
		}
	}
	return s
}

// slot is what there is of one replica.
type slot struct {
	pods     []*converge.Pod
	workload *converge.Workload
}

func (s slot) live() (n int) {
	for _, p := range s.pods {
		if !p.Deleting {
			n++
		}
	}
	return n
}

// reserved reports whether the replica holds quota for a Pod that lives. It need
// not be admitted: each would wait for the other.
func (s slot) reserved() bool {
	w := s.workload
	return w != nil && w.Reserved && !w.Evicted && !w.Deleting &&
		slices.ContainsFunc(s.pods, func(p *converge.Pod) bool { return !p.Deleting && slices.Contains(w.Pods, p.UID) })
}

// turningOver reports whether the deployment's own rollout has emptied the slot,
// which will be filled again. One that Kueue has taken away must get its quota
// back first.
func (s slot) turningOver() bool {
	leaving := false
	for _, p := range s.pods {
		if p.Deleting && p.Preempted {
			return false
		}
		leaving = leaving || p.Deleting
	}
	return leaving && s.workload == nil
}

func roles(names []string) string {
	if len(names) == 1 {
		return "role " + names[0]
	}
	return "roles " + strings.Join(names, ", ")
}

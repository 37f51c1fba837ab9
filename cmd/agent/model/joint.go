// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/joint"
)

// verdict is what the agent answers to the Workloads of the deployment.
func (w *World) verdict(s *State) joint.Verdict {
	obs := &converge.Observation{Deleting: s.Spec.Deleting}
	for i, r := range w.Roles {
		obs.Roles = append(obs.Roles, converge.Role{
			Name: r.Name, Replicas: int32(s.Spec.Roles[i].Replicas), Size: int32(r.Size),
			Group: func(ordinal int32) string { return groupName(i, ordinal) },
		})
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; !p.Foreign {
			obs.Pods = append(obs.Pods, converge.Pod{
				UID: podUID(p.ID), Group: groupName(int(p.Role), int32(p.Ordinal)), Deleting: p.Deleting, Preempted: p.Preempted,
			})
		}
	}
	for i := range s.Workloads {
		wl := &s.Workloads[i]
		c := converge.Workload{
			Name: groupName(int(wl.Role), int32(wl.Ordinal)), Reserved: wl.Reserved, Evicted: wl.Evicted, Deleting: wl.Deleting,
		}
		for _, id := range wl.Owners {
			c.Pods = append(c.Pods, podUID(id))
		}
		obs.Workloads = append(obs.Workloads, c)
	}
	return joint.Judge(obs)
}

// joint reports whether Workloads wait for each other.
func (w *World) joint() bool { return w.Joint && len(w.Roles) > 1 }

// open reports whether a Workload that holds quota is let go on.
func (w *World) open(s *State) bool { return !w.joint() || w.verdict(s).Ready }

// jointSteps end the wait of a Workload that holds quota which it cannot use.
func (w *World) jointSteps(s *State, out []Step) []Step {
	if !w.Parks || !w.joint() {
		return out
	}
	settled, judged := false, false
	for i := range s.Workloads {
		wl := &s.Workloads[i]
		if !wl.Reserved || wl.Admitted || wl.Evicted || wl.Deleting {
			continue
		}
		if !judged {
			settled, judged = w.verdict(s).Settled, true
		}
		if settled {
			out = append(out, Step{Kind: Park, Role: wl.Role, Ordinal: wl.Ordinal, Workload: wl.ID})
		}
	}
	return out
}

// seconds is the time since the deployment was created.
func (w *World) seconds() int32 { return int32(w.Now.Sub(w.Born).Seconds()) }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// state is what the conditions are judged from.
type state struct {
	in    *Input
	now   metav1.Time
	roles []*roleState
	// said are the conditions judged so far.
	said map[string]verdict
	// counted are the roles as they will be written.
	counted []v1.RoleStatus
	// summed and summary are the phase and its message.
	summed  v1.Phase
	summary string
}

// roleState is one declared role.
type roleState struct {
	*Role
	spec     *v1.Role
	replicas []*replica
	// queued: a Workload owns a Pod of the role, whether that leaves or not.
	queued bool
}

// replica is one declared instance.
type replica struct {
	role    *roleState
	ordinal int32
	// live are its Pods, leaving those on their way out.
	live, leaving []*Pod
	// workload is the one named as its group that owns one of them.
	workload *Workload
}

func newState(in *Input) *state {
	s := &state{in: in, now: metav1.NewTime(in.Now.Truncate(time.Second)), said: map[string]verdict{}}
	roles := map[string]*roleState{}
	for i := range in.Deployment.Spec.Roles {
		spec := &in.Deployment.Spec.Roles[i]
		r := &roleState{Role: &Role{Name: spec.Name}, spec: spec}
		for j := range in.Roles {
			if in.Roles[j].Name == spec.Name {
				r.Role = &in.Roles[j]
			}
		}
		for n := range spec.Replicas {
			r.replicas = append(r.replicas, &replica{role: r, ordinal: n})
		}
		s.roles, roles[spec.Name] = append(s.roles, r), r
	}
	byName, owned := map[string]*Workload{}, map[string]bool{}
	for i := range in.Workloads {
		w := &in.Workloads[i]
		byName[w.Name] = w
		for _, uid := range w.Pods {
			owned[uid] = true
		}
	}
	for i := range in.Pods {
		p := &in.Pods[i]
		r := roles[p.Role]
		if r == nil {
			continue
		}
		r.queued = r.queued || owned[p.UID]
		if p.Ordinal < 0 || p.Ordinal >= r.spec.Replicas {
			continue
		}
		one := r.replicas[p.Ordinal]
		if p.Deleting {
			one.leaving = append(one.leaving, p)
		} else {
			one.live = append(one.live, p)
		}
		if w := byName[p.Group]; w != nil && slices.Contains(w.Pods, p.UID) {
			one.workload = w
		}
	}
	return s
}

func (s *state) deleting() bool { return s.in.Deployment.DeletionTimestamp != nil }

// replicas are those of all roles of which a condition holds.
func (s *state) replicas(holds func(*replica) bool) (out []*replica) {
	for _, r := range s.roles {
		for _, one := range r.replicas {
			if holds(one) {
				out = append(out, one)
			}
		}
	}
	return out
}

func (s *state) total() (n int32) {
	for _, r := range s.roles {
		n += r.spec.Replicas
	}
	return n
}

// missing are the replicas without a live Pod.
func (s *state) missing() []*replica { return s.replicas(func(r *replica) bool { return !r.lives() }) }

func (r *roleState) size() int32 { return max(r.spec.Size, 1) }

func (r *roleState) managed() bool { return len(r.spec.Command) == 0 }

func (r *replica) lives() bool { return len(r.live) > 0 }

// complete reports whether every member is there.
func (r *replica) complete() bool {
	seen := map[int32]bool{}
	for _, p := range r.live {
		if p.Member >= 0 && p.Member < r.role.size() {
			seen[p.Member] = true
		}
	}
	return len(seen) == int(r.role.size())
}

func (r *replica) ready() bool {
	return r.complete() && !slices.ContainsFunc(r.live, func(p *Pod) bool { return !p.Ready })
}

// queued is its Workload, if that owns a live Pod.
func (r *replica) queued() *Workload {
	w := r.workload
	if w == nil || !slices.ContainsFunc(r.live, func(p *Pod) bool { return slices.Contains(w.Pods, p.UID) }) {
		return nil
	}
	return w
}

// reserved reports whether it holds quota. The condition alone also reads true
// while Pods are being evicted, and for dead ones.
func (r *replica) reserved() bool {
	w := r.queued()
	return w != nil && w.Reserved && !w.Evicted && !w.Deleting
}

func (r *replica) admitted() bool {
	w := r.queued()
	return w != nil && w.Admitted && !w.Evicted && !w.Deleting
}

// preempted reports whether Kueue has taken it away. Its Workload is gone at
// once; the Pod still tells.
func (r *replica) preempted() bool {
	return slices.ContainsFunc(r.leaving, func(p *Pod) bool { return p.Preempted })
}

// lost is the Node that answers no more under one of its Pods, on its way out or
// not.
func (r *replica) lost() string {
	for _, p := range slices.Concat(r.live, r.leaving) {
		if p.NodeLost && !p.Ended {
			return p.Node
		}
	}
	return ""
}

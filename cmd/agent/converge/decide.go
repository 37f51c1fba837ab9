// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"slices"
	"time"
)

// pause is how soon a pass looks again at what it waits for.
const pause = 2 * time.Second

// firstCache is how long a new deployment waits for its cache before it starts
// without: a sync that brings both does not load every model twice.
const firstCache = 2 * time.Minute

// collected is how long garbage collection is given to remove a Workload
// without Pods.
const collected = 5 * time.Second

// delivery is how soon a pass looks again at weights that cannot be delivered.
const delivery = time.Minute

// Decide returns what to do about a deployment. A plan with NeedLive asks for an
// observation that has Live.
func Decide(obs *Observation, now time.Time) Plan {
	p := newPass(obs, now)
	if obs.Deleting {
		p.teardown()
	} else {
		p.converge()
	}
	if p.plan.NeedLive {
		return Plan{NeedLive: true}
	}
	if len(p.plan.DeletePods)+len(p.plan.DeleteWorkloads) > 0 {
		p.soon()
	}
	return p.plan
}

// pass is the state of one decision. Everything is counted from one snapshot.
type pass struct {
	obs  *Observation
	now  time.Time
	plan Plan

	// pods are the deployment's own, workloads what the snapshot has of them.
	pods      []*Pod
	workloads []*Workload
	// byUID are all Pods of the snapshot, foreign ones included.
	byUID map[string]*Pod
	// dropped are the Pods, freed the Workloads, that this pass deletes.
	dropped, freed map[string]bool
}

func newPass(obs *Observation, now time.Time) *pass {
	p := &pass{
		obs: obs, now: now,
		byUID: map[string]*Pod{}, dropped: map[string]bool{}, freed: map[string]bool{},
	}
	pods, workloads := obs.Pods, obs.Workloads
	if obs.Live != nil {
		pods, workloads = obs.Live.Pods, obs.Live.Workloads
	}
	for i := range pods {
		pod := &pods[i]
		p.byUID[pod.UID] = pod
		if !pod.Foreign {
			p.pods = append(p.pods, pod)
		}
	}
	for i := range workloads {
		p.workloads = append(p.workloads, &workloads[i])
	}
	return p
}

// live reports whether the snapshot was read past the cache, and asks for such
// a read.
func (p *pass) live() bool {
	if p.obs.Live == nil {
		p.plan.NeedLive = true
	}
	return p.obs.Live != nil
}

func (p *pass) converge() {
	p.plan.AddFinalizer = !p.obs.Finalizer
	p.plan.AddClaim = p.obs.Cache.Binding && !p.obs.Cache.Claimed
	p.dropRemovedRoles()
	p.sweep()
	for i := range p.obs.Roles {
		p.role(&p.obs.Roles[i])
	}
	p.freeAbandoned()
}

// role decides about one declared role. No replica is deleted and created in
// one pass, and none is turned over beside another that leaves.
func (p *pass) role(r *Role) {
	s := newRoleState(p, r)
	left := p.scaleDown(s)
	left = p.duplicates(s) || left
	left = p.surplus(s) || left
	left = p.ended(s) || left
	s.compare()
	s.report.Hold = p.hold(s)
	if !left && !p.repair(s) {
		p.turnover(s)
	}
	p.create(s)
	p.plan.Roles = append(p.plan.Roles, s.report)
}

// dropRemovedRoles deletes the live Pods of roles that are no longer declared.
func (p *pass) dropRemovedRoles() {
	for _, pod := range p.pods {
		if !pod.Deleting && !slices.ContainsFunc(p.obs.Roles, func(r Role) bool { return r.Name == pod.Role }) {
			p.drop(CauseRoleRemoved, pod)
		}
	}
}

// teardown deletes everything and then lets the deployment go. A Pod that the
// cache has not seen yet would be left behind for ever, so that there is none
// is read past it.
func (p *pass) teardown() {
	if !p.obs.Finalizer {
		return
	}
	if len(p.pods) == 0 {
		p.plan.Release = p.live()
		return
	}
	p.drop(CauseTeardown, p.pods...)
	p.sweep()
	p.soon()
}

// soon asks for another pass shortly.
func (p *pass) soon() { p.within(pause) }

func (p *pass) within(d time.Duration) {
	if p.plan.Requeue == 0 || d < p.plan.Requeue {
		p.plan.Requeue = d
	}
}

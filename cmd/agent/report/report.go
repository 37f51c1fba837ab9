// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report tells users how a ModelDeployment stands: its status, from
// what a pass observed, decided and did.
//
// It is pure: the same input gives the same status, byte for byte, so that a
// deployment at rest is never written.
package report

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// The types of the conditions.
const (
	Stalled            = "Stalled"
	Reconciling        = "Reconciling"
	Ready              = "Ready"
	Compiled           = "Compiled"
	WeightsReady       = "WeightsReady"
	DomainRegistered   = "DomainRegistered"
	QuotaReserved      = "QuotaReserved"
	ReplicasUpToDate   = "ReplicasUpToDate"
	RoleKindsReady     = "RoleKindsReady"
	RouterReady        = "RouterReady"
	KVEventsPublishing = "KVEventsPublishing"
	CacheAttached      = "CacheAttached"
)

// judges are all conditions in the order in which they are judged: the last
// three sum up the others.
var judges = []struct {
	condition string
	judge     func(*state) verdict
	// kept: what it is about is not read any more once the deployment is being
	// deleted, so that the last word stands.
	kept bool
}{
	{Compiled, compiled, true},
	{WeightsReady, weightsReady, true},
	{DomainRegistered, domainRegistered, true},
	{QuotaReserved, quotaReserved, false},
	{ReplicasUpToDate, replicasUpToDate, false},
	{RoleKindsReady, roleKindsReady, false},
	{RouterReady, routerReady, false},
	{KVEventsPublishing, kvEventsPublishing, true},
	{CacheAttached, cacheAttached, true},
	{Stalled, stalled, false},
	{Ready, ready, false},
	{Reconciling, reconciling, false},
}

// order is that of the conditions in a status: what tells whether a person is
// needed stands first, which is also where generic tools stop reading.
var order = []string{
	Stalled, Reconciling, Ready,
	Compiled, WeightsReady, DomainRegistered, QuotaReserved, ReplicasUpToDate, RoleKindsReady,
	RouterReady, KVEventsPublishing, CacheAttached,
}

// Build returns the status of a deployment. What is kept of the stored one are
// the times of transitions, and what can be observed no more.
func Build(in Input) v1.ModelDeploymentStatus {
	s := newState(&in)
	stored := in.Deployment.Status
	out := *stored.DeepCopy()
	out.ObservedGeneration = in.Deployment.Generation
	out.Roles = s.roleStatuses()
	s.counted = out.Roles
	if !s.deleting() {
		out.KVCache = s.kvCache()
		out.Model = in.Weights.Model
		out.Router = in.Router.Contract
		out.Endpoint = s.endpoint()
	}
	out.RoleSummary = s.roleSummary()

	for _, j := range judges {
		if j.condition == Stalled { // what sums up needs the phase
			out.Phase, out.PhaseMessage = s.phase()
			s.summed, s.summary = out.Phase, out.PhaseMessage
		}
		if before, ok := find(stored.Conditions, j.condition); s.deleting() && j.kept {
			if ok {
				s.said[j.condition] = verdict{before.Status, before.Reason, before.Message}
			}
			continue
		}
		s.said[j.condition] = j.judge(s)
	}
	out.Conditions = s.conditions(stored.Conditions)
	return out
}

// conditions returns what was said in order. A time moves only when a status
// does.
func (s *state) conditions(stored []metav1.Condition) (out []metav1.Condition) {
	for _, name := range order {
		v, ok := s.said[name]
		if !ok {
			continue
		}
		c := metav1.Condition{
			Type: name, Status: v.status, Reason: v.reason, Message: cut(v.message, messageLimit),
			LastTransitionTime: s.now,
		}
		if before, ok := find(stored, name); ok && before.Status == c.Status && !before.LastTransitionTime.IsZero() {
			c.LastTransitionTime = before.LastTransitionTime
		}
		out = append(out, c)
	}
	return out
}

func find(conditions []metav1.Condition, name string) (metav1.Condition, bool) {
	i := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == name })
	if i < 0 {
		return metav1.Condition{}, false
	}
	return conditions[i], true
}

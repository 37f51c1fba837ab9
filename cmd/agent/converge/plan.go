// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import "time"

// Plan is what a pass does, in this order: the finalizer and the claim, then
// the deletes of Pods, those of Workloads, then creates, then what undoes the
// first two. Without the finalizer nothing may be created. Everything else may
// fail on its own, and a pass may end anywhere: the next one goes on from there.
type Plan struct {
	// NeedLive: the pass cannot be decided without a read past the cache.
	// Nothing else of the plan counts then.
	NeedLive bool

	AddFinalizer    bool
	AddClaim        bool
	DeletePods      []DeletePod
	DeleteWorkloads []DeleteWorkload
	Creates         []Create
	// Release gives up the claim and the finalizer: the deployment has ended.
	Release bool

	// Requeue asks for another pass after this time; zero does not.
	Requeue time.Duration
	// Roles tells how each role stands, for status.
	Roles []RoleReport
	// Blocked are slots that a foreign Pod keeps.
	Blocked []Blocked
}

// Cause is why a Pod or a Workload is deleted.
type Cause string

// The causes.
const (
	CauseRoleRemoved Cause = "role removed"
	CauseScale       Cause = "scale"
	CauseSurplus     Cause = "surplus"
	CauseEnded       Cause = "ended"
	CauseIncomplete  Cause = "incomplete"
	CauseRollout     Cause = "rollout"
	CauseStranded    Cause = "stranded"
	CauseTeardown    Cause = "teardown"
)

// DeletePod deletes a Pod with its own grace, provided it is still this one:
// above size 1 names are used again.
type DeletePod struct {
	Name, UID string
	Cause     Cause
}

// DeleteWorkload deletes a Workload, provided it is still this one.
type DeleteWorkload struct {
	Name, UID string
	Cause     Cause
}

// Create makes every member of one instance.
type Create struct {
	Role    string
	Ordinal int32
	// Uncached: from the template without a store.
	Uncached bool
}

// Blocked is a slot that a foreign Pod keeps.
type Blocked struct {
	Role    string
	Ordinal int32
	Pod     string
}

// Hold is why outdated replicas are left alone.
type Hold string

// The holds.
const (
	HeldByCache   Hold = "cache"
	HeldByWeights Hold = "weights"
	HeldByCompile Hold = "compile"
	// HeldByGuard: turning one over now would cost more than it may.
	HeldByGuard Hold = "guard"
)

// Wait is why missing instances are not created.
type Wait string

// The waits.
const (
	WaitWeights  Wait = "weights"
	WaitCache    Wait = "cache"
	WaitCompile  Wait = "compile"
	WaitService  Wait = "service"
	WaitOccupied Wait = "occupied"
	// WaitRefused: the API server refuses its Pods. A decision does not know that;
	// who carries it out does.
	WaitRefused   Wait = "refused"
	WaitUnmanaged Wait = "unmanaged"
	WaitNamespace Wait = "namespace"
)

// RoleReport is how one role stands.
type RoleReport struct {
	Name string
	// Compared is the number of live replicas that could be compared with the
	// template, Outdated how many of them differ from it.
	Compared, Outdated int
	// Missing are the ordinals without a live Pod.
	Missing []int32
	// Hold is why outdated replicas are left alone; empty: one is turned over,
	// or there is none.
	Hold Hold
	// Waits says for each missing ordinal that is not created why.
	Waits map[int32]Wait
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package converge decides what the agent does to a ModelDeployment: which Pods
// it creates and which Pods and Workloads it deletes.
//
// Decide is a pure function of what was observed and the time. It keeps no
// state, so a pass may be lost at any point: the next one decides from what it
// finds. The agent, the exhaustive tests and mdc simulate run the same code.
package converge

import "time"

// Observation is what a pass knows, as plain values.
type Observation struct {
	// Created is when the deployment was created.
	Created time.Time
	// Deleting: the deployment has a deletion timestamp.
	Deleting bool
	// Finalizer: the deployment carries the agent's finalizer.
	Finalizer bool
	// NamespaceTerminating: nothing can be created here any more.
	NamespaceTerminating bool

	// Roles are the declared roles, in order.
	Roles []Role
	// Pods are the deployment's own Pods in any state, from the cache.
	Pods []Pod
	// Workloads are those that own any of them, from the cache.
	Workloads []Workload

	// Live is a read past the cache; nil until a pass has asked for it. A pass
	// that has it decides from it alone: the cache counts no more.
	Live *Live

	Cache   Cache
	Weights Weights
}

// Live is a read of the API server past the cache. Pods are read before
// Workloads, so that a Workload whose Pod vanished in between is seen.
type Live struct {
	// Pods are the deployment's own Pods in any state, and all foreign Pods that
	// carry the group name of a declared instance or of one of its own Pods.
	Pods []Pod
	// Workloads are all that are named as one of its groups or that own one of
	// its Pods.
	Workloads []Workload
}

// Role is one declared role.
type Role struct {
	Name string
	// Replicas is the number of instances, Size that of Pods in each.
	Replicas, Size int32
	// Managed: mdc writes the command line. A role that is taken over has no
	// template without a cache and is never held for one.
	Managed bool
	// Template is the state of the compile.
	Template Template
	// Settled is the number of instances that the last pass with a template in
	// sync wanted. While the template is stale, an ordinal below it is a
	// replacement and one above it is growth.
	Settled int32
	// Services are the ordinals whose headless Service exists; read only above
	// size 1.
	Services map[int32]bool
	// Group returns the name of an instance's group.
	Group func(ordinal int32) string
	// Hash returns the fingerprint of a seat's fresh stamp; uncached is the
	// variant without a store. It is empty when the seat cannot be stamped.
	Hash func(seat Seat, uncached bool) string
}

// Template is what keeps a role's template from being used.
type Template string

const (
	// InSync says that the template matches the live spec.
	InSync Template = "InSync"
	// Stale says that the live spec is not the one that was compiled.
	Stale Template = "Stale"
	// NotCompiled says that there is no template.
	NotCompiled Template = "NotCompiled"
	// Unstampable says that a value is missing which only the cluster knows, or
	// that the template speaks of another tenant.
	Unstampable Template = "Unstampable"
)

// Seat is the place of one Pod in a role.
type Seat struct{ Ordinal, Member int32 }

// Pod is one Pod as far as a decision reads it.
type Pod struct {
	Name, UID string
	// Foreign: it carries one of our group names and is not ours.
	Foreign bool
	// Abandoned: its controller is a ModelDeployment that no longer exists.
	Abandoned bool
	Role      string
	// Ordinal is -1 when the Pod does not tell a valid one.
	Ordinal, Member int32
	Group           string
	// Hash is the fingerprint noted on the Pod.
	Hash string
	// Deleting: it has a deletion timestamp.
	Deleting bool
	// Ended: its phase is Succeeded or Failed.
	Ended bool
	Ready bool
	// Managed: Kueue has taken it up. A live Pod that is not managed runs
	// outside any quota.
	Managed bool
	// Held: it carries Kueue's finalizer.
	Held bool
	// Preempted: Kueue has evicted it.
	Preempted bool
	// NodeLost: its Node is registered and not ready.
	NodeLost bool
	// NodeGone: its Node is registered no more, so that it has ended whatever it
	// tells.
	NodeGone bool
}

func (p *Pod) seat() Seat { return Seat{p.Ordinal, p.Member} }

// stuck reports whether the Pod may run on a Node that answers no more. Freeing
// its slot would put a second process on the cards.
func (p *Pod) stuck() bool { return p.NodeLost && !p.Ended }

// Workload is one Kueue Workload as far as a decision reads it.
type Workload struct {
	Name, UID string
	Created   time.Time
	// Pods are the UIDs of the Pods that own it.
	Pods     []string
	Deleting bool
	// Reserved and Admitted are the conditions as they stand.
	Reserved, Admitted, Evicted bool
}

// Cache is the store that the deployment is attached to.
type Cache struct {
	// Declared: the deployment has a cache at all.
	Declared bool
	// Usable: the Binding grants access.
	Usable bool
	// Resolved: the Binding is usable and the store has an address.
	Resolved bool
	// Seen: it was usable before.
	Seen bool
	// Binding: there is a Binding to claim, and Claimed whether it is claimed.
	Binding, Claimed bool
}

// Weights is what a ModelArtifact delivers.
type Weights struct {
	// Blocked: nothing may be created until they arrive.
	Blocked bool
}

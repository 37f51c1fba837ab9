// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model is a small model of the world around the agent: the API server,
// the agent's cache that lags behind it, Kueue, kubelets, nodes, and what people
// do. It drives the decisions of package converge through every order of events,
// and mdc simulate gives it a clock.
//
// A State is a plain value. Steps lists what may happen next and Apply returns
// the state after it; slices are shared between states and never changed.
package model

import (
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// MaxRoles is the number of roles that a world can hold.
const MaxRoles = 10

// World is what does not change.
type World struct {
	Roles []Role
	// Pools tells how many pools of cards there are.
	Pools int
	// Store: the deployment has a cache.
	Store bool
	// Hash returns the fingerprint of a seat; nil: the version stands for it.
	Hash func(role int, version uint8, uncached bool, seat converge.Seat) string
	// Joint: Workloads are admitted as a set. Parks: those that wait for the rest
	// of it give their quota back after a while.
	Joint, Parks bool
	// Broken tells whether a version of a role never becomes Ready; nil: none.
	Broken func(role int, version uint8) bool
	// Decide maps what a pass knows to what it writes.
	Decide Decider
	// Decided sees every decision, Writing every write before it happens. An
	// error ends the run.
	Decided func(s *State, d *Decision) error
	Writing func(s *State, w Write) error
	// duplicates: Pods share seats from the start.
	duplicates bool
	// Now is the time, which only a simulation moves.
	Now time.Time
	// Born is when the deployment was created.
	Born time.Time
	// OneCache: the agent's cache catches up as a whole, not kind by kind.
	OneCache bool
	// FreshCache: only what the cache knows of the deployment lags, and a pass may
	// read past it for no need. That loses nothing: all that cached Pods alone
	// decide is to delete some by UID, which a fresh cache says as well unless
	// they are gone, and to read past the cache, where nothing lags.
	FreshCache bool
	// AnyOrder: the deletes of a pass reach the API server in any order among
	// those of Pods and those of Workloads, and so do creates of instances.
	AnyOrder bool
	// Aged makes everything look older to the agent by so much.
	Aged time.Duration
}

// Role is what cannot be edited about a role.
type Role struct {
	Name string
	Size int16
	// Pool is where its cards come from, Cards how many each Pod takes.
	Pool, Cards int16
	// Managed: there is a template without a store.
	Managed bool
}

// ID stands for the UID of an object.
type ID uint16

// Phase is how far a Pod has come.
type Phase uint8

// The phases. A Pod that is not gated has a node.
const (
	Gated Phase = iota
	Starting
	Ready
	Succeeded
	Failed
)

func (p Phase) String() string {
	return [...]string{"gated", "starting", "ready", "succeeded", "failed"}[p]
}

// Pod is a Pod on the API server.
type Pod struct {
	ID                 ID
	Role               int16
	Ordinal, Member    int16
	Version            uint8
	Phase              Phase
	Uncached           bool
	Deleting, Held     bool
	Lost, Preempted    bool
	Foreign, Abandoned bool
}

// running reports whether its containers run, as far as anyone knows.
func (p *Pod) running() bool { return p.Phase == Starting || p.Phase == Ready }

// active reports whether Kueue counts it as a member of its group.
func (p *Pod) active() bool { return p.Phase != Failed && !(p.Deleting && p.Phase == Gated) }

// Workload is a Workload on the API server. It is named as its group.
type Workload struct {
	ID            ID
	Role, Ordinal int16
	// Owners are Pods, some of them perhaps gone.
	Owners             []ID
	Reserved, Admitted bool
	Evicted, Deleting  bool
	// Parked: it has given its quota back, and asks for none.
	Parked bool
	// Born is when it was composed, ReservedAt when it last got quota, in seconds
	// from the start.
	Born, ReservedAt int32
}

// RoleSpec is what is declared of a role.
type RoleSpec struct {
	Replicas int16
	Version  uint8
	// Stale: the template is not that of the spec.
	Stale bool
	// Settled is the number of replicas of the last pass in sync.
	Settled int16
}

// Spec is the deployment and what it refers to.
type Spec struct {
	Roles [MaxRoles]RoleSpec
	// Deleting and Gone: it is on its way out, or out.
	Deleting, Gone, Finalizer bool
	// StoreLost: the cache cannot be resolved.
	StoreLost bool
	// WeightsBlocked: nothing may be created.
	WeightsBlocked bool
}

// View is what is on the API server, or was.
type View struct {
	Spec      Spec
	Pods      []Pod
	Workloads []Workload
}

// Stage is where the agent stands in a pass.
type Stage uint8

// The stages.
const (
	Idle Stage = iota
	// Reading: Pods were read past the cache, and Workloads are not yet.
	Reading
	Writing
)

// Agent is what a pass has in hand; a crash loses it.
type Agent struct {
	Stage Stage
	// Spec is that of the pass, Pods what was read past the cache.
	Spec   Spec
	Pods   []Pod
	Writes []Write
}

// State is the state of the world.
type State struct {
	View
	// Capacity of each pool in cards.
	Capacity [MaxRoles]int16
	Cache    View
	Agent    Agent
	// Left is what may still happen from outside, by kind of event.
	Left Budget
	// next is the next free ID.
	next ID
}

func (s *State) newID() ID {
	s.next++
	return s.next
}

// Pod returns a Pod by its ID, or nil.
func (v *View) Pod(id ID) *Pod {
	for i := range v.Pods {
		if v.Pods[i].ID == id {
			return &v.Pods[i]
		}
	}
	return nil
}

// Group returns the Workload of a group, or nil.
func (v *View) Group(role, ordinal int16) *Workload {
	for i := range v.Workloads {
		if w := &v.Workloads[i]; w.Role == role && w.Ordinal == ordinal {
			return w
		}
	}
	return nil
}

// Running returns the state in which all that is declared is Ready.
func (w *World) Running(s *State) *State {
	n := *s
	n.Spec.Finalizer = true
	for r := range w.Roles {
		for ordinal := range n.Spec.Roles[r].Replicas {
			wl := Workload{ID: n.newID(), Role: int16(r), Ordinal: ordinal, Reserved: true, Admitted: true}
			for member := range w.Roles[r].Size {
				p := Pod{
					ID: n.newID(), Role: int16(r), Ordinal: ordinal, Member: member,
					Version: n.Spec.Roles[r].Version, Phase: Ready, Held: true,
				}
				n.Pods, wl.Owners = append(n.Pods, p), append(wl.Owners, p.ID)
			}
			n.Workloads = append(n.Workloads, wl)
		}
	}
	return &n
}

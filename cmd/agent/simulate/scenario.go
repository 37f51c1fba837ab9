// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulate plays what the agent would do to deployments, on a model of
// Kueue, kubelets and the API server, with the agent's own decisions.
package simulate

import (
	"time"
)

// Scenario is a file that tells mdc simulate what to play.
type Scenario struct {
	// Deployments are files or directories of ModelDeployments, relative to the
	// scenario. They share the cards of their InstanceTypes.
	// +kubebuilder:validation:MinItems=1
	Deployments []string `json:"deployments"`
	// Facts are files or directories of the objects that deployments depend on,
	// relative to the scenario.
	// +optional
	Facts []string `json:"facts,omitempty"`
	// Running: everything is Ready at the start; otherwise it is created then.
	// +optional
	Running bool `json:"running,omitempty"`
	// Capacity is the number of cards by the name of an InstanceType; one that is
	// not named never runs out. Freed cards go to whoever waits longest.
	// +optional
	Capacity map[string]Cards `json:"capacity,omitempty"`
	// Timing is how long Pods take.
	// +optional
	Timing Timing `json:"timing,omitempty"`
	// Events are what happens from outside. Those of one moment happen in the
	// order of the file.
	// +optional
	Events []Event `json:"events,omitempty"`
	// Until is when to stop; a day after the last event by default.
	// +optional
	Until *Duration `json:"until,omitempty"`

	// places is where the fields stand; nil when there is no file.
	places *places
}

// Cards is a number of cards.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=1000000
type Cards int32

// Timing is how long Pods take.
type Timing struct {
	// Load is from admission to Ready; 5m by default.
	// +optional
	Load *Duration `json:"load,omitempty"`
	// Drain is from deletion to the end; 30s by default.
	// +optional
	Drain *Duration `json:"drain,omitempty"`
	// Roles says otherwise for single roles, by role, deployment/role or
	// namespace/deployment/role.
	// +optional
	Roles map[string]RoleTiming `json:"roles,omitempty"`
}

// RoleTiming is how long the Pods of one role take.
type RoleTiming struct {
	// Load is from admission to Ready.
	// +optional
	Load *Duration `json:"load,omitempty"`
	// Drain is from deletion to the end.
	// +optional
	Drain *Duration `json:"drain,omitempty"`
}

// Event is one thing that happens from outside: it has exactly one field besides
// at and deployment.
//
// +kubebuilder:validation:MinProperties=2
// +kubebuilder:validation:MaxProperties=3
type Event struct {
	// At is when, counted from the start.
	At Duration `json:"at"`
	// Deployment is the one that the event is about, as name or namespace/name;
	// needed when there are several. An edit and capacity are about none.
	// +optional
	Deployment string `json:"deployment,omitempty"`
	// Edit is a file or directory of deployments that are applied, relative to
	// the scenario. One that was not there before is created.
	// +optional
	Edit string `json:"edit,omitempty"`
	// Scale sets the replicas of a role.
	// +optional
	Scale *Scale `json:"scale,omitempty"`
	// DeletePod deletes a Pod as kubectl does.
	// +optional
	DeletePod *Seat `json:"deletePod,omitempty"`
	// FailPod has the kubelet evict a Pod.
	// +optional
	FailPod *Seat `json:"failPod,omitempty"`
	// Evict has Kueue evict a replica; its cards stay free.
	// +optional
	Evict *Seat `json:"evict,omitempty"`
	// Preempt gives the cards of a replica to somebody outside of the scenario,
	// who keeps them until capacity is set anew.
	// +optional
	Preempt *Seat `json:"preempt,omitempty"`
	// Reactivate lets a replica that was parked ask for cards again.
	// +optional
	Reactivate *Seat `json:"reactivate,omitempty"`
	// NodeNotReady loses the node of a Pod.
	// +optional
	NodeNotReady *Seat `json:"nodeNotReady,omitempty"`
	// NodeReady brings the node of a Pod back.
	// +optional
	NodeReady *Seat `json:"nodeReady,omitempty"`
	// NodeRemoved deletes the lost node of a Pod.
	// +optional
	NodeRemoved *Seat `json:"nodeRemoved,omitempty"`
	// Capacity sets the number of cards of InstanceTypes.
	// +optional
	Capacity map[string]Cards `json:"capacity,omitempty"`
	// Delete deletes the deployment.
	// +optional
	Delete bool `json:"delete,omitempty"`
}

// Scale sets the replicas of a role.
type Scale struct {
	// Role is the name of the role.
	Role string `json:"role"`
	// Replicas is the number of instances from then on.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Replicas int32 `json:"replicas"`
}

// Seat is a Pod of a role. What happens to a replica as a whole needs no member.
type Seat struct {
	// Role is the name of the role.
	Role string `json:"role"`
	// Ordinal is that of the replica; 0 by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1023
	Ordinal int32 `json:"ordinal,omitempty"`
	// Member is the Pod within the replica; 0, the leader, by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=63
	Member int32 `json:"member,omitempty"`
}

// Duration is a time as in 90s or 1h30m, of a year at most.
type Duration time.Duration

// or is the duration, or another one when there is none.
func (d *Duration) or(other time.Duration) time.Duration {
	if d == nil {
		return other
	}
	return time.Duration(*d)
}

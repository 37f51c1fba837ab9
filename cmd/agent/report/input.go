// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// Input is what a status is made from.
type Input struct {
	// Deployment is the spec, and the status that is stored.
	Deployment *v1.ModelDeployment
	Now        time.Time
	// Roles are the declared roles, in order; none while the deployment is being
	// deleted, as nothing is made of them any more.
	Roles []Role
	// Pods are the deployment's own in any state, those that the pass has made
	// included, and those that it has deleted on their way out.
	Pods []Pod
	// Workloads are those that own any of them.
	Workloads []Workload
	// Settling: the host may still be applying what was compiled.
	Settling bool
	// Endpoint is the address of the deployment's Service.
	Endpoint string
	Cache    Cache
	Weights  Weights
	Router   Router
}

// Fault is something that keeps a template from being used, or weights from
// being delivered.
type Fault struct{ Reason, Message string }

// The reasons of faults of templates.
const (
	ReasonNotCompiled      = "NotCompiled"
	ReasonStale            = "Stale"
	ReasonTenantMismatch   = "TenantMismatch"
	ReasonUnknownLateValue = "UnknownLateValue"
	ReasonMissingLateValue = "MissingLateValue"
	ReasonTemplateInvalid  = "TemplateInvalid"
)

// Role is one declared role.
type Role struct {
	Name string
	// Stale: the template was compiled from another spec.
	Stale bool
	// Fault is what is wrong with the template.
	Fault Fault
	// NoImage: the image is chosen by a version that nothing in the cluster
	// tells.
	NoImage bool
	// Service is the name of the Service of an instance.
	Service func(ordinal int32) string
	// Accelerators are the resources by which Kueue counts the role's cards,
	// beside its credits.
	Accelerators []string
	// Publishes: its Pods publish KV cache events.
	Publishes bool
	// Pass is how the role stood in the pass.
	Pass converge.RoleReport
	// Created is how many instances the pass has made.
	Created int
	// Refused is what the API server said when it refused Pods, by ordinal.
	Refused map[int32]string
}

// Pod is one Pod.
type Pod struct {
	converge.Pod
	// WasReady: it is not ready, and was so before.
	WasReady bool
	// Evicted is the kubelet's account of why it evicted the Pod.
	Evicted string
	// Mounted: all that its containers need is there.
	Mounted bool
	// EngineReady: the container of the engine is ready.
	EngineReady bool
	// Restarted: a container was started more than once.
	Restarted bool
	// Node is the Node that answers no more.
	Node string
	// Store is what its engine tells of the store.
	Store Evidence
}

// Evidence is what an engine tells of the store that it is attached to.
type Evidence string

// What engines tell. Of one that cannot be asked nothing is concluded.
const (
	Unreadable Evidence = ""
	// Unasked says that it has not been asked since the agent started.
	Unasked Evidence = "unasked"
	// Active says that operations of the store succeed.
	Active Evidence = "active"
	// Failing says that there are operations, and none has succeeded.
	Failing Evidence = "failing"
)

// Workload is one Kueue Workload.
type Workload struct {
	converge.Workload
	// Message is what Kueue says of a Workload without quota.
	Message string
	// Inactive: somebody has deactivated it, and Parked that it was the agent.
	Inactive, Parked bool
	// Checks are the admission checks that are not ready, with what they say.
	Checks []string
	// Unpark is the command that reactivates it.
	Unpark string
	// Assigned are the flavors that Kueue has chosen, by PodSet and resource.
	Assigned map[string]map[string]string
}

// Cache is the store that the deployment is attached to.
type Cache struct {
	// Name of the Binding that the deployment names; empty: it has no cache.
	Name string
	// Binding is nil when there is none of the name.
	Binding *Binding
	// Resolved: the Binding grants access and the store has an address.
	Resolved bool
}

// Binding is a KVCachePoolBinding.
type Binding struct {
	Pool   string
	Domain v1.KVCacheDomain
	// Deleting: it has a deletion timestamp.
	Deleting     bool
	Phase        string
	PhaseMessage string
	QuotaGranted bool
	// HoldsData: its domain holds blocks.
	HoldsData bool
}

// Weights are what a ModelArtifact delivers.
type Weights struct {
	// Artifact is its name; empty: the deployment has none.
	Artifact string
	Delivery v1.Delivery
	// Blocked is why no Pod may be made.
	Blocked Fault
	// Model is what it resolves to; nil while it does not.
	Model *v1.ModelStatus
}

// Router is the router in front of the roles.
type Router struct {
	// Contract is what it was rendered from; nil: none is declared, or the
	// deployment is being deleted.
	Contract *v1.RouterStatus
	// Name is that of its Deployment, which is there when it is Deployed, with so
	// many Ready Pods.
	Name     string
	Deployed bool
	Ready    int32
}

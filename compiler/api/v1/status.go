// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase sums up a deployment.
//
// +kubebuilder:validation:Enum=Starting;Ready;Degraded;Deleting
type Phase string

// The phases.
const (
	// PhaseStarting: nothing required is ready yet.
	PhaseStarting Phase = "Starting"
	// PhaseReady: every role has as many ready instances as declared, and the
	// router, if declared, has a ready Pod.
	PhaseReady Phase = "Ready"
	// PhaseDegraded: a part of the required capacity is ready.
	PhaseDegraded Phase = "Degraded"
	// PhaseDeleting: the deployment is being deleted.
	PhaseDeleting Phase = "Deleting"
)

// ModelDeploymentStatus is rebuilt from observation on every pass of the agent.
type ModelDeploymentStatus struct {
	// ObservedGeneration is the generation of the spec that the status speaks
	// of; -1 before the first pass.
	// +optional
	// +default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase sums up the deployment.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// PhaseMessage is the reason in words.
	// +optional
	PhaseMessage string `json:"phaseMessage,omitempty"`

	// Conditions are the detailed state, one per type.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// RoleSummary counts ready router Pods (R) and ready instances by kind
	// (S, P, D), for example "1R3P4D".
	// +optional
	RoleSummary string `json:"roleSummary,omitempty"`

	// Endpoint is the address of the OpenAI API inside the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// Roles is the state of each declared role.
	// +optional
	// +listType=map
	// +listMapKey=name
	Roles []RoleStatus `json:"roles,omitempty"`

	// KVCache is the reuse domain the deployment is attached to, as the Binding
	// last declared it.
	// +optional
	KVCache *KVCacheStatus `json:"kvCache,omitempty"`

	// Model is the resolved weights.
	// +optional
	Model *ModelStatus `json:"model,omitempty"`

	// Router is the contract the router was rendered from.
	// +optional
	Router *RouterStatus `json:"router,omitempty"`
}

// RoleStatus is the state of one role.
type RoleStatus struct {
	// Name of the role.
	Name string `json:"name"`
	// Kind of the role.
	Kind RoleKind `json:"kind"`
	// Desired is the number of instances asked for.
	Desired int32 `json:"desired"`
	// Ready is the number of instances whose every Pod is Ready.
	Ready int32 `json:"ready"`
	// QuotaReserved is the number of instances whose Workload holds quota.
	QuotaReserved int32 `json:"quotaReserved"`
	// Unmanaged is true when the role sets command.
	Unmanaged bool `json:"unmanaged"`
	// AssignedFlavors are the ResourceFlavors that Kueue assigned, sorted.
	// +optional
	// +listType=atomic
	AssignedFlavors []string `json:"assignedFlavors,omitempty"`
}

// KVCacheStatus echoes the Binding.
type KVCacheStatus struct {
	// Binding is the name of the KVCachePoolBinding.
	Binding string `json:"binding"`
	// Pool is the name of the KVCachePool behind it.
	Pool string `json:"pool"`
	// Domain is the reuse domain.
	Domain KVCacheDomain `json:"domain"`
}

// ModelStatus is how the weights arrive.
type ModelStatus struct {
	// Artifact is the name of the ModelArtifact.
	Artifact string `json:"artifact"`
	// Revision is the resolved commit; absent for a claim or an image.
	// +optional
	Revision string `json:"revision,omitempty"`
	// ManifestDigest is "sha256:" and hex; absent for a claim or an image.
	// +optional
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// Delivery is how the weights reach the engine.
	Delivery Delivery `json:"delivery"`
}

// Delivery is how weights reach the engine.
//
// +kubebuilder:validation:Enum=PVC;Engine;Node;Image
type Delivery string

// The deliveries.
const (
	// DeliveryPVC mounts a claim.
	DeliveryPVC Delivery = "PVC"
	// DeliveryEngine lets the engine download from a hub.
	DeliveryEngine Delivery = "Engine"
	// DeliveryNode mounts what a driver of the node has downloaded.
	DeliveryNode Delivery = "Node"
	// DeliveryImage mounts an OCI image.
	DeliveryImage Delivery = "Image"
)

// RouterStatus is the contract between the roles and the router.
type RouterStatus struct {
	// Name of the router implementation.
	Name RouterName `json:"name"`
	// Endpoint is the address of the router's Service.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`
	// PoolEndpoint is the address of the KV cache pool.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PoolEndpoint string `json:"poolEndpoint,omitempty"`
	// Roles is the view of each role.
	// +optional
	// +listType=map
	// +listMapKey=name
	Roles []RouterRoleStatus `json:"roles,omitempty"`
	// Metrics names what the router reads from the engines.
	// +optional
	Metrics *RouterMetrics `json:"metrics,omitempty"`
}

// RouterRoleStatus is one role as the router sees it.
type RouterRoleStatus struct {
	// Name of the role.
	Name string `json:"name"`
	// Kind of the role.
	Kind RoleKind `json:"kind"`
	// Selector selects the Pods of the role that serve the API.
	// +optional
	Selector map[string]string `json:"selector,omitempty"`
	// Endpoint is the address of the role's Service.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`
	// KVEvents is where the role publishes KV cache events.
	// +optional
	KVEvents *KVEventsStatus `json:"kvEvents,omitempty"`
}

// KVEventsStatus is the event stream of a role.
type KVEventsStatus struct {
	// Endpoint of the stream.
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint"`
	// ReplayEndpoint is where missed events are asked for.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ReplayEndpoint string `json:"replayEndpoint,omitempty"`
	// Topic of the stream.
	// +optional
	Topic string `json:"topic,omitempty"`
}

// RouterMetrics names the engine metrics a router reads.
type RouterMetrics struct {
	// Port that serves /metrics.
	// +kubebuilder:validation:Minimum=1
	Port int32 `json:"port"`
	// QueuedRequests is the name of the gauge of waiting requests.
	QueuedRequests string `json:"queuedRequests"`
	// RunningRequests is the name of the gauge of running requests.
	RunningRequests string `json:"runningRequests"`
	// KVCacheUtilization is the name of the gauge of cache usage, 0 to 1.
	KVCacheUtilization string `json:"kvCacheUtilization"`
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ModelDeployment serves one large language model with vLLM or SGLang. It
// declares one or more roles, each with its own replicas, and optionally a
// shared KV cache pool and one request router in front of the roles.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=md,categories=gpustack
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.engine.name`
// +kubebuilder:printcolumn:name="Roles",type=string,JSONPath=`.status.roleSummary`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
type ModelDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is to be served and how.
	Spec ModelDeploymentSpec `json:"spec"`

	// Status is what the agent last observed.
	// +optional
	// +default={"observedGeneration":-1}
	Status ModelDeploymentStatus `json:"status,omitempty,omitzero"`
}

// ModelDeploymentList is a list of ModelDeployments.
//
// +kubebuilder:object:root=true
type ModelDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModelDeployment `json:"items"`
}

// ModelDeploymentSpec is the declared state. Fields that identify the
// deployment (model, engine.name, kvCache, the set of roles and their kind,
// size, instanceType, resources and command) cannot be changed after creation;
// another value describes another deployment.
type ModelDeploymentSpec struct {
	// Model is what is served. Frozen after creation.
	Model ModelSpec `json:"model"`

	// Engine chooses the inference engine.
	Engine EngineSpec `json:"engine"`

	// KVCache attaches every managed role to a shared KV cache pool. Absent, no
	// pool is attached. Frozen after creation.
	// +optional
	KVCache *KVCacheSpec `json:"kvCache,omitempty"`

	// Roles are the parts of the deployment, 1 to 10 of them. The set of names
	// is frozen after creation; the order matters, because without a router the
	// first role answers on the endpoint of the deployment.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Roles []Role `json:"roles"`

	// Router puts one request router in front of the roles. The block can be
	// added and removed; its name cannot be changed in place.
	// +optional
	Router *RouterSpec `json:"router,omitempty"`

	// KVTransfer holds settings of the direct transfer from a Prefill to a
	// Decode role. It is independent of kvCache.
	// +optional
	KVTransfer *KVTransferSpec `json:"kvTransfer,omitempty"`
}

// ModelSpec names the model and, optionally, where its weights come from.
type ModelSpec struct {
	// Name is the served model name: what clients put in a request, what routers
	// and metric labels match, and, without artifactRef, what the engine loads
	// through its own hub client or finds in a volume.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// ArtifactRef names a ModelArtifact in the namespace of the deployment that
	// delivers the weights.
	// +optional
	ArtifactRef *LocalObjectReference `json:"artifactRef,omitempty"`
}

// EngineName is an inference engine.
//
// +kubebuilder:validation:Enum=vLLM;SGLang
type EngineName string

// The engines. vLLM on Ascend hardware is not another engine: it follows from
// the manufacturer of a role's InstanceType.
const (
	EngineVLLM   EngineName = "vLLM"
	EngineSGLang EngineName = "SGLang"
)

// EngineSpec chooses the engine and its version.
type EngineSpec struct {
	// Name is the engine. Frozen after creation.
	Name EngineName `json:"name"`

	// Version is the version half of a synthesized image tag, for example
	// "0.29.0". It is required while any role states no image of its own. It is
	// not checked against what was published: you guarantee that the image
	// exists and runs on the installed driver.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
}

// ConnectorName is an implementation of the store connector.
//
// +kubebuilder:validation:Enum=Mooncake
type ConnectorName string

// ConnectorMooncake is the only connector.
const ConnectorMooncake ConnectorName = "Mooncake"

// KVCacheSpec attaches the deployment to a shared KV cache pool.
type KVCacheSpec struct {
	// PoolRef names a KVCachePoolBinding in the namespace of the deployment. The
	// Binding is what grants the namespace access to a pool and what fixes the
	// reuse domain (name, block size, dtype).
	PoolRef LocalObjectReference `json:"poolRef"`

	// Connector is reserved for further connectors.
	// +optional
	// +kubebuilder:default=Mooncake
	Connector ConnectorName `json:"connector,omitempty"`
}

// TransferProtocol is the transport of the direct prefill to decode leg.
//
// +kubebuilder:validation:Enum=Auto;TCP;RDMA;EFA;CANN;ROCM
type TransferProtocol string

// KVTransferSpec holds settings of the direct transfer.
type KVTransferSpec struct {
	// Protocol is the transport of the leg. Absent and Auto mean TCP; no fabric
	// is inspected. An edit restarts every role.
	// +optional
	Protocol TransferProtocol `json:"protocol,omitempty"`
}

// LocalObjectReference names an object in the namespace of the deployment.
type LocalObjectReference struct {
	// Name of the object.
	// +optional
	Name string `json:"name,omitempty"`
}

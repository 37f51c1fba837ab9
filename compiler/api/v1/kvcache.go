// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KVCachePoolBinding grants a namespace access to a KVCachePool and fixes the
// reuse domain of everything attached through it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=kvcpb,categories=gpustack
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.poolRef.name`
// +kubebuilder:printcolumn:name="Domain",type=string,JSONPath=`.spec.domain.name`
// +kubebuilder:printcolumn:name="Effective",type=string,JSONPath=`.status.effectiveQuota`
// +kubebuilder:printcolumn:name="Usage",type=string,JSONPath=`.status.usage`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KVCachePoolBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the grant.
	// +optional
	Spec KVCachePoolBindingSpec `json:"spec,omitempty,omitzero"`
	// Status is what the pool's operator observed.
	// +optional
	Status KVCachePoolBindingStatus `json:"status,omitempty,omitzero"`
}

// KVCachePoolBindingList is a list of KVCachePoolBindings.
//
// +kubebuilder:object:root=true
type KVCachePoolBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KVCachePoolBinding `json:"items"`
}

// KVCachePoolBindingSpec is the grant.
//
// +kubebuilder:pruning:PreserveUnknownFields
type KVCachePoolBindingSpec struct {
	// PoolRef names a KVCachePool (cluster-scoped).
	// +optional
	PoolRef LocalObjectReference `json:"poolRef,omitempty,omitzero"`
	// Domain is the reuse domain.
	// +optional
	Domain KVCacheDomain `json:"domain,omitempty,omitzero"`
}

// KVCacheDomain is what must be equal for cached blocks to be reusable.
type KVCacheDomain struct {
	// Name of the domain, which is the tenant of the store; absent, "default".
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// BlockSize in tokens.
	// +optional
	BlockSize int32 `json:"blockSize,omitempty"`
	// Dtype is the element type of cached blocks, spelled as the engine's
	// --kv-cache-dtype takes it.
	// +optional
	Dtype string `json:"dtype,omitempty"`
}

// KVCachePoolBindingStatus is what the pool's operator observed.
//
// +kubebuilder:pruning:PreserveUnknownFields
type KVCachePoolBindingStatus struct {
	// Phase must be Ready for the Binding to be usable.
	// +optional
	Phase string `json:"phase,omitempty"`
	// PhaseMessage is the reason in words.
	// +optional
	PhaseMessage string `json:"phaseMessage,omitempty"`
	// Conditions include QuotaGranted.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []ReadCondition `json:"conditions,omitempty"`
	// UsedBy lists who holds the Binding.
	// +optional
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=namespace
	// +listMapKey=name
	UsedBy []UsedBy `json:"usedBy,omitempty"`
	// Blocks is the number of cached blocks of the domain; absent, not known.
	// +optional
	Blocks *int64 `json:"blocks,omitempty"`
	// Usage is the size of the cached blocks of the domain; absent, not known.
	// +optional
	Usage *resource.Quantity `json:"usage,omitempty"`
}

// ReadCondition is a condition as other operators write it.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ReadCondition struct {
	// Type of the condition.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	// +optional
	Status metav1.ConditionStatus `json:"status,omitempty"`
	// Reason in one word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message in words.
	// +optional
	Message string `json:"message,omitempty"`
}

// UsedBy is one holder of a Binding.
type UsedBy struct {
	// Kind of the holder.
	Kind string `json:"kind"`
	// Namespace of the holder; empty means that of the Binding.
	Namespace string `json:"namespace"`
	// Name of the holder.
	Name string `json:"name"`
}

// KVCachePool is a pool of KV cache storage.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=kvcp,categories=gpustack
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Quota",type=string,JSONPath=`.spec.quota.total`
// +kubebuilder:printcolumn:name="Usage",type=string,JSONPath=`.status.usage.total`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.clientEndpoint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KVCachePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the declared pool.
	// +optional
	Spec KVCachePoolSpec `json:"spec,omitempty,omitzero"`
	// Status is what the pool's operator observed.
	// +optional
	Status KVCachePoolStatus `json:"status,omitempty,omitzero"`
}

// KVCachePoolList is a list of KVCachePools.
//
// +kubebuilder:object:root=true
type KVCachePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KVCachePool `json:"items"`
}

// KVCachePoolSpec is the declared pool.
//
// +kubebuilder:pruning:PreserveUnknownFields
type KVCachePoolSpec struct {
	// Backends names the KVCacheBackend of the pool; the first one counts.
	// +optional
	// +listType=atomic
	Backends []string `json:"backends,omitempty"`
}

// KVCachePoolStatus is what the pool's operator observed.
//
// +kubebuilder:pruning:PreserveUnknownFields
type KVCachePoolStatus struct {
	// ClientEndpoint is the host:port that cache clients connect to.
	// +optional
	ClientEndpoint string `json:"clientEndpoint,omitempty"`
	// Conditions include QuotaLedgerAvailable.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []ReadCondition `json:"conditions,omitempty"`
}

// KVCacheBackend is the storage behind a pool.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=kvcb,categories=gpustack
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoints[?(@.name=='Client')].address`
// +kubebuilder:printcolumn:name="Capacity",type=string,JSONPath=`.status.capacity.total`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KVCacheBackend struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the declared backend.
	// +optional
	Spec KVCacheBackendSpec `json:"spec,omitempty,omitzero"`
	// Status is not read.
	// +optional
	Status KVCacheBackendStatus `json:"status,omitempty,omitzero"`
}

// KVCacheBackendList is a list of KVCacheBackends.
//
// +kubebuilder:object:root=true
type KVCacheBackendList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KVCacheBackend `json:"items"`
}

// KVCacheBackendSpec is the declared backend.
//
// +kubebuilder:pruning:PreserveUnknownFields
type KVCacheBackendSpec struct {
	// Connection is how the store is reached.
	// +optional
	Connection BackendConnection `json:"connection,omitempty,omitzero"`
	// Transport is the transport of every member group that states none.
	// +optional
	Transport *StoreTransport `json:"transport,omitempty"`
}

// BackendConnection is how the store is reached.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BackendConnection struct {
	// Managed is a store that runs in the cluster.
	// +optional
	Managed *ManagedStore `json:"managed,omitempty"`
}

// ManagedStore is a store that runs in the cluster.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ManagedStore struct {
	// Leader is the master of the store.
	// +optional
	Leader StoreLeader `json:"leader,omitempty,omitzero"`
	// Members are the groups of storage nodes.
	// +optional
	// +listType=atomic
	Members []StoreMember `json:"members,omitempty"`
}

// StoreLeader is the master of the store.
//
// +kubebuilder:pruning:PreserveUnknownFields
type StoreLeader struct {
	// MultiTenancy is false when the master keeps no tenants apart; absent means
	// that it does.
	// +optional
	MultiTenancy *bool `json:"multiTenancy,omitempty"`
}

// StoreMember is one group of storage nodes.
//
// +kubebuilder:pruning:PreserveUnknownFields
type StoreMember struct {
	// Transport of this group; absent, that of the backend.
	// +optional
	Transport *StoreTransport `json:"transport,omitempty"`
}

// StoreTransport is the transport of a store.
//
// +kubebuilder:pruning:PreserveUnknownFields
type StoreTransport struct {
	// Protocol is Auto, TCP, RDMA, EFA, CANN, ROCM, MUSA or MACA; absent and
	// Auto mean TCP.
	// +optional
	Protocol string `json:"protocol,omitempty"`
}

// KVCacheBackendStatus is not read.
//
// +kubebuilder:pruning:PreserveUnknownFields
type KVCacheBackendStatus struct{}

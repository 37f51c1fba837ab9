// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstanceType describes one kind of hardware and the Kueue queue in front of
// it. It belongs to the operator that manages the hardware; mdc reads it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=instype,categories=gpustack
// +kubebuilder:subresource:status
type InstanceType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the administrator declares.
	// +optional
	Spec InstanceTypeSpec `json:"spec,omitempty,omitzero"`
	// Status is what was observed of the hardware.
	// +optional
	Status InstanceTypeStatus `json:"status,omitempty,omitzero"`
}

// InstanceTypeList is a list of InstanceTypes.
//
// +kubebuilder:object:root=true
type InstanceTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InstanceType `json:"items"`
}

// InstanceTypeSpec is the declared part of an InstanceType.
//
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceTypeSpec struct {
	// AcceleratorGroup is "<manufacturer>-<group id>", for example
	// "nvidia-a10g".
	// +optional
	AcceleratorGroup string `json:"acceleratorGroup,omitempty"`
	// Acceleratable tells whether the type has accelerators.
	// +optional
	Acceleratable bool `json:"acceleratable,omitempty"`
	// OS of the nodes, for example "linux".
	// +optional
	OS string `json:"os,omitempty"`
	// Arch of the nodes, for example "amd64".
	// +optional
	Arch string `json:"arch,omitempty"`
	// UnitResources is what goes with one card, or with one CPU unit.
	// +optional
	UnitResources UnitResources `json:"unitResources,omitempty,omitzero"`
	// LocalStorage bounds the ephemeral storage of a Pod, for example "100Gi".
	// +optional
	LocalStorage string `json:"localStorage,omitempty"`
}

// UnitResources is the CPU and memory of one unit.
//
// +kubebuilder:pruning:PreserveUnknownFields
type UnitResources struct {
	// CPU in cores, for example "8".
	// +optional
	CPU string `json:"cpu,omitempty"`
	// RAM is the memory, for example "64Gi".
	// +optional
	RAM string `json:"ram,omitempty"`
}

// InstanceTypeStatus is the observed part of an InstanceType.
//
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceTypeStatus struct {
	// Entrance is the name of the Kueue LocalQueue for Pods of this type.
	// +optional
	Entrance string `json:"entrance,omitempty"`
	// Detail is what was observed of the cards; empty until it was computed.
	// +optional
	Detail InstanceTypeDetail `json:"detail,omitempty,omitzero"`
	// Accelerator counts whole cards.
	// +optional
	Accelerator AcceleratorLedger `json:"accelerator,omitempty,omitzero"`
}

// InstanceTypeDetail is what was observed of the cards.
//
// +kubebuilder:pruning:PreserveUnknownFields
type InstanceTypeDetail struct {
	// Manufacturer in lower case, for example "nvidia". Empty means that no
	// detail has been computed yet.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Product name.
	// +optional
	Product string `json:"product,omitempty"`
	// Family of an Ascend card, for example "910B".
	// +optional
	Family string `json:"family,omitempty"`
	// Memory of one card, for example "65535Mi".
	// +optional
	Memory string `json:"memory,omitempty"`
	// RuntimeVersion is the lowest driver runtime of the pool, for example
	// "12.9".
	// +optional
	RuntimeVersion string `json:"runtimeVersion,omitempty"`
	// RuntimeVersions is every distinct runtime of the pool, ascending.
	// +optional
	// +listType=atomic
	RuntimeVersions []string `json:"runtimeVersions,omitempty"`
	// SlicedDetail tells how the cards can be shared.
	// +optional
	SlicedDetail SlicedDetail `json:"slicedDetail,omitempty,omitzero"`
}

// SlicedDetail tells how the cards of a type can be shared.
//
// +kubebuilder:pruning:PreserveUnknownFields
type SlicedDetail struct {
	// Logical is slicing by software.
	// +optional
	Logical LogicalSlicing `json:"logical,omitempty,omitzero"`
	// Physical is partitioning by hardware.
	// +optional
	Physical PhysicalPartitioning `json:"physical,omitempty,omitzero"`
}

// LogicalSlicing is slicing by software.
//
// +kubebuilder:pruning:PreserveUnknownFields
type LogicalSlicing struct {
	// Count above 0 means that the pool offers slices.
	// +optional
	Count int32 `json:"count,omitempty"`
}

// PhysicalPartitioning is partitioning by hardware.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PhysicalPartitioning struct {
	// Count above 0 means that the pool offers partitions.
	// +optional
	Count int32 `json:"count,omitempty"`
	// Profiles are the partition profiles on offer.
	// +optional
	// +listType=map
	// +listMapKey=name
	Profiles []PartitionProfile `json:"profiles,omitempty"`
}

// PartitionProfile is one hardware partition on offer.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PartitionProfile struct {
	// Name of the profile, for example "3g.40gb".
	Name string `json:"name"`
	// Count per card.
	// +optional
	Count int32 `json:"count,omitempty"`
	// MemoryMib is the memory of one partition in MiB.
	// +optional
	MemoryMib int64 `json:"memoryMib,omitempty"`
}

// AcceleratorLedger counts whole cards of a pool.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AcceleratorLedger struct {
	// Capacity is the number of cards in the pool.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}

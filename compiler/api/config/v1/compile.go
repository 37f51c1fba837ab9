// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the configuration of mdc as a KRM function, group
// mdc.gpustack.ai.
//
// +kubebuilder:object:generate=true
// +groupName=mdc.gpustack.ai
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the configuration.
var GroupVersion = schema.GroupVersion{Group: "mdc.gpustack.ai", Version: "v1"}

// KindCompile is the kind of the configuration.
const KindCompile = "Compile"

// Compile configures mdc as a KRM function: it is what a functionConfig holds,
// and it is never applied to a cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced
type Compile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the configuration.
	// +optional
	Spec CompileSpec `json:"spec,omitempty,omitzero"`
}

// CompileSpec is the configuration of a compile.
type CompileSpec struct {
	// Namespace of objects that state none.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Facts are objects that are read and not emitted: InstanceTypes,
	// KVCachePoolBindings, KVCachePools, KVCacheBackends, ModelArtifacts,
	// Settings, RuntimeClasses.
	// +optional
	// +listType=atomic
	Facts []runtime.RawExtension `json:"facts,omitempty"`

	// Settings by name; they override Settings among the facts.
	// +optional
	Settings map[string]string `json:"settings,omitempty"`

	// WarningsAsErrors refuses what would otherwise be a warning.
	// +optional
	WarningsAsErrors bool `json:"warningsAsErrors,omitempty"`
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the API of gpustack.ai/v1 that a compile reads: Settings.
//
// +kubebuilder:object:generate=true
// +groupName=gpustack.ai
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of Setting.
var GroupVersion = schema.GroupVersion{Group: "gpustack.ai", Version: "v1"}

// KindSetting is the kind of this package.
const KindSetting = "Setting"

// Setting is one platform-wide value. Its catalog and defaults belong to the
// GPUStack operator; a Setting that is not among the facts has its default.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=set,categories=gpustack
type Setting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the value.
	// +optional
	Spec SettingSpec `json:"spec,omitempty,omitzero"`
}

// SettingList is a list of Settings.
//
// +kubebuilder:object:root=true
type SettingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Setting `json:"items"`
}

// SettingSpec holds the value of a Setting.
//
// +kubebuilder:pruning:PreserveUnknownFields
type SettingSpec struct {
	// Value as text.
	// +optional
	Value string `json:"value,omitempty"`
}

// AddToScheme registers the kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Setting{}, &SettingList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

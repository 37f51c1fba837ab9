// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ModelArtifact is a set of model weights and where they come from.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=mart,categories=gpustack
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.resolved.revision`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.status.resolved.sizeBytes`
// +kubebuilder:printcolumn:name="Resolved",type=string,JSONPath=`.status.conditions[?(@.type=='Resolved')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ModelArtifact struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is where the weights come from.
	// +optional
	Spec ModelArtifactSpec `json:"spec,omitempty,omitzero"`
	// Status is what the source resolved to.
	// +optional
	Status ModelArtifactStatus `json:"status,omitempty,omitzero"`
}

// ModelArtifactList is a list of ModelArtifacts.
//
// +kubebuilder:object:root=true
type ModelArtifactList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModelArtifact `json:"items"`
}

// ModelArtifactSpec is where the weights come from.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ModelArtifactSpec struct {
	// Source is exactly one origin.
	// +optional
	Source ArtifactSource `json:"source,omitempty,omitzero"`
	// AllowPatterns restrict which files of a hub repository are taken.
	// +optional
	// +listType=atomic
	AllowPatterns []string `json:"allowPatterns,omitempty"`
	// IgnorePatterns exclude files of a hub repository.
	// +optional
	// +listType=atomic
	IgnorePatterns []string `json:"ignorePatterns,omitempty"`
	// ExpectedDigest is the digest the content must have, "sha256:" and hex.
	// +optional
	ExpectedDigest string `json:"expectedDigest,omitempty"`
}

// ArtifactSource is exactly one origin of weights.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ArtifactSource struct {
	// HuggingFace is a repository of the Hugging Face hub.
	// +optional
	HuggingFace *HubSource `json:"huggingFace,omitempty"`
	// ModelScope is a repository of the ModelScope hub.
	// +optional
	ModelScope *HubSource `json:"modelScope,omitempty"`
	// PersistentVolumeClaim is a claim that holds the weights.
	// +optional
	PersistentVolumeClaim *ClaimSource `json:"persistentVolumeClaim,omitempty"`
	// Image is an OCI image that holds the weights.
	// +optional
	Image *ImageSource `json:"image,omitempty"`
}

// HubSource is a repository of a model hub.
//
// +kubebuilder:pruning:PreserveUnknownFields
type HubSource struct {
	// Repository, for example "Qwen/Qwen2.5-72B-Instruct".
	// +optional
	Repository string `json:"repository,omitempty"`
	// Revision is a branch, tag or commit.
	// +optional
	Revision string `json:"revision,omitempty"`
	// SecretRef names a Secret whose key "token" opens the hub.
	// +optional
	SecretRef *LocalObjectReference `json:"secretRef,omitempty"`
}

// ClaimSource is a PersistentVolumeClaim.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClaimSource struct {
	// ClaimName of the claim.
	// +optional
	ClaimName string `json:"claimName,omitempty"`
	// Path within the claim.
	// +optional
	Path string `json:"path,omitempty"`
}

// ImageSource is an OCI image.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ImageSource struct {
	// Reference pinned by digest.
	// +optional
	Reference string `json:"reference,omitempty"`
}

// ModelArtifactStatus is what the source resolved to.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ModelArtifactStatus struct {
	// Conditions include Resolved.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []ReadCondition `json:"conditions,omitempty"`
	// Resolved is the outcome; absent until the source was resolved.
	// +optional
	Resolved *ResolvedArtifact `json:"resolved,omitempty"`
}

// ResolvedArtifact is what a source resolved to.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResolvedArtifact struct {
	// Revision is the commit, 40 hex digits.
	// +optional
	Revision string `json:"revision,omitempty"`
	// ManifestDigest is "sha256:" and hex.
	// +optional
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// DigestSource is Hub or Expected.
	// +optional
	DigestSource string `json:"digestSource,omitempty"`
	// SizeBytes is the size of the weights in bytes.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`
}

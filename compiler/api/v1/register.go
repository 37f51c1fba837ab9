// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind of this package.
var GroupVersion = schema.GroupVersion{Group: "worker.gpustack.ai", Version: "v1"}

// Kinds of this package.
const (
	KindModelDeployment    = "ModelDeployment"
	KindInstanceType       = "InstanceType"
	KindKVCachePoolBinding = "KVCachePoolBinding"
	KindKVCachePool        = "KVCachePool"
	KindKVCacheBackend     = "KVCacheBackend"
	KindModelArtifact      = "ModelArtifact"
)

// AddToScheme registers the kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ModelDeployment{}, &ModelDeploymentList{},
		&InstanceType{}, &InstanceTypeList{},
		&KVCachePoolBinding{}, &KVCachePoolBindingList{},
		&KVCachePool{}, &KVCachePoolList{},
		&KVCacheBackend{}, &KVCacheBackendList{},
		&ModelArtifact{}, &ModelArtifactList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

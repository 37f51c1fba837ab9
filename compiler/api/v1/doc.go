// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the API of worker.gpustack.ai/v1: the ModelDeployment that
// mdc compiles, and the kinds it reads while doing so.
//
// The read kinds (InstanceType, KVCachePoolBinding, KVCachePool,
// KVCacheBackend, ModelArtifact) belong to other operators. Only the fields
// that a compile or the agent reads are declared; every other field is
// tolerated.
//
// +kubebuilder:object:generate=true
// +groupName=worker.gpustack.ai
package v1

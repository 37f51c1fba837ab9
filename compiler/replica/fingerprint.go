// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Fingerprint is the SHA-256, in hex, of what makes a Pod: its labels, its
// annotations without the fingerprint, and its spec with the defaults of the
// API written in and quantities in canonical form, so that a template read back
// from an API server hashes like the one in Git.
//
// It leaves out names, namespace and owner.
func Fingerprint(pod *corev1.Pod) (string, error) {
	annotations := maps.Clone(pod.Annotations)
	delete(annotations, v1.AnnotationPodSpecHash)
	spec := pod.Spec.DeepCopy()
	setDefaults(spec)
	document, err := json.Marshal(struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
		Spec        *corev1.PodSpec   `json:"spec"`
	}{pod.Labels, annotations, spec})
	if err != nil {
		return "", err
	}
	return sortedHash(document)
}

// sortedHash hashes a JSON document with its keys in order.
func sortedHash(document []byte) (string, error) {
	var tree any
	if err := json.Unmarshal(document, &tree); err != nil {
		return "", err
	}
	canonical, err := json.Marshal(tree)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

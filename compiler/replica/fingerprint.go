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
	c, err := contentOf(pod)
	if err != nil {
		return "", err
	}
	return hash(c)
}

// Content is the JSON form of what Fingerprint hashes.
func Content(pod *corev1.Pod) (any, error) {
	c, err := contentOf(pod)
	if err != nil {
		return nil, err
	}
	return tree(c)
}

// content is what makes a Pod.
type content struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Spec        any               `json:"spec"`
}

func contentOf(pod *corev1.Pod) (c content, err error) {
	c.Labels, c.Annotations = pod.Labels, maps.Clone(pod.Annotations)
	delete(c.Annotations, v1.AnnotationPodSpecHash)
	defaulted := pod.Spec.DeepCopy()
	setDefaults(defaulted)
	c.Spec, err = tree(defaulted)
	return c, err
}

// tree is the JSON form of a value. The keys of its objects are written in
// order, whatever the order of the fields in a version of the API's library.
func tree(v any) (out any, err error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(b, &out)
}

func hash(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

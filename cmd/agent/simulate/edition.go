// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
)

// versions are the templates that a role has had, oldest first. Editions that
// make the same Pods share one.
type versions struct {
	templates []*corev1.PodTemplate
	hashes    map[hashKey]string
}

type hashKey struct {
	version uint8
	seat    converge.Seat
}

// hash is the fingerprint of a seat's Pod. Values that only the cluster knows
// keep their token: they do not change in a simulation.
func (v *versions) hash(version uint8, seat converge.Seat) (string, error) {
	key := hashKey{version, seat}
	if h, ok := v.hashes[key]; ok {
		return h, nil
	}
	pod, err := replica.Stamp(v.templates[version], replica.Seat{Ordinal: seat.Ordinal, Member: seat.Member}, nil)
	if err != nil {
		return "", fmt.Errorf("stamping: %w", err)
	}
	h := pod.Annotations[v1.AnnotationPodSpecHash]
	v.hashes[key] = h
	return h, nil
}

// add returns the version of a template.
func (v *versions) add(t *corev1.PodTemplate) (uint8, error) {
	if v.hashes == nil {
		v.hashes = map[hashKey]string{}
	}
	n := len(v.templates)
	if n > 250 {
		return 0, fmt.Errorf("more than %d versions of one role", n)
	}
	v.templates = append(v.templates, t)
	fresh, err := v.hash(uint8(n), converge.Seat{})
	if err != nil {
		return 0, err
	}
	for old := range n {
		h, err := v.hash(uint8(old), converge.Seat{})
		if err != nil {
			return 0, err
		}
		if h == fresh {
			v.templates = v.templates[:n]
			delete(v.hashes, hashKey{uint8(n), converge.Seat{}})
			return uint8(old), nil
		}
	}
	return uint8(n), nil
}

// template is that of a role in a compiled deployment.
func template(d *compiler.Deployment, role string) (*corev1.PodTemplate, error) {
	name := v1.TemplateName(d.ModelDeployment.Name, role)
	for _, t := range d.Templates {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("role %s has no template %s", role, name)
}

// mostOfPod keeps the sums of cards small.
const mostOfPod = 1 << 20

// cards is how many a Pod of a role takes; a slice or a partition of one counts
// as a whole.
func cards(r *v1.Role) int {
	if r.Resources == nil || r.Resources.Accelerator == nil {
		return 0
	}
	return int(min(r.Resources.Accelerator.Value(), mostOfPod))
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// LateName is the name of a value that a compile may leave to the agent.
type LateName string

// The closed set of late values.
const (
	// LateQueueName is the LocalQueue: InstanceType status.entrance.
	LateQueueName LateName = "queueName"
	// LateRuntimeVersion is the lowest driver runtime of a pool: InstanceType
	// status.detail.runtimeVersion.
	LateRuntimeVersion LateName = "runtimeVersion"
	// LateClientEndpoint is the address of the store: KVCachePool
	// status.clientEndpoint.
	LateClientEndpoint LateName = "clientEndpoint"
)

// Token is the text that stands for the value until it is known. Its spelling
// is legal in an image tag and survives the image transformer of kustomize and
// the variable substitution of Flux.
func (n LateName) Token() string { return "__" + string(n) + "__" }

// LateSources tells where each late value is read from.
var LateSources = map[LateName]struct{ Kind, Field string }{
	LateQueueName:      {v1.KindInstanceType, "status.entrance"},
	LateRuntimeVersion: {v1.KindInstanceType, "status.detail.runtimeVersion"},
	LateClientEndpoint: {v1.KindKVCachePool, "status.clientEndpoint"},
}

// Late is one entry of the late-bound annotation.
type Late struct {
	Name LateName `json:"name"`
	// Kind, Object and Field tell where the value is read from.
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Field  string `json:"field"`
	// In lists the fields of the template that take the value, for example
	// "spec.containers[main].image". Only these are touched.
	In []string `json:"in"`
}

// NewLate returns the entry of a value that is read from the named object.
func NewLate(name LateName, object string, in ...string) Late {
	src := LateSources[name]
	return Late{Name: name, Kind: src.Kind, Object: object, Field: src.Field, In: in}
}

// FormatLate renders the annotation; empty for no entries.
func FormatLate(entries []Late) (string, error) {
	if len(entries) == 0 {
		return "", nil
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Late) int { return strings.Compare(string(a.Name), string(b.Name)) })
	b, err := json.Marshal(entries)
	return string(b), err
}

// ParseLate reads the late-bound annotation of a PodTemplate. A name that this
// version does not know is an error: it cannot be filled, so nothing may be
// created.
func ParseLate(t *corev1.PodTemplate) ([]Late, error) {
	text := t.Annotations[v1.AnnotationLateBound]
	if text == "" {
		return nil, nil
	}
	var out []Late
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("annotation %s of PodTemplate %s: %w", v1.AnnotationLateBound, t.Name, err)
	}
	for _, l := range out {
		if _, ok := LateSources[l.Name]; !ok {
			return nil, fmt.Errorf("annotation %s of PodTemplate %s: unknown late value %q", v1.AnnotationLateBound, t.Name, l.Name)
		}
	}
	return out, nil
}

// Field forms that may hold a late value.
var (
	metadataField = regexp.MustCompile(`^metadata\.(labels|annotations)\[([^\]]+)\]$`)
	imageField    = regexp.MustCompile(`^spec\.(?:initContainers|containers)\[([^\]]+)\]\.image$`)
	envField      = regexp.MustCompile(`^spec\.(?:initContainers|containers)\[([^\]]+)\]\.env\[([^\]]+)\]\.value$`)
)

// LabelField spells a label of a template as a field that may be late.
func LabelField(key string) string { return "metadata.labels[" + key + "]" }

// AnnotationField spells an annotation of a template.
func AnnotationField(key string) string { return "metadata.annotations[" + key + "]" }

// ImageField spells the image of a container.
func ImageField(container string) string { return "spec.containers[" + container + "].image" }

// EnvField spells the value of an environment variable.
func EnvField(container, name string) string {
	return "spec.containers[" + container + "].env[" + name + "].value"
}

// fill puts a late value into one field. A label cannot hold a token, so it is
// left out until the value is known; anywhere else the token is replaced. A
// field that someone has filled in by hand stays as it is.
func fill(t *corev1.PodTemplateSpec, field string, name LateName, value string) error {
	replace := func(s *string) { *s = strings.ReplaceAll(*s, name.Token(), value) }
	if m := metadataField.FindStringSubmatch(field); m != nil {
		if m[1] == "labels" {
			if t.Labels == nil {
				t.Labels = map[string]string{}
			}
			if t.Labels[m[2]] == "" {
				t.Labels[m[2]] = value
			}
			return nil
		}
		if s, ok := t.Annotations[m[2]]; ok {
			replace(&s)
			t.Annotations[m[2]] = s
		}
		return nil
	}
	m := envField.FindStringSubmatch(field)
	if m == nil {
		m = imageField.FindStringSubmatch(field)
	}
	if m == nil {
		return fmt.Errorf("late value %s: cannot fill field %q", name, field)
	}
	for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		for i := range list {
			c := &list[i]
			if c.Name != m[1] {
				continue
			}
			if len(m) == 2 {
				replace(&c.Image)
				continue
			}
			for j := range c.Env {
				if c.Env[j].Name == m[2] {
					replace(&c.Env[j].Value)
				}
			}
		}
	}
	return nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package replica turns a compiled PodTemplate into the Pod of one seat: one
// ordinal of a role and one member of that instance. The agent and the command
// line share it, so a reviewer sees the Pods that the agent creates.
package replica

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// MainContainer is the name of the engine's container.
const MainContainer = "main"

// Seat is one place for a Pod.
type Seat struct {
	// Ordinal of the instance within its role, from 0.
	Ordinal int32
	// Member of the instance, from 0; 0 is the leader.
	Member int32
}

// Stamp returns the Pod of one seat. late gives the values of the template's
// late-bound entries; entries without a value, or with an empty one, keep their
// token, and their list stays on the Pod. It is a pure function of its
// arguments.
//
// An error means that the template was not compiled by mdc, or not by a version
// this one understands.
func Stamp(t *corev1.PodTemplate, seat Seat, late map[LateName]string) (*corev1.Pod, error) {
	deployment, role, size, err := identify(t)
	if err != nil {
		return nil, err
	}
	spec := t.Template.DeepCopy()
	if spec.Labels == nil {
		spec.Labels = map[string]string{}
	}
	if err := bind(t, spec, late); err != nil {
		return nil, err
	}

	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: v1.TemplateName(deployment, role) + "-",
			Namespace:    t.Namespace,
			Labels:       spec.Labels,
			Annotations:  spec.Annotations,
		},
		Spec: spec.Spec,
	}
	maps.Copy(pod.Labels, map[string]string{
		v1.LabelPodOrdinal:          strconv.Itoa(int(seat.Ordinal)),
		v1.LabelMemberIndex:         strconv.Itoa(int(seat.Member)),
		podconstants.GroupNameLabel: GroupName(t.Namespace, deployment, role, seat.Ordinal),
	})
	if size > 1 {
		pod.GenerateName = ""
		pod.Name = MemberName(deployment, role, seat.Ordinal, seat.Member)
		pod.Spec.Hostname = pod.Name
		pod.Spec.Subdomain = InstanceName(deployment, role, seat.Ordinal)
		addRankEnv(&pod.Spec, LeaderAddress(deployment, role, seat.Ordinal), size)
	}
	hash, err := Fingerprint(pod)
	if err != nil {
		return nil, err
	}
	pod.Annotations[v1.AnnotationPodSpecHash] = hash
	return pod, nil
}

// identify reads from a template what the compile wrote there.
func identify(t *corev1.PodTemplate) (deployment, role string, size int32, err error) {
	deployment = t.Annotations[v1.AnnotationDeployment]
	role = t.Template.Annotations[podconstants.RoleHashAnnotation]
	if deployment == "" || role == "" {
		return "", "", 0, fmt.Errorf("PodTemplate %s/%s: annotations %s and %s are missing: it was not compiled by mdc",
			t.Namespace, t.Name, v1.AnnotationDeployment, podconstants.RoleHashAnnotation)
	}
	n, err := strconv.ParseInt(t.Annotations[v1.AnnotationSize], 10, 32)
	if err != nil || n < 1 {
		return "", "", 0, fmt.Errorf("PodTemplate %s/%s: annotation %s=%q is no positive number",
			t.Namespace, t.Name, v1.AnnotationSize, t.Annotations[v1.AnnotationSize])
	}
	return deployment, role, int32(n), nil
}

// bind fills in the late values that are known.
func bind(t *corev1.PodTemplate, spec *corev1.PodTemplateSpec, late map[LateName]string) error {
	entries, err := ParseLate(t)
	if err != nil {
		return err
	}
	var open []Late
	for _, e := range entries {
		value := late[e.Name]
		if value == "" {
			open = append(open, e)
			continue
		}
		for _, field := range e.In {
			if err := fill(spec, field, e.Name, value); err != nil {
				return err
			}
		}
	}
	text, err := FormatLate(open)
	if err != nil || text == "" {
		return err
	}
	spec.Annotations[v1.AnnotationLateBound] = text
	return nil
}

// addRankEnv tells the engine its place in a multi-Pod instance. The index is
// read from a label, so that all members carry one container spec.
func addRankEnv(spec *corev1.PodSpec, leader string, size int32) {
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if c.Name != MainContainer {
			continue
		}
		c.Env = append(c.Env,
			corev1.EnvVar{Name: v1.EnvLeaderAddress, Value: leader},
			corev1.EnvVar{Name: v1.EnvReplicaSize, Value: strconv.Itoa(int(size))},
			corev1.EnvVar{Name: v1.EnvMemberIndex, ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + v1.LabelMemberIndex + "']"},
			}},
		)
	}
}

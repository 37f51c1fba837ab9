// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// BenchmarkHash is what a pass costs for each Pod.
func BenchmarkHash(b *testing.B) {
	t := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: "m-r", Namespace: "n", Annotations: map[string]string{
		v1.AnnotationDeployment: "m", v1.AnnotationSize: "1",
	}}}
	t.Template.Annotations = map[string]string{"kueue.x-k8s.io/role-hash": "r"}
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/health"}}}
	t.Template.Spec.Containers = []corev1.Container{{
		Name: "main", Image: "i:1", Command: []string{"vllm", "serve", "model", "--host", "0.0.0.0", "--port", "8000"},
		StartupProbe: probe, LivenessProbe: probe, ReadinessProbe: probe,
	}}
	b.ReportAllocs()
	for b.Loop() {
		r := &Role{Spec: &v1.Role{Name: "r"}, view: &View{Deployment: &v1.ModelDeployment{}}, full: t}
		if r.hash(converge.Seat{Ordinal: 1}, false) == "" {
			b.Fatal("no hash")
		}
	}
}

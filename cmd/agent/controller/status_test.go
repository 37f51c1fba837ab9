// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/observe"
	"gpustack.ai/mdc/cmd/agent/probe"
)

// TestEngines: who is asked about the store.
func TestEngines(t *testing.T) {
	pod := func(uid string, edit func(*corev1.Pod)) corev1.Pod {
		p := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				UID:         types.UID(uid),
				Labels:      map[string]string{v1.LabelMemberIndex: "0"},
				Annotations: map[string]string{v1.AnnotationMetricsPort: "8200", v1.AnnotationMetricsScheme: "https", v1.AnnotationMetricsPath: "/metrics"},
			},
			Status: corev1.PodStatus{PodIP: "fd00::1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
		edit(&p)
		return p
	}
	view := func(edit func(*observe.View)) *observe.View {
		v := &observe.View{Deployment: &v1.ModelDeployment{}}
		v.Deployment.Spec.KVCache = &v1.KVCacheSpec{}
		v.Deployment.Spec.Engine.Name = v1.EngineVLLM
		v.Pods = []corev1.Pod{
			pod("b", func(*corev1.Pod) {}),
			pod("a", func(p *corev1.Pod) {
				p.Status.PodIP, p.Annotations = "10.0.0.1", map[string]string{v1.AnnotationMetricsPort: "8000"}
			}),
			pod("follower", func(p *corev1.Pod) { p.Labels[v1.LabelMemberIndex] = "1" }),
			pod("leaving", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }),
			pod("starting", func(p *corev1.Pod) { p.Status.Conditions = nil }),
			pod("unscheduled", func(p *corev1.Pod) { p.Status.PodIP = "" }),
			pod("elsewhere", func(p *corev1.Pod) { p.Annotations[v1.AnnotationMetricsPort] = "80@example.com" }),
			pod("taken over", func(p *corev1.Pod) { p.Annotations = nil }),
		}
		edit(v)
		return v
	}
	want := []probe.Target{{UID: "a", URL: "http://10.0.0.1:8000/metrics"}, {UID: "b", URL: "https://[fd00::1]:8200/metrics"}}
	if diff := cmp.Diff(want, engines(view(func(*observe.View) {}))); diff != "" {
		t.Error(diff)
	}
	for name, edit := range map[string]func(*observe.View){
		"no cache": func(v *observe.View) { v.Deployment.Spec.KVCache = nil },
		"SGLang":   func(v *observe.View) { v.Deployment.Spec.Engine.Name = v1.EngineSGLang },
		"deleting": func(v *observe.View) { v.Observation.Deleting = true },
	} {
		if got := engines(view(edit)); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

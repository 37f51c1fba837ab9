// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
)

// heard is a recorder that keeps what it is told.
type heard []string

func (h *heard) Eventf(_, related runtime.Object, _, reason, _, _ string, _ ...any) {
	name := ""
	if p, ok := related.(*corev1.Pod); ok {
		name = " " + p.Name
	}
	*h = append(*h, reason+name)
}

// TestPodEvents: each event comes once per Pod, reason and number of restarts.
func TestPodEvents(t *testing.T) {
	pod := func(name string, edit func(*corev1.Pod)) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("u-" + name)}}
		edit(&p)
		return p
	}
	fine := func(*corev1.Pod) {}
	leaving := func(p *corev1.Pod) { now := metav1.Now(); p.DeletionTimestamp = &now }
	evicted := func(p *corev1.Pod) { p.Status.Reason, p.Status.Phase = "Evicted", corev1.PodFailed }
	restarted := func(n ...int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			for _, c := range n {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{RestartCount: c})
			}
		}
	}
	both := func(a, b func(*corev1.Pod)) func(*corev1.Pod) { return func(p *corev1.Pod) { a(p); b(p) } }
	type step struct {
		pods []corev1.Pod
		want []string
	}
	for name, steps := range map[string][]step{
		"nothing":       {{[]corev1.Pod{pod("a", fine)}, nil}},
		"leaving, once": {{[]corev1.Pod{pod("a", leaving)}, []string{"ReplicaLeaving a"}}, {[]corev1.Pod{pod("a", leaving)}, nil}},
		"one that has never started": {{[]corev1.Pod{pod("a", both(leaving, func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
		}))}, nil}},
		"evicted beats leaving":  {{[]corev1.Pod{pod("a", both(evicted, leaving))}, []string{"ReplicaEvicted a"}}},
		"leaving beats restarts": {{[]corev1.Pod{pod("a", both(leaving, restarted(2)))}, []string{"ReplicaLeaving a"}}},
		"restarts, each once": {
			{[]corev1.Pod{pod("a", restarted(1, 0))}, []string{"ReplicaRestarted a"}},
			{[]corev1.Pod{pod("a", restarted(1, 0))}, nil},
			{[]corev1.Pod{pod("a", restarted(1, 1))}, []string{"ReplicaRestarted a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &heard{}
			r, m := &Reconciler{Events: h}, &memory{}
			for i, s := range steps {
				*h = nil
				v := &observe.View{Deployment: &v1.ModelDeployment{}, Pods: s.pods}
				r.announce(v.Deployment, m, notes(v, &converge.Plan{}, nil))
				if !slices.Equal(*h, s.want) {
					t.Errorf("pass %d: %q, want %q", i, *h, s.want)
				}
			}
		})
	}
	h := &heard{}
	v := &observe.View{Deployment: &v1.ModelDeployment{}, Pods: []corev1.Pod{pod("a", fine)}}
	(&Reconciler{Events: h}).announce(v.Deployment, &memory{}, notes(v, &converge.Plan{}, map[string]bool{string(v.Pods[0].UID): true}))
	if fmt.Sprint(*h) != "[ReplicaLeaving a]" {
		t.Errorf("a Pod that was just deleted: %q", *h)
	}
}

// TestPatience: what a host is about to mend is told only when it stays.
func TestPatience(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := &heard{}
	r, m, md := &Reconciler{Events: h, Now: func() time.Time { return now }}, &memory{}, &v1.ModelDeployment{}
	stale := []note{{key: "k", reason: "RenderFailed", patience: applied}}
	for i, step := range []struct {
		after time.Duration
		notes []note
		again time.Duration
		heard int
	}{
		{0, stale, applied, 0},
		{applied / 2, stale, applied / 2, 0},
		{applied / 4, nil, 0, 0}, // mended
		{applied, stale, applied, 0},
		{applied, stale, 0, 1},
		{applied, stale, 0, 1},
	} {
		now = now.Add(step.after)
		if again := r.announce(md, m, step.notes); again != step.again || len(*h) != step.heard {
			t.Errorf("step %d: again after %v, heard %q", i, again, *h)
		}
	}
}

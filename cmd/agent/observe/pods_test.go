// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// known are Nodes by what they are called.
var known = &nodes{state: func(name string) nodeState {
	return map[string]nodeState{"lost": nodeLost, "gone": nodeGone}[name]
}}

func TestPodOf(t *testing.T) {
	const ordinal, member = v1.LabelPodOrdinal, v1.LabelMemberIndex
	now := metav1.Now()
	condition := func(typ corev1.PodConditionType, status corev1.ConditionStatus, reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: typ, Status: status, Reason: reason})
		}
	}
	label := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
	}
	phase := func(ph corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = ph } }
	for name, tc := range map[string]struct {
		edit func(*corev1.Pod)
		want converge.Pod
	}{
		"bare":                    {func(*corev1.Pod) {}, converge.Pod{Ordinal: -1}},
		"ordinal":                 {label(ordinal, "12"), converge.Pod{Ordinal: 12}},
		"no number":               {label(ordinal, "x"), converge.Pod{Ordinal: -1}},
		"negative":                {label(ordinal, "-2"), converge.Pod{Ordinal: -1}},
		"too great":               {label(ordinal, "99999999999"), converge.Pod{Ordinal: -1}},
		"member":                  {label(member, "3"), converge.Pod{Ordinal: -1, Member: 3}},
		"bad member is leader":    {label(member, "-3"), converge.Pod{Ordinal: -1}},
		"role":                    {label(v1.LabelComponent, "r"), converge.Pod{Ordinal: -1, Role: "r"}},
		"group":                   {label("kueue.x-k8s.io/pod-group-name", "g"), converge.Pod{Ordinal: -1, Group: "g"}},
		"managed":                 {label("kueue.x-k8s.io/managed", "true"), converge.Pod{Ordinal: -1, Managed: true}},
		"not managed":             {label("kueue.x-k8s.io/managed", "false"), converge.Pod{Ordinal: -1}},
		"held":                    {func(p *corev1.Pod) { p.Finalizers = []string{"a", "kueue.x-k8s.io/managed"} }, converge.Pod{Ordinal: -1, Held: true}},
		"hash":                    {func(p *corev1.Pod) { p.Annotations = map[string]string{v1.AnnotationPodSpecHash: "h"} }, converge.Pod{Ordinal: -1, Hash: "h"}},
		"deleting":                {func(p *corev1.Pod) { p.DeletionTimestamp = &now }, converge.Pod{Ordinal: -1, Deleting: true}},
		"running":                 {phase(corev1.PodRunning), converge.Pod{Ordinal: -1}},
		"succeeded":               {phase(corev1.PodSucceeded), converge.Pod{Ordinal: -1, Ended: true}},
		"failed":                  {phase(corev1.PodFailed), converge.Pod{Ordinal: -1, Ended: true}},
		"ready":                   {condition(corev1.PodReady, corev1.ConditionTrue, ""), converge.Pod{Ordinal: -1, Ready: true}},
		"not ready":               {condition(corev1.PodReady, corev1.ConditionFalse, ""), converge.Pod{Ordinal: -1}},
		"preempted":               {condition("TerminationTarget", corev1.ConditionTrue, "WorkloadEvictedDueToPreempted"), converge.Pod{Ordinal: -1, Preempted: true}},
		"ended for another cause": {condition("TerminationTarget", corev1.ConditionTrue, "WorkloadDeleted"), converge.Pod{Ordinal: -1}},
		"on a lost Node":          {func(p *corev1.Pod) { p.Spec.NodeName = "lost" }, converge.Pod{Ordinal: -1, NodeLost: true}},
		"on another Node":         {func(p *corev1.Pod) { p.Spec.NodeName = "fine" }, converge.Pod{Ordinal: -1}},
		"its Node is gone":        {func(p *corev1.Pod) { p.Spec.NodeName = "gone" }, converge.Pod{Ordinal: -1, NodeGone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"}}
			tc.edit(p)
			tc.want.Name, tc.want.UID = "p", "u"
			if diff := cmp.Diff(tc.want, podOf(p, known)); diff != "" {
				t.Error(diff)
			}
			trimPod(p) // must not change what is read
			if diff := cmp.Diff(tc.want, podOf(p, known)); diff != "" {
				t.Errorf("once trimmed: %s", diff)
			}
		})
	}
}

func TestIsOwn(t *testing.T) {
	md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Name: "m", UID: "u"}}
	own := func(edit func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{v1.LabelName: v1.NameModelDeployment, v1.LabelInstance: "m"},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "worker.gpustack.ai/v1", Kind: "ModelDeployment", Name: "m", UID: "u", Controller: ptr.To(true)},
			},
		}}
		edit(p)
		return p
	}
	for name, tc := range map[string]struct {
		edit            func(*corev1.Pod)
		own, controlled bool
	}{
		"own":                {func(*corev1.Pod) {}, true, true},
		"another UID":        {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "x" }, false, true},
		"no controller":      {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, false, false},
		"no owner":           {func(p *corev1.Pod) { p.OwnerReferences = nil }, false, false},
		"labels of another":  {func(p *corev1.Pod) { p.Labels[v1.LabelInstance] = "x" }, false, true},
		"no labels":          {func(p *corev1.Pod) { p.Labels = nil }, false, true},
		"another controller": {func(p *corev1.Pod) { p.OwnerReferences[0].Kind, p.OwnerReferences[0].UID = "ReplicaSet", "x" }, false, false},
		"another group": {func(p *corev1.Pod) {
			p.OwnerReferences[0].APIVersion, p.OwnerReferences[0].UID = "example.com/v1", "x"
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := own(tc.edit)
			if got := IsOwn(p, md); got != tc.own {
				t.Errorf("own: %v", got)
			}
			if got := Controller(p) != nil; got != tc.controlled {
				t.Errorf("controlled: %v", got)
			}
		})
	}
}

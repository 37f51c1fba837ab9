// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
)

const cached = `{model: {name: Qwen/Qwen3-8B}, engine: {name: vLLM, version: "0.29.0"}, kvCache: {poolRef: {name: dram}}, roles: [{name: server, replicas: 2, instanceType: pool-a, resources: {accelerator: 1}}]}`

func configOf(p corev1.Pod) string { return p.Annotations[v1.AnnotationClientConfig] }

// untilCached waits for two Pods that use the store. Those that an agent makes
// before it sees the store's address are replaced.
func (w *world) untilCached() {
	w.Helper()
	w.until("two Pods that use the store", func() bool {
		pods := w.pods()
		return len(pods) == 2 && configOf(pods[0]) != "" && configOf(pods[1]) != ""
	})
}

func (w *world) binding() *v1.KVCachePoolBinding {
	w.Helper()
	b := &v1.KVCachePoolBinding{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dram"}, b); err != nil {
		w.Fatal(err)
	}
	return b
}

// TestStore follows a deployment with a cache from its first start to its end.
func TestStore(t *testing.T) {
	w := newWorld(t)
	w.apply(w.compile(cached, pinnedFact, bindingFact, poolFact, backendFact))

	res, err := w.pass("m")
	if err != nil || len(w.pods()) > 0 || res.RequeueAfter <= 0 || res.RequeueAfter > 2*time.Minute {
		t.Fatalf("before there is a store: %v, %v, Pods %s", res, err, w.names())
	}

	w.store("")
	w.passes("m", 1)
	for _, p := range w.pods() {
		if configOf(p) != "" {
			t.Errorf("a store without an address is used: %s", configOf(p))
		}
	}
	if n := len(w.pods()); n != 2 {
		t.Fatalf("%d Pods", n)
	}
	if got, want := w.binding().Status.UsedBy, []v1.UsedBy{{Kind: "ModelDeployment", Name: "m"}}; !slices.Equal(got, want) {
		t.Errorf("usedBy %v", got)
	}
	if s := w.deployment("m").Status; s.KVCache != nil {
		t.Errorf("the store counts as seen: %+v", s.KVCache)
	}

	// The store gets its address: what runs without it is replaced.
	w.setEndpoint("h:1")
	w.admit()
	w.passes("m", 1)
	if s := w.deployment("m").Status.KVCache; s == nil || s.Binding != "dram" || s.Pool != w.namespace || s.Domain.Name != "team-a" || s.Domain.BlockSize != 64 {
		t.Errorf("kvCache %+v", s)
	}

	// Another holder's entry stays, in order.
	b := w.binding()
	b.Status.UsedBy = append(b.Status.UsedBy, v1.UsedBy{Kind: "ModelDeployment", Name: "other"})
	if err := w.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}

	// Nothing is made for another tenant than the Binding's.
	b.Spec.Domain.Name = "team-b"
	if err := w.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	w.kill()
	w.passes("m", 2)
	if n := len(w.pods()); n != 0 {
		t.Errorf("%d Pods of another tenant", n)
	}
	w.until("an event", func() bool {
		e := w.events("TenantMismatch")
		return len(e) == 1 && strings.Contains(e[0], `"team-a"`) && strings.Contains(e[0], `"team-b"`)
	})
	b = w.binding()
	b.Spec.Domain.Name = "team-a"
	if err := w.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	w.passes("m", 1)
	for _, p := range w.pods() {
		if !strings.Contains(configOf(p), `"master_server_address":"h:1"`) {
			t.Errorf("client config %s", configOf(p))
		}
	}

	// The end.
	if err := w.Delete(t.Context(), w.deployment("m")); err != nil {
		t.Fatal(err)
	}
	w.passes("m", 1)
	if w.deployment("m") == nil {
		t.Error("gone before its Pods")
	}
	w.passes("m", 2)
	if w.deployment("m") != nil {
		t.Error("still there")
	}
	if got, want := w.binding().Status.UsedBy, []v1.UsedBy{{Kind: "ModelDeployment", Name: "other"}}; !slices.Equal(got, want) {
		t.Errorf("usedBy %v", got)
	}
}

// TestUnnamedTenant: a template from which somebody takes the tenant is not used,
// and nobody who runs is turned over for it.
func TestUnnamedTenant(t *testing.T) {
	for name, spoil := range map[string]func(*corev1.PodTemplate){
		"the tenant": func(t *corev1.PodTemplate) {
			text := t.Template.Annotations[v1.AnnotationClientConfig]
			t.Template.Annotations[v1.AnnotationClientConfig] = strings.Replace(text, `,"tenant_id":"team-a"`, "", 1)
		},
		"all": func(t *corev1.PodTemplate) { delete(t.Template.Annotations, v1.AnnotationClientConfig) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.compile(cached, pinnedFact, bindingFact, poolFact, backendFact)
			w.store("h:1")
			w.apply(c)
			w.untilPass("two Pods that use the store", func() bool { return len(w.pods()) == 2 && configOf(w.pods()[0]) != "" })
			w.spoil(c, spoil, "Compiled=False/TenantMismatch", `Compiled~"team-a"`, "Stalled=True/TenantMismatch")
		})
	}
}

// spoil lets two replicas serve and then changes their template: that is told, and
// nobody who serves is touched.
func (w *world) spoil(c compiled, change func(*corev1.PodTemplate), told ...string) {
	w.Helper()
	w.admit()
	w.serve()
	w.told("Compiled=True/InSync")
	change(c.templates[0])
	w.apply(c)
	for range 3 {
		w.told(told...)
	}
	if n := len(w.pods()); n != 2 {
		w.Errorf("%d Pods are left", n)
	}
}

// untilPass makes passes until something holds.
func (w *world) untilPass(what string, holds func() bool) {
	w.Helper()
	w.until(what, func() bool {
		w.passes("m", 1)
		return holds()
	})
}

func (w *world) setEndpoint(endpoint string) {
	w.Helper()
	pool := &v1.KVCachePool{}
	if err := w.Get(w.Context(), client.ObjectKey{Name: w.namespace}, pool); err != nil {
		w.Fatal(err)
	}
	pool.Status.ClientEndpoint = endpoint
	if err := w.Status().Update(w.Context(), pool); err != nil {
		w.Fatal(err)
	}
	w.until("the address in the cache", func() bool {
		err := w.r.Cache.Get(w.Context(), client.ObjectKey{Name: w.namespace}, pool)
		return err == nil && pool.Status.ClientEndpoint == endpoint
	})
}

// kill makes all Pods and Workloads vanish.
func (w *world) kill() {
	w.Helper()
	for _, p := range w.pods() {
		if err := w.Delete(w.Context(), &p, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			w.Fatal(err)
		}
	}
	w.clearWorkloads()
	w.letGo()
}

// TestScaleDown: the Pods above go, then their Workloads, and no other.
func TestScaleDown(t *testing.T) {
	w := newWorld(t)
	w.apply(w.compile(strings.Replace(ten, "10", "3", 1), pinnedFact))
	w.passes("m", 1)
	w.admit()
	w.createOrUpdate(w.compile(strings.Replace(ten, "10", "1", 1), pinnedFact).md)
	res, err := w.pass("m")
	if err != nil || res.RequeueAfter != 2*time.Second {
		t.Fatal(res, err)
	}
	for _, p := range w.pods() {
		if p.DeletionTimestamp == nil != (p.Labels[v1.LabelPodOrdinal] == "0") {
			t.Errorf("ordinal %s: deletion %v", p.Labels[v1.LabelPodOrdinal], p.DeletionTimestamp)
		}
	}
	if n := len(w.workloads()); n != 1 {
		t.Errorf("%d Workloads", n)
	}
	w.letGo()
	w.passes("m", 2)
	if n := len(w.pods()); n != 1 {
		t.Errorf("%d Pods", n)
	}
	w.until("two events", func() bool { return len(w.events("ReplicaLeaving")) == 2 })
	if md := w.deployment("m"); md.Status.Roles[0].Desired != 1 {
		t.Errorf("desired %d", md.Status.Roles[0].Desired)
	}
}

// TestPreconditions: an object that only has the name of the one to be deleted
// is left alone, and one that is gone is no fault.
func TestPreconditions(t *testing.T) {
	w := newWorld(t)
	c := w.compile(strings.Replace(ten, "10", "1", 1), pinnedFact)
	w.apply(c)
	w.passes("m", 1)
	w.admit()
	pod, workload := w.pods()[0].Name, w.workloads()[0]
	view, err := w.r.Reader.Read(t.Context(), w.deployment("m"))
	if err != nil {
		t.Fatal(err)
	}
	done := w.r.Actor.Do(t.Context(), view, &converge.Plan{
		DeletePods:      []converge.DeletePod{{Name: pod, UID: "another"}, {Name: "gone", UID: "x"}},
		DeleteWorkloads: []converge.DeleteWorkload{{Name: workload, UID: "another"}, {Name: "gone", UID: "x"}},
	})
	if done.Err != nil || done.Again {
		t.Errorf("%+v", done)
	}
	if w.pods()[0].DeletionTimestamp != nil || len(w.workloads()) != 1 {
		t.Error("another object was deleted")
	}
}

// TestLostNode: while the Node of a Pod that is on its way out answers no more,
// its Workload stays; once the Node is gone it goes.
func TestLostNode(t *testing.T) {
	w := newWorld(t)
	w.apply(w.compile(strings.Replace(ten, "10", "1", 1), pinnedFact))
	w.passes("m", 1)
	w.admit()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	w.create(node)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	if err := w.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	pod := w.pods()[0]
	if err := w.SubResource("binding").Create(t.Context(), &pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node.Name}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), &pod); err != nil {
		t.Fatal(err)
	}
	w.until("the lost Node in the cache", func() bool {
		cached := &corev1.Node{}
		err := w.r.Cache.Get(t.Context(), client.ObjectKeyFromObject(node), cached)
		c := cached.Status.Conditions
		return err == nil && len(c) == 1 && c[0].Status == corev1.ConditionUnknown
	})
	w.passes("m", 2)
	if len(w.workloads()) != 1 || len(w.pods()) != 1 {
		t.Fatalf("swept on a lost Node: %v", w.workloads())
	}
	if err := w.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	w.until("the Node out of the cache", func() bool {
		return w.r.Cache.Get(t.Context(), client.ObjectKeyFromObject(node), node) != nil
	})
	w.passes("m", 1)
	if len(w.workloads()) != 0 {
		t.Error("not swept once the Node is gone")
	}
}

// TestForeign: a Pod that carries a group of the deployment blocks its place; one
// of an earlier deployment of the name is let go.
func TestForeign(t *testing.T) {
	w := newWorld(t)
	c := w.compile(strings.Replace(ten, "10", "1", 1), pinnedFact)
	w.apply(c)
	w.passes("m", 1)
	pod := w.pods()[0]
	foreign := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "stranger", Labels: pod.Labels, Finalizers: []string{"kueue.x-k8s.io/managed"},
			OwnerReferences: []metav1.OwnerReference{pod.OwnerReferences[0]},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	foreign.OwnerReferences[0].UID = types.UID("earlier")
	// The earlier one had more replicas.
	higher := foreign.DeepCopy()
	higher.Name = "higher"
	higher.Labels[v1.LabelPodOrdinal] = "7"
	higher.Labels["kueue.x-k8s.io/pod-group-name"] = replica.GroupName(w.namespace, "m", "server", 7)
	w.kill()
	w.create(foreign, higher)
	w.admit()
	w.passes("m", 2)
	if got := w.names(); got != "higher stranger" {
		t.Fatalf("Pods: %s", got)
	}
	w.until("one event", func() bool {
		e := w.events("SlotBlocked")
		return len(e) == 1 && strings.Contains(e[0], `"stranger"`)
	})
	if len(w.workloads()) != 2 {
		t.Error("the Workload of a Pod that stays was deleted")
	}
	for _, p := range []client.Object{foreign, higher} {
		if err := w.Delete(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	w.passes("m", 1)
	if n := len(w.workloads()); n != 0 {
		t.Errorf("%d Workloads that hold abandoned Pods were not deleted", n)
	}
	w.letGo()
	w.passes("m", 1)
	if len(w.pods()) != 1 || !observe.IsOwn(&w.pods()[0], w.deployment("m")) {
		t.Errorf("Pods: %s", w.names())
	}
}

// TestTerminatingNamespace: that nothing can be created where everything ends is
// no fault, and is found out once.
func TestTerminatingNamespace(t *testing.T) {
	w := newWorld(t)
	w.apply(w.compile(ten, pinnedFact))
	if err := w.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 0} {
		w.settle()
		w.traffic.take()
		w.passes("m", 1)
		_, writes := w.traffic.take()
		tried := slices.DeleteFunc(writes, func(s string) bool { return !strings.HasPrefix(s, "POST") })
		if len(tried) != want {
			t.Errorf("pass %d: %q", i, tried)
		}
	}
}

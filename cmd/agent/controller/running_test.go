// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"bytes"
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/emit"

	"gpustack.ai/mdc/cmd/agent/manifests"
)

// asAgent gives the agent the rights of its own account and no other.
func asAgent(w *world, cfg *rest.Config) {
	must := func(err error) {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
	}
	objects, err := manifests.Rights(w.namespace)
	must(err)
	var text bytes.Buffer
	must(emit.YAML(&text, objects))
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	c := shared.Get(w.T)
	must(c.ApplyYAML(ctx, text.Bytes()))
	account, err := c.As(ctx, w.namespace, manifests.Name)
	must(err)
	cfg.BearerToken = account.BearerToken
	w.election = true
}

// TestRights follows a deployment through its life with the rights that the
// agent is given, none of which may be missing.
func TestRights(t *testing.T) {
	w := newRunningWorld(t, asAgent)
	w.store("h:1")
	w.apply(w.compile(cached, typeFact, bindingFact, poolFact, backendFact))
	w.until("the queue is missed", func() bool {
		e := w.events("RenderFailed")
		return len(e) > 0 && strings.Contains(e[0], "queueName") && strings.Contains(e[0], "LocalQueue")
	})
	w.typeOf("12.9")
	w.localQueue("queue-b", "pool-a")
	w.untilCached()
	w.localQueue("queue-a", "pool-a")
	w.until("the queues are ambiguous", func() bool { return len(w.events("QueueAmbiguous")) == 1 })
	for _, p := range w.pods() {
		if q := p.Labels[v1.LabelQueueName]; q != "queue-b" {
			t.Errorf("queue %q", q)
		}
		if image := p.Spec.Containers[0].Image; image != "gpustack/runner:cuda12.9-vllm0.29.0" {
			t.Errorf("image %s", image)
		}
	}
	w.until("the claim", func() bool { return len(w.binding().Status.UsedBy) == 1 })
	w.until("the status", func() bool { return w.deployment("m").Status.KVCache != nil })

	w.admit()
	w.scale(1)
	w.until("one Workload", func() bool { return len(w.workloads()) == 1 })
	w.letGo()
	w.until("one Pod", func() bool { return len(w.pods()) == 1 })

	if err := w.Delete(t.Context(), w.deployment("m")); err != nil {
		t.Fatal(err)
	}
	w.until("no Workload", func() bool { return len(w.workloads()) == 0 })
	w.letGo()
	w.until("the end", func() bool { return w.deployment("m") == nil })
	if got := w.binding().Status.UsedBy; len(got) != 0 {
		t.Errorf("usedBy %v", got)
	}
	if denied := w.traffic.forbidden(); len(denied) > 0 {
		t.Errorf("denied: %q", denied)
	}
}

// TestWakes: what a pass waits for makes a pass when it comes.
func TestWakes(t *testing.T) {
	w := newRunningWorld(t)
	c := w.compile(strings.Replace(pairs, "REPLICAS", "1", 1), pinnedFact)
	w.create(c.md)
	w.until("no template", func() bool {
		e := w.events("RenderFailed")
		return len(e) == 1 && strings.Contains(e[0], "mdc build")
	})
	for _, o := range c.templates {
		w.create(o)
	}
	w.until("no Service", func() bool { return len(w.events("ServiceMissing")) == 1 })
	for _, o := range c.services {
		w.create(o)
	}
	w.until("Pods", func() bool { return w.names() == "m-server-r0-m0 m-server-r0-m1" })
}

// TestNodesTellVersion: without an InstanceType in the cluster, the lowest
// version of the Nodes that its ClusterQueue gives quota for is used.
func TestNodesTellVersion(t *testing.T) {
	w := newRunningWorld(t)
	typ := w.namespace
	w.create(
		w.node("a", map[string]string{"pool": typ, "nvidia.com/cuda.runtime.major": "12", "nvidia.com/cuda.runtime.minor": "9"}),
		w.node("b", map[string]string{"pool": "other", "nvidia.com/cuda.runtime.major": "11", "nvidia.com/cuda.runtime.minor": "8"}))
	named := func(text string) string { return strings.ReplaceAll(text, "pool-a", typ) }
	w.apply(w.compile(named(strings.Replace(ten, "10", "1", 1)), named(typeFact)))
	w.localQueue("queue", typ)
	w.create(
		&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: typ}, Spec: kueue.ResourceFlavorSpec{NodeLabels: map[string]string{"pool": typ}}},
		&kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: typ}, Spec: kueue.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []kueue.ResourceGroup{{
				CoveredResources: []corev1.ResourceName{"cpu"},
				Flavors:          []kueue.FlavorQuotas{{Name: kueue.ResourceFlavorReference(typ), Resources: []kueue.ResourceQuota{{Name: "cpu"}}}},
			}},
		}})
	w.until("a Pod", func() bool { return len(w.pods()) == 1 })
	if image := w.pods()[0].Spec.Containers[0].Image; image != "gpustack/runner:cuda12.9-vllm0.29.0" {
		t.Errorf("image %s", image)
	}
	w.admit()
	w.create(w.node("c", map[string]string{"pool": typ, "nvidia.com/cuda.runtime-version.full": "12.8.1"}))
	w.until("a rollout to the lower version", func() bool {
		w.letGo()
		pods := w.pods()
		return len(pods) == 1 && pods[0].Spec.Containers[0].Image == "gpustack/runner:cuda12.8-vllm0.29.0"
	})
	w.until("an event", func() bool {
		e := w.events("RuntimeVersionSkew")
		return len(e) == 1 && strings.Contains(e[0], "12.8, 12.9")
	})
}

// TestPinned: that a value in Git is outdated is said once, and changes nothing.
func TestPinned(t *testing.T) {
	w := newWorld(t)
	w.typeOf("12.8")
	w.apply(w.compile(strings.Replace(ten, "10", "1", 1), pinnedFact))
	w.until("the type in the cache", func() bool {
		typ := &v1.InstanceType{}
		err := w.r.Cache.Get(t.Context(), client.ObjectKey{Name: "pool-a"}, typ)
		return err == nil && typ.Status.Detail.RuntimeVersion == "12.8"
	})
	w.passes("m", 3)
	if image := w.pods()[0].Spec.Containers[0].Image; image != "gpustack/runner:cuda12.9-vllm0.29.0" {
		t.Errorf("image %s", image)
	}
	w.until("an event", func() bool {
		e := w.events("PinnedFactStale")
		return len(e) == 1 && strings.Contains(e[0], `"12.9"`) && strings.Contains(e[0], `"12.8"`)
	})
}

func (w *world) node(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + name, Labels: labels}}
}

// typeOf makes the InstanceType pool-a, which knows no queue, for as long as the
// test runs.
func (w *world) typeOf(runtime string) {
	w.Helper()
	t := &v1.InstanceType{ObjectMeta: metav1.ObjectMeta{Name: "pool-a"}}
	w.create(t)
	w.Cleanup(func() { _ = w.Delete(context.Background(), t) })
	t.Status.Detail.RuntimeVersion = runtime
	if err := w.Status().Update(w.Context(), t); err != nil {
		w.Fatal(err)
	}
}

func (w *world) scale(replicas int32) {
	w.Helper()
	md := w.deployment("m")
	before := md.DeepCopy()
	md.Spec.Roles[0].Replicas = replicas
	if err := w.Patch(w.Context(), md, client.MergeFrom(before)); err != nil {
		w.Fatal(err)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
)

// TestServingGroups: four cards are enough for two of three Pods with two cards
// each; the third gets them when a Workload is deleted, and not before.
func TestServingGroups(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 4)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		p.create(name, Normal)
	}
	var running, waits []string
	p.must(Eventually(p.ctx(), "two of three Pods run", func(ctx context.Context) error {
		running, waits = nil, nil
		for _, name := range names {
			pod, err := p.Client.CoreV1().Pods(p.name).Get(ctx, name, metav1.GetOptions{})
			switch {
			case err != nil:
				return err
			case podReady(pod):
				running = append(running, name)
			case len(pod.Spec.SchedulingGates) > 0:
				waits = append(waits, name)
			}
		}
		if len(running) == 2 && len(waits) == 1 {
			return nil
		}
		return fmt.Errorf("running %v, gated %v", running, waits)
	}))
	ips := map[string]bool{}
	for _, name := range running {
		pod := p.pod(name, phase(corev1.PodRunning), addressed, managed)
		if pod.Spec.NodeName != p.name {
			t.Errorf("Pod %s is on node %q", name, pod.Spec.NodeName)
		}
		ips[pod.Status.PodIP] = true
		p.workloadIs(name, "Admitted", "True", "")
	}
	if len(ips) != 2 {
		t.Errorf("Pod IPs %v", ips)
	}
	p.workloadIs(waits[0], "QuotaReserved", "False", "")

	p.delete(running[0])
	p.pod(running[0], phase(corev1.PodSucceeded), removed, managed, exited(0))
	p.aLife()
	p.pod(running[0], removed, managed)
	p.workloadIs(running[0], "Admitted", "True", "")
	p.pod(waits[0], gated)

	p.deleteWorkload(running[0])
	p.gone(running[0])
	p.pod(waits[0], ready)
}

// TestEnds: the annotations choose how a Pod ends.
func TestEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 8)
	p.create("clean", Behaviour{})
	p.create("killed", Killed)
	p.create("slow", Stuck)
	p.create("stuck", Stuck)
	for _, name := range []string{"clean", "killed", "slow", "stuck"} {
		p.pod(name, ready)
		p.delete(name)
	}
	p.pod("clean", phase(corev1.PodSucceeded), exited(0), removed, managed)
	p.pod("killed", phase(corev1.PodFailed), exited(143), removed, managed)
	// The Workload goes at once, the Pod when its containers have ended.
	p.pod("slow", phase(corev1.PodRunning), deleted)
	p.deleteWorkload("slow")
	p.pod("slow", phase(corev1.PodRunning), deleted, ready, unmanaged)
	p.must(p.Behave(p.ctx(), p.name, "slow", Behaviour{Stop: time.Second}))
	p.gone("slow")
	p.pod("stuck", phase(corev1.PodRunning), deleted, ready)
	p.must(p.Behave(p.ctx(), p.name, "stuck", Killed))
	p.pod("stuck", phase(corev1.PodFailed), exited(143), removed, managed)
}

// TestReadiness: the annotations choose whether a Pod gets Ready, and may change.
func TestReadiness(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 8)
	p.create("normal", Normal)
	p.create("slow", NeverReady)
	p.create("never", NeverReady)
	p.create("crash", CrashLoop)
	p.pod("normal", ready)
	p.pod("slow", phase(corev1.PodRunning), unready)
	p.pod("crash", phase(corev1.PodRunning), unready, waiting("CrashLoopBackOff"))
	began := time.Now()
	p.must(p.Behave(p.ctx(), p.name, "slow", Behaviour{Ready: 3 * time.Second}))
	// The condition has whole seconds.
	if took := lastChange(p.pod("slow", ready), corev1.PodReady).Sub(began); took < 2*time.Second {
		t.Errorf("Pod slow was Ready after %s", took)
	}
	p.pod("never", phase(corev1.PodRunning), unready, addressed)

	p.must(p.Behave(p.ctx(), p.name, "normal", NeverReady))
	p.pod("normal", phase(corev1.PodRunning), unready)
	p.must(p.Behave(p.ctx(), p.name, "crash", Normal))
	p.pod("crash", ready)

	// A Pod that ends by itself stays, and so does what it holds.
	p.must(p.EndPod(p.ctx(), p.name, "slow", corev1.PodFailed, "Evicted", "The node was low on resource: memory."))
	p.pod("slow", phase(corev1.PodFailed), unready, alive, managed)
	p.workloadIs("slow", "Admitted", "True", "")
}

// TestDeactivate: an inactive Workload loses its reservation, its running Pod is
// ended and stays readable, and a gated Pod stays as it is.
func TestDeactivate(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 2)
	p.create("runs", Killed)
	p.pod("runs", ready)
	p.create("waits", Normal)
	p.pod("waits", gated)
	p.workloadIs("waits", "QuotaReserved", "False", "")

	p.setActive("waits", false)
	p.workloadIs("waits", "Evicted", "True", "Deactivated")
	p.pod("waits", gated, alive)

	p.setActive("runs", false)
	p.workloadIs("runs", "Evicted", "True", "Deactivated")
	p.pod("runs", terminationTarget("WorkloadEvictedDueTo"), deleted, managed, phase(corev1.PodFailed), removed)
	p.workloadIs("runs", "QuotaReserved", "False", "")

	p.setActive("waits", true)
	p.pod("waits", ready)
	p.workloadIs("waits", "Evicted", "False", "QuotaReserved")
}

// TestTopology: a group of two that asks for one rack gets the one that has room
// for both.
func TestTopology(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	const name, rack = "racks", "localcluster.gpustack.ai/rack"
	nodes := map[string]string{"racks-a1": "a", "racks-b1": "b", "racks-b2": "b"}
	// They go after the Pods, which nobody would end otherwise.
	t.Cleanup(func() {
		err := c.RemovePool(context.Background(), name)
		for node := range nodes {
			err = errors.Join(err, c.RemoveNode(context.Background(), node))
		}
		if err != nil {
			t.Error(err)
		}
	})
	p := newPlace(t, 0)
	for node, in := range nodes {
		labels := map[string]string{"pool": name, rack: in}
		p.must(c.AddNode(p.ctx(), Node{Name: node, Labels: labels, Devices: map[corev1.ResourceName]int{"nvidia.com/gpu": 2}}))
	}
	p.must(c.SetPool(p.ctx(), Pool{
		InstanceType: name, Device: "nvidia.com/gpu", Cards: 6,
		NodeLabels: map[string]string{"pool": name}, Levels: []string{rack, corev1.LabelHostname},
	}))
	p.must(c.AddQueue(p.ctx(), p.name, name, name))
	for _, member := range []string{"m0", "m1"} {
		p.create(member, Normal, func(pod *corev1.Pod) {
			pod.Labels[constants.QueueLabel] = name
			pod.Labels[podconstants.GroupNameLabel] = "group"
			pod.Annotations[podconstants.GroupTotalCountAnnotation] = "2"
			pod.Annotations[kueue.PodSetRequiredTopologyAnnotation] = rack
		})
	}
	for _, member := range []string{"m0", "m1"} {
		if node := p.pod(member, ready).Spec.NodeName; nodes[node] != "b" {
			t.Errorf("%s is on node %s", member, node)
		}
	}
}

// TestNodes: a stopped node leaves its Pods Running and not Ready, deleted or
// not, until it is back.
func TestNodes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 2)
	p.create("a", Normal)
	p.pod("a", ready)
	p.must(p.StopNode(p.ctx(), p.name))
	p.pod("a", phase(corev1.PodRunning), unready, alive)
	p.delete("a")
	p.aLife()
	p.pod("a", phase(corev1.PodRunning), deleted, managed)
	p.must(p.ResumeNode(p.ctx(), p.name))
	p.pod("a", phase(corev1.PodSucceeded), removed, managed)
	p.deleteWorkload("a")
	p.gone("a")
}

// TestNodeRemoved: the Pods of a node whose object is deleted fail, and keep
// Kueue's finalizer.
func TestNodeRemoved(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	p := newPlace(t, 2)
	p.create("a", Normal)
	p.pod("a", ready)
	p.must(p.RemoveNode(p.ctx(), p.name))
	p.must(Eventually(p.ctx(), "the Pod fails", func(ctx context.Context) error {
		pod, err := p.Client.CoreV1().Pods(p.name).Get(ctx, "a", metav1.GetOptions{})
		if err == nil && pod.Status.Phase != corev1.PodFailed {
			err = fmt.Errorf("phase %s", pod.Status.Phase)
		}
		return err
	}))
	p.pod("a", deleted, managed)
	p.workloadIs("a", "Admitted", "True", "")
}

// TestDeadNode: nothing runs on a node that nobody simulates.
func TestDeadNode(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.AddNode(ctx, Node{Name: "dead", Dead: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.RemoveNode(context.Background(), "dead"); err != nil {
			t.Error(err)
		}
	})
	newPlace(t, 0) // its node, which was added later, is Ready
	node, err := c.Client.CoreV1().Nodes().Get(ctx, "dead", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			t.Error("it is Ready")
		}
	}
}

// TestAs: an account may do what it was granted and nothing else.
func TestAs(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	if err := c.AddNamespace(t.Context(), "accounts"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.RemoveNamespace(context.Background(), "accounts"); err != nil {
			t.Error(err)
		}
	})
	config, err := c.As(t.Context(), "accounts", "default")
	if err != nil {
		t.Fatal(err)
	}
	as := &Cluster{Config: config}
	if err := as.connect(); err != nil {
		t.Fatal(err)
	}
	_, err = as.Client.CoreV1().Pods("accounts").List(t.Context(), metav1.ListOptions{})
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsForbidden(err) {
		t.Errorf("listing Pods: %v", err)
	}
}

var unmanaged = want{"released by Kueue", func(p *corev1.Pod) bool { return len(p.Finalizers) == 0 }}

func lastChange(pod *corev1.Pod, kind corev1.PodConditionType) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

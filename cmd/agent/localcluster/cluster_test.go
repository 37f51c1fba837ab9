// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
)

// shared is the cluster of this package's tests.
var shared Shared

// place is a namespace with a queue, and a node of its own.
type place struct {
	*Cluster
	t    *testing.T
	name string // of all of them
}

// newPlace has cards on its node, and as many in its queue.
func newPlace(t *testing.T, cards int) *place {
	t.Helper()
	return newPlaceNamed(t, strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())), cards)
}

// aLife passes in another place: whoever acts on a Pod has then had the time for
// what must not happen here.
func (p *place) aLife() {
	p.t.Helper()
	other := newPlaceNamed(p.t, p.name+"-other", 2)
	other.create("a", Normal)
	other.pod("a", ready)
	other.delete("a")
	other.pod("a", removed, managed)
	other.deleteWorkload("a")
	other.gone("a")
}

func newPlaceNamed(t *testing.T, name string, cards int) *place {
	t.Helper()
	c := shared.Get(t)
	p := &place{Cluster: c, t: t, name: name}
	ctx := p.ctx()
	label := map[string]string{"pool": p.name}
	p.must(c.AddNode(ctx, Node{Name: p.name, Labels: label, Devices: map[corev1.ResourceName]int{"nvidia.com/gpu": cards}}))
	p.must(c.AddNamespace(ctx, p.name))
	p.must(c.SetPool(ctx, Pool{InstanceType: p.name, Device: "nvidia.com/gpu", Cards: cards, NodeLabels: label}))
	p.must(c.AddQueue(ctx, p.name, p.name, p.name))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		err := errors.Join(c.RemoveNamespace(ctx, p.name), c.RemovePool(ctx, p.name), c.RemoveNode(ctx, p.name))
		if err != nil {
			t.Error(err)
		}
	})
	return p
}

// ctx is for one step of a test.
func (p *place) ctx() context.Context {
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute)
	p.t.Cleanup(cancel)
	return ctx
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// create creates a Pod of two cards that is a serving group by itself, unless
// it is changed.
func (p *place) create(name string, b Behaviour, changes ...func(*corev1.Pod)) {
	p.t.Helper()
	annotations := b.Annotations()
	annotations[podconstants.GroupTotalCountAnnotation] = "1"
	annotations[podconstants.GroupServingAnnotationKey] = podconstants.GroupServingAnnotationValue
	cards := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2"), corev1.ResourceCPU: resource.MustParse("4")}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: annotations,
			Labels: map[string]string{constants.QueueLabel: p.name, podconstants.GroupNameLabel: "group-" + name},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: cards, Limits: cards},
		}}},
	}
	for _, change := range changes {
		change(pod)
	}
	_, err := p.Client.CoreV1().Pods(p.name).Create(p.ctx(), pod, metav1.CreateOptions{})
	p.must(err)
}

func (p *place) delete(name string) {
	p.t.Helper()
	p.must(p.Client.CoreV1().Pods(p.name).Delete(p.ctx(), name, metav1.DeleteOptions{}))
}

// pod waits for a Pod of which all is true.
func (p *place) pod(name string, wants ...want) *corev1.Pod {
	p.t.Helper()
	var pod *corev1.Pod
	p.must(Eventually(p.ctx(), "Pod "+name, func(ctx context.Context) (err error) {
		pod, err = p.Client.CoreV1().Pods(p.name).Get(ctx, name, metav1.GetOptions{})
		for _, w := range wants {
			if err == nil && !w.of(pod) {
				err = fmt.Errorf("it is not %s: %s, deleted %v, finalizers %v, conditions %v, %v", w.what,
					pod.Status.Phase, pod.DeletionTimestamp, pod.Finalizers, pod.Status.Conditions, pod.Status.ContainerStatuses)
			}
		}
		return err
	}))
	return pod
}

// gone waits until nobody can read a Pod.
func (p *place) gone(name string) {
	p.t.Helper()
	p.must(Eventually(p.ctx(), "Pod "+name+" is gone", func(ctx context.Context) error {
		_, err := p.Client.CoreV1().Pods(p.name).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it reads"), err)
	}))
}

// workload of the Pod; it has the name of the group.
func (p *place) workload(pod string) *unstructured.Unstructured {
	p.t.Helper()
	w, err := p.Dynamic.Resource(Workloads).Namespace(p.name).Get(p.ctx(), "group-"+pod, metav1.GetOptions{})
	p.must(err)
	return w
}

// workloadIs waits for a condition of the Workload of a Pod.
func (p *place) workloadIs(pod, condition, status, reason string) {
	p.t.Helper()
	p.must(Eventually(p.ctx(), "Workload of "+pod, func(ctx context.Context) error {
		o, err := p.Dynamic.Resource(Workloads).Namespace(p.name).Get(ctx, "group-"+pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c := c.(map[string]any)
			if c["type"] == condition && c["status"] == status && (reason == "" || c["reason"] == reason) {
				return nil
			}
		}
		return fmt.Errorf("no %s=%s: %v", condition, status, conditions)
	}))
}

func (p *place) deleteWorkload(pod string) {
	p.t.Helper()
	uid := p.workload(pod).GetUID()
	p.must(p.Dynamic.Resource(Workloads).Namespace(p.name).Delete(p.ctx(), "group-"+pod, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}))
}

func (p *place) setActive(pod string, active bool) {
	p.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"active":%t}}`, active)
	_, err := p.Dynamic.Resource(Workloads).Namespace(p.name).Patch(p.ctx(), "group-"+pod, types.MergePatchType, patch, metav1.PatchOptions{})
	p.must(err)
}

// want is something to be true of a Pod.
type want struct {
	what string
	of   func(*corev1.Pod) bool
}

var (
	ready     = want{"Ready", podReady}
	unready   = want{"not Ready", func(p *corev1.Pod) bool { return !podReady(p) }}
	addressed = want{"with a Pod IP", func(p *corev1.Pod) bool { return p.Status.PodIP != "" }}
	gated     = want{"gated", func(p *corev1.Pod) bool { return len(p.Spec.SchedulingGates) > 0 && p.Spec.NodeName == "" }}
	deleted   = want{"deleted", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }}
	alive     = want{"alive", func(p *corev1.Pod) bool { return p.DeletionTimestamp == nil }}
	managed   = want{"held by Kueue", func(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, podconstants.PodFinalizer) }}
	// removed: what a kubelet does last was done, only the finalizer holds it.
	removed = want{"at the end of its grace", func(p *corev1.Pod) bool {
		return p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds == 0
	}}
)

func phase(phase corev1.PodPhase) want {
	return want{string(phase), func(p *corev1.Pod) bool { return p.Status.Phase == phase }}
}

func terminationTarget(reason string) want {
	return want{"TerminationTarget/" + reason, func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == "TerminationTarget" && strings.HasPrefix(c.Reason, reason)
		})
	}}
}

// waiting is the reason why the first container waits.
func waiting(reason string) want {
	return want{reason, func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Waiting != nil &&
			p.Status.ContainerStatuses[0].State.Waiting.Reason == reason
	}}
}

// exited is the exit code of the first container.
func exited(code int32) want {
	return want{fmt.Sprintf("exit code %d", code), func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Terminated != nil &&
			p.Status.ContainerStatuses[0].State.Terminated.ExitCode == code
	}}
}

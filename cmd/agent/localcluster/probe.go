// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/kueue/pkg/controller/constants"
)

// probeName is what the probe calls everything; its namespace is there anyway,
// and the deletion of another one would take seconds.
const (
	probeName      = "localcluster-probe"
	probeNamespace = metav1.NamespaceDefault
)

// probe sends a Pod through everything that acts on Pods, and leaves nothing.
func (c *Cluster) probe(ctx context.Context) error {
	if err := c.AddNode(ctx, Node{Name: probeName}); err != nil {
		return err
	}
	if err := c.AddNamespace(ctx, probeNamespace); err != nil {
		return err
	}
	if err := c.SetPool(ctx, Pool{InstanceType: probeName}); err != nil {
		return err
	}
	if err := c.AddQueue(ctx, probeNamespace, probeName, probeName); err != nil {
		return err
	}
	if err := c.probePod(ctx); err != nil {
		return err
	}
	workloads := c.Dynamic.Resource(Workloads).Namespace(probeNamespace)
	err := Eventually(ctx, "the Workload of a Pod is collected", func(ctx context.Context) error {
		left, err := workloads.List(ctx, metav1.ListOptions{})
		if err == nil && len(left.Items) > 0 {
			err = fmt.Errorf("%d Workloads", len(left.Items))
		}
		return err
	})
	if err != nil {
		return err
	}
	queue := c.Dynamic.Resource(LocalQueues).Namespace(probeNamespace)
	if err := queue.Delete(ctx, probeName, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := c.RemovePool(ctx, probeName); err != nil {
		return err
	}
	if err := c.RemoveNode(ctx, probeName); err != nil {
		return err
	}
	for _, r := range []dynamic.ResourceInterface{queue, c.Dynamic.Resource(ClusterQueues), c.Dynamic.Resource(flavors)} {
		err := Eventually(ctx, "the queue is gone", func(ctx context.Context) error {
			return goneOr(r.Get(ctx, probeName, metav1.GetOptions{}))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// probePod is gated, admitted, bound, run, ended and removed.
func (c *Cluster) probePod(ctx context.Context) error {
	pods := c.Client.CoreV1().Pods(probeNamespace)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        probeName,
			Labels:      map[string]string{constants.QueueLabel: probeName},
			Annotations: Behaviour{Stop: time.Millisecond, Remove: time.Millisecond}.Annotations(),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
	}
	// The API server learns of a webhook a moment after its installation.
	err := Eventually(ctx, "Kueue gates Pods", func(ctx context.Context) error {
		got, err := pods.Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && len(got.Spec.SchedulingGates) == 0 {
			err = errors.New("no gate")
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	err = Eventually(ctx, "a Pod is admitted, bound and Ready", func(ctx context.Context) error {
		got, err := pods.Get(ctx, probeName, metav1.GetOptions{})
		if err == nil && !podReady(got) {
			err = fmt.Errorf("gates %v, node %q, conditions %v", got.Spec.SchedulingGates, got.Spec.NodeName, got.Status.Conditions)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := pods.Delete(ctx, probeName, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return Eventually(ctx, "a deleted Pod is gone", func(ctx context.Context) error {
		return goneOr(pods.Get(ctx, probeName, metav1.GetOptions{}))
	})
}

// goneOr is nil if the answer is that there is no such object.
func goneOr[T any](_ T, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return errors.New("it is there")
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	_ "embed"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podStages are the lives of Pods on simulated nodes.
//
//go:embed stages/pods.yaml
var podStages []byte

// labelSimulated is on the nodes that somebody simulates. One without it is
// dead: nobody renews its lease, and nothing becomes of its Pods.
const labelSimulated = "localcluster.gpustack.ai/simulated"

// Node is a node with plenty of everything but devices.
type Node struct {
	Name string
	// Labels beyond those that every node has.
	Labels map[string]string
	// Devices are its extended resources, for example "nvidia.com/gpu": 8.
	Devices map[corev1.ResourceName]int
	// Dead: it never gives a sign of life, so it is NotReady half a minute later.
	// See also StopNode.
	Dead bool
}

// AddNode adds a node and waits until Pods can be bound to it, unless it is
// dead.
func (c *Cluster) AddNode(ctx context.Context, n Node) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("1k"),
		corev1.ResourceMemory:           resource.MustParse("16Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("64Ti"),
		corev1.ResourcePods:             resource.MustParse("1k"),
	}
	for name, count := range n.Devices {
		capacity[name] = *resource.NewQuantity(int64(count), resource.DecimalSI)
	}
	labels := map[string]string{
		corev1.LabelHostname:   n.Name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: "amd64",
	}
	if !n.Dead {
		labels[labelSimulated] = "true"
	}
	maps.Copy(labels, n.Labels)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels},
		Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
	if _, err := c.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil || n.Dead {
		return err
	}
	return c.nodeReady(ctx, n.Name, corev1.ConditionTrue)
}

// StopNode ends all signs of life of a node, as a power cut does, and waits
// until the cluster has noticed: half a minute later its Ready condition is
// Unknown and so is that of its Pods, which stay Running. They are evicted when
// their toleration ends, five minutes later, and then never finish; a test that
// cannot wait deletes them.
//
// As in any cluster, eviction stops while most nodes are dead: leave more alive.
func (c *Cluster) StopNode(ctx context.Context, name string) error {
	if err := c.simulate(ctx, name, "null"); err != nil {
		return err
	}
	return c.nodeReady(ctx, name, corev1.ConditionUnknown)
}

// ResumeNode brings a stopped node back and waits until it is Ready. Its Pods
// go on.
func (c *Cluster) ResumeNode(ctx context.Context, name string) error {
	if err := c.simulate(ctx, name, `"true"`); err != nil {
		return err
	}
	return c.nodeReady(ctx, name, corev1.ConditionTrue)
}

func (c *Cluster) simulate(ctx context.Context, node, value string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, labelSimulated, value)
	_, err := c.Client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// RemoveNode deletes the object of a node. Nobody simulates its Pods any more;
// the controller manager fails them about a minute later.
func (c *Cluster) RemoveNode(ctx context.Context, name string) error {
	err := c.Client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// nodeReady waits for the status of the condition Ready, and until the taint
// that belongs to it came or went.
func (c *Cluster) nodeReady(ctx context.Context, name string, status corev1.ConditionStatus) error {
	return Eventually(ctx, fmt.Sprintf("node %s is Ready=%s", name, status), func(ctx context.Context) error {
		node, err := c.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		found := corev1.ConditionStatus("missing")
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				found = condition.Status
			}
		}
		if tainted := len(node.Spec.Taints) > 0; found != status || tainted != (status != corev1.ConditionTrue) {
			return fmt.Errorf("it is Ready=%s with taints %v", found, node.Spec.Taints)
		}
		return nil
	})
}

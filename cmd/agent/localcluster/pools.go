// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Resources of Kueue.
var (
	Workloads     = kueue.GroupVersion.WithResource("workloads")
	ClusterQueues = kueue.GroupVersion.WithResource("clusterqueues")
	LocalQueues   = kueue.GroupVersion.WithResource("localqueues")
	flavors       = kueue.GroupVersion.WithResource("resourceflavors")
	topologies    = kueue.GroupVersion.WithResource("topologies")
)

// Pool is the cards behind one InstanceType: a ResourceFlavor and a ClusterQueue
// of its name. CPU, memory and storage are never what a Pod waits for.
type Pool struct {
	// InstanceType is the name.
	InstanceType string
	// Device is what a card is requested as, for example "nvidia.com/gpu".
	Device corev1.ResourceName
	// Cards is the quota.
	Cards int
	// NodeLabels pick the nodes; none picks all.
	NodeLabels map[string]string
	// Preemption lets a Pod of higher priority displace one of lower priority.
	Preemption bool
	// Checks are the AdmissionChecks of the queue.
	Checks []string
	// Levels of topology are node labels, widest first, that a group of Pods may
	// ask to be placed within. They need NodeLabels, and cannot be changed.
	Levels []string
}

// SetPool adds a pool or changes it. It does not wait for the ClusterQueue: one
// with Checks is not active before they are.
func (c *Cluster) SetPool(ctx context.Context, p Pool) error {
	flavor := &kueue.ResourceFlavor{
		TypeMeta:   metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "ResourceFlavor"},
		ObjectMeta: metav1.ObjectMeta{Name: p.InstanceType},
		Spec:       kueue.ResourceFlavorSpec{NodeLabels: p.NodeLabels},
	}
	if len(p.Levels) > 0 {
		topology := &kueue.Topology{
			TypeMeta:   metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "Topology"},
			ObjectMeta: metav1.ObjectMeta{Name: p.InstanceType},
		}
		for _, label := range p.Levels {
			topology.Spec.Levels = append(topology.Spec.Levels, kueue.TopologyLevel{NodeLabel: label})
		}
		if err := c.applyTyped(ctx, topology); err != nil {
			return err
		}
		name := kueue.TopologyReference(p.InstanceType)
		flavor.Spec.TopologyName = &name
	}
	queue := &kueue.ClusterQueue{
		TypeMeta:   metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "ClusterQueue"},
		ObjectMeta: metav1.ObjectMeta{Name: p.InstanceType},
		Spec: kueue.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups:    []kueue.ResourceGroup{p.group()},
		},
	}
	if p.Preemption {
		queue.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority}
	}
	if len(p.Checks) > 0 {
		queue.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{}
		for _, name := range p.Checks {
			queue.Spec.AdmissionChecksStrategy.AdmissionChecks = append(queue.Spec.AdmissionChecksStrategy.AdmissionChecks,
				kueue.AdmissionCheckStrategyRule{Name: kueue.AdmissionCheckReference(name)})
		}
	}
	return c.applyTyped(ctx, flavor, queue)
}

// group covers every resource that a Pod of the pool requests.
func (p Pool) group() kueue.ResourceGroup {
	quotas := []kueue.ResourceQuota{
		{Name: corev1.ResourceCPU, NominalQuota: resource.MustParse("100k")},
		{Name: corev1.ResourceMemory, NominalQuota: resource.MustParse("1Pi")},
		{Name: corev1.ResourceEphemeralStorage, NominalQuota: resource.MustParse("1Pi")},
	}
	if p.Device != "" {
		quotas = append(quotas, kueue.ResourceQuota{Name: p.Device, NominalQuota: *resource.NewQuantity(int64(p.Cards), resource.DecimalSI)})
	}
	group := kueue.ResourceGroup{Flavors: []kueue.FlavorQuotas{{Name: kueue.ResourceFlavorReference(p.InstanceType), Resources: quotas}}}
	for _, q := range quotas {
		group.CoveredResources = append(group.CoveredResources, q.Name)
	}
	return group
}

// AddQueue adds the LocalQueue of a namespace in front of the pool of an
// InstanceType, and waits until both admit.
func (c *Cluster) AddQueue(ctx context.Context, namespace, name, instanceType string) error {
	queue := &kueue.LocalQueue{
		TypeMeta:   metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "LocalQueue"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(instanceType)},
	}
	if err := c.applyTyped(ctx, queue); err != nil {
		return err
	}
	return Eventually(ctx, fmt.Sprintf("LocalQueue %s/%s is active", namespace, name), func(ctx context.Context) error {
		o, err := c.Dynamic.Resource(LocalQueues).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return conditionTrue(o, kueue.LocalQueueActive)
	})
}

// RemovePool removes a pool; its LocalQueues go with their namespaces.
func (c *Cluster) RemovePool(ctx context.Context, instanceType string) error {
	for _, r := range []schema.GroupVersionResource{ClusterQueues, flavors, topologies} {
		if err := c.Dynamic.Resource(r).Delete(ctx, instanceType, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (c *Cluster) applyTyped(ctx context.Context, objects ...runtime.Object) error {
	for _, o := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return err
		}
		u := &unstructured.Unstructured{Object: content}
		unstructured.RemoveNestedField(u.Object, "status")
		if err := c.Apply(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

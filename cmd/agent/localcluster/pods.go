// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// AddNamespace adds a namespace and waits until Pods can be created in it.
func (c *Cluster) AddNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return Eventually(ctx, "namespace "+name+" has its ServiceAccount", func(ctx context.Context) error {
		_, err := c.Client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// RemoveNamespace deletes a namespace and waits until it is gone. Members of
// serving groups go only with their Workloads, and nobody but the agent, or this,
// deletes those.
func (c *Cluster) RemoveNamespace(ctx context.Context, name string) error {
	if err := c.Client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	return Eventually(ctx, "namespace "+name+" is gone", func(ctx context.Context) error {
		if err := c.Dynamic.Resource(Workloads).Namespace(name).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return err
		}
		namespace, err := c.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		b, err := json.Marshal(namespace.Status)
		return errors.Join(errors.New(string(b)), err)
	})
}

// Behave changes how a Pod behaves from now on. A Pod that is to behave so from
// its start has the Annotations when it is created.
func (c *Cluster) Behave(ctx context.Context, namespace, pod string, b Behaviour) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": b.patch()}})
	if err != nil {
		return err
	}
	_, err = c.Client.CoreV1().Pods(namespace).Patch(ctx, pod, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// EndPod gives a Pod that nobody deletes a phase which is final: Failed with
// reason Evicted, for example, as the kubelet of a node under pressure does.
func (c *Cluster) EndPod(ctx context.Context, namespace, pod string, phase corev1.PodPhase, reason, message string) error {
	patch, err := json.Marshal(map[string]any{"status": corev1.PodStatus{
		Phase: phase, Reason: reason, Message: message,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "PodFailed"},
			{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Reason: "PodFailed"},
		},
	}})
	if err != nil {
		return err
	}
	_, err = c.Client.CoreV1().Pods(namespace).Patch(ctx, pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

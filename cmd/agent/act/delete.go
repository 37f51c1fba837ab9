// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// deletePod deletes a Pod with its own grace.
func (a *Actor) deletePod(ctx context.Context, namespace string, d converge.DeletePod) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: d.Name}}
	done, err := a.delete(ctx, pod, d.UID)
	if done {
		a.Counted.PodDeleted(d.Cause)
	}
	if err != nil {
		return fmt.Errorf("delete Pod %s/%s (%s): %w", namespace, d.Name, d.Cause, err)
	}
	return nil
}

func (a *Actor) deleteWorkload(ctx context.Context, namespace string, d converge.DeleteWorkload) error {
	workload := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: d.Name}}
	done, err := a.delete(ctx, workload, d.UID)
	if done {
		a.Counted.WorkloadDeleted(d.Cause)
	}
	if err != nil {
		return fmt.Errorf("delete Workload %s/%s (%s): %w", namespace, d.Name, d.Cause, err)
	}
	return nil
}

// delete deletes an object provided it is still the one that was seen. When it
// is gone, or its name belongs to another one now, nothing is left to do.
func (a *Actor) delete(ctx context.Context, o client.Object, uid string) (done bool, err error) {
	id := types.UID(uid)
	err = a.Client.Delete(ctx, o, client.Preconditions{UID: &id})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}

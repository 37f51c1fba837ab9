// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/observe"
)

// checkReconciler keeps the AdmissionChecks that the agent answers active: a
// queue with one that is not admits nothing.
type checkReconciler struct {
	Cache client.Reader
	Actor *act.Actor
	Now   func() time.Time
}

func setupCheck(mgr manager.Manager, r *checkReconciler) error {
	return builder.ControllerManagedBy(mgr).Named("admission-check").For(&kueue.AdmissionCheck{}).Complete(r)
}

// Reconcile activates a check.
func (r *checkReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &kueue.AdmissionCheck{}
	if err := r.Cache.Get(ctx, req.NamespacedName, c); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.Spec.ControllerName != observe.CheckController || c.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	err := r.Actor.Activate(ctx, c, r.Now())
	if apierrors.IsNotFound(err) {
		err = nil
	}
	return reconcile.Result{}, err
}

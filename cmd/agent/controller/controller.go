// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller runs the passes over ModelDeployments: observe, decide,
// act, report.
package controller

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
	"gpustack.ai/mdc/cmd/agent/probe"
)

// soon is how long to wait for the cache to catch up with a write that another
// one overtook.
const soon = time.Second

// Reconciler makes one pass over a deployment at a time.
type Reconciler struct {
	// Cache serves the deployments.
	Cache  client.Reader
	Reader *observe.Reader
	Actor  *act.Actor
	// Prober knows what engines tell of the store; nil knows nothing.
	Prober *probe.Prober
	// Events go onto the deployment.
	Events events.EventRecorder
	// Now is the clock.
	Now func() time.Time

	memories memories
}

var errUndecided = errors.New("a read past the cache was not enough to decide")

// Reconcile makes a pass.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	md := &v1.ModelDeployment{}
	if err := r.Cache.Get(ctx, req.NamespacedName, md); err != nil {
		if apierrors.IsNotFound(err) {
			r.memories.forget(req.NamespacedName)
			r.Prober.Told(req.NamespacedName, nil)
			err = nil
		}
		return reconcile.Result{}, err
	}
	memory := r.memories.of(req.NamespacedName, md.UID)
	md = memory.upToDate(md)

	view, err := r.Reader.Read(ctx, md)
	if err != nil {
		return reconcile.Result{}, err
	}
	memory.markDeleted(view, r.Now())
	view.Observation.NamespaceTerminating = memory.namespaceTerminating
	plan, err := r.decide(ctx, view)
	if err != nil {
		return reconcile.Result{}, err
	}
	memory.holdBack(&plan, r.Now())
	done := r.Actor.Do(ctx, view, &plan)
	memory.noteCreates(plan.Creates, done.Failed, r.Now())
	memory.noteDeletes(done.Deleted)
	memory.namespaceTerminating = memory.namespaceTerminating || done.NamespaceTerminating
	refused := memory.refused(&plan)
	tell := r.announce(view.Deployment, memory, append(notes(view, &plan, done.Deleted), refusals(view, refused)...))
	if !done.Released {
		outcome := observe.Outcome{
			Plan: &plan, Created: done.Created, Deleted: done.Deleted, Refused: refused,
			Settling: len(memory.since) > 0,
		}
		for _, f := range done.Failed {
			outcome.Failed = append(outcome.Failed, f.Create)
		}
		err := r.Actor.WriteStatus(ctx, view.Deployment, r.status(view, outcome))
		switch {
		case apierrors.IsConflict(err):
			done.Again = true
		case client.IgnoreNotFound(err) != nil:
			done.Err = errors.Join(done.Err, err)
		}
	}
	memory.noteWrites(md, view.Deployment)
	if done.Err != nil {
		return reconcile.Result{}, done.Err
	}
	after := plan.Requeue
	if tell > 0 && (after == 0 || after > tell) {
		after = tell
	}
	if done.Again && (after == 0 || after > soon) {
		after = soon
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

// decide reads past the cache where the cache alone does not do.
func (r *Reconciler) decide(ctx context.Context, view *observe.View) (converge.Plan, error) {
	plan := converge.Decide(&view.Observation, r.Now())
	if !plan.NeedLive {
		return plan, nil
	}
	live, err := r.Reader.ReadLive(ctx, view)
	if err != nil {
		return converge.Plan{}, err
	}
	view.Observation.Live = live
	if plan = converge.Decide(&view.Observation, r.Now()); plan.NeedLive {
		return converge.Plan{}, reconcile.TerminalError(errUndecided)
	}
	return plan, nil
}

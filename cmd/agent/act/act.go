// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package act carries out what package converge has decided. Every step may be
// the last one: the next pass goes on from what it finds.
package act

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kueue/pkg/constants"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
)

// createsWithin is how long a pass goes on with creates when some fail: with a
// server that answers none of them, the deletes of the next pass would wait for
// all.
const createsWithin = 20 * time.Second

// FieldManager is who wrote what the agent writes.
const FieldManager = "mdc-agent"

// Actor carries out plans.
type Actor struct {
	// Client writes.
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Counted is told of every Pod and Workload created, deleted or parked.
	Counted Counter
}

// Counter counts what was done.
type Counter interface {
	PodCreated()
	PodDeleted(converge.Cause)
	WorkloadDeleted(converge.Cause)
	WorkloadParked()
}

// Result is what came of a plan.
type Result struct {
	// Deleted are the UIDs of the Pods whose deletion was accepted.
	Deleted map[string]bool
	// Released: the deployment was let go.
	Released bool
	// Again: somebody else wrote first, so that it is to be tried again.
	Again bool
	// NamespaceTerminating: nothing can be created here any more.
	NamespaceTerminating bool
	// Created are the Pods that were made, as the API server returned them.
	Created []corev1.Pod
	// Failed are the creates of which at least one Pod failed.
	Failed []FailedCreate
	// Err joins the first error of a create with every other one, but conflicts.
	Err error
}

// FailedCreate is a create of which at least one Pod failed, first for Err.
type FailedCreate struct {
	converge.Create
	Err error
}

// unmanaged reports whether Kueue has not taken up a Pod, which it does when the
// Pod is created or never.
func unmanaged(p corev1.Pod) bool {
	return p.Labels[constants.ManagedByKueueLabelKey] != constants.ManagedByKueueLabelValue
}

// Said is what the API server said, without the name that it had made up; empty
// when it gave no answer.
func (f FailedCreate) Said() string {
	var status apierrors.APIStatus
	if !errors.As(f.Err, &status) {
		return ""
	}
	text := status.Status().Message
	if d := status.Status().Details; d != nil && d.Name != "" {
		text = strings.ReplaceAll(text, strconv.Quote(d.Name)+" ", "")
	}
	return text
}

// Do carries out a plan in its order.
func (a *Actor) Do(ctx context.Context, v *observe.View, plan *converge.Plan) Result {
	r := Result{Deleted: map[string]bool{}}
	var errs []error
	failed := func(err error) bool {
		switch {
		case err == nil:
			return false
		case apierrors.IsConflict(err):
			r.Again = true
		default:
			errs = append(errs, err)
		}
		return true
	}

	create := true
	if plan.AddFinalizer {
		// Without it the deployment could vanish and leave its Pods behind.
		create = !failed(a.addFinalizer(ctx, v.Deployment))
	}
	if plan.AddClaim {
		failed(a.addClaim(ctx, v))
	}
	for _, d := range plan.DeletePods {
		if !failed(a.deletePod(ctx, v.Deployment.Namespace, d)) {
			r.Deleted[d.UID] = true
		}
	}
	for _, d := range plan.DeleteWorkloads {
		failed(a.deleteWorkload(ctx, v.Deployment.Namespace, d))
	}
	var first error
	began := time.Now()
	if create {
		for _, c := range plan.Creates {
			pods, err := a.create(ctx, v, c)
			r.Created = append(r.Created, pods...)
			if apierrors.HasStatusCause(err, namespaceTerminating) {
				r.NamespaceTerminating = true
				break
			}
			if err != nil {
				r.Failed = append(r.Failed, FailedCreate{c, err})
			}
			if first == nil {
				first = err
			}
			// Outside Kueue the others would take cards that it has promised to somebody
			// else.
			if first != nil && time.Since(began) > createsWithin || slices.ContainsFunc(pods, unmanaged) {
				break
			}
		}
	}
	if plan.Release && !failed(a.release(ctx, v.Deployment)) {
		r.Released = true
	}
	r.Err = errors.Join(append([]error{first}, errs...)...)
	return r
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/observe"
)

// reword is how soon a message may be written again that only counts on: in a
// set of many replicas each that gets its quota changes the message of all that
// wait.
const reword = 10 * time.Second

// subject is what is judged at once: the Workloads of a deployment, which wait
// for each other, or one Workload of which no cached Pod tells whose it is.
type subject struct {
	Namespace, Deployment, Workload string
}

// jointReconciler answers the AdmissionCheck of the agent on Workloads.
type jointReconciler struct {
	Cache  client.Reader
	Reader *observe.Reader
	Actor  *act.Actor
	Now    func() time.Time

	mu sync.Mutex
	// reworded is when the messages of a deployment were last put in other words.
	reworded map[types.NamespacedName]time.Time
}

// setupJoint adds the controller that answers.
func setupJoint(mgr manager.Manager, r *jointReconciler) error {
	return builder.TypedControllerManagedBy[subject](mgr).
		Named("joint-admission").
		Watches(&kueue.Workload{}, enqueue(r.ofWorkload), builder.WithPredicates(changed(workloadContent))).
		Watches(&corev1.Pod{}, enqueue(ofReplica), builder.WithPredicates(changed(podContent))).
		Watches(&v1.ModelDeployment{}, enqueue(ofDeployment), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&kueue.AdmissionCheck{}, enqueue(r.ofCheck), builder.WithPredicates(changed(nothing))).
		WithOptions(controller.TypedOptions[subject]{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[subject](firstRetry, lastRetry),
		}).
		Complete(r)
}

func enqueue(of handler.TypedMapFunc[client.Object, subject]) handler.TypedEventHandler[client.Object, subject] {
	return handler.TypedEnqueueRequestsFromMapFunc(of)
}

// ofWorkload: what happens to one Workload may open the way for its siblings.
func (r *jointReconciler) ofWorkload(ctx context.Context, o client.Object) []subject {
	for _, ref := range observe.OwnerPods(o) {
		var pod corev1.Pod
		err := r.Cache.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: ref.Name}, &pod)
		if err != nil || pod.UID != ref.UID {
			continue
		}
		owner := observe.Controller(&pod)
		if owner == nil {
			break
		}
		var md v1.ModelDeployment
		err = r.Cache.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: owner.Name}, &md)
		if err == nil && md.UID == owner.UID {
			return ofDeployment(ctx, &md)
		}
	}
	if len(o.(*kueue.Workload).Status.AdmissionChecks) == 0 {
		return nil
	}
	return []subject{{Namespace: o.GetNamespace(), Workload: o.GetName()}}
}

func ofReplica(_ context.Context, o client.Object) []subject {
	if owner := observe.Controller(o); owner != nil {
		return []subject{{Namespace: o.GetNamespace(), Deployment: owner.Name}}
	}
	return nil
}

func ofDeployment(_ context.Context, o client.Object) []subject {
	return []subject{{Namespace: o.GetNamespace(), Deployment: o.GetName()}}
}

// ofCheck: Workloads may have waited for an AdmissionCheck that was not there.
func (r *jointReconciler) ofCheck(ctx context.Context, _ client.Object) (out []subject) {
	var list kueue.WorkloadList
	if err := r.Cache.List(ctx, &list); err != nil {
		log.FromContext(ctx).Error(err, "find the Workloads that an AdmissionCheck concerns")
		return nil
	}
	for i := range list.Items {
		out = append(out, r.ofWorkload(ctx, &list.Items[i])...)
	}
	return out
}

// Reconcile answers the Workloads of a subject that ask.
func (r *jointReconciler) Reconcile(ctx context.Context, s subject) (reconcile.Result, error) {
	checks, err := r.Reader.Checks(ctx)
	if err != nil || len(checks) == 0 {
		return reconcile.Result{}, err
	}
	if s.Deployment != "" {
		md := &v1.ModelDeployment{}
		if err := r.Cache.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Deployment}, md); err != nil {
			r.forget(client.ObjectKey{Namespace: s.Namespace, Name: s.Deployment})
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		return r.judge(ctx, md, nil, checks)
	}
	w := &kueue.Workload{}
	if err := r.Cache.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Workload}, w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !observe.Judged(w, checks).Asks() {
		return reconcile.Result{}, nil
	}
	owner, err := r.Reader.OwnerOf(ctx, w)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case owner.Deployment != nil:
		return r.judge(ctx, owner.Deployment, w, checks)
	case owner.Unreadable:
		return r.answer(ctx, joint.Unreadable, client.ObjectKey{}, []kueue.Workload{*w}, checks)
	}
	return r.answer(ctx, joint.Stranger, client.ObjectKey{}, []kueue.Workload{*w}, checks)
}

// judge answers the Workloads of a deployment, or only one of them.
func (r *jointReconciler) judge(ctx context.Context, md *v1.ModelDeployment, only *kueue.Workload, checks map[kueue.AdmissionCheckReference]bool) (reconcile.Result, error) {
	view, err := r.Reader.ReadSet(ctx, md)
	if err != nil {
		return reconcile.Result{}, err
	}
	workloads := view.Workloads
	if only != nil {
		workloads = []kueue.Workload{*only}
	}
	verdict := joint.Judge(&view.Observation)
	if r.parks(verdict, workloads, checks) {
		// Only a person undoes it, so the word of a cache that may lag is not enough.
		live, err := r.Reader.ReadLive(ctx, view)
		if err != nil {
			return reconcile.Result{}, err
		}
		own := slices.DeleteFunc(live.Pods, func(p converge.Pod) bool { return p.Foreign })
		view.Observation.Pods, view.Observation.Workloads = own, live.Workloads
		verdict = joint.Judge(&view.Observation)
	}
	return r.answer(ctx, verdict, client.ObjectKeyFromObject(md), workloads, checks)
}

// parks reports whether a verdict would park any of some Workloads.
func (r *jointReconciler) parks(v joint.Verdict, workloads []kueue.Workload, checks map[kueue.AdmissionCheckReference]bool) bool {
	return slices.ContainsFunc(workloads, func(w kueue.Workload) bool {
		judged := observe.Judged(&w, checks)
		return judged.Asks() && v.Answer(judged, r.Now()).Park
	})
}

// answer gives a verdict to Workloads, which are a deployment's or, without a
// name, nobody's.
func (r *jointReconciler) answer(ctx context.Context, v joint.Verdict, deployment types.NamespacedName, workloads []kueue.Workload, checks map[kueue.AdmissionCheckReference]bool) (reconcile.Result, error) {
	var (
		errs  []error
		after time.Duration
		asked bool
	)
	again := func(d time.Duration) {
		if d > 0 && (after == 0 || d < after) {
			after = d
		}
	}
	now := r.Now()
	wait := r.rewordAfter(deployment, now)
	for i := range workloads {
		w := &workloads[i]
		judged := observe.Judged(w, checks)
		if !judged.Asks() {
			continue
		}
		asked = true
		answer := v.Answer(judged, now)
		again(answer.After)
		if answer.Reworded {
			if wait > 0 {
				again(wait)
				continue
			}
			r.noteReworded(deployment, now)
		}
		if !answer.Write && !answer.Park {
			continue
		}
		switch err := r.Actor.Answer(ctx, w, checks, answer, now); {
		case apierrors.IsConflict(err):
			again(soon)
		case client.IgnoreNotFound(err) != nil:
			errs = append(errs, err)
		}
	}
	if !asked {
		r.forget(deployment)
	}
	if err := errors.Join(errs...); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

// rewordAfter is how long the messages of a deployment are to stay as they are.
func (r *jointReconciler) rewordAfter(deployment types.NamespacedName, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reworded[deployment].Add(reword).Sub(now)
}

func (r *jointReconciler) noteReworded(deployment types.NamespacedName, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reworded == nil {
		r.reworded = map[types.NamespacedName]time.Time{}
	}
	r.reworded[deployment] = now
}

func (r *jointReconciler) forget(deployment types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reworded, deployment)
}

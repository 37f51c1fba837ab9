// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/observe"
	"gpustack.ai/mdc/cmd/agent/probe"
)

const (
	workers = 4
	// A pass that fails is tried again after a time that doubles in between.
	firstRetry, lastRetry = 100 * time.Millisecond, 30 * time.Second

	recorderName = "modeldeployment"
)

// Options set up the controllers.
type Options struct {
	RuntimeLabels observe.RuntimeLabels
	Metrics       *Metrics
	// Now is the clock; nil is that of the machine.
	Now func() time.Time
	// Asker asks engines of the store; nil asks for their metrics.
	Asker probe.Asker

	// lookEvery is shorter in tests.
	lookEvery time.Duration
}

func (o Options) clock() func() time.Time {
	if o.Now == nil {
		return time.Now
	}
	return o.Now
}

// Setup adds the controllers to a manager, whose cache was made with
// observe.CacheOptions.
func Setup(ctx context.Context, mgr manager.Manager, o Options) error {
	if err := observe.AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("watch ModelDeployments, Pods, PodTemplates and Workloads: %w", err)
	}
	served := &served{}
	r := newReconciler(mgr, o, served)
	if err := setupCheck(mgr, &checkReconciler{Cache: r.Cache, Actor: r.Actor, Now: r.Now}); err != nil {
		return fmt.Errorf("watch AdmissionChecks: %w", err)
	}
	if err := setupJoint(mgr, &jointReconciler{Cache: r.Cache, Reader: r.Reader, Actor: r.Actor, Now: r.Now}); err != nil {
		return fmt.Errorf("watch Workloads: %w", err)
	}
	m := mapper{mgr.GetClient(), served.has}
	b := builder.ControllerManagedBy(mgr).
		Named(recorderName).
		For(&v1.ModelDeployment{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{},
			handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1.ModelDeployment{}, handler.OnlyControllerOwner()),
			builder.WithPredicates(changed(podContent)))
	for _, w := range []watch{
		{&kueue.Workload{}, m.ofWorkload, workloadContent},
		{&corev1.PodTemplate{}, m.ofAnnotation, templateContent},
		{&kueue.LocalQueue{}, m.ofLocalQueue, localQueueContent},
		{&kueue.ClusterQueue{}, m.ofClusterQueue, clusterQueueContent},
		{&kueue.ResourceFlavor{}, m.ofFlavor, flavorContent},
		{&corev1.Node{}, m.ofNode, nodeContent(o.RuntimeLabels)},
		{&corev1.PersistentVolumeClaim{}, m.ofClaim, wholeContent},
		{&appsv1.Deployment{}, m.ofAnnotation, deploymentContent},
		{&storagev1.StorageClass{}, m.ofDelivery, nothing},
		{&storagev1.CSIDriver{}, m.ofDelivery, nothing},
	} {
		b = b.Watches(w.object, handler.EnqueueRequestsFromMapFunc(w.requests), builder.WithPredicates(changed(w.content)))
	}
	service := &metav1.PartialObjectMetadata{}
	service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	c, err := b.
		WatchesRawSource(source.Channel(r.Prober.Changed(), &handler.EnqueueRequestForObject{})).
		WatchesMetadata(service, handler.EnqueueRequestsFromMapFunc(m.ofService), builder.WithPredicates(changed(nothing))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		Build(r)
	if err != nil {
		return err
	}
	late := &lateKinds{mgr: mgr, controller: c, served: served, every: cmp.Or(o.lookEvery, lookEvery), open: []watch{
		{&v1.InstanceType{}, m.ofInstanceType, wholeContent},
		{&v1.KVCachePoolBinding{}, m.ofBinding, bindingContent},
		{&v1.KVCachePool{}, m.ofPool, wholeContent},
		{&v1.KVCacheBackend{}, m.ofBackend, wholeContent},
		{&v1.ModelArtifact{}, m.ofArtifact, wholeContent},
	}}
	if err := late.look(ctx, false); err != nil {
		return err
	}
	if err := mgr.Add(r.Prober); err != nil {
		return err
	}
	return mgr.Add(late)
}

// newReconciler reads from the manager's cache and writes under the agent's
// name.
func newReconciler(mgr manager.Manager, o Options, served *served) *Reconciler {
	asker := o.Asker
	if asker == nil {
		asker = probe.NewHTTP()
	}
	return &Reconciler{
		Cache: mgr.GetClient(),
		Reader: &observe.Reader{
			Cache:         mgr.GetClient(),
			Live:          mgr.GetAPIReader(),
			RuntimeLabels: o.RuntimeLabels,
			Served:        served.has,
		},
		Actor: &act.Actor{
			Client:  client.WithFieldOwner(mgr.GetClient(), act.FieldManager),
			Live:    mgr.GetAPIReader(),
			Counted: o.Metrics,
		},
		Prober: probe.New(asker),
		Events: mgr.GetEventRecorder(recorderName),
		Now:    o.clock(),
	}
}

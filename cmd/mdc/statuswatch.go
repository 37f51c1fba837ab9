// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// clusterReader reads the part of a cluster that a status is about.
type clusterReader struct {
	namespace                    string
	names                        []string
	deployments, pods, workloads *resourceCache
}

func newClusterReader(client dynamic.Interface, namespace string, names []string) *clusterReader {
	at := func(resource schema.GroupVersionResource) dynamic.ResourceInterface {
		return client.Resource(resource).Namespace(namespace)
	}
	r := &clusterReader{
		namespace:   namespace,
		names:       names,
		deployments: &resourceCache{kind: v1.KindModelDeployment, resource: at(v1.GroupVersion.WithResource("modeldeployments"))},
		pods:        &resourceCache{kind: "Pod", resource: at(corev1.SchemeGroupVersion.WithResource("pods"))},
		workloads: &resourceCache{kind: "Workload", optional: true, resource: at(schema.GroupVersionResource{
			Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads",
		})},
	}
	r.pods.options.LabelSelector = v1.LabelName + "=" + v1.NameModelDeployment
	switch len(names) {
	case 0:
		return r
	case 1:
		r.deployments.options.FieldSelector = fields.OneTermEqualSelector("metadata.name", names[0]).String()
	}
	// What is no value of a label is no name of a deployment either.
	if !slices.ContainsFunc(names, func(name string) bool { return name == "" || len(validation.IsValidLabelValue(name)) > 0 }) {
		r.pods.options.LabelSelector += "," + v1.LabelInstance + " in (" + strings.Join(names, ",") + ")"
	}
	return r
}

// place names the namespaces that are looked at.
func (r *clusterReader) place() string {
	if r.namespace == "" {
		return "any namespace"
	}
	return "namespace " + r.namespace
}

func (r *clusterReader) caches() []*resourceCache {
	return []*resourceCache{r.deployments, r.pods, r.workloads}
}

func (r *clusterReader) read(ctx context.Context) error {
	for _, c := range r.caches() {
		if err := c.read(ctx); err != nil {
			if c == r.deployments && apierrors.IsNotFound(err) {
				return fmt.Errorf("the cluster does not serve ModelDeployments (%s): %w", v1.GroupVersion, err)
			}
			return fmt.Errorf("read %ss: %w", c.kind, err)
		}
	}
	return nil
}

// lacks are the kinds that the status is told without.
func (r *clusterReader) lacks() (notes []string) {
	for _, c := range r.caches() {
		if err := c.failure(); err != nil && c.absent {
			notes = append(notes, fmt.Sprintf("nothing is told of %ss: %v", c.kind, err))
		}
	}
	return notes
}

// outages are the kinds that could be read and now cannot.
func (r *clusterReader) outages() (notes []string) {
	for _, c := range r.caches() {
		if err := c.failure(); err != nil && !c.absent {
			notes = append(notes, fmt.Sprintf("%ss may have changed since: %v", c.kind, err))
		}
	}
	return notes
}

// join returns the deployments that were asked for.
func (r *clusterReader) join() ([]*liveDeployment, error) {
	deployments := r.deployments.list()
	if len(r.names) > 0 {
		deployments = slices.DeleteFunc(deployments, func(u *unstructured.Unstructured) bool { return !slices.Contains(r.names, u.GetName()) })
	}
	return joinLive(deployments, r.pods.list(), r.workloads.list(), !r.workloads.absent)
}

// allThere refuses a name of no deployment.
func (r *clusterReader) allThere(found []*liveDeployment) error {
	for _, name := range r.names {
		if !slices.ContainsFunc(found, func(d *liveDeployment) bool { return d.md.Name == name }) {
			return fmt.Errorf("there is no ModelDeployment %s in %s", name, r.place())
		}
	}
	return nil
}

// burst is how long changes that belong together may take to arrive.
const burst = 200 * time.Millisecond

// follow shows what was read, and again whenever that looks different, until
// the context ends.
func (r *clusterReader) follow(ctx context.Context, out *screen) error {
	ctx, cancel := context.WithCancel(ctx)
	var followers sync.WaitGroup
	defer followers.Wait()
	defer cancel()
	changed := make(chan struct{}, 1)
	for _, c := range r.caches() {
		if !c.absent {
			followers.Go(func() {
				c.follow(ctx, func() {
					select {
					case changed <- struct{}{}:
					default: // known already
					}
				})
			})
		}
	}
	last, shown := "", false
	for {
		deployments, err := r.join()
		if err != nil {
			return err
		}
		text, err := out.render(deployments)
		if err != nil {
			return err
		}
		if out.format == "text" {
			notes := r.outages()
			if out.redraws() {
				notes = append(notes, r.lacks()...)
			}
			if len(deployments) == 0 {
				text = ""
				notes = append(notes, "there is no ModelDeployment in "+r.place())
			}
			for _, note := range notes {
				text += "mdc: " + printableText(note) + "\n"
			}
		}
		if text != last || !shown {
			if err := out.show(text, !shown); err != nil {
				return err
			}
			last, shown = text, true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(burst):
		}
	}
}

// resourceCache holds the objects of one kind.
type resourceCache struct {
	kind     string
	resource dynamic.ResourceInterface
	options  metav1.ListOptions
	// optional: without the kind there is less to tell.
	optional bool
	// absent: it could not be read at the start, and is done without.
	absent bool

	mu      sync.Mutex
	objects []*unstructured.Unstructured
	// followed has the objects as the cluster has them, once it has them all.
	followed cache.SharedInformer
	err      error
}

// read reads all objects.
func (c *resourceCache) read(ctx context.Context) error {
	list, err := c.resource.List(ctx, c.options)
	if c.optional && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err)) {
		c.absent, c.err = true, err
		return nil
	}
	if err != nil {
		return err
	}
	for i := range list.Items {
		list.Items[i].SetManagedFields(nil)
		c.objects = append(c.objects, &list.Items[i])
	}
	return nil
}

// list returns the objects by namespace and name.
func (c *resourceCache) list() []*unstructured.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	objects := slices.Clone(c.objects)
	if c.followed != nil && c.followed.HasSynced() {
		objects = objects[:0]
		for _, o := range c.followed.GetStore().List() {
			objects = append(objects, o.(*unstructured.Unstructured))
		}
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	return objects
}

// follow keeps the objects as the cluster has them, until the context ends.
func (c *resourceCache) follow(ctx context.Context, changed func()) {
	note := func(err error) {
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return // they are listed again at once
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if (err == nil) != (c.err == nil) {
			changed()
		}
		c.err = err
	}
	selected := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector, o.FieldSelector = c.options.LabelSelector, c.options.FieldSelector
		return o
	}
	informer := cache.NewSharedInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := c.resource.List(ctx, selected(o))
			note(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := c.resource.Watch(ctx, selected(o))
			note(err)
			return w, err
		},
	}, c.resource), &unstructured.Unstructured{}, 0)
	err := errors.Join(
		informer.SetTransform(func(o any) (any, error) {
			if u, ok := o.(*unstructured.Unstructured); ok {
				u.SetManagedFields(nil) // of no use to a reader
			}
			return o, nil
		}),
		// What fails is told with what is shown, and not in a log.
		informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { note(err) }),
	)
	if err == nil {
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { changed() },
			UpdateFunc: func(any, any) { changed() },
			DeleteFunc: func(any) { changed() },
		})
	}
	if err != nil { // only of an informer that runs
		note(err)
		return
	}
	c.mu.Lock()
	c.followed = informer
	c.mu.Unlock()
	informer.RunWithContext(ctx)
}

func (c *resourceCache) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	// lookEvery is how soon a kind is noticed that is installed after the agent.
	lookEvery = 20 * time.Second
	// syncWithin bounds how long the first list of such a kind may take.
	syncWithin = time.Minute
)

// served tells which kinds can be read. Those of other operators may be absent:
// facts in Git stand in for them.
type served struct {
	// absent are the types that are not served yet.
	absent sync.Map
}

func (s *served) has(o client.Object) bool {
	_, absent := s.absent.Load(reflect.TypeOf(o))
	return !absent
}

// lateKinds watches kinds as soon as they are served.
type lateKinds struct {
	mgr        manager.Manager
	controller controller.Controller
	served     *served
	every      time.Duration
	open       []watch
}

// NeedLeaderElection is false: a cache that is warm takes over at once.
func (l *lateKinds) NeedLeaderElection() bool { return false }

// Start looks for the kinds that are missing until none is.
func (l *lateKinds) Start(ctx context.Context) error {
	if len(l.open) == 0 {
		return nil
	}
	for _, w := range l.open {
		log.FromContext(ctx).Info("this kind is not served; nothing of it is read until it is", "kind", fmt.Sprintf("%T", w.object))
	}
	err := wait.PollUntilContextCancel(ctx, l.every, false, func(ctx context.Context) (bool, error) {
		if err := l.look(ctx, true); err != nil {
			log.FromContext(ctx).Error(err, "look for kinds that were not served")
		}
		return len(l.open) == 0, nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// look watches what has come to be served. running: the cache runs, so that it
// can be filled before anything is read from it.
func (l *lateKinds) look(ctx context.Context, running bool) error {
	var still []watch
	var first error
	for _, w := range l.open {
		ok, err := l.watch(ctx, w, running)
		if err != nil && first == nil {
			first = err
		}
		if !ok {
			still = append(still, w)
		}
	}
	l.open = still
	return first
}

func (l *lateKinds) watch(ctx context.Context, w watch, running bool) (ok bool, err error) {
	gvk, err := apiutil.GVKForObject(w.object, l.mgr.GetScheme())
	if err != nil {
		return false, err
	}
	if _, err := l.mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
		l.served.absent.Store(reflect.TypeOf(w.object), true)
		if meta.IsNoMatchError(err) {
			err = nil
		}
		return false, err
	}
	if running {
		ctx, cancel := context.WithTimeout(ctx, syncWithin)
		defer cancel()
		if _, err := l.mgr.GetCache().GetInformer(ctx, w.object); err != nil {
			return false, err
		}
	}
	// Before the watch, whose first events make passes that read the kind.
	l.served.absent.Delete(reflect.TypeOf(w.object))
	if err := l.controller.Watch(source.Kind(l.mgr.GetCache(), w.object, handler.EnqueueRequestsFromMapFunc(w.requests), changed(w.content))); err != nil {
		l.served.absent.Store(reflect.TypeOf(w.object), true)
		return false, err
	}
	return true, nil
}

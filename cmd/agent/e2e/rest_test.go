// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// passes counts an agent's passes over its one deployment, of which there is
// never more than one at a time.
type passes struct {
	mu           sync.Mutex
	begun, ended int
	// again: the last one asked for another.
	again bool
}

// passLog is the log of an agent, in which every pass leaves two lines.
type passLog struct {
	*passes
	controller any
}

func (l passLog) Init(logr.RuntimeInfo)        {}
func (l passLog) Enabled(int) bool             { return true }
func (l passLog) WithName(string) logr.LogSink { return l }

func (l passLog) WithValues(values ...any) logr.LogSink {
	if i := slices.Index(values, any("controller")); i >= 0 {
		l.controller = values[i+1]
	}
	return l
}

func (l passLog) Info(_ int, message string, _ ...any) {
	switch {
	case message == "Reconciling":
		l.begin()
	case message == "Reconcile successful":
		l.end(false)
	case strings.HasPrefix(message, "Reconcile done, requeueing"):
		l.end(true)
	}
}

func (l passLog) Error(err error, message string, values ...any) {
	if message == "Reconciler error" {
		l.end(true)
	}
	ctrl.Log.Error(err, message, values...)
}

func (l passLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.controller == "modeldeployment" {
		l.begun++
	}
}

func (l passLog) end(again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.controller == "modeldeployment" {
		l.ended, l.again = l.begun, again
	}
}

func (p *passes) read() (begun, ended int, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begun, p.ended, p.again
}

// pass makes the agent look at everything as it is now and returns whether that
// was all: it wrote nothing, and did not ask to look again. Whatever it does, it
// does for what it sees, so that after such a pass it does nothing until
// something changes.
func (w *world) pass() bool {
	w.Helper()
	w.until("the agent's cache is up to date", w.upToDate)
	begun, _, _ := w.passes.read()
	written := w.sent.total()
	w.touch()
	again := false
	w.until("the agent has made a pass", func() error {
		var ended int
		if _, ended, again = w.passes.read(); ended <= begun {
			return errors.New("it has not")
		}
		return nil
	})
	return !again && w.sent.total() == written
}

// rest waits until the agent has nothing more to do.
func (w *world) rest() {
	w.Helper()
	w.until("the agent rests", func() error {
		if !w.pass() {
			return errors.New("it is at work")
		}
		return nil
	})
}

// idle waits until a pass over what is there writes nothing, though the agent may
// look again later.
func (w *world) idle() {
	w.Helper()
	w.until("the agent has nothing to write", func() error {
		written := w.sent.total()
		w.pass()
		if n := w.sent.total() - written; n > 0 {
			return fmt.Errorf("it wrote %d times", n)
		}
		return nil
	})
}

// touch changes a template in a way that matters to nobody and still makes the
// agent look.
func (w *world) touch() {
	w.Helper()
	var list corev1.PodTemplateList
	w.must(w.List(w.ctx(), &list, client.InNamespace(w.name)))
	if len(list.Items) == 0 {
		w.Fatal("nothing is compiled")
	}
	w.touched++
	w.must(w.Patch(w.ctx(), &list.Items[0], client.RawPatch(types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":"%d"}}}`, w.touched))))
}

// upToDate is nil when the agent knows of every change to what it reads.
func (w *world) upToDate() error {
	services := &metav1.PartialObjectMetadataList{}
	services.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceList"))
	ours := client.MatchingLabels{v1.LabelName: v1.NameModelDeployment}
	here := client.InNamespace(w.name)
	for _, kind := range []struct {
		list client.ObjectList
		of   []client.ListOption
	}{
		{&v1.ModelDeploymentList{}, []client.ListOption{here}},
		{&corev1.PodTemplateList{}, []client.ListOption{here}},
		{&corev1.PodList{}, []client.ListOption{here, ours}},
		{&kueue.WorkloadList{}, []client.ListOption{here}},
		{&kueue.LocalQueueList{}, []client.ListOption{here}},
		{&v1.KVCachePoolBindingList{}, []client.ListOption{here}},
		{&v1.ModelArtifactList{}, []client.ListOption{here}},
		{services, []client.ListOption{here}},
		{&corev1.NodeList{}, []client.ListOption{client.MatchingLabels{"pool": w.name}}},
		{&kueue.ClusterQueueList{}, nil},
		{&kueue.ResourceFlavorList{}, nil},
		{&v1.InstanceTypeList{}, nil},
		{&v1.KVCachePoolList{}, nil},
		{&v1.KVCacheBackendList{}, nil},
	} {
		known, err := w.versions(w.cache, kind.list, kind.of)
		if err != nil {
			return err
		}
		// What changed in between is seen the next time.
		now, err := w.versions(w.Client, kind.list, kind.of)
		if err != nil {
			return err
		}
		if !maps.Equal(known, now) {
			return fmt.Errorf("%T: it knows %v, and there is %v", kind.list, known, now)
		}
	}
	return nil
}

// versions of a world's objects of a kind by name and UID.
func (w *world) versions(from client.Reader, into client.ObjectList, of []client.ListOption) (map[string]string, error) {
	if err := from.List(w.T.Context(), into, of...); err != nil {
		return nil, err
	}
	out := map[string]string{}
	err := meta.EachListItem(into, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err == nil && (m.GetNamespace() != "" || strings.HasPrefix(m.GetName()+"-", w.name+"-")) {
			out[m.GetName()+"/"+string(m.GetUID())] = m.GetResourceVersion()
		}
		return err
	})
	return out, err
}

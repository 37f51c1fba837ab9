// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/localcluster"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// recorder notes every change of the Pods and Workloads of a namespace. The
// resource versions of a server count up over all kinds, so they tell the order.
type recorder struct {
	t  *testing.T
	mu sync.Mutex
	// lives are those of Pods and Workloads, by UID, in the order of creation.
	pods, workloads []*life
	byUID           map[string]*life
	// mark changes the sentinel of a kind and returns its version, seen is the
	// last version of it that was watched.
	mark map[schema.GroupVersionResource]func() (uint64, error)
	seen map[schema.GroupVersionResource]uint64
}

// sentinel is the name of a Pod and of a Workload that nobody acts on. A
// recorder that has seen the last change of them has seen all that was before.
const sentinel = "sentinel"

var sentinels = map[schema.GroupVersionResource]string{
	pods:                   `{apiVersion: v1, kind: Pod, metadata: {name: sentinel}, spec: {schedulingGates: [{name: e2e/sentinel}], containers: [{name: c, image: i}]}}`,
	localcluster.Workloads: `{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: sentinel}, spec: {queueName: none, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}]}}`,
}

// life of one object. Zero is not yet.
type life struct {
	name, uid, group, role string
	ordinal, member        string
	hash                   string
	ours                   bool
	created, leaving, gone uint64
	target                 string // why Kueue ended it
	ready                  []span
}

// span of time in which a Pod was Ready and not on its way out.
type span struct{ from, to uint64 }

func (l *life) seat() string { return l.role + "/" + l.ordinal + "/" + l.member }

func (l *life) readsAt(at uint64) bool { return l.created < at && (l.gone == 0 || l.gone > at) }

func (l *life) readyAt(at uint64) bool {
	return slices.ContainsFunc(l.ready, func(s span) bool { return s.from <= at && (s.to == 0 || s.to > at) })
}

func (l *life) String() string {
	return fmt.Sprintf("%s %s hash %.8s: created %d, leaving %d, gone %d, ready %v %s", l.seat(), l.name, l.hash, l.created, l.leaving, l.gone, l.ready, l.target)
}

// record starts a recorder. When the test ends it says what was wrong.
func record(t *testing.T, c *localcluster.Cluster, namespace string) *recorder {
	t.Helper()
	r := &recorder{
		t: t, byUID: map[string]*life{},
		mark: map[schema.GroupVersionResource]func() (uint64, error){}, seen: map[schema.GroupVersionResource]uint64{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for resource, text := range sentinels {
		client := c.Dynamic.Resource(resource).Namespace(namespace)
		objects, err := localcluster.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Create(ctx, objects[0], metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		times := 0
		r.mark[resource] = func() (uint64, error) {
			times++
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"times":"%d"}}}`, times)
			o, err := client.Patch(ctx, sentinel, types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil {
				return 0, err
			}
			return strconv.ParseUint(o.GetResourceVersion(), 10, 64)
		}
		list, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), TimeoutSeconds: new(int64(7200))})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for e := range w.ResultChan() {
				if ctx.Err() == nil {
					r.note(resource, e)
				}
			}
			if ctx.Err() == nil {
				t.Errorf("the watch of %s ended", resource.Resource)
			}
		})
	}
	t.Cleanup(func() {
		r.now()
		cancel()
		wg.Wait()
		r.check()
		if t.Failed() {
			r.dump()
		}
	})
	return r
}

// now waits until everything is noted that has happened, and returns a version
// between that and what comes.
func (r *recorder) now() (at uint64) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for resource, mark := range r.mark {
		version, err := mark()
		if err == nil {
			err = localcluster.Eventually(ctx, "all is noted", func(context.Context) error {
				r.mu.Lock()
				defer r.mu.Unlock()
				if seen := r.seen[resource]; seen < version {
					return fmt.Errorf("%s up to %d of %d", resource.Resource, seen, version)
				}
				return nil
			})
		}
		if err != nil {
			r.t.Error(err)
		}
		at = max(at, version)
	}
	return at
}

func (r *recorder) note(resource schema.GroupVersionResource, e watch.Event) {
	pod := resource == pods
	o, ok := e.Object.(*unstructured.Unstructured)
	if !ok || e.Type == watch.Error {
		r.t.Errorf("watch: %v", e.Object)
		return
	}
	at, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		r.t.Error(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.GetName() == sentinel {
		r.seen[resource] = at
		return
	}
	l := r.byUID[string(o.GetUID())]
	if l == nil {
		l = &life{name: o.GetName(), uid: string(o.GetUID()), created: at}
		r.byUID[l.uid] = l
		if pod {
			r.pods = append(r.pods, l)
		} else {
			r.workloads = append(r.workloads, l)
			l.group = l.name
		}
	}
	if l.leaving == 0 && o.GetDeletionTimestamp() != nil {
		l.leaving = at
	}
	if pod {
		p := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, p); err != nil {
			r.t.Error(err)
			return
		}
		r.notePod(l, p, at)
	}
	if e.Type == watch.Deleted {
		l.gone = at
		if l.leaving == 0 {
			l.leaving = at
		}
		l.close(at)
	}
}

func (l *life) close(at uint64) {
	if n := len(l.ready); n > 0 && l.ready[n-1].to == 0 {
		l.ready[n-1].to = at
	}
}

func (r *recorder) notePod(l *life, p *corev1.Pod, at uint64) {
	l.group, l.role = p.Labels[podconstants.GroupNameLabel], p.Labels[v1.LabelComponent]
	l.ordinal, l.member = p.Labels[v1.LabelPodOrdinal], p.Labels[v1.LabelMemberIndex]
	l.hash = p.Annotations[v1.AnnotationPodSpecHash]
	l.ours = slices.ContainsFunc(p.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == act.FieldManager })
	ready := false
	for _, c := range p.Status.Conditions {
		switch c.Type {
		case corev1.PodReady:
			ready = c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning
		case "TerminationTarget":
			l.target = c.Reason
		}
	}
	switch n := len(l.ready); {
	case ready && (n == 0 || l.ready[n-1].to != 0):
		l.ready = append(l.ready, span{from: at})
	case !ready:
		l.close(at)
	}
}

// check is what holds in every test: a Pod is created only when nothing of its
// group reads, but for the other members of its instance, and these are new.
func (r *recorder) check() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pods {
		if !p.ours {
			continue
		}
		for _, q := range r.pods {
			switch {
			case q == p || q.group != p.group || !q.readsAt(p.created):
			case q.seat() == p.seat():
				r.t.Errorf("a second Pod on a seat:\n  %s\nbeside\n  %s", p, q)
			case q.leaving != 0 && q.leaving < p.created:
				r.t.Errorf("a Pod beside a member that leaves:\n  %s\nbeside\n  %s", p, q)
			}
		}
		for _, w := range r.workloads {
			if w.group == p.group && w.readsAt(p.created) {
				r.t.Errorf("a Pod while its Workload reads (created %d, leaving %d, gone %d):\n  %s", w.created, w.leaving, w.gone, p)
			}
		}
	}
}

func (r *recorder) dump() {
	var b strings.Builder
	for _, l := range r.pods {
		fmt.Fprintf(&b, "Pod %s\n", l)
	}
	for _, l := range r.workloads {
		fmt.Fprintf(&b, "Workload %s: created %d, leaving %d, gone %d\n", l.name, l.created, l.leaving, l.gone)
	}
	r.t.Log("recorded:\n" + b.String())
}

// fewestReady is the smallest number of instances of a role that were Ready at
// any time since.
func (r *recorder) fewestReady(role string, size int, since uint64) int {
	r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	times := []uint64{since}
	for _, l := range r.pods {
		for _, s := range l.ready {
			for _, at := range []uint64{s.from, s.to} {
				if at > since {
					times = append(times, at)
				}
			}
		}
	}
	fewest := math.MaxInt
	for _, at := range times {
		members := map[string]map[string]bool{}
		for _, l := range r.pods {
			if l.role == role && l.readyAt(at) {
				if members[l.ordinal] == nil {
					members[l.ordinal] = map[string]bool{}
				}
				members[l.ordinal][l.member] = true
			}
		}
		whole := 0
		for _, m := range members {
			if len(m) == size {
				whole++
			}
		}
		fewest = min(fewest, whole)
	}
	return fewest
}

// left are the seats whose Pods began to leave since, in that order.
func (r *recorder) left(since uint64) (seats []string) {
	r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	ls := slices.Clone(r.pods)
	ls = slices.DeleteFunc(ls, func(l *life) bool { return l.leaving <= since || !l.ours })
	slices.SortFunc(ls, func(a, b *life) int { return int(int64(a.leaving) - int64(b.leaving)) })
	for _, l := range ls {
		seats = append(seats, l.seat())
	}
	return seats
}

// target is why Kueue ended a Pod; empty while it has not.
func (r *recorder) target(uid string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.byUID[uid]; l != nil {
		return l.target
	}
	return ""
}

// made are the seats whose Pods were created since, in that order.
func (r *recorder) made(since uint64) (seats []string) {
	r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.pods {
		if l.created > since && l.ours {
			seats = append(seats, l.seat())
		}
	}
	return seats
}

// wasted are the seats of Pods created since that left and were never Ready.
func (r *recorder) wasted(since uint64) (seats []string) {
	r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.pods {
		if l.created > since && l.ours && l.leaving != 0 && len(l.ready) == 0 {
			seats = append(seats, l.seat())
		}
	}
	return seats
}

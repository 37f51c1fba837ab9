// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/observe"
	"gpustack.ai/mdc/cmd/agent/report"
)

// tells returns how the status differs from "Type=Status/Reason" and
// "Type~part of its message"; Phase and Summary are types too.
func (w *world) tells(want ...string) error {
	w.Helper()
	md := w.deployment("m")
	for _, text := range want {
		name, part, message := strings.Cut(text, "~")
		if !message {
			name, part, _ = strings.Cut(text, "=")
		}
		var got string
		switch c := meta.FindStatusCondition(md.Status.Conditions, name); {
		case name == "Phase":
			got = string(md.Status.Phase)
		case name == "Summary":
			got = md.Status.RoleSummary
		case c == nil:
		case message:
			got = c.Message
		default:
			got = string(c.Status) + "/" + c.Reason
		}
		if message && !strings.Contains(got, part) || !message && got != part {
			return fmt.Errorf("%s, and not %q", text, got)
		}
	}
	return nil
}

// told makes a pass and checks what it has told.
func (w *world) told(want ...string) {
	w.Helper()
	w.passes("m", 1)
	if err := w.tells(want...); err != nil {
		w.Error(err)
	}
}

// serve makes Pods Ready, at an address.
func (w *world) serve() {
	w.Helper()
	for _, p := range w.pods() {
		p.Status.PodIP, p.Status.PodIPs = "10.0.0.1", []corev1.PodIP{{IP: "10.0.0.1"}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if err := w.Status().Update(w.Context(), &p); err != nil {
			w.Fatal(err)
		}
	}
}

// routers makes the Deployment of a router.
func (w *world) routers(ready int32) {
	w.Helper()
	labels := map[string]string{"router": "m"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "m-router", Annotations: map[string]string{v1.AnnotationDeployment: "m"}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
	w.create(d)
	d.Status.Replicas, d.Status.ReadyReplicas = ready, ready
	if err := w.Status().Update(w.Context(), d); err != nil {
		w.Fatal(err)
	}
}

// TestStatusOfLife follows what is told of a pair from its first pass to its end.
func TestStatusOfLife(t *testing.T) {
	w := newWorld(t)
	c := w.compile(strings.Replace(twoRoles, "DECODE", "1", 1), pinnedFact)
	w.create(c.md)
	w.told("Phase=Starting", "Compiled=False/NotCompiled", "Stalled=False/NotStalled", "Reconciling=True/Creating")
	w.r.Now = func() time.Time { return time.Now().Add(applied) }
	w.told("Phase=Starting", "Compiled=False/NotCompiled", "Compiled~mdc build", "Stalled=True/NotCompiled", "Reconciling=False/Stalled",
		"QuotaReserved=Unknown/NoReplicas", "RouterReady=Unknown/NotDeployed", "Summary=0R0P0D", "WeightsReady=True/NotApplicable")
	w.apply(c)
	w.told("Compiled=True/InSync", "QuotaReserved=Unknown/AdmissionInFlight", "QuotaReserved~2 of 2", "Stalled=False/NotStalled", "ReplicasUpToDate=True/UpToDate")
	w.admit()
	w.told("QuotaReserved=True/Reserved", "Phase=Starting", "Reconciling=True/WaitingForReady", "RoleKindsReady=False/KindsNotReady")
	w.serve()
	w.told("Phase=Degraded", "RoleKindsReady=True/AllKindsReady", "Ready=Unknown/Progressing", "Summary=0R1P1D")
	w.routers(1)
	w.told("Phase=Ready", "RouterReady=True/Ready", "Ready=True/Ready", "Reconciling=False/AsDeclared", "KVEventsPublishing=True/Publishing", "Summary=1R1P1D")

	md := w.deployment("m")
	if s := md.Status; s.Endpoint != "http://m-router."+w.namespace+".svc:8081" || len(s.Router.Roles) != 2 || s.Router.Roles[0].KVEvents == nil || s.Router.Metrics == nil {
		t.Errorf("%+v", s)
	}
	since := md.Status.Conditions[0].LastTransitionTime

	// A Workload that the agent has parked, and the way out.
	check := w.check(observe.CheckController)
	w.until("the check in the cache", func() bool {
		return w.r.Cache.Get(t.Context(), client.ObjectKey{Name: check}, &kueue.AdmissionCheck{}) == nil
	})
	name := replica.GroupName(w.namespace, "m", "decode", 0)
	wl := &kueue.Workload{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, wl); err != nil {
		t.Fatal(err)
	}
	active := false
	wl.Spec.Active = &active
	if err := w.Update(t.Context(), wl); err != nil {
		t.Fatal(err)
	}
	w.told("QuotaReserved=True/Reserved") // by whom is not told
	wl.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: kueue.AdmissionCheckReference(check), State: "Pending", Message: joint.Marker, LastTransitionTime: metav1.Now()}}
	if err := w.Status().Update(t.Context(), wl); err != nil {
		t.Fatal(err)
	}
	w.told("QuotaReserved=False/Parked", "QuotaReserved~"+joint.Unpark(w.namespace, name), "Stalled=True/Parked")
	if now := w.deployment("m").Status.Conditions[0].LastTransitionTime; now.Before(&since) {
		t.Errorf("Stalled since %v, and before since %v", now, since)
	}

	if err := w.Delete(t.Context(), md); err != nil {
		t.Fatal(err)
	}
	w.told("Phase=Deleting", "Reconciling=True/Deleting", "Stalled=False/NotStalled", "ReplicasUpToDate=Unknown/RolloutNotObserved", "Compiled=True/InSync", "Summary=1R0P0D")
}

// TestOutsideKueue: where Kueue takes up no Pod, no more than one is made, and it
// is told what to do.
func TestOutsideKueue(t *testing.T) {
	w := newWorld(t)
	c := w.compile(ten, pinnedFact)
	for _, tpl := range c.templates {
		delete(tpl.Template.Labels, "kueue.x-k8s.io/managed")
	}
	w.apply(c)
	for range 3 {
		w.told("QuotaReserved=False/PodGroupIncomplete", "Stalled=True/NoQueueInReservedNamespace", "Stalled~"+w.namespace)
	}
	if n := len(w.pods()); n != 1 {
		t.Errorf("%d Pods", n)
	}
}

// TestUnusableTemplate: a template of which no Pod can be made is told as such,
// and nobody who runs is taken for it.
func TestUnusableTemplate(t *testing.T) {
	for name, spoil := range map[string]func(*corev1.PodTemplate){
		"another size": func(t *corev1.PodTemplate) { t.Annotations[v1.AnnotationSize] = "2" },
		"no size":      func(t *corev1.PodTemplate) { delete(t.Annotations, v1.AnnotationSize) },
		"no queue":     func(t *corev1.PodTemplate) { delete(t.Template.Labels, v1.LabelQueueName) },
		"a value at a place that is not known": func(t *corev1.PodTemplate) {
			t.Annotations[v1.AnnotationLateBound] = `[{"name":"runtimeVersion","kind":"InstanceType","object":"pool-a","field":"status.detail.runtimeVersion","in":["spec.elsewhere"]}]`
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.typeOf("12.9")
			c := w.compile(strings.Replace(ten, "10", "2", 1), pinnedFact)
			w.apply(c)
			w.passes("m", 2)
			w.spoil(c, spoil, "Compiled=False/NotCompiled", "Compiled~m-server")
		})
	}
}

// TestRefused: what the API server refuses is told, once and for as long as it
// does, and what it serves again is made.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	w.create(quota)
	quota.Status.Hard, quota.Status.Used = quota.Spec.Hard, quota.Spec.Hard // there is no controller
	if err := w.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	w.apply(w.compile(strings.Replace(ten, "10", "2", 1), pinnedFact))
	const why = "exceeded quota: pods"
	w.until("the refusal is told", func() bool {
		if _, err := w.pass("m"); err == nil {
			return false
		}
		return w.tells("Phase=Starting", "QuotaReserved~server replicas 0, 1: the API server refuses their Pods", "QuotaReserved~"+why, "Reconciling~"+why) == nil
	})
	for range 3 {
		_, _ = w.pass("m") // whether it tries or not
	}
	w.until("an event", func() bool { return len(w.events("FailedCreate")) > 0 })
	if e := w.events("FailedCreate"); len(e) != 1 || !strings.Contains(e[0], why) {
		t.Errorf("events %q", e)
	}
	if md := w.deployment("m"); strings.Contains(md.Status.PhaseMessage, `"m-server-`) {
		t.Errorf("names a Pod that is another at every try: %s", md.Status.PhaseMessage)
	}
	if err := w.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	w.until("they are made", func() bool {
		_, _ = w.pass("m")
		return len(w.pods()) == 2
	})
	w.told("QuotaReserved=Unknown/AdmissionInFlight")
}

// TestStatusOfWeights: while they cannot be delivered, the phase says so.
func TestStatusOfWeights(t *testing.T) {
	w := newWorld(t)
	c := w.compile(strings.Replace(ten, "10", "1", 1), pinnedFact)
	c.md.Spec.Model.ArtifactRef = &v1.LocalObjectReference{Name: "weights"}
	w.apply(c)
	w.told("WeightsReady=False/ArtifactNotFound", "WeightsReady~weights", "Phase=Starting", "Reconciling=True/WaitingForWeights")
	if md := w.deployment("m"); md.Status.Model != nil || !strings.Contains(md.Status.PhaseMessage, "does not exist") {
		t.Errorf("%+v", md.Status)
	}
}

// deaf is a cache that fails to list something.
type deaf struct {
	client.Reader
	to func(client.ObjectList) bool
}

func (d deaf) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if d.to(list) {
		return errors.New("deaf")
	}
	return d.Reader.List(ctx, list, opts...)
}

// TestStatusOfNothing: from what could not be read nothing is concluded.
func TestStatusOfNothing(t *testing.T) {
	w := newWorld(t)
	w.apply(w.compile(strings.Replace(ten, "10", "1", 1), pinnedFact))
	w.passes("m", 2)
	w.takeUp()
	w.settle()
	before := w.deployment("m").ResourceVersion
	cached := w.r.Reader.Cache
	for name, to := range map[string]func(client.ObjectList) bool{
		"Pods":      func(l client.ObjectList) bool { _, ok := l.(*corev1.PodList); return ok },
		"Workloads": func(l client.ObjectList) bool { _, ok := l.(*kueue.WorkloadList); return ok },
	} {
		w.r.Reader.Cache = deaf{cached, to}
		if _, err := w.pass("m"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w.r.Reader.Cache = cached
	if after := w.deployment("m").ResourceVersion; after != before {
		t.Error("a status was written")
	}
	w.told("QuotaReserved=Unknown/AdmissionInFlight")
}

// engine is one that answers nobody before the channel is closed.
type engine chan struct{}

func (e engine) Ask(ctx context.Context, url string) report.Evidence {
	if url != "http://10.0.0.1:8000/metrics" {
		return report.Failing
	}
	select {
	case <-e:
		return report.Active
	case <-ctx.Done():
		return report.Unreadable
	}
}

// TestStatusOfStore: what an engine tells of the store is told when it comes, and
// no pass has waited for it.
func TestStatusOfStore(t *testing.T) {
	asked := make(engine)
	w := newRunningWorld(t, func(w *world, _ *rest.Config) { w.asker = asked })
	w.store("h:1")
	w.apply(w.compile(cached, pinnedFact, bindingFact, poolFact, backendFact))
	tells := func(want ...string) {
		t.Helper()
		var err error
		for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			if err = w.tells(want...); err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
	w.untilCached()
	tells("CacheAttached=Unknown/NoReplicaReady", "DomainRegistered=True/Registered")
	w.admit()
	w.serve()
	tells("CacheAttached=Unknown/NoObservationAvailable", "Phase=Ready")
	close(asked)
	tells("CacheAttached=True/CacheActive")
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/localcluster"
	"gpustack.ai/mdc/cmd/agent/report"
)

// history is every status that the deployment of a world has had.
type history struct {
	w   *world
	mu  sync.Mutex
	all []v1.ModelDeploymentStatus
	// at is the version of the last, over whether the deployment is gone.
	at   uint64
	over bool
}

// watchStatus follows the status from now on.
func (w *world) watchStatus() *history {
	w.Helper()
	h := &history{w: w}
	c, err := client.NewWithWatch(w.Config, client.Options{Scheme: newScheme(w.T)})
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := c.Watch(ctx, &v1.ModelDeploymentList{}, client.InNamespace(w.name))
	w.must(err)
	w.Cleanup(cancel)
	go func() {
		for e := range stream.ResultChan() {
			md, ok := e.Object.(*v1.ModelDeployment)
			if !ok {
				continue
			}
			at, err := strconv.ParseUint(md.ResourceVersion, 10, 64)
			h.mu.Lock()
			if err == nil {
				h.at = at
			}
			h.all, h.over = append(h.all, md.Status), e.Type == watch.Deleted
			h.mu.Unlock()
		}
	}()
	return h
}

// statuses are those up to now.
func (h *history) statuses() (all []v1.ModelDeploymentStatus) {
	h.w.Helper()
	var now uint64
	md := h.w.deployment()
	if md != nil {
		var err error
		now, err = strconv.ParseUint(md.ResourceVersion, 10, 64)
		h.w.must(err)
	}
	h.w.until("all statuses are noted", func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.at < now || md == nil && !h.over {
			return fmt.Errorf("up to %d of %d", h.at, now)
		}
		all = slices.Clone(h.all)
		return nil
	})
	return all
}

// hold is nil when a status holds what is wanted: "Phase=Ready", "Summary=2S",
// "Message~part", "Type=Status/Reason" or "Type~part of its message".
func hold(s v1.ModelDeploymentStatus, want ...string) error {
	for _, text := range want {
		name, value, exact := strings.Cut(text, "=")
		if i := strings.Index(text, "~"); !exact || i >= 0 && i < len(name) {
			name, value, _ = strings.Cut(text, "~")
			exact = false
		}
		var got, message string
		switch name {
		case "Phase":
			got = string(s.Phase)
		case "Summary":
			got = s.RoleSummary
		case "Message":
			message = s.PhaseMessage
		default:
			if c := meta.FindStatusCondition(s.Conditions, name); c != nil {
				got, message = string(c.Status)+"/"+c.Reason, c.Message
			}
		}
		if exact && got != value || !exact && !strings.Contains(message, value) {
			return fmt.Errorf("%s: %s %q", text, got, message)
		}
	}
	return nil
}

// tells waits until the status holds something.
func (w *world) tells(want ...string) {
	w.Helper()
	w.until(fmt.Sprintf("status %q", want), func() error {
		md := w.deployment()
		if md == nil {
			return errors.New("there is no deployment")
		}
		return hold(md.Status, want...)
	})
}

// had makes sure that there were statuses that held these, in this order.
func (h *history) had(want ...string) {
	h.w.Helper()
	all, left := h.statuses(), slices.Clone(want)
	for _, s := range all {
		for len(left) > 0 && hold(s, left[0]) == nil {
			left = left[1:]
		}
	}
	if len(left) > 0 {
		h.w.Errorf("never %q of %q", left[0], want)
		for _, s := range all {
			h.w.Logf("%s %q %s", s.Phase, s.PhaseMessage, s.RoleSummary)
			for _, c := range s.Conditions {
				h.w.Logf("  %s=%s/%s %q", c.Type, c.Status, c.Reason, c.Message)
			}
		}
	}
}

// never makes sure that no status held this.
func (h *history) never(want ...string) {
	h.w.Helper()
	for _, s := range h.statuses() {
		for _, text := range want {
			if hold(s, text) == nil {
				h.w.Errorf("%s: %+v", text, s)
			}
		}
	}
}

// TestStatusFirst: from nothing to all that is declared, and then no word more.
func TestStatusFirst(t *testing.T) {
	w := newWorld(t, cards(2))
	w.quota(0)
	h := w.watchStatus()
	w.apply(servers(2, old))
	w.tells("Phase=Starting", "Summary=0S", "QuotaReserved=False/Pending", "QuotaReserved~2 of 2", "QuotaReserved~insufficient", "Message~insufficient",
		"Ready=Unknown/Starting", "Reconciling=True/WaitingForQuota", "Stalled=False/NotStalled", "ReplicasUpToDate=True/UpToDate")
	w.quota(2)
	w.settle(seats("server", 2)...)
	w.tells("Phase=Ready", "Summary=2S", "QuotaReserved=True/Reserved", "Ready=True/Ready", "Reconciling=False/AsDeclared",
		"Compiled=True/InSync", "WeightsReady=True/NotApplicable", "DomainRegistered=True/NotApplicable", "CacheAttached=True/NotApplicable",
		"RoleKindsReady=True/AllKindsReady", "RouterReady=True/NotApplicable", "KVEventsPublishing=True/NotApplicable")
	h.had("QuotaReserved=Unknown/AdmissionInFlight", "QuotaReserved=False/Pending", "QuotaReserved=True/Reserved", "Phase=Ready")
	h.never("Ready=False/ReplicaUnavailable", "ReplicasUpToDate=False/ReplacementInProgress", "ReplicasUpToDate=False/RolloutInProgress")

	w.rest()
	md := w.deployment()
	want := v1.RoleStatus{Name: "server", Kind: v1.RoleServer, Desired: 2, Ready: 2, QuotaReserved: 2}
	got := md.Status.Roles[0]
	if len(got.AssignedFlavors) != 1 {
		t.Errorf("flavors %v", got.AssignedFlavors)
	}
	got.AssignedFlavors = nil
	if fmt.Sprint(got) != fmt.Sprint(want) || md.Status.ObservedGeneration != md.Generation || md.Status.PhaseMessage != "" ||
		md.Status.Endpoint != "http://m."+w.name+".svc:8000" {
		t.Errorf("%+v", md.Status)
	}
	for range 3 {
		w.pass()
	}
	if now := w.deployment(); now.ResourceVersion != md.ResourceVersion {
		t.Error("written at rest")
	}
}

// TestStatusScaleUp: growth is told as such, and is no failure.
func TestStatusScaleUp(t *testing.T) {
	w := newWorld(t, cards(3))
	w.quota(2)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	w.tells("Phase=Ready")
	h := w.watchStatus()
	w.scale(3)
	w.tells("Phase=Degraded", "Message~2 of 3", "QuotaReserved=False/Pending", "QuotaReserved~1 of 3", "ReplicasUpToDate=True/UpToDate",
		"Ready=Unknown/Progressing", "Reconciling=True/WaitingForQuota", "Summary=2S")
	w.quota(3)
	w.settle(seats("server", 3)...)
	w.tells("Phase=Ready", "Summary=3S", "Ready=True/Ready")
	h.never("Ready=False/ReplicaUnavailable", "ReplicasUpToDate=False/RolloutInProgress", "Phase=Starting")
}

// TestStatusRollout: a rollout is told from its first replica to its last, and a
// replica that is deleted by hand as replaced.
func TestStatusRollout(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	w.tells("Phase=Ready")
	h, before := w.watchStatus(), w.uids()
	w.apply(servers(2, edited))
	w.rolled(before, seats("server", 2)...)
	w.tells("Phase=Ready", "ReplicasUpToDate=True/UpToDate")
	h.had("ReplicasUpToDate=False/RolloutInProgress", "QuotaReserved=False/PodGroupIncomplete", "ReplicasUpToDate=True/UpToDate")
	h.never("ReplicasUpToDate=False/ReplacementInProgress", "Ready=False/ReplicaUnavailable", "Phase=Starting")

	h = w.watchStatus()
	leaving := w.pod("server/1/0").Name
	w.must(w.Behave(w.ctx(), w.name, leaving, localcluster.Stuck)) // until it is told
	w.kill("server/1/0")
	w.tells("ReplicasUpToDate=False/ReplacementInProgress")
	w.must(w.Behave(w.ctx(), w.name, leaving, localcluster.Normal))
	w.until("another one is there", func() error { return errors.Join(w.replaced(before, "server/1/0"), w.settled(seats("server", 2)...)) })
	w.tells("Phase=Ready", "ReplicasUpToDate=True/UpToDate")
	h.had("ReplicasUpToDate=False/ReplacementInProgress", "ReplicasUpToDate=True/UpToDate", "Phase=Ready")
	h.never("ReplicasUpToDate=False/RolloutInProgress")
}

// TestStatusParked: what only a person can end is told, with the way out.
func TestStatusParked(t *testing.T) {
	w := newJointWorld(t, 1)
	w.apply(unequal(1, 1))
	w.told("prefill", 0, "Pending", "1 of 2", "decode")
	w.tells("Phase=Starting", "QuotaReserved=False/Pending", "QuotaReserved~role decode", "Stalled=False/NotStalled", "RouterReady~router", "KVEventsPublishing=True/Publishing")
	w.clock.forward(joint.Bound + time.Minute)
	w.nudge()
	name := w.workloadOf("prefill", 0).Name
	w.tells("Phase=Starting", "QuotaReserved=False/Parked", "QuotaReserved~"+name, "Stalled=True/Parked", "Stalled~"+joint.Unpark(w.name, name), "Reconciling=False/Stalled")

	w.clock.ahead.Store(0)
	w.room(3)
	w.patch(w.workloadOf("prefill", 0), `[{"op": "replace", "path": "/spec/active", "value": true}]`)
	w.settle("prefill/0/0", "decode/0/0")
	w.tells("QuotaReserved=True/Reserved", "Stalled=False/NotStalled", "RoleKindsReady=True/AllKindsReady", "RouterReady=True/Ready", "Phase=Ready", "Summary=1R1P1D")
	md := w.deployment()
	if md.Status.Endpoint != "http://m-router."+w.name+".svc:8081" || md.Status.Router == nil || len(md.Status.Router.Roles) != 2 {
		t.Errorf("%q, %+v", md.Status.Endpoint, md.Status.Router)
	}
}

// TestStatusEnd: a deployment that ends says so until it has ended.
func TestStatusEnd(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	w.tells("Phase=Ready")
	h := w.watchStatus()
	w.must(w.Client.Delete(w.ctx(), &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "m"}}))
	w.until("it is gone", func() error {
		if w.deployment() != nil {
			return errors.New("it reads")
		}
		return nil
	})
	h.had("Phase=Deleting")
	all := h.statuses()
	last := all[len(all)-1]
	if err := hold(last, "Phase=Deleting", "Reconciling=True/Deleting", "ReplicasUpToDate=Unknown/RolloutNotObserved", "DomainRegistered=True/NotApplicable", "Summary=0S"); err != nil {
		t.Error(err)
	}
	if len(last.Conditions) != 12 || last.Conditions[0].Type != report.Stalled {
		t.Errorf("conditions %v", last.Conditions)
	}
}

// TestStatusPreempted: what Kueue takes away is told as that, role by role, for
// as long as anything shows it.
func TestStatusPreempted(t *testing.T) {
	w := newWorld(t, cards(3), preempting)
	w.priority(1000)
	w.apply(disaggregated(1, 2, old))
	w.settle(both(1, 2)...)
	w.tells("RoleKindsReady=True/AllKindsReady", "QuotaReserved=True/Reserved")
	h := w.watchStatus()
	w.patch(w.workload("decode/1/0"), `[{"op": "replace", "path": "/spec/priority", "value": -1}]`) // so that it goes first
	leaving := w.pod("decode/1/0").Name
	w.must(w.Behave(w.ctx(), w.name, leaving, localcluster.Stuck)) // until it is told
	w.compete("rival", 1, w.name)
	w.tells("QuotaReserved=False/PreemptedInPart")
	w.must(w.Behave(w.ctx(), w.name, leaving, localcluster.Normal))
	w.until("the rival runs", func() error { return w.runs("rival") })
	w.tells("Phase=Degraded", "QuotaReserved=False/Pending", "QuotaReserved~1 of 3", "QuotaReserved~role decode", "Ready=Unknown/Progressing", "RoleKindsReady=True/AllKindsReady")
	h.had("QuotaReserved=False/PreemptedInPart", "QuotaReserved=False/Pending")
	h.had("QuotaReserved~1 of 3 replicas (role decode); replicas of roles prefill, decode still run")
	w.end("rival")
	w.settle(both(1, 2)...)
	w.tells("QuotaReserved=True/Reserved", "ReplicasUpToDate=True/UpToDate")
}

// TestStatusNodeLost: a replica that nothing replaces is told, with its Node.
func TestStatusNodeLost(t *testing.T) {
	w := newWorld(t, cards(1), onNodes(2))
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	w.tells("Phase=Ready")
	node := w.pod("server/1/0").Spec.NodeName
	w.must(w.StopNode(w.ctx(), node))
	w.tells("Phase=Degraded", "Message~1 of 2", "Ready=False/ReplicaUnavailable", "Ready~"+node, "ReplicasUpToDate=True/UpToDate",
		"Reconciling=True/WaitingForReady", "Stalled=False/NotStalled", "QuotaReserved=True/Reserved")
	w.rest()
	w.must(w.RemoveNode(w.ctx(), node)) // nothing on it would ever end
}

// TestStatusStoreBlinks: an outage of the store is told as that, and disturbs
// nobody.
func TestStatusStoreBlinks(t *testing.T) {
	w := newWorld(t, facts(typeFact, bindingFact, poolFact, backendFact))
	t.Cleanup(func() {
		for _, o := range []client.Object{&v1.KVCachePool{}, &v1.KVCacheBackend{}} {
			o.SetName(w.name)
			_ = client.IgnoreNotFound(w.Client.Delete(context.Background(), o))
		}
	})
	w.applyFacts(backendFact, poolFact, bindingFact)
	w.apply(with("kvCache: {poolRef: {name: dram}}", servers(3, old)))
	w.settle(seats("server", 3)...)
	w.tells("Phase=Ready", "DomainRegistered=True/Registered", "DomainRegistered~team-a", "CacheAttached=Unknown/NoObservationAvailable", "Reconciling=False/AsDeclared")
	w.rest()
	w.applyFacts(strings.Replace(bindingFact, "phase: Ready", "phase: Pending", 1))
	w.tells("Phase=Ready", "Ready=True/Ready", "DomainRegistered=False/BindingNotReady", "ReplicasUpToDate=False/RolloutHeldByCache", "ReplicasUpToDate~3 of 3", "Reconciling=True/WaitingForCache")
	if c := w.deployment().Status.KVCache; c == nil || c.Domain.Name != "team-a" {
		t.Errorf("kvCache %v", c)
	}
	w.applyFacts(strings.Replace(bindingFact, "phase: Ready", "phase: Ready, blocks: 3", 1))
	w.tells("Phase=Ready", "ReplicasUpToDate=True/UpToDate", "CacheAttached=True/CacheActive", "CacheAttached~team-a", "Reconciling=False/AsDeclared")
	w.rest()
}

// TestStatusWeightsBlocked: that nothing can be created is told, and why.
func TestStatusWeightsBlocked(t *testing.T) {
	w := newWorld(t, facts(typeFact, artifactFact))
	spec := func(replicas int, seed string) string {
		return strings.Replace(servers(replicas, seed), "{name: Qwen/Qwen3-8B}", "{name: Qwen/Qwen3-8B, artifactRef: {name: weights}}", 1)
	}
	w.applyFacts(artifactFact)
	w.apply(spec(2, old))
	w.settle(seats("server", 2)...)
	w.tells("Phase=Ready", "WeightsReady=True/Downloaded")
	if m := w.deployment().Status.Model; m == nil || m.Artifact != "weights" || m.Delivery != v1.DeliveryEngine || len(m.Revision) != 40 || m.ManifestDigest == "" {
		t.Errorf("model %+v", m)
	}
	w.applyFacts(strings.Replace(artifactFact, `"True"`, `"False"`, 1))
	w.pass()
	w.apply(spec(3, edited))
	w.tells("Phase=Degraded", "WeightsReady=False/ArtifactNotResolved", "ReplicasUpToDate=False/RolloutHeldByWeights", "ReplicasUpToDate~2 of 2",
		"QuotaReserved=False/PodGroupIncomplete", "QuotaReserved~2 of 3", "Reconciling=True/WaitingForWeights", "Ready=Unknown/Progressing")
	w.applyFacts(artifactFact)
	w.settle(seats("server", 3)...)
	w.tells("Phase=Ready", "WeightsReady=True/Downloaded", "ReplicasUpToDate=True/UpToDate")
}

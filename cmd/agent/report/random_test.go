// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// shuffled is a deployment to which anything has happened at once.
func shuffled(r *rand.Rand) Input {
	maybe := func(e edit) edit {
		if r.IntN(4) > 0 {
			return func(*Input) {}
		}
		return e
	}
	any := func(ofPod func(*Pod)) edit {
		return func(in *Input) {
			for i := range in.Pods {
				if r.IntN(3) == 0 {
					ofPod(&in.Pods[i])
				}
			}
		}
	}
	anyWorkload := func(of func(*Workload)) edit {
		return func(in *Input) {
			for i := range in.Workloads {
				if r.IntN(3) == 0 {
					of(&in.Workloads[i])
				}
			}
		}
	}
	faults := []string{"", ReasonNotCompiled, ReasonStale, ReasonTenantMismatch, ReasonUnknownLateValue, ReasonMissingLateValue, ReasonTemplateInvalid}
	holds := []converge.Hold{"", converge.HeldByCache, converge.HeldByCompile, converge.HeldByGuard, converge.HeldByWeights}
	of := func(role string) edit {
		return func(in *Input) {
			it := in.role(role)
			it.Fault = Fault{faults[r.IntN(len(faults))], "fault"}
			it.Stale, it.Publishes, it.NoImage = r.IntN(4) == 0, r.IntN(2) == 0, r.IntN(2) == 0
			it.Pass.Outdated, it.Created = r.IntN(3), r.IntN(2)
			it.Pass.Hold = holds[r.IntN(len(holds))]
			for n := range int32(3) {
				it.Pass.Waits[n] = waitTexts[r.IntN(len(waitTexts))].wait
			}
		}
	}
	in := pair(
		maybe(routed), maybe(cached), maybe(delivered(v1.DeliveryEngine)), maybe(delivered(v1.DeliveryNode)), maybe(command("prefill")),
		maybe(func(in *Input) { in.Weights.Artifact, in.Weights.Blocked = "w", Fault{"ClaimNotBound", "x"} }),
		maybe(func(in *Input) { in.Cache.Name, in.Cache.Binding, in.Cache.Resolved = "dram", nil, false }),
		maybe(any(func(p *Pod) { p.Deleting = true })), maybe(any(func(p *Pod) { p.Deleting, p.Preempted = true, true })),
		maybe(any(func(p *Pod) { p.Ready = false })), maybe(any(func(p *Pod) { p.Ready, p.WasReady = false, true })), maybe(any(func(p *Pod) { p.Managed = false })), maybe(any(func(p *Pod) { p.NodeLost, p.Node = true, "n" })),
		maybe(any(func(p *Pod) { p.Ordinal = int32(r.IntN(5)) - 1 })), maybe(any(func(p *Pod) { p.Member = int32(r.IntN(3)) })), maybe(any(func(p *Pod) { p.Ended, p.Evicted = true, "e" })),
		maybe(any(func(p *Pod) { p.Role = "another" })), maybe(any(func(p *Pod) { p.Store = Failing })), maybe(any(func(p *Pod) { p.Restarted, p.Ready = true, false })),
		maybe(anyWorkload(func(w *Workload) { w.Reserved, w.Admitted = false, false })), maybe(anyWorkload(func(w *Workload) { w.Pods = nil })),
		maybe(anyWorkload(func(w *Workload) { w.Inactive = true })), maybe(anyWorkload(func(w *Workload) { w.Inactive, w.Parked = true, true })),
		maybe(anyWorkload(func(w *Workload) { w.Evicted = true })), maybe(gone("decode", 0)), maybe(unqueued("decode", 1)),
		maybe(of("prefill")), maybe(of("decode")),
		maybe(func(in *Input) { in.Deployment.Spec.Roles[1].Size = 2 }), maybe(func(in *Input) { in.Deployment.Spec.Roles[0].Replicas = 3 }),
		maybe(func(in *Input) { in.Pods = nil }), maybe(func(in *Input) { in.Router.Ready = 0 }),
		maybe(stored(Ready, metav1.ConditionTrue, "Ready")), maybe(stored(ReplicasUpToDate, metav1.ConditionFalse, ReasonRolloutInProgress)),
		maybe(func(in *Input) { in.Deployment.Status.ObservedGeneration = 3 }),
	)
	if r.IntN(8) == 0 {
		deleted(&in)
	}
	return in
}

// TestRandom: whatever has happened, a status is one that an API server takes, is
// consistent and does not change on its own.
func TestRandom(t *testing.T) {
	reason := regexp.MustCompile(`^[A-Za-z]+$`)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		in := shuffled(r)
		s := Build(in)
		var names []string
		for _, c := range s.Conditions {
			names = append(names, c.Type)
			if !slices.Contains(append(Reasons(c.Type), in.Weights.Blocked.Reason), c.Reason) {
				t.Errorf("%d: %s is not a reason of %s", i, c.Reason, c.Type)
			}
			if !reason.MatchString(c.Reason) || c.Message == "" || c.LastTransitionTime.IsZero() || c.Status == "" {
				t.Errorf("%d: %+v", i, c)
			}
		}
		if in.Deployment.DeletionTimestamp == nil && !slices.Equal(names, order) {
			t.Errorf("%d: conditions %v", i, names)
		}
		ready, _ := said(t, s, Ready)
		stalled, _ := said(t, s, Stalled)
		reconciling, _ := said(t, s, Reconciling)
		quota, _ := said(t, s, QuotaReserved)
		switch {
		case (s.Phase == v1.PhaseReady) != (ready == "True/Ready"),
			s.Phase == v1.PhaseDeleting && reconciling != "True/Deleting",
			stalled[:4] == "True" && reconciling != "False/Stalled",
			stalled == "True/Parked" && quota != "False/Parked",
			reconciling == "False/AsDeclared" && s.Phase != v1.PhaseReady:
			t.Errorf("%d: phase %s, Ready %s, Stalled %s, Reconciling %s, QuotaReserved %s", i, s.Phase, ready, stalled, reconciling, quota)
		}
		in.Deployment.Status = s
		in.Now = in.Now.Add(time.Hour)
		if diff := cmp.Diff(s, Build(in)); diff != "" {
			t.Errorf("%d: %s", i, diff)
		}
		if t.Failed() {
			t.Fatalf("of %+v", in)
		}
	}
}

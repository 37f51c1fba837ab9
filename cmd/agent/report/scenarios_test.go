// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// step is what a pass finds, and what its status tells: "Type=Status/Reason",
// the phase, and parts of messages as "Type~part".
type step struct {
	name string
	in   Input
	want []string
}

// TestScenarios follows deployments through what happens to them. The status of
// a step is what the next one finds stored.
func TestScenarios(t *testing.T) {
	none := gone("server", 0).and(gone("server", 1))
	created := func(role string, n int32) edit {
		return func(in *Input) {
			unqueued(role, n)(in)
			unready(role, n)(in)
			in.role(role).Created++
			in.role(role).Pass.Compared--
		}
	}
	inQueue := func(role string, n int32) edit { return waitingForQuota(role, n, "no room for "+role) }
	starting := unready
	three := func(edits ...edit) Input {
		return input(append([]edit{role("server", v1.RoleServer, 3)}, edits...)...)
	}
	one := func(edits ...edit) Input {
		return input(append([]edit{role("server", v1.RoleServer, 1), func(in *Input) { in.Deployment.Spec.Roles[0].Size = 2 }}, edits...)...)
	}
	park := func(w *Workload) {
		w.Inactive, w.Parked, w.Reserved, w.Admitted, w.Message = true, true, false, false, "The workload is deactivated"
	}

	for name, steps := range map[string][]step{
		"first start": {
			{"nothing yet", servers(none), []string{"Phase=Starting", "QuotaReserved=Unknown/NoReplicas", "Summary=0S", "Ready=Unknown/Starting"}},
			{"created", servers(created("server", 0), created("server", 1)), []string{
				"Phase=Starting", "QuotaReserved=Unknown/AdmissionInFlight", "QuotaReserved~2 of 2", `QuotaReserved~"pool-a"`, "ReplicasUpToDate=True/UpToDate", "Reconciling=True/WaitingForQuota",
			}},
			{"queued", servers(inQueue("server", 0), inQueue("server", 1)), []string{"Phase=Starting", "QuotaReserved=False/Pending", "QuotaReserved~2 of 2", "QuotaReserved~no room for server"}},
			{"admitted", servers(starting("server", -1)), []string{"Phase=Starting", "QuotaReserved=True/Reserved", "Reconciling=True/WaitingForReady"}},
			{"ready", servers(), []string{"Phase=Ready", "Message=", "Summary=2S", "Ready=True/Ready", "Reconciling=False/AsDeclared", "Stalled=False/NotStalled"}},
		},
		"scale-up": {
			{"before", servers(), []string{"Phase=Ready"}},
			{"created", three(created("server", 2)), []string{"Phase=Degraded", "Message~2 of 3", "QuotaReserved=Unknown/AdmissionInFlight", "ReplicasUpToDate=True/UpToDate", "Ready=Unknown/Progressing"}},
			{"queued", three(inQueue("server", 2)), []string{"QuotaReserved=False/Pending", "QuotaReserved~1 of 3", "ReplicasUpToDate=True/UpToDate", "Reconciling=True/WaitingForQuota"}},
			{"admitted", three(starting("server", 2)), []string{"QuotaReserved=True/Reserved", "Reconciling=True/WaitingForReady", "Ready=Unknown/Progressing"}},
			{"ready", three(), []string{"Phase=Ready", "Summary=3S"}},
		},
		"scale-down": {
			{"before", three(), []string{"Phase=Ready"}},
			{"going", servers(add("server", 2, 0), pods("server", 2, func(p *Pod) { p.Deleting = true })), []string{"Phase=Ready", "QuotaReserved=True/Reserved", "ReplicasUpToDate=True/UpToDate", "Summary=2S"}},
		},
		"rollout": {
			{"one is deleted", servers(leaving("server", 1), outdated("server", 2)), []string{"Phase=Degraded", "ReplicasUpToDate=False/RolloutInProgress", "Ready=Unknown/Progressing", "Reconciling=True/RollingOut", "QuotaReserved=False/PodGroupIncomplete"}},
			{"created", servers(created("server", 1), outdated("server", 1)), []string{"ReplicasUpToDate=False/RolloutInProgress", "QuotaReserved=Unknown/AdmissionInFlight"}},
			{"a full pool", servers(inQueue("server", 1), outdated("server", 1), hold("server", converge.HeldByGuard)), []string{"ReplicasUpToDate=False/RolloutInProgress", "QuotaReserved=False/Pending", "QuotaReserved~1 of 2", "Phase=Degraded"}},
			{"the last is deleted", servers(leaving("server", 0), outdated("server", 1)), []string{"ReplicasUpToDate=False/RolloutInProgress"}},
			{"only remembered", servers(leaving("server", 0)), []string{"ReplicasUpToDate=False/RolloutInProgress", "Reconciling=True/RollingOut"}},
			{"done", servers(), []string{"ReplicasUpToDate=True/UpToDate", "Phase=Ready"}},
		},
		"deleted by hand": {
			{"going", servers(leaving("server", 1), waitsFor("server", 1, converge.WaitOccupied)), []string{
				"Phase=Degraded", "QuotaReserved=False/PodGroupIncomplete", "QuotaReserved~1 of 2", "ReplicasUpToDate=False/ReplacementInProgress", "ReplicasUpToDate~role server replica 1",
				"Ready=Unknown/Progressing", "Reconciling=True/Creating",
			}},
			{"gone", servers(gone("server", 1)), []string{"ReplicasUpToDate=False/ReplacementInProgress"}},
			{"created", servers(created("server", 1)), []string{"ReplicasUpToDate=True/UpToDate", "QuotaReserved=Unknown/AdmissionInFlight"}},
		},
		"evicted by the kubelet": {
			{"going", servers(leaving("server", 1), pods("server", 1, func(p *Pod) { p.Ended, p.Ready, p.Evicted = true, false, "The node was low on resource: memory." })), []string{
				"Phase=Degraded", "Message~1 of 2", "Message~low on resource: memory",
			}},
		},
		"preempted in part": {
			{"going", pair(preempted("decode", 1), waitsFor("decode", 1, converge.WaitOccupied)), []string{"QuotaReserved=False/PreemptedInPart", "QuotaReserved~1 of 3", "QuotaReserved~role decode", "QuotaReserved~replicas of roles prefill, decode still run"}},
			{"gone", pair(gone("decode", 1)), []string{"QuotaReserved=False/PodGroupIncomplete"}},
			{"created", pair(created("decode", 1)), []string{"QuotaReserved=Unknown/AdmissionInFlight"}},
			{"queued", pair(inQueue("decode", 1)), []string{"QuotaReserved=False/Pending", "QuotaReserved~1 of 3"}},
		},
		"all preempted": {
			{"going", servers(preempted("server", 0), preempted("server", 1)), []string{"Phase=Starting", "QuotaReserved=Unknown/AllReplicasTerminating", "QuotaReserved~role server was reclaimed", "ReplicasUpToDate=Unknown/RolloutNotObserved"}},
		},
		"a lost node": {
			{"before", servers(), []string{"Phase=Ready"}},
			{"lost", servers(unready("server", 1), pods("server", 1, func(p *Pod) { p.WasReady, p.NodeLost, p.Node = true, true, "node-1" })), []string{
				"Phase=Degraded", "ReplicasUpToDate=True/UpToDate", "Ready=False/ReplicaUnavailable", `Ready~"node-1"`, "Reconciling=True/WaitingForReady", "Stalled=False/NotStalled",
			}},
			{"an edit", servers(unready("server", 1), outdated("server", 2), pods("server", 1, func(p *Pod) { p.WasReady, p.NodeLost, p.Node = true, true, "node-1" })), []string{
				"ReplicasUpToDate=False/RolloutInProgress", `ReplicasUpToDate~"node-1"`, "Ready=Unknown/Progressing",
			}},
		},
		"half of a first instance": {
			{"half", one(unqueued("server", 0), outdated("server", 1)), []string{"QuotaReserved=False/PodGroupIncomplete", "QuotaReserved~0 of 1"}},
		},
		"a blink of the store": {
			{"before", three(cached), []string{"DomainRegistered=True/Registered", "Phase=Ready"}},
			{"lost", three(cached, func(in *Input) { in.Cache.Resolved, in.Cache.Binding.Phase = false, "Failed" }, outdated("server", 3), hold("server", converge.HeldByCache)), []string{
				"DomainRegistered=False/BindingNotReady", "ReplicasUpToDate=False/RolloutHeldByCache", "ReplicasUpToDate~3 of 3", "Phase=Ready", "Ready=True/Ready", "Reconciling=True/WaitingForCache",
			}},
		},
		"blocked weights": {
			{"blocked", three(gone("server", 2), outdated("server", 2), hold("server", converge.HeldByWeights), waitsFor("server", 2, converge.WaitWeights), delivered(v1.DeliveryEngine), func(in *Input) {
				in.Weights.Blocked = Fault{"ArtifactNotResolved", "AccessDenied"}
			}), []string{
				"WeightsReady=False/ArtifactNotResolved", "ReplicasUpToDate=False/RolloutHeldByWeights", "ReplicasUpToDate~2 of 2", "QuotaReserved=False/PodGroupIncomplete", "QuotaReserved~2 of 3",
				"Phase=Degraded", "Reconciling=True/WaitingForWeights",
			}},
		},
		"joint": {
			{"held", pair(inQueue("decode", 0), inQueue("decode", 1), starting("prefill", 0), workloads("prefill", 0, func(w *Workload) { w.Admitted = false })), []string{"QuotaReserved=False/Pending", "QuotaReserved~role decode", "Phase=Starting"}},
			{"parked", pair(inQueue("decode", 0), inQueue("decode", 1), starting("prefill", 0), workloads("prefill", 0, park)), []string{
				"QuotaReserved=False/Parked", "QuotaReserved~g-prefill-0", "QuotaReserved~unpark g-prefill-0", "Phase=Starting", "Message~g-prefill-0", "Stalled=True/Parked", "Reconciling=False/Stalled",
			}},
			{"opened", pair(starting("prefill", -1), starting("decode", -1)), []string{"QuotaReserved=True/Reserved", "Stalled=False/NotStalled"}},
		},
		"no runtime version": {
			{"unknown", servers(none, fault("server", ReasonMissingLateValue, "runtimeVersion is not known"), func(in *Input) { in.role("server").NoImage = true },
				waitsFor("server", 0, converge.WaitCompile), waitsFor("server", 1, converge.WaitCompile)), []string{
				"Phase=Starting", "Message~runtimeVersion is not known", "Compiled=True/InSync", "Stalled=True/ImageUnresolvable",
			}},
		},
		"teardown": {
			{"before", servers(cached), []string{"DomainRegistered=True/Registered"}},
			{"going", servers(deleted, pods("server", -1, func(p *Pod) { p.Deleting = true })), []string{
				"Phase=Deleting", "ReplicasUpToDate=Unknown/RolloutNotObserved", "DomainRegistered=True/Registered", "Domain=team-a", "Reconciling=True/Deleting", "Summary=0S",
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var kept v1.ModelDeploymentStatus
			for _, s := range steps {
				s.in.Deployment.Status = kept
				kept = Build(s.in)
				for _, want := range s.want {
					expect(t, s.name, kept, want)
				}
			}
		})
	}
}

func expect(t *testing.T, step string, s v1.ModelDeploymentStatus, want string) {
	t.Helper()
	if name, part, ok := strings.Cut(want, "~"); ok {
		message := s.PhaseMessage
		if name != "Message" {
			_, message = said(t, s, name)
		}
		contains(t, step+": "+name, message, part)
		return
	}
	name, value, _ := strings.Cut(want, "=")
	var got, message string
	switch name {
	case "Phase":
		got, message = string(s.Phase), s.PhaseMessage
	case "Message":
		got = s.PhaseMessage
	case "Summary":
		got = s.RoleSummary
	case "Domain":
		got = s.KVCache.Domain.Name
	default:
		got, message = said(t, s, name)
	}
	if got != value {
		t.Errorf("%s: %s is %s (%s), want %s", step, name, got, message, value)
	}
}

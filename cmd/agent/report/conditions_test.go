// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// row is one row of a condition: what makes it apply on top of all rows below
// it, which so must come after it.
type row struct {
	want  string
	edits []edit
	parts []string
	// alone: the rows below do not apply at the same time.
	alone bool
}

// TestRows: every row of every condition, and that a row comes before those
// below it.
func TestRows(t *testing.T) {
	everything := []edit{func(in *Input) {
		for _, r := range in.Deployment.Spec.Roles {
			for n := range r.Replicas {
				leaving(r.Name, n)(in)
			}
		}
	}}
	noPods := func(in *Input) { in.Pods, in.Workloads = nil, nil }
	blocked := func(reason string) edit {
		return func(in *Input) {
			delivered(v1.DeliveryPVC)(in)
			in.Weights.Blocked = Fault{reason, "the claim is Lost"}
		}
	}
	binding := func(change func(*Binding)) edit { return func(in *Input) { change(in.Cache.Binding) } }
	// known is what is stored of Ready for the spec as it is.
	known := func(status metav1.ConditionStatus) edit {
		return func(in *Input) {
			in.Deployment.Status.Conditions = nil
			stored(Ready, status, "x")(in)
			in.Deployment.Status.ObservedGeneration = in.Deployment.Generation
		}
	}
	given := map[string]map[string]bool{}
	for name, tc := range map[string]struct {
		condition string
		base      func(...edit) Input
		rows      []row
	}{
		"Compiled": {Compiled, pair, []row{
			{want: "False/NotCompiled", edits: []edit{fault("decode", ReasonNotCompiled, "PodTemplate is missing; mdc build")}, parts: []string{"role decode", "mdc build"}},
			{want: "False/TenantMismatch", edits: []edit{fault("prefill", ReasonTenantMismatch, `tenant "b"`), stale("prefill")}, parts: []string{"role prefill", `tenant "b"`}},
			{want: "False/UnknownLateValue", edits: []edit{fault("decode", ReasonUnknownLateValue, "x is not known"), stale("decode")}, parts: []string{"x is not known"}},
			{want: "False/Stale", edits: []edit{stale("prefill"), fault("prefill", ReasonStale, "another spec")}, parts: []string{"role prefill"}},
			{want: "False/ServiceMissing", edits: []edit{gone("decode", 1), waitsFor("decode", 1, converge.WaitService)}, parts: []string{"m-decode-r1", "mdc build"}},
			{want: "True/InSync"},
		}},
		"Compiled, unusable": {Compiled, pair, []row{
			{want: "False/NotCompiled", edits: []edit{fault("decode", ReasonTemplateInvalid, "label of its Pods")}, parts: []string{"label of its Pods"}},
			{want: "True/InSync", edits: []edit{fault("decode", ReasonMissingLateValue, "no version")}},
		}},
		"WeightsReady": {WeightsReady, servers, []row{
			{want: "True/NotApplicable", edits: []edit{func(in *Input) { in.Weights = Weights{} }}},
			{want: "False/ClaimNotBound", edits: []edit{blocked("ClaimNotBound")}, parts: []string{"the claim is Lost"}},
			{want: "False/WeightsNotMounted", edits: []edit{pods("server", 0, func(p *Pod) { p.Mounted = false })}, parts: []string{"1 Pod", "weights"}},
			{want: "True/Mounted", edits: []edit{delivered(v1.DeliveryNode)}},
		}},
		"WeightsReady, by the engine": {WeightsReady, servers, []row{
			{want: "False/Downloading", edits: []edit{unready("server", -1), pods("server", 0, func(p *Pod) { p.Deleting = true })}, parts: []string{"1 Pod"}},
			{want: "True/Downloaded", edits: []edit{delivered(v1.DeliveryEngine), pods("server", 0, func(p *Pod) { p.Ended = true })}},
		}},
		"WeightsReady, by an image": {WeightsReady, servers, []row{
			{want: "True/Mounted", edits: []edit{delivered(v1.DeliveryImage), pods("server", -1, func(p *Pod) { p.Mounted = false })}},
		}},
		"DomainRegistered": {DomainRegistered, servers, []row{
			{want: "True/NotApplicable", edits: []edit{func(in *Input) { in.Cache = Cache{} }}},
			{want: "False/BindingNotFound", edits: []edit{func(in *Input) { in.Cache.Binding = nil }}, parts: []string{"dram", "team-a"}},
			{want: "False/BindingDeleting", edits: []edit{binding(func(b *Binding) { b.Deleting = true })}, parts: []string{"dram"}},
			{want: "False/BindingNotReady", edits: []edit{binding(func(b *Binding) { b.Phase = "" })}, parts: []string{"not been observed yet"}},
			{want: "False/BindingNotReady", edits: []edit{binding(func(b *Binding) { b.Phase, b.PhaseMessage = "Pending", "no room" })}, parts: []string{"Pending", "no room"}},
			{want: "False/BindingNotReady", edits: []edit{binding(func(b *Binding) { b.QuotaGranted = false })}, parts: []string{"QuotaGranted"}},
			{want: "True/Registered", edits: []edit{cached}, parts: []string{"team-a", "dram", `"pool"`}},
		}},
		"QuotaReserved": {QuotaReserved, pair, []row{
			{want: "Unknown/NoReplicas", edits: []edit{noPods}},
			{want: "Unknown/AllReplicasTerminating", edits: everything, parts: []string{"3 replicas"}},
			{want: "False/PodGroupIncomplete", edits: []edit{gone("decode", 1), waitsFor("decode", 1, converge.WaitOccupied)}, parts: []string{"Role decode: 1 of 2", "pool-a", "taken"}},
			{want: "False/NoQueueInReservedNamespace", edits: []edit{pods("prefill", 0, func(p *Pod) { p.Managed = false })}, parts: []string{"team-a"}},
			{want: "Unknown/AdmissionInFlight", edits: []edit{unqueued("decode", 0)}, parts: []string{"1 of 3", "role decode"}},
			{want: "False/Pending", edits: []edit{waitingForQuota("decode", 1, "insufficient unused quota")}, parts: []string{"1 of 3", "role decode", "decode/1", "g-decode-1", "insufficient unused quota"}},
			{want: "True/Reserved", parts: []string{"3 replicas"}},
		}},
		"QuotaReserved, preempted": {QuotaReserved, pair, []row{
			{want: "False/Parked", edits: []edit{workloads("prefill", 0, func(w *Workload) { w.Inactive, w.Parked = true, true })}, parts: []string{"1 Workload", "g-prefill-0", "unpark g-prefill-0", "delete the ModelDeployment"}},
			{want: "False/PreemptedInPart", edits: []edit{preempted("decode", 1)}, parts: []string{"1 of 3", "role decode)", "replicas of roles prefill, decode still run"}},
		}},
		"QuotaReserved, a kind preempted": {QuotaReserved, pair, []row{
			{want: "False/PreemptedInPart", edits: []edit{preempted("prefill", 0)}, parts: []string{"role prefill)", "no replica of kind Prefill"}},
		}},
		"QuotaReserved, all preempted": {QuotaReserved, pair, []row{
			{want: "Unknown/AllReplicasTerminating", edits: []edit{preempted("prefill", 0), preempted("decode", 0), preempted("decode", 1)}, parts: []string{"roles prefill, decode was reclaimed"}},
		}},
		"QuotaReserved, preempted and nobody admitted": {QuotaReserved, pair, []row{
			{
				want: "False/PodGroupIncomplete", edits: []edit{preempted("prefill", 0), workloads("decode", -1, func(w *Workload) { w.Admitted = false })},
				parts: []string{"Role prefill: 0 of 1", "quota of role prefill was reclaimed"},
			},
		}},
		"QuotaReserved, inactive by somebody else": {QuotaReserved, servers, []row{
			{want: "False/Pending", edits: []edit{workloads("server", 1, func(w *Workload) { w.Inactive, w.Reserved, w.Admitted = true, false, false })}, parts: []string{"not active", `"pool-a"`, "unpark g-server-1"}},
			{want: "True/Reserved", parts: []string{`"pool-a"`}},
		}},
		"QuotaReserved, refused": {QuotaReserved, servers, []row{
			{want: "Unknown/NoReplicas", edits: []edit{noPods, waitsFor("server", 0, converge.WaitRefused), refused("server", 0, "denied by a webhook")}, parts: []string{"refuses", "exceeded quota", "denied by a webhook"}},
			{want: "False/PodGroupIncomplete", edits: []edit{gone("server", 1), waitsFor("server", 1, converge.WaitRefused), refused("server", 1, "exceeded quota")}, parts: []string{"1 of 2", "server replica 1: the API server refuses", "exceeded quota"}},
		}},
		"QuotaReserved, of the dying": {QuotaReserved, servers, []row{
			{want: "False/Pending", alone: true, edits: []edit{workloads("server", 1, func(w *Workload) { w.Evicted = true })}},
			{want: "False/Pending", alone: true, edits: []edit{workloads("server", 1, func(w *Workload) { w.Deleting = true })}},
			{want: "Unknown/AdmissionInFlight", alone: true, edits: []edit{workloads("server", 1, func(w *Workload) { w.Pods = []string{"another"} })}},
			{want: "Unknown/AdmissionInFlight", alone: true, edits: []edit{workloads("server", 1, func(w *Workload) { w.Name = "copy" })}},
		}},
		"ReplicasUpToDate": {ReplicasUpToDate, servers, []row{
			{want: "Unknown/RolloutNotObserved", edits: []edit{func(in *Input) { in.role("server").Pass.Compared = 0 }}},
			{want: "False/RolloutHeldByWeights", edits: []edit{blocked("ArtifactNotResolved")}, parts: []string{"1 of 1", "WeightsReady"}},
			{want: "False/RolloutHeldByCache", edits: []edit{hold("server", converge.HeldByCache)}, parts: []string{"1 of 1", "would wait", "DomainRegistered"}},
			{want: "False/RolloutInProgress", edits: []edit{outdated("server", 1)}, parts: []string{"1 of 1"}},
			{want: "False/RolloutInProgress", edits: []edit{stored(ReplicasUpToDate, metav1.ConditionFalse, "RolloutInProgress")}, parts: []string{"role server replica 1"}},
			{want: "False/ReplacementInProgress", edits: []edit{gone("server", 1)}, parts: []string{"role server replica 1", "QuotaReserved"}},
			{want: "True/UpToDate", parts: []string{"2 replicas"}},
		}},
		"ReplicasUpToDate, a rollout passed by one that leaves on a lost node": {ReplicasUpToDate, servers, []row{
			{want: "False/ReplacementInProgress", parts: []string{"role server replica 1", "server/1 on Node \"node-1\"", "deleted"}, edits: []edit{
				stored(ReplicasUpToDate, metav1.ConditionFalse, ReasonRolloutInProgress), leaving("server", 1), pods("server", 1, func(p *Pod) { p.NodeLost, p.Node = true, "node-1" }),
			}},
		}},
		"ReplicasUpToDate, of what ends": {ReplicasUpToDate, servers, []row{
			{want: "Unknown/RolloutNotObserved", edits: []edit{deleted}},
		}},
		"ReplicasUpToDate, first creation": {ReplicasUpToDate, servers, []row{
			{want: "True/UpToDate", edits: []edit{gone("server", 1), unqueued("server", 0)}},
		}},
		"ReplicasUpToDate, created in this pass": {ReplicasUpToDate, servers, []row{
			{want: "True/UpToDate", edits: []edit{unqueued("server", 0), unqueued("server", 1), func(in *Input) {
				in.role("server").Pass.Compared, in.role("server").Created = 0, 2
			}}},
		}},
		"ReplicasUpToDate, held back": {ReplicasUpToDate, pair, []row{
			{
				want: "False/RolloutInProgress", parts: []string{"2 of 3", "role decode waits until", "role prefill waits until it is compiled", "decode/1", `"node-1"`, "deleted"},
				edits: []edit{
					outdated("prefill", 1), outdated("decode", 1), hold("prefill", converge.HeldByCompile), hold("decode", converge.HeldByGuard),
					pods("decode", 1, func(p *Pod) { p.NodeLost, p.Node = true, "node-1" }),
				},
			},
		}},
		"RoleKindsReady": {RoleKindsReady, pair, []row{
			{want: "Unknown/NoRoleStatuses", edits: []edit{func(in *Input) { in.Deployment.Spec.Roles = nil }}},
			{want: "False/KindsNotReady", edits: []edit{unready("prefill", -1), unready("decode", -1)}, parts: []string{"Prefill, Decode"}},
			{want: "True/AllKindsReady", edits: []edit{unready("decode", 0), command("decode")}},
		}},
		"RouterReady": {RouterReady, pair, []row{
			{want: "True/NotApplicable", edits: []edit{func(in *Input) { in.Deployment.Spec.Router = nil }}},
			{want: "Unknown/NotDeployed", edits: []edit{func(in *Input) { in.Router.Deployed = false }}, parts: []string{"m-router", "mdc build"}},
			{want: "False/NoReadyReplicas", edits: []edit{func(in *Input) { in.Router.Ready = 0 }}, parts: []string{"m-router"}},
			{want: "True/Ready", edits: []edit{routed}},
		}},
		"KVEventsPublishing": {KVEventsPublishing, pair, []row{
			{want: "False/NoRouter", edits: []edit{func(in *Input) { in.Deployment.Spec.Router = nil }}, parts: []string{"Role prefill"}},
			{want: "Unknown/RoleUnmanaged", edits: []edit{command("prefill")}, parts: []string{"role prefill"}},
			{want: "False/PublisherDisabled", edits: []edit{func(in *Input) { in.role("prefill").Publishes = false }}, parts: []string{"role prefill"}},
			{want: "True/Publishing", edits: []edit{routed, func(in *Input) { in.role("prefill").Publishes = true }}},
		}},
		"KVEventsPublishing, alone": {KVEventsPublishing, servers, []row{{want: "True/NotApplicable"}}},
		"CacheAttached": {CacheAttached, servers, []row{
			{want: "True/NotApplicable", edits: []edit{func(in *Input) { in.Cache = Cache{} }}},
			{want: "Unknown/Unmanaged", edits: []edit{command("server")}, parts: []string{"role server"}},
			{want: "Unknown/NoReplicaReady", edits: []edit{unready("server", -1)}},
			{want: "True/CacheActive", edits: []edit{pods("server", 0, func(p *Pod) { p.Store = Active })}},
			{want: "False/CacheOperationsFailing", edits: []edit{pods("server", 1, func(p *Pod) { p.Store = Failing })}, parts: []string{"role server"}},
			{want: "True/CacheActive", edits: []edit{binding(func(b *Binding) { b.HoldsData = true })}, parts: []string{"team-a"}},
			{want: "Unknown/NoObservationAvailable", edits: []edit{cached}},
		}},
		"CacheAttached, of an agent that has just started": {CacheAttached, servers, []row{
			{want: "True/CacheActive", edits: []edit{pods("server", 1, func(p *Pod) { p.Store = Active })}},
			{want: "False/CacheOperationsFailing", edits: []edit{stored(CacheAttached, metav1.ConditionFalse, ReasonCacheOperationsFailing)}},
			{want: "Unknown/NoObservationAvailable", edits: []edit{cached, pods("server", 0, func(p *Pod) { p.Store = Unasked })}},
		}},
		"CacheAttached, who is asked": {CacheAttached, servers, []row{
			{want: "Unknown/NoObservationAvailable", edits: []edit{cached, unready("server", 0), pods("server", 0, func(p *Pod) { p.Store = Active }), func(in *Input) {
				in.Deployment.Spec.Roles[0].Size = 2
				add("server", 0, 1)(in)
				add("server", 1, 1)(in)
				pods("server", 1, func(p *Pod) {
					if p.Member == 1 {
						p.Store = Failing
					}
				})(in)
			}}},
		}},
		"Stalled": {Stalled, pair, []row{
			{want: "True/NotCompiled", edits: []edit{fault("decode", ReasonNotCompiled, "mdc build")}, parts: []string{"mdc build"}},
			{want: "True/TenantMismatch", edits: []edit{fault("decode", ReasonTenantMismatch, "tenant")}, parts: []string{"tenant"}},
			{want: "True/ImageUnresolvable", edits: []edit{
				fault("prefill", ReasonMissingLateValue, "runtimeVersion comes from InstanceType"), waitsFor("prefill", 0, converge.WaitCompile),
				func(in *Input) { gone("prefill", 0)(in); in.role("prefill").NoImage = true },
			}, parts: []string{"Role prefill", "runtimeVersion comes from"}},
			{want: "True/NoQueueInReservedNamespace", edits: []edit{pods("decode", 0, func(p *Pod) { p.Managed = false })}, parts: []string{"team-a"}},
			{want: "True/Parked", edits: []edit{workloads("decode", 0, func(w *Workload) { w.Inactive, w.Parked = true, true })}, parts: []string{"g-decode-0"}},
			{want: "False/NotStalled", edits: []edit{stale("prefill")}},
		}},
		"Stalled, while a host applies": {Stalled, pair, []row{
			{want: "True/NotCompiled", edits: []edit{stored(Stalled, metav1.ConditionTrue, ReasonNotCompiled)}},
			{want: "False/NotStalled", edits: []edit{func(in *Input) { in.Settling = true }}},
			{want: "True/NotCompiled", edits: []edit{fault("decode", ReasonNotCompiled, "mdc build")}},
		}},
		"Stalled, of what ends": {Stalled, servers, []row{
			{want: "False/NotStalled", edits: []edit{workloads("server", 0, func(w *Workload) { w.Inactive, w.Parked = true, true }), deleted}},
		}},
		"Ready": {Ready, servers, []row{
			{want: "Unknown/Progressing", edits: []edit{deleted}},
			{want: "Unknown/Starting", edits: []edit{unready("server", 0)}},
			{want: "Unknown/Progressing", edits: []edit{outdated("server", 1)}, parts: []string{"1 of 2"}},
			{want: "Unknown/Progressing", edits: []edit{unready("server", 1)}, parts: []string{"1 of 2"}},
			{want: "True/Ready", parts: []string{"2 replicas"}},
		}},
		"Ready, no more": {Ready, servers, []row{
			{want: "Unknown/Progressing", edits: []edit{outdated("server", 1)}},
			{want: "False/ReplicaUnavailable", edits: []edit{pods("server", 1, func(p *Pod) { p.NodeLost, p.Node = true, "node-1" })}, parts: []string{"1 of 2", "role server replica 1", "node-1", "deleted"}},
			{want: "False/ReplicaUnavailable", edits: []edit{pods("server", 1, func(p *Pod) { p.Restarted = true })}, parts: []string{"server/1", "logs"}},
			{want: "False/ReplicaUnavailable", edits: []edit{pods("server", 1, func(p *Pod) { p.WasReady = true })}, parts: []string{"1 of 2", "server/1", "not ready any more"}},
			{want: "Unknown/Progressing", edits: []edit{known(metav1.ConditionFalse), unready("server", 1)}}, // it may be new
		}},
		"Ready, one leaves on a node that does not answer": {Ready, servers, []row{
			{want: "False/ReplicaUnavailable", edits: []edit{pods("server", 1, func(p *Pod) { p.WasReady = true })}, parts: []string{"role server replica 1", "node-1", "deleted"}},
			{want: "Unknown/Progressing", edits: []edit{leaving("server", 1), unready("server", 1), pods("server", 1, func(p *Pod) { p.NodeLost, p.Node = true, "node-1" })}},
		}},
		"Ready, a node with several": {Ready, pair, []row{
			{want: "False/ReplicaUnavailable", parts: []string{"role prefill replica 0; role decode replicas 0, 1, on Node"}, edits: []edit{
				unready("prefill", 0), unready("decode", -1), pods("prefill", 0, func(p *Pod) { p.WasReady, p.NodeLost, p.Node = true, true, "n" }),
				pods("decode", -1, func(p *Pod) { p.WasReady, p.NodeLost, p.Node = true, true, "n" }),
			}},
		}},
		"Ready, refused": {Ready, servers, []row{
			{want: "False/ReplicaUnavailable", edits: []edit{waitsFor("server", 1, converge.WaitRefused), refused("server", 1, "exceeded quota")}, parts: []string{"role server replica 1", "exceeded quota"}},
			{want: "Unknown/Progressing", edits: []edit{known(metav1.ConditionTrue), gone("server", 1)}},
		}},
		"Ready, nothing any more": {Ready, servers, []row{
			{want: "False/ReplicaUnavailable", edits: []edit{pods("server", -1, func(p *Pod) { p.WasReady = true })}, parts: []string{"0 of 2", "server/0"}},
			{want: "Unknown/Starting", edits: []edit{unready("server", -1)}},
		}},
		"Ready, being replaced": {Ready, servers, []row{
			{want: "Unknown/Progressing", alone: true, edits: []edit{known(metav1.ConditionTrue), waitingForQuota("server", 1, "")}},
			{want: "Unknown/Progressing", alone: true, edits: []edit{known(metav1.ConditionTrue), leaving("server", 1)}},
			{want: "Unknown/Progressing", alone: true, edits: []edit{known(metav1.ConditionTrue), gone("server", 1)}},
			{want: "Unknown/Progressing", alone: true, edits: []edit{known(metav1.ConditionTrue), gone("server", 1), waitsFor("server", 1, converge.WaitOccupied)}},
		}},
		"Ready, a loss that nothing replaces": {Ready, servers, []row{
			{want: "False/ReplicaUnavailable", edits: []edit{known(metav1.ConditionTrue)}, parts: []string{"role server replica 1", "weights"}},
			{want: "Unknown/Progressing", edits: []edit{gone("server", 1), waitsFor("server", 1, converge.WaitWeights)}},
		}},
		"Ready, a growth that waits": {Ready, servers, []row{
			{want: "Unknown/Progressing", edits: []edit{
				gone("server", 1), waitsFor("server", 1, converge.WaitWeights), known(metav1.ConditionTrue), func(in *Input) { in.Deployment.Generation = 4 },
			}},
		}},
		"Reconciling": {Reconciling, pair, []row{
			{want: "True/Deleting", edits: []edit{deleted}},
			{want: "False/Stalled", edits: []edit{fault("decode", ReasonNotCompiled, "")}},
			{want: "True/WaitingForWeights", edits: []edit{blocked("ClaimNotBound")}, parts: []string{"the claim is Lost"}},
			{want: "True/WaitingForCache", edits: []edit{gone("prefill", 0), waitsFor("prefill", 0, converge.WaitCache)}, parts: []string{"dram"}},
			{want: "True/RollingOut", edits: []edit{outdated("decode", 1)}, parts: []string{"1 of"}},
			{want: "True/Creating", edits: []edit{gone("decode", 0), waitsFor("decode", 0, converge.WaitOccupied)}, parts: []string{"role decode replica 0", "taken"}},
			{want: "True/WaitingForQuota", edits: []edit{waitingForQuota("decode", 1, "no room")}, parts: []string{"no room"}},
			{want: "True/WaitingForReady", edits: []edit{unready("decode", 0)}, parts: []string{"role decode replica 0"}},
			{want: "True/WaitingForCache", edits: []edit{func(in *Input) { in.Cache.Resolved, in.Cache.Binding.Phase = false, "Pending" }}, parts: []string{"Pending"}},
			{want: "True/WaitingForCache", edits: []edit{func(in *Input) { in.Cache.Resolved = false }}, parts: []string{`"pool"`, "address"}},
			{want: "False/AsDeclared", edits: []edit{cached}},
		}},
		"Reconciling, held by the cache": {Reconciling, pair, []row{
			{want: "True/WaitingForCache", edits: []edit{cached, outdated("decode", 2), hold("decode", converge.HeldByCache)}},
		}},
		"Reconciling, stale": {Reconciling, pair, []row{
			{want: "True/RollingOut", edits: []edit{stale("decode"), fault("decode", ReasonStale, "compile again")}, parts: []string{"compile again"}},
		}},
		"Reconciling, for a router": {Reconciling, servers, []row{
			{want: "True/WaitingForReady", edits: []edit{routed, func(in *Input) { in.Router.Ready = 0 }}, parts: []string{"m-router"}},
		}},
		"Reconciling, weights on their way": {Reconciling, servers, []row{
			{want: "True/RollingOut", edits: []edit{outdated("server", 1)}},
			{want: "True/WaitingForQuota", edits: []edit{waitingForQuota("server", 1, "no room")}},
			{want: "True/WaitingForWeights", edits: []edit{delivered(v1.DeliveryEngine), unready("server", 0)}, parts: []string{"weights", "1 Pod"}},
			{want: "False/AsDeclared"},
		}},
		"Reconciling, for another check": {Reconciling, servers, []row{
			{want: "True/WaitingForReady", edits: []edit{unready("server", 1), workloads("server", 1, func(w *Workload) {
				w.Admitted, w.Checks = false, []string{"check provision (a machine is being made)"}
			})}, parts: []string{"server/1 holds quota", "provision", "a machine is being made"}},
		}},
		"Reconciling, weights lost while all run": {Reconciling, servers, []row{
			{want: "False/AsDeclared", edits: []edit{blocked("ArtifactNotResolved")}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var on []edit
			for i := len(tc.rows) - 1; i >= 0; i-- {
				r := tc.rows[i]
				if given[tc.condition] == nil {
					given[tc.condition] = map[string]bool{}
				}
				_, reason, _ := strings.Cut(r.want, "/")
				given[tc.condition][reason] = true
				edits := slices.Concat(on, r.edits)
				if !r.alone {
					on = edits
				}
				got, message := said(t, Build(tc.base(edits...)), tc.condition)
				if got != r.want {
					t.Errorf("row %d: %s (%s), want %s", i, got, message, r.want)
				}
				contains(t, r.want, message, r.parts...)
			}
		})
	}
	delete(given[WeightsReady], "ClaimNotBound") // given by the input
	for condition, reasons := range given {
		got, want := slices.Sorted(slices.Values(Reasons(condition))), slices.Sorted(maps.Keys(reasons))
		if !slices.Equal(got, want) {
			t.Errorf("reasons of %s: %q, and the rows give %q", condition, got, want)
		}
	}
	if len(given) != len(order) {
		t.Errorf("rows of %d conditions", len(given))
	}
}

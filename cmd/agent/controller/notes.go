// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
	"gpustack.ai/mdc/cmd/agent/report"
)

// The reasons of events.
const (
	eventRenderFailed       = "RenderFailed"
	eventTenantMismatch     = "TenantMismatch"
	eventTenantNotSeparated = "TenantNotSeparated"
	eventPinnedFactStale    = "PinnedFactStale"
	eventRuntimeVersionSkew = "RuntimeVersionSkew"
	eventServiceMissing     = "ServiceMissing"
	eventQueueAmbiguous     = "QueueAmbiguous"
	eventSlotBlocked        = "SlotBlocked"
	eventReplicaEvicted     = "ReplicaEvicted"
	eventReplicaLeaving     = "ReplicaLeaving"
	eventReplicaRestarted   = "ReplicaRestarted"
	eventFailedCreate       = "FailedCreate"
)

// note is something that a user should hear once, for as long as it holds.
type note struct {
	// key tells it from every other note of the deployment.
	key             string
	reason, message string
	// about is what it is about beside the deployment. Events that differ
	// neither in it nor in action are taken for one and lose their message.
	about  runtime.Object
	action string
	// patience is how long it must hold before it is told.
	patience time.Duration
}

// applied is how long a host takes to apply a deployment and what was compiled
// from it, one after the other.
const applied = 10 * time.Second

// notes are what holds after a pass. left are the Pods that it has deleted.
func notes(v *observe.View, plan *converge.Plan, left map[string]bool) (out []note) {
	for _, r := range v.Roles {
		out = append(out, roleNotes(v, r)...)
	}
	for _, report := range plan.Roles {
		if n, ok := missingServices(v, report); ok {
			out = append(out, n)
		}
	}
	for _, b := range plan.Blocked {
		out = append(out, note{
			key: fmt.Sprintf("%s/%s/%d/%s", eventSlotBlocked, b.Role, b.Ordinal, b.Pod), reason: eventSlotBlocked, action: "Create",
			about: object("Pod", v.Deployment.Namespace, b.Pod),
			message: fmt.Sprintf("Role %q replica %d waits: Pod %q carries its group name %s and does not belong to this deployment; delete that Pod or its label %s",
				b.Role, b.Ordinal, b.Pod, replica.GroupName(v.Deployment.Namespace, v.Deployment.Name, b.Role, b.Ordinal), podconstants.GroupNameLabel),
		})
	}
	for i := range v.Pods {
		if n, ok := podNote(&v.Pods[i], left[string(v.Pods[i].UID)]); ok {
			out = append(out, n)
		}
	}
	return out
}

// roleNotes are about what a role is made of.
func roleNotes(v *observe.View, r *observe.Role) (out []note) {
	namespace := v.Deployment.Namespace
	template := object("PodTemplate", namespace, r.TemplateNames()[0])
	if f := r.Fault; f.Reason != "" {
		reason := eventRenderFailed
		if f.Reason == report.ReasonTenantMismatch {
			reason = eventTenantMismatch
		}
		patience := time.Duration(0)
		if f.Reason == report.ReasonStale || f.Reason == report.ReasonNotCompiled {
			patience = applied
		}
		out = append(out, note{
			patience: patience,
			key:      strings.Join([]string{reason, r.Spec.Name, f.Reason, f.Message}, "/"), reason: reason, action: f.Reason, about: template,
			message: fmt.Sprintf("Role %q: %s", r.Spec.Name, f.Message),
		})
	}
	if r.TenantNotSeparated {
		out = append(out, note{
			key: eventTenantNotSeparated + "/" + r.Spec.Name, reason: eventTenantNotSeparated, action: "Create", about: template,
			message: fmt.Sprintf("Role %q names the tenant %q, and the store of pool %q keeps tenants apart no more: all that reach it share its blocks",
				r.Spec.Name, v.Chain.Domain(), v.Chain.Binding.Spec.PoolRef.Name),
		})
	}
	for _, p := range r.Pins {
		out = append(out, note{
			key: strings.Join([]string{eventPinnedFactStale, r.Spec.Name, string(p.Name), p.Compiled, p.Live}, "/"), reason: eventPinnedFactStale, action: "Pinned" + string(p.Name), about: template,
			message: fmt.Sprintf("Role %q was compiled with %s %q, and the cluster has %q by now; refresh the fact and compile again, or leave it out of Git to follow the cluster",
				r.Spec.Name, p.Name, p.Compiled, p.Live),
		})
	}
	if len(r.Queues) > 1 {
		out = append(out, note{
			key: eventQueueAmbiguous + "/" + r.Spec.Name, reason: eventQueueAmbiguous, action: "Queue" + r.Spec.Name,
			about: object("LocalQueue", namespace, r.Queues[0]),
			message: fmt.Sprintf("Role %q: several LocalQueues lead to ClusterQueue %q: %s; %q is used",
				r.Spec.Name, r.Spec.InstanceType, strings.Join(slices.Sorted(slices.Values(r.Queues)), ", "), r.Queues[0]),
		})
	}
	if len(r.Versions) > 1 {
		versions := strings.Join(r.Versions, ", ")
		out = append(out, note{
			key: eventRuntimeVersionSkew + "/" + r.Spec.Name + "/" + versions, reason: eventRuntimeVersionSkew, action: "Versions" + strings.Join(r.Versions, "-"), about: template,
			message: fmt.Sprintf("Role %q: the image is chosen for runtime version %s, the lowest of %d that the nodes report (%s): a newer one would not start on all of them",
				r.Spec.Name, r.Versions[0], len(r.Versions), versions),
		})
	}
	return out
}

// missingServices is about instances whose Service was not compiled.
func missingServices(v *observe.View, report converge.RoleReport) (note, bool) {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(report.Waits)) {
		if report.Waits[n] == converge.WaitService {
			names = append(names, replica.InstanceName(v.Deployment.Name, report.Name, n))
		}
	}
	if len(names) == 0 {
		return note{}, false
	}
	return note{
		key: eventServiceMissing + "/" + report.Name + "/" + strings.Join(names, ","), reason: eventServiceMissing, action: "Create",
		about: object("Service", v.Deployment.Namespace, names[0]),
		message: fmt.Sprintf("Role %q: replicas wait for their Services: %s; compile the deployment with \"mdc build\" and apply what it prints",
			report.Name, strings.Join(names, ", ")),
	}, true
}

// refusals are about roles whose Pods the API server refuses, each told once.
func refusals(v *observe.View, said map[string]map[int32]string) (out []note) {
	for _, role := range slices.Sorted(maps.Keys(said)) {
		n := slices.Min(slices.Collect(maps.Keys(said[role])))
		out = append(out, note{
			key: eventFailedCreate + "/" + role, reason: eventFailedCreate, action: "Create",
			about:   object("PodTemplate", v.Deployment.Namespace, v1.TemplateName(v.Deployment.Name, role)),
			message: fmt.Sprintf("Role %q: the API server refuses the Pods of replica %d: %s", role, n, said[role][n]),
		})
	}
	return out
}

// podNote is about a Pod that leaves or starts anew. What it had cached goes
// with it.
func podNote(p *corev1.Pod, left bool) (note, bool) {
	const lost = "blocks that it has cached are lost to its siblings, which learn of it within the lease of the cache (kv_lease_duration, 30s), and requests that wait on it fail"
	n := note{about: p, action: "Observe"}
	restarts := observe.Restarts(p)
	switch {
	case p.Status.Reason == "Evicted":
		n.reason = eventReplicaEvicted
		n.message = fmt.Sprintf("Pod %q was evicted by its node: %s; %s", p.Name, p.Status.Message, lost)
	case len(p.Spec.SchedulingGates) > 0: // it has never served, and takes nothing along
		return note{}, false
	case p.DeletionTimestamp != nil || left:
		n.reason = eventReplicaLeaving
		n.message = fmt.Sprintf("Pod %q is leaving: %s", p.Name, lost)
	case restarts > 0:
		n.reason = eventReplicaRestarted
		n.action = fmt.Sprintf("Restart%d", restarts)
		n.message = fmt.Sprintf("Containers of Pod %q have restarted %d times: %s", p.Name, restarts, lost)
	default:
		return note{}, false
	}
	n.key = fmt.Sprintf("%s/%s/%d", n.reason, p.UID, restarts)
	return n, true
}

// object refers to an object of the namespace, whether it exists or not.
func object(kind, namespace, name string) *corev1.ObjectReference {
	ref := &corev1.ObjectReference{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
	if kind == "LocalQueue" {
		ref.APIVersion = "kueue.x-k8s.io/v1beta2"
	}
	return ref
}

// messageLimit is what an API server takes.
const messageLimit = 1024

// announce tells what did not hold after the last pass, and returns when there is
// more to tell if it still holds then; zero: never.
func (r *Reconciler) announce(md *v1.ModelDeployment, m *memory, all []note) (again time.Duration) {
	said, since := map[string]bool{}, map[string]time.Time{}
	for _, n := range all {
		if n.patience > 0 && !m.said[n.key] {
			now := r.Now()
			first, known := m.since[n.key]
			if !known {
				first = now
			}
			if wait := first.Add(n.patience).Sub(now); wait > 0 {
				since[n.key] = first
				if again == 0 || wait < again {
					again = wait
				}
				continue
			}
		}
		if said[n.key] = true; m.said[n.key] {
			continue
		}
		text := strings.ToValidUTF8(n.message[:min(len(n.message), messageLimit)], "")
		r.Events.Eventf(md, n.about, corev1.EventTypeWarning, n.reason, n.action[:min(len(n.action), 128)], "%s", text)
	}
	m.said, m.since = said, since
	return again
}

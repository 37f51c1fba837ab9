// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/render"
	"gpustack.ai/mdc/compiler/replica"
	"gpustack.ai/mdc/compiler/router"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/report"
)

// Outcome is what came of a pass, as far as a status tells it.
type Outcome struct {
	Plan *converge.Plan
	// Created are the Pods that were made, Failed the creates of which not all
	// were.
	Created []corev1.Pod
	Failed  []converge.Create
	// Refused is what the API server says of replicas whose Pods it refuses, by
	// role and ordinal.
	Refused map[string]map[int32]string
	// Settling: a host may still be applying what was compiled.
	Settling bool
	// Deleted are the UIDs of the Pods that were deleted.
	Deleted map[string]bool
	// Stores is what engines tell of the store, by the UID of their Pod.
	Stores map[types.UID]report.Evidence
}

// Report returns what the status is made from.
func (v *View) Report(o Outcome, now time.Time) report.Input {
	in := report.Input{
		Deployment: v.Deployment,
		Now:        now,
		Settling:   o.Settling,
		Cache:      v.reportCache(),
		Weights:    v.reportWeights(),
		Router:     report.Router{Name: router.Name(v.Deployment.Name)},
	}
	for _, r := range v.Roles {
		in.Roles = append(in.Roles, v.reportRole(r, o))
	}
	for i := range v.Pods {
		p := &v.Pods[i]
		out := reportPod(p, v.nodes)
		out.Deleting = out.Deleting || o.Deleted[out.UID]
		out.Store = o.Stores[p.UID]
		in.Pods = append(in.Pods, out)
	}
	for i := range o.Created {
		in.Pods = append(in.Pods, reportPod(&o.Created[i], v.nodes))
	}
	for i := range v.Workloads {
		in.Workloads = append(in.Workloads, v.reportWorkload(&v.Workloads[i]))
	}
	if v.router != nil {
		in.Router.Deployed, in.Router.Ready = true, v.router.Status.ReadyReplicas
	}
	if len(in.Roles) == 0 {
		return in
	}
	in.Endpoint = v.rendered(0).DeploymentEndpoint()
	if v.Deployment.Spec.Router != nil {
		in.Router.Contract = v.contract(in.Roles)
	}
	return in
}

func (v *View) reportRole(r *Role, o Outcome) report.Role {
	md := v.Deployment
	out := report.Role{
		Name:    r.Spec.Name,
		Stale:   r.Stale,
		Fault:   r.Fault,
		Service: func(n int32) string { return replica.InstanceName(md.Name, r.Spec.Name, n) },
		NoImage: r.lacks(replica.LateRuntimeVersion),
		Refused: o.Refused[r.Spec.Name],
	}
	for _, p := range o.Plan.Roles {
		if p.Name == r.Spec.Name {
			out.Pass = p
		}
	}
	made := map[int32]bool{}
	for i := range o.Created {
		if p := &o.Created[i]; p.Labels[v1.LabelComponent] == r.Spec.Name {
			made[index(p.Labels[v1.LabelPodOrdinal], -1)] = true
		}
	}
	for _, c := range o.Failed {
		if c.Role == r.Spec.Name {
			delete(made, c.Ordinal)
		}
	}
	out.Created = len(made)
	if r.full == nil {
		return out
	}
	if c := mainContainer(&r.full.Template); c != nil {
		out.Publishes = slices.Contains(c.Command, argv.FlagKVEventsConfig) || slices.Contains(c.Args, argv.FlagKVEventsConfig)
		for name := range c.Resources.Limits {
			if accelerates(string(name)) {
				out.Accelerators = append(out.Accelerators, string(name))
			}
		}
		slices.Sort(out.Accelerators)
	}
	return out
}

// rendered is a role as far as how it is reached, which does not depend on its
// hardware.
func (v *View) rendered(i int) *render.Role {
	return &render.Role{Deployment: v.Deployment, Index: i, Type: &v1.InstanceType{}}
}

// lacks reports whether the role cannot be used for want of a value.
func (r *Role) lacks(name replica.LateName) bool {
	if r.Fault.Reason != report.ReasonMissingLateValue || r.Late[name] != "" {
		return false
	}
	entries, err := replica.ParseLate(r.full)
	return err == nil && slices.ContainsFunc(entries, func(e replica.Late) bool { return e.Name == name })
}

// accelerates reports whether a resource is a kind of cards: one of a device
// plugin, and not of a fabric.
func accelerates(name string) bool {
	domain, _, plugin := strings.Cut(name, "/")
	return plugin && domain != "device.gpustack.ai" && domain != "vpc.amazonaws.com"
}

// takenUp is within what time of a Pod's start its kubelet tells that it is not
// ready yet.
const takenUp = 10 * time.Second

func reportPod(p *corev1.Pod, n *nodes) report.Pod {
	out := report.Pod{Pod: podOf(p, n), Restarted: Restarts(p) > 0}
	if p.Status.Reason == podEvicted {
		out.Evicted = p.Status.Message
	}
	if out.NodeLost {
		out.Node = p.Spec.NodeName
	}
	for _, c := range p.Status.Conditions {
		switch c.Type {
		case corev1.PodReadyToStartContainers:
			out.Mounted = c.Status == corev1.ConditionTrue
		case corev1.PodReady:
			out.WasReady = c.Status != corev1.ConditionTrue && p.Status.StartTime != nil &&
				c.LastTransitionTime.Sub(p.Status.StartTime.Time) > takenUp
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == replica.MainContainer {
			out.EngineReady = c.Ready
		}
	}
	return out
}

// podEvicted is what the kubelet says of a Pod that it ends for want of room.
const podEvicted = "Evicted"

func (v *View) reportWorkload(w *kueue.Workload) report.Workload {
	out := report.Workload{
		Workload: workloadOf(w),
		Inactive: inactive(w),
		Parked:   v.parked[w.UID],
		Unpark:   joint.Unpark(w.Namespace, w.Name),
	}
	for _, name := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadEvicted} {
		c := meta.FindStatusCondition(w.Status.Conditions, name)
		if c != nil && (c.Status == metav1.ConditionTrue) == (name == kueue.WorkloadEvicted) {
			out.Message = c.Message
		}
	}
	for _, e := range w.Status.AdmissionChecks {
		if e.State != kueue.CheckStateReady {
			text := "check " + string(e.Name)
			if e.Message != "" {
				text += " (" + e.Message + ")"
			}
			out.Checks = append(out.Checks, text)
		}
	}
	if w.Status.Admission == nil {
		return out
	}
	out.Assigned = map[string]map[string]string{}
	for _, set := range w.Status.Admission.PodSetAssignments {
		flavors := map[string]string{}
		for resource, flavor := range set.Flavors {
			flavors[string(resource)] = string(flavor)
		}
		out.Assigned[string(set.Name)] = flavors
	}
	return out
}

func inactive(w *kueue.Workload) bool { return !ptr.Deref(w.Spec.Active, true) }

// parked are the Workloads that the agent itself has deactivated.
func (r *Reader) parked(ctx context.Context, workloads []kueue.Workload) (map[types.UID]bool, error) {
	if !slices.ContainsFunc(workloads, func(w kueue.Workload) bool { return inactive(&w) }) {
		return nil, nil
	}
	checks, err := r.Checks(ctx)
	if err != nil {
		return nil, err
	}
	out := map[types.UID]bool{}
	for i := range workloads {
		w := &workloads[i]
		for _, e := range w.Status.AdmissionChecks {
			if inactive(w) && checks[e.Name] && strings.Contains(e.Message, joint.Marker) {
				out[w.UID] = true
			}
		}
	}
	return out, nil
}

// router reads the Deployment of the router of a deployment.
func (r *Reader) router(ctx context.Context, md *v1.ModelDeployment) (*appsv1.Deployment, error) {
	if md.Spec.Router == nil {
		return nil, nil
	}
	d, err := get[appsv1.Deployment](ctx, r, client.ObjectKey{Namespace: md.Namespace, Name: router.Name(md.Name)})
	if d != nil && d.Annotations[v1.AnnotationDeployment] != md.Name {
		d = nil // somebody else's
	}
	return d, err
}

// contract is what the router was rendered from.
func (v *View) contract(roles []report.Role) *v1.RouterStatus {
	in := router.Input{Deployment: v.Deployment}
	for i, r := range v.Roles {
		rendered := v.rendered(i)
		_, port := rendered.ServicePort()
		in.Roles = append(in.Roles, router.Role{
			Name: r.Spec.Name, Kind: r.Spec.Kind, Endpoint: rendered.Endpoint(), Port: port, Publishes: roles[i].Publishes,
		})
	}
	return router.Status(in, v.Chain.endpoint())
}

func (v *View) reportCache() report.Cache {
	spec := v.Deployment.Spec.KVCache
	if spec == nil {
		return report.Cache{}
	}
	out := report.Cache{Name: spec.PoolRef.Name, Resolved: v.Chain.resolved()}
	if b := v.Chain.Binding; b != nil {
		domain := b.Spec.Domain
		domain.Name = v.Chain.Domain()
		out.Binding = &report.Binding{
			Pool:         b.Spec.PoolRef.Name,
			Domain:       domain,
			Deleting:     b.DeletionTimestamp != nil,
			Phase:        b.Status.Phase,
			PhaseMessage: b.Status.PhaseMessage,
			QuotaGranted: quotaGranted(b),
			HoldsData:    HoldsData(b),
		}
	}
	return out
}

// HoldsData reports whether blocks are known to be stored through a Binding.
func HoldsData(b *v1.KVCachePoolBinding) bool {
	s := b.Status
	return s.Blocks != nil && *s.Blocks > 0 || s.Usage != nil && !s.Usage.IsZero()
}

func (v *View) reportWeights() report.Weights {
	ref := v.Deployment.Spec.Model.ArtifactRef
	if ref == nil {
		return report.Weights{}
	}
	out := report.Weights{Artifact: ref.Name, Blocked: v.Weights}
	a := v.artifact
	if a == nil {
		return out
	}
	out.Delivery = delivery(a, v.Roles)
	if unresolved(a) != "" {
		return out
	}
	out.Model = &v1.ModelStatus{Artifact: a.Name, Delivery: out.Delivery}
	if r := a.Status.Resolved; r != nil && a.Spec.Source.PersistentVolumeClaim == nil && a.Spec.Source.Image == nil {
		out.Model.Revision, out.Model.ManifestDigest = r.Revision, r.ManifestDigest
	}
	return out
}

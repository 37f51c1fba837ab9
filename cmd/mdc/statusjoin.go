// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
)

// liveDeployment is a deployment with all that there is of it.
type liveDeployment struct {
	object map[string]any
	md     *v1.ModelDeployment
	roles  []*liveRole
	// orphans are its Pods that belong to no replica.
	orphans []*livePod
}

type liveRole struct {
	spec     *v1.Role
	replicas []*liveReplica
}

// liveReplica is one instance of a role, declared or left over.
type liveReplica struct {
	ordinal  int32
	declared bool
	// size is of how many Pods it is.
	size int32
	// pods are its Pods in any state, by member.
	pods     []*livePod
	workload *workload
	verdict
}

type livePod struct {
	object map[string]any
	corev1.Pod
	member int32
}

// workload is what a status reads of a Kueue Workload. The Go types of Kueue
// would bring along what mdc starts faster without.
type workload struct {
	// Object is the whole of it.
	Object map[string]any `json:"-"`

	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Active    *bool  `json:"active"`
		QueueName string `json:"queueName"`
	} `json:"spec"`
	Status struct {
		Conditions      []metav1.Condition `json:"conditions"`
		AdmissionChecks []struct {
			Name    string `json:"name"`
			State   string `json:"state"`
			Message string `json:"message"`
		} `json:"admissionChecks"`
	} `json:"status"`
}

func (w *workload) inactive() bool { return w.Spec.Active != nil && !*w.Spec.Active }

func (w *workload) holds(condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

func (w *workload) message(condition string) string {
	if c := meta.FindStatusCondition(w.Status.Conditions, condition); c != nil {
		return c.Message
	}
	return ""
}

// owners are the UIDs of the Pods that a Workload is for.
func (w *workload) owners() (uids []types.UID) {
	for _, ref := range w.OwnerReferences {
		if ref.Kind == "Pod" && ref.APIVersion == "v1" {
			uids = append(uids, ref.UID)
		}
	}
	return uids
}

// joinLive puts together what belongs together. knows tells whether the
// Workloads could be read at all.
func joinLive(deployments, pods, workloads []*unstructured.Unstructured, knows bool) (out []*liveDeployment, err error) {
	byDeployment := map[types.UID][]*livePod{}
	for _, u := range pods {
		p := &livePod{object: u.Object}
		if err := decodeLive(u, &p.Pod); err != nil {
			return nil, err
		}
		p.member, _ = number(p.Labels[v1.LabelMemberIndex])
		// The labels alone can be copied.
		if owner := metav1.GetControllerOf(p); owner != nil {
			byDeployment[owner.UID] = append(byDeployment[owner.UID], p)
		}
	}
	queue := workloadIndex{byPod: map[types.UID][]*workload{}, byName: map[types.NamespacedName]*workload{}}
	for _, u := range workloads {
		w := &workload{}
		if err := decodeLive(u, w); err != nil {
			return nil, err
		}
		w.Object = u.Object
		queue.add(w)
	}
	for _, u := range deployments {
		d := &liveDeployment{object: u.Object, md: &v1.ModelDeployment{}}
		if err := decodeLive(u, d.md); err != nil {
			return nil, err
		}
		d.seat(byDeployment[d.md.UID])
		for _, r := range d.roles {
			for _, one := range r.replicas {
				one.workload = queue.of(d.md, r.spec.Name, one)
				one.verdict = judgeReplica(d.md, r.spec, one, knows)
			}
		}
		out = append(out, d)
	}
	return out, nil
}

func decodeLive(u *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return fmt.Errorf("read %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return nil
}

// seat gives each Pod its place. A replica that is declared is there without any
// Pod, unless the deployment is being deleted.
func (d *liveDeployment) seat(pods []*livePod) {
	roles := map[string]*liveRole{}
	for i := range d.md.Spec.Roles {
		r := &liveRole{spec: &d.md.Spec.Roles[i]}
		if d.md.DeletionTimestamp == nil {
			for n := range r.spec.Replicas {
				r.replica(n)
			}
		}
		d.roles, roles[r.spec.Name] = append(d.roles, r), r
	}
	for _, p := range pods {
		if p.Labels[v1.LabelInstance] != d.md.Name {
			continue
		}
		ordinal, ok := number(p.Labels[v1.LabelPodOrdinal])
		r := roles[p.Labels[v1.LabelComponent]]
		if r == nil || !ok {
			d.orphans = append(d.orphans, p)
			continue
		}
		one := r.replica(ordinal)
		one.pods = append(one.pods, p)
	}
	for _, r := range d.roles {
		slices.SortFunc(r.replicas, func(a, b *liveReplica) int { return cmp.Compare(a.ordinal, b.ordinal) })
		for _, one := range r.replicas {
			slices.SortStableFunc(one.pods, func(a, b *livePod) int {
				return cmp.Or(cmp.Compare(a.member, b.member), strings.Compare(a.Name, b.Name))
			})
		}
	}
}

// replica returns the replica of an ordinal, made if there is none yet.
func (r *liveRole) replica(ordinal int32) *liveReplica {
	for _, one := range r.replicas {
		if one.ordinal == ordinal {
			return one
		}
	}
	one := &liveReplica{ordinal: ordinal, declared: ordinal < r.spec.Replicas, size: max(r.spec.Size, 1)}
	r.replicas = append(r.replicas, one)
	return one
}

func (r *liveRole) ready() (n int32) {
	for _, one := range r.replicas {
		if one.declared && one.state == stateReady {
			n++
		}
	}
	return n
}

// workloadIndex finds the Workload of a replica.
type workloadIndex struct {
	byPod  map[types.UID][]*workload
	byName map[types.NamespacedName]*workload
}

func (x workloadIndex) add(w *workload) {
	for _, uid := range w.owners() {
		x.byPod[uid] = append(x.byPod[uid], w)
	}
	x.byName[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}] = w
}

// of is the Workload that is for a Pod of the replica, one that lives if there
// is a choice. Between two Pods the name of their group is all that tells.
func (x workloadIndex) of(md *v1.ModelDeployment, role string, one *liveReplica) (found *workload) {
	for _, p := range one.pods {
		for _, w := range x.byPod[p.UID] {
			if found == nil || p.DeletionTimestamp == nil && w.DeletionTimestamp == nil {
				found = w
			}
		}
	}
	if found == nil {
		group := replica.GroupName(md.Namespace, md.Name, role, one.ordinal)
		found = x.byName[types.NamespacedName{Namespace: md.Namespace, Name: group}]
	}
	return found
}

func number(text string) (int32, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil && n >= 0
}

// What "mdc status -o json" prints.
type (
	statusJSON struct {
		Deployments []deploymentJSON `json:"deployments"`
	}
	deploymentJSON struct {
		Deployment map[string]any `json:"deployment"`
		Roles      []roleJSON     `json:"roles"`
		// Orphans are Pods that belong to no replica.
		Orphans []map[string]any `json:"strays,omitempty"`
	}
	roleJSON struct {
		Name     string        `json:"name"`
		Desired  int32         `json:"desired"`
		Ready    int32         `json:"ready"`
		Replicas []replicaJSON `json:"replicas"`
	}
	replicaJSON struct {
		Ordinal  int32            `json:"ordinal"`
		State    string           `json:"state"`
		Why      string           `json:"why,omitempty"`
		Next     string           `json:"next,omitempty"`
		Pods     []map[string]any `json:"pods"`
		Workload map[string]any   `json:"workload,omitempty"`
	}
)

func statusDocument(deployments []*liveDeployment) statusJSON {
	out := statusJSON{Deployments: []deploymentJSON{}}
	for _, d := range deployments {
		one := deploymentJSON{Deployment: d.object, Roles: []roleJSON{}}
		for _, r := range d.roles {
			role := roleJSON{Name: r.spec.Name, Desired: r.spec.Replicas, Ready: r.ready(), Replicas: []replicaJSON{}}
			for _, instance := range r.replicas {
				v := instance.verdict
				row := replicaJSON{Ordinal: instance.ordinal, State: string(v.state), Why: v.why, Next: v.next, Pods: []map[string]any{}}
				for _, p := range instance.pods {
					row.Pods = append(row.Pods, p.object)
				}
				if instance.workload != nil {
					row.Workload = instance.workload.Object
				}
				role.Replicas = append(role.Replicas, row)
			}
			one.Roles = append(one.Roles, role)
		}
		for _, p := range d.orphans {
			one.Orphans = append(one.Orphans, p.object)
		}
		out.Deployments = append(out.Deployments, one)
	}
	return out
}

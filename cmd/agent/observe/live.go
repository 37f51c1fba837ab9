// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// groupsPerRequest bounds the length of a request's address: a group takes 42
// bytes of it.
const groupsPerRequest = 150

// ReadLive reads, past the cache, what owns a place of the deployment, also into
// the view. Pods are read before Workloads: a Workload whose Pod vanished in
// between is seen.
func (r *Reader) ReadLive(ctx context.Context, v *View) (*converge.Live, error) {
	md := v.Deployment
	groups := groupNames(md)
	// Ordinals that are being scaled away have groups too, and a stranger in one
	// of them dies with its Workload.
	for i := range v.Pods {
		if g := v.Pods[i].Labels[podconstants.GroupNameLabel]; g != "" {
			groups[g] = true
		}
	}
	pods, err := r.livePods(ctx, md, groups)
	if err != nil {
		return nil, err
	}
	var workloads kueue.WorkloadList
	if err := r.Live.List(ctx, &workloads, client.InNamespace(md.Namespace)); err != nil {
		return nil, err
	}

	if v.Affinity, err = r.volumeAffinity(ctx, v.volume); err != nil {
		return nil, err
	}

	live := &converge.Live{}
	ours := uidSet{}
	v.Pods, v.Workloads, v.nodes = nil, nil, r.nodes(ctx)
	for i := range pods {
		p := &pods[i]
		out := podOf(p, v.nodes)
		if IsOwn(p, md) {
			ours[p.UID] = true
			v.Pods = append(v.Pods, *p)
		} else {
			out.Foreign = true
			groups[out.Group] = true
			if out.Abandoned, err = r.abandoned(ctx, md, p); err != nil {
				return nil, err
			}
		}
		live.Pods = append(live.Pods, out)
	}
	if v.nodes.err != nil {
		return nil, v.nodes.err
	}
	for i := range workloads.Items {
		w := &workloads.Items[i]
		owned := slices.ContainsFunc(OwnerPods(w), func(ref metav1.OwnerReference) bool { return ours[ref.UID] })
		if owned {
			v.Workloads = append(v.Workloads, *w)
		}
		if owned || groups[w.Name] {
			live.Workloads = append(live.Workloads, workloadOf(w))
		}
	}
	v.parked, err = r.parked(ctx, v.Workloads)
	return live, err
}

// groupNames are the groups of all declared instances.
func groupNames(md *v1.ModelDeployment) map[string]bool {
	groups := map[string]bool{}
	for _, role := range md.Spec.Roles {
		for n := range role.Replicas {
			groups[replica.GroupName(md.Namespace, md.Name, role.Name, n)] = true
		}
	}
	return groups
}

// livePods are the deployment's own Pods and all others that carry one of its
// groups.
func (r *Reader) livePods(ctx context.Context, md *v1.ModelDeployment, groups map[string]bool) ([]corev1.Pod, error) {
	var names []string
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	selectors := []string{v1.LabelInstance + "=" + md.Name}
	for chunk := range slices.Chunk(names, groupsPerRequest) {
		selectors = append(selectors, v1.LabelInstance+"!="+md.Name+","+podconstants.GroupNameLabel+" in ("+strings.Join(chunk, ",")+")")
	}
	var out []corev1.Pod
	seen := uidSet{}
	for _, text := range selectors {
		selector, err := labels.Parse(text)
		if err != nil {
			return nil, err
		}
		var list corev1.PodList
		if err := r.Live.List(ctx, &list, client.InNamespace(md.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return nil, err
		}
		for _, p := range list.Items {
			if seen[p.UID] || !IsOwn(&p, md) && !groups[p.Labels[podconstants.GroupNameLabel]] && !former(&p, md) {
				continue
			}
			seen[p.UID] = true
			out = append(out, p)
		}
	}
	return out, nil
}

// former reports whether a Pod is of an earlier deployment of the name, which may
// have had more roles and replicas.
func former(p *corev1.Pod, md *v1.ModelDeployment) bool {
	ref := Controller(p)
	return ref != nil && ref.Name == md.Name && ref.UID != md.UID && p.Labels[v1.LabelName] == v1.NameModelDeployment
}

// abandoned reports whether a foreign Pod is controlled by a ModelDeployment
// that exists no more.
func (r *Reader) abandoned(ctx context.Context, md *v1.ModelDeployment, p *corev1.Pod) (bool, error) {
	ref := Controller(p)
	switch {
	case ref == nil, ref.UID == md.UID:
		return false, nil
	case ref.Name == md.Name:
		return true, nil // another one has the name now
	}
	var other v1.ModelDeployment
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: ref.Name}, &other)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && other.UID != ref.UID, err
}

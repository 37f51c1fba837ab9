// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
)

// late reads the values that the templates of a role leave open, as far as they
// are known, and the LocalQueues among which one had to be chosen.
func (r *Reader) late(ctx context.Context, v *View, role *Role) (values map[replica.LateName]string, queues []string, err error) {
	values = map[replica.LateName]string{}
	for _, t := range []*corev1.PodTemplate{role.full, role.uncached} {
		if t == nil {
			continue
		}
		entries, err := replica.ParseLate(t)
		if err != nil {
			continue // reported where the template is judged
		}
		for _, e := range entries {
			if _, done := values[e.Name]; done {
				continue
			}
			switch e.Name {
			case replica.LateQueueName:
				values[e.Name], queues, err = r.queue(ctx, v, role)
			case replica.LateRuntimeVersion:
				if len(role.Versions) > 0 {
					values[e.Name] = role.Versions[0]
				}
			case replica.LateClientEndpoint:
				values[e.Name] = v.Chain.endpoint()
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return values, queues, nil
}

// sourceOf tells a user where a late value would come from.
func sourceOf(e replica.Late) string {
	text := fmt.Sprintf("%s of %s %q", e.Field, e.Kind, e.Object)
	switch e.Name {
	case replica.LateQueueName:
		text += fmt.Sprintf(", else from a LocalQueue of this namespace whose clusterQueue is %q", e.Object)
	case replica.LateRuntimeVersion:
		text += fmt.Sprintf(", else from labels of the Nodes that the flavors of ClusterQueue %q select", e.Object)
	}
	return text
}

// queue is the LocalQueue of a role: the one that its type names, else one that
// leads to the ClusterQueue of the type's name.
func (r *Reader) queue(ctx context.Context, v *View, role *Role) (name string, several []string, err error) {
	typ, err := get[v1.InstanceType](ctx, r, client.ObjectKey{Name: role.Spec.InstanceType})
	if err != nil {
		return "", nil, err
	}
	if typ != nil && typ.Status.Entrance != "" {
		return typ.Status.Entrance, nil, nil
	}
	var list kueue.LocalQueueList
	if err := r.Cache.List(ctx, &list, client.InNamespace(v.Deployment.Namespace)); err != nil {
		return "", nil, err
	}
	var candidates, used []string
	for i := range list.Items {
		if string(list.Items[i].Spec.ClusterQueue) == role.Spec.InstanceType {
			candidates = append(candidates, list.Items[i].Name)
		}
	}
	for i := range v.Pods {
		if p := &v.Pods[i]; p.DeletionTimestamp == nil && p.Labels[v1.LabelComponent] == role.Spec.Name {
			used = append(used, p.Labels[v1.LabelQueueName])
		}
	}
	name = chooseQueue(candidates, used)
	if len(candidates) > 1 {
		several = append([]string{name}, slices.DeleteFunc(candidates, func(c string) bool { return c == name })...)
	}
	return name, several, nil
}

// pins are the values of a role that are compiled in and outdated.
func (r *Reader) pins(ctx context.Context, role *Role) ([]Pin, error) {
	live := map[replica.LateName]string{replica.LateClientEndpoint: role.view.Chain.endpoint()}
	typ, err := get[v1.InstanceType](ctx, r, client.ObjectKey{Name: role.Spec.InstanceType})
	if err != nil {
		return nil, err
	}
	if typ != nil {
		live[replica.LateQueueName] = typ.Status.Entrance
	}
	if len(role.Versions) > 0 {
		live[replica.LateRuntimeVersion] = role.Versions[0]
	}
	return role.pins(live), nil
}

// chooseQueue takes the first queue by name, unless Pods use another one: a new
// queue must not move what already runs.
func chooseQueue(candidates, used []string) string {
	slices.Sort(candidates)
	for _, c := range candidates {
		if slices.Contains(used, c) {
			return c
		}
	}
	if len(candidates) > 0 {
		return candidates[0]
	}
	return ""
}

// runtimeVersions are the driver runtimes of a type, lowest first: what the type
// tells, else what the Nodes tell that its ClusterQueue gives quota for.
func (r *Reader) runtimeVersions(ctx context.Context, typeName string) ([]string, error) {
	typ, err := get[v1.InstanceType](ctx, r, client.ObjectKey{Name: typeName})
	if err != nil {
		return nil, err
	}
	if typ != nil && typ.Status.Detail.RuntimeVersion != "" {
		lowest := typ.Status.Detail.RuntimeVersion // published under the same rules
		others := slices.DeleteFunc(slices.Clone(typ.Status.Detail.RuntimeVersions), func(v string) bool { return v == lowest })
		return append([]string{lowest}, others...), nil
	}
	queue, err := get[kueue.ClusterQueue](ctx, r, client.ObjectKey{Name: typeName})
	if queue == nil {
		return nil, err
	}
	var told []string
	for name := range Flavors(queue) {
		flavor, err := get[kueue.ResourceFlavor](ctx, r, client.ObjectKey{Name: name})
		if err != nil {
			return nil, err
		}
		if flavor == nil {
			continue
		}
		var nodes corev1.NodeList
		if err := r.Cache.List(ctx, &nodes, client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(flavor.Spec.NodeLabels)}); err != nil {
			return nil, err
		}
		for i := range nodes.Items {
			told = append(told, r.RuntimeLabels.of(nodes.Items[i].Labels))
		}
	}
	return Versions(told), nil
}

// Flavors are the names of the ResourceFlavors of a ClusterQueue.
func Flavors(q *kueue.ClusterQueue) map[string]bool {
	names := map[string]bool{}
	for _, g := range q.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			names[string(f.Name)] = true
		}
	}
	return names
}

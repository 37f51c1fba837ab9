// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package observe reads the cluster into the plain values that package converge
// decides on. It decides nothing itself and writes nothing.
package observe

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/report"
)

// Finalizer keeps a deployment until its Pods have gone.
const Finalizer = "modeldeployment.gpustack.ai/agent"

// Reader reads what surrounds a deployment.
type Reader struct {
	// Cache serves reads from watches, with the indexes of AddIndexes.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// RuntimeLabels are the Node labels that tell a runtime version.
	RuntimeLabels RuntimeLabels
	// Served reports whether the API server serves a kind that may be absent.
	// Nil: all are.
	Served func(client.Object) bool
}

// View is what one pass has read about a deployment.
type View struct {
	// Deployment is the pass's own copy.
	Deployment  *v1.ModelDeployment
	Observation converge.Observation
	Roles       []*Role
	// Pods are the deployment's own, Workloads those that any of them owns: as
	// cached, in the order of the Observation's, or as they read past the cache once
	// that was needed.
	Pods      []corev1.Pod
	Workloads []kueue.Workload
	// Chain is the store it is attached to.
	Chain Chain
	// Weights says why no Pod may be made of its ModelArtifact; empty: none.
	Weights report.Fault
	// Affinity is where its weights can be mounted; nil is anywhere. Only
	// ReadLive fills it in.
	Affinity *corev1.NodeSelector

	// volume is the PersistentVolume with the weights, which artifact delivers;
	// nil does not exist.
	volume   string
	artifact *v1.ModelArtifact
	// router is the Deployment of the router; nil does not exist.
	router *appsv1.Deployment
	// nodes is what is known of the Nodes of Pods, parked which Workloads the agent
	// has deactivated.
	nodes  *nodes
	parked map[types.UID]bool
}

// Read returns a view from the cache. An error means that something could not
// be read, so that nothing may be concluded.
func (r *Reader) Read(ctx context.Context, md *v1.ModelDeployment) (*View, error) {
	v := &View{Deployment: md.DeepCopy()}
	obs := &v.Observation
	obs.Created = md.CreationTimestamp.Time
	obs.Deleting = md.DeletionTimestamp != nil
	obs.Finalizer = slices.Contains(md.Finalizers, Finalizer)

	var err error
	if err = r.readPods(ctx, v); err != nil {
		return nil, err
	}
	if v.parked, err = r.parked(ctx, v.Workloads); err != nil {
		return nil, err
	}
	if v.router, err = r.router(ctx, md); err != nil {
		return nil, err
	}
	if obs.Deleting {
		// What ends needs no template, and may have outlived everything else.
		return v, nil
	}
	if v.Chain, err = r.chain(ctx, md); err != nil {
		return nil, err
	}
	obs.Cache = cacheOf(md, v.Chain)
	if err := r.readRoles(ctx, v); err != nil {
		return nil, err
	}
	return v, r.readWeights(ctx, v)
}

// readPods reads the deployment's own Pods and the Workloads that any of them
// owns.
func (r *Reader) readPods(ctx context.Context, v *View) error {
	md := v.Deployment
	var pods corev1.PodList
	if err := r.Cache.List(ctx, &pods, client.InNamespace(md.Namespace), client.MatchingFields{IndexController: string(md.UID)}); err != nil {
		return err
	}
	// A cache lists in any order, and what is told of Pods must not depend on it.
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	v.nodes = r.nodes(ctx)
	seen := map[string]bool{}
	for i := range pods.Items {
		p := &pods.Items[i]
		if !IsOwn(p, md) {
			continue
		}
		v.Pods = append(v.Pods, *p)
		v.Observation.Pods = append(v.Observation.Pods, podOf(p, v.nodes))
		var owned kueue.WorkloadList
		if err := r.Cache.List(ctx, &owned, client.InNamespace(md.Namespace), client.MatchingFields{IndexOwnerPod: string(p.UID)}); err != nil {
			return err
		}
		for j := range owned.Items {
			w := &owned.Items[j]
			if !seen[string(w.UID)] {
				seen[string(w.UID)] = true
				v.Workloads = append(v.Workloads, *w)
				v.Observation.Workloads = append(v.Observation.Workloads, workloadOf(w))
			}
		}
	}
	return v.nodes.err
}

// readRoles reads what each declared role is made of.
func (r *Reader) readRoles(ctx context.Context, v *View) error {
	md := v.Deployment
	templates, err := r.templates(ctx, md)
	if err != nil {
		return err
	}
	services, err := r.services(ctx, md)
	if err != nil {
		return err
	}
	for i := range md.Spec.Roles {
		role := &Role{Spec: &md.Spec.Roles[i], view: v}
		role.judge(templates)
		if role.Spec.Image == "" {
			if role.Versions, err = r.runtimeVersions(ctx, role.Spec.InstanceType); err != nil {
				return err
			}
		}
		if role.Late, role.Queues, err = r.late(ctx, v, role); err != nil {
			return err
		}
		role.judgeUse()
		if role.Pins, err = r.pins(ctx, role); err != nil {
			return err
		}
		v.Roles = append(v.Roles, role)

		out := declared(md, role.Spec)
		out.Managed = role.managed()
		out.Template = role.state()
		out.Services = map[int32]bool{}
		out.Hash = role.hash
		for _, s := range md.Status.Roles {
			if s.Name == out.Name {
				out.Settled = s.Desired
			}
		}
		for n := range out.Replicas {
			out.Services[n] = services[replica.InstanceName(md.Name, out.Name, n)]
		}
		v.Observation.Roles = append(v.Observation.Roles, out)
	}
	return nil
}

// services are the names of the Services of the namespace; they are read only
// where a role has more than one Pod per instance.
func (r *Reader) services(ctx context.Context, md *v1.ModelDeployment) (map[string]bool, error) {
	names := map[string]bool{}
	if !slices.ContainsFunc(md.Spec.Roles, func(role v1.Role) bool { return role.Size > 1 }) {
		return names, nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceList"))
	if err := r.Cache.List(ctx, list, client.InNamespace(md.Namespace)); err != nil {
		return nil, err
	}
	for i := range list.Items {
		names[list.Items[i].Name] = true
	}
	return names, nil
}

// get reads an object from the cache; nil when it, or its kind, does not exist.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, r *Reader, key client.ObjectKey) (*T, error) {
	o := new(T)
	if key.Name == "" || r.Served != nil && !r.Served(P(o)) {
		return nil, nil
	}
	err := r.Cache.Get(ctx, key, P(o))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// nodes remembers within one pass what is known of Nodes.
type nodes struct {
	state func(name string) nodeState
	err   error
}

// nodeState is why a Node cannot be relied on; zero: it can.
type nodeState int

const (
	// nodeLost: it is registered and not ready.
	nodeLost nodeState = iota + 1
	// nodeGone: it is not registered, and holds nothing any more.
	nodeGone
)

func (r *Reader) nodes(ctx context.Context) *nodes {
	n, known := &nodes{}, map[string]nodeState{}
	n.state = func(name string) nodeState {
		state, ok := known[name]
		if ok {
			return state
		}
		switch node, err := get[corev1.Node](ctx, r, client.ObjectKey{Name: name}); {
		case err != nil:
			n.err = err
		case node == nil:
			state = nodeGone
		case !NodeReady(node):
			state = nodeLost
		}
		known[name] = state
		return state
	}
	return n
}

// NodeReady reports whether a Node answers.
func NodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package impact tells what an edit does to the replicas that run: which turn
// over and because of which fields, which come, which go, and which stay. It
// compares two compiles and knows nothing of a cluster.
package impact

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/replica"
)

// Deployment is what becomes of one deployment.
type Deployment struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Refused is why the API server would not take the edit. Then nothing becomes
	// of the rest.
	Refused []Refusal `json:"refused"`
	// Roles are those of both sides, in the order of the edit.
	Roles []Role `json:"roles"`
	// Objects are the objects in Git that differ.
	Objects []Object `json:"objects"`
}

// Role is what becomes of the replicas of a role, by ordinal.
type Role struct {
	Name string `json:"name"`
	// Turnover are replicas that are replaced, one at a time and the highest
	// first.
	Turnover Turnover `json:"turnover"`
	// Added and Removed are replicas of one side only.
	Added   []int32 `json:"added"`
	Removed []int32 `json:"removed"`
	// Untouched are replicas whose Pods stay as they are.
	Untouched []int32 `json:"untouched"`
}

// Turnover are the replicas of a role whose Pods differ.
type Turnover struct {
	Replicas []int32 `json:"replicas"`
	// Pods is how many Pods these replicas have in all.
	Pods int `json:"pods"`
	// Because are the fields in which they differ.
	Because []Change `json:"because"`
}

// Change is a field of a Pod that differs.
type Change struct {
	// Path is that of the field. An element of a list is named by what tells it
	// apart: spec.containers[main].image.
	Path string `json:"path"`
	// Old and New are the values, of a command line the arguments that differ.
	// An absent one is empty. What may be a secret is hidden.
	Old string `json:"old"`
	New string `json:"new"`
}

// Kind is how an object differs.
// +kubebuilder:validation:Enum=added;changed;removed
type Kind string

// The kinds of change.
const (
	Added   Kind = "added"
	Changed Kind = "changed"
	Removed Kind = "removed"
)

// Object is one object that differs.
type Object struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Change Kind   `json:"change"`
}

// Of compares two compiles. A nil output has no deployments.
func Of(before, after *compiler.Output) (*Plan, error) {
	type pair struct{ old, new *compiler.Deployment }
	pairs := map[[2]string]*pair{}
	at := func(d *compiler.Deployment) *pair {
		key := [2]string{d.ModelDeployment.Namespace, d.ModelDeployment.Name}
		if pairs[key] == nil {
			pairs[key] = &pair{}
		}
		return pairs[key]
	}
	each(before, func(d *compiler.Deployment) { at(d).old = d })
	each(after, func(d *compiler.Deployment) { at(d).new = d })
	old, now := byDeployment(before), byDeployment(after)
	plan := &Plan{Deployments: []Deployment{}}
	for key, p := range pairs {
		d := Deployment{Namespace: key[0], Name: key[1], Refused: []Refusal{}}
		var err error
		if d.Roles, err = roles(p.old, p.new); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", d.Namespace, d.Name, err)
		}
		if d.Objects, err = objects(old[key], now[key]); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", d.Namespace, d.Name, err)
		}
		plan.Deployments = append(plan.Deployments, d)
	}
	plan.sort()
	return plan, nil
}

func each(o *compiler.Output, do func(*compiler.Deployment)) {
	if o == nil {
		return
	}
	for i := range o.Deployments {
		do(&o.Deployments[i])
	}
}

// Rolls reports whether any replica turns over.
func (d Deployment) Rolls() bool {
	return slices.ContainsFunc(d.Roles, func(r Role) bool { return len(r.Turnover.Replicas) > 0 })
}

// side is a role on one side of an edit.
type side struct {
	role     *v1.Role
	template *corev1.PodTemplate
}

func sideOf(d *compiler.Deployment, name string) (s side) {
	if d == nil {
		return s
	}
	for i := range d.ModelDeployment.Spec.Roles {
		if r := &d.ModelDeployment.Spec.Roles[i]; r.Name == name {
			s.role = r
		}
	}
	for _, t := range d.Templates {
		if t.Name == v1.TemplateName(d.ModelDeployment.Name, name) {
			s.template = t
		}
	}
	return s
}

func (s side) replicas() int32 {
	if s.role == nil {
		return 0
	}
	return s.role.Replicas
}

// roles compares the roles of both sides.
func roles(before, after *compiler.Deployment) ([]Role, error) {
	out := []Role{}
	var names []string
	for _, d := range []*compiler.Deployment{after, before} {
		if d == nil {
			continue
		}
		for _, r := range d.ModelDeployment.Spec.Roles {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	for _, name := range names {
		r := Role{
			Name: name, Turnover: Turnover{Replicas: []int32{}, Because: []Change{}},
			Added: []int32{}, Removed: []int32{}, Untouched: []int32{},
		}
		old, now := sideOf(before, name), sideOf(after, name)
		for n := range max(old.replicas(), now.replicas()) {
			switch {
			case n >= old.replicas():
				r.Added = append(r.Added, n)
			case n >= now.replicas():
				r.Removed = append(r.Removed, n)
			default:
				if err := r.compare(n, old, now); err != nil {
					return nil, err
				}
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// compare compares the Pods of a replica. Every replica of a role differs in the
// same fields, so that the first that does tells which.
func (r *Role) compare(ordinal int32, before, after side) error {
	var changes []Change
	differs := before.role.Size != after.role.Size
	for member := range min(before.role.Size, after.role.Size) {
		old, err := replica.Stamp(before.template, replica.Seat{Ordinal: ordinal, Member: member}, nil)
		if err != nil {
			return err
		}
		now, err := replica.Stamp(after.template, replica.Seat{Ordinal: ordinal, Member: member}, nil)
		if err != nil {
			return err
		}
		if old.Annotations[v1.AnnotationPodSpecHash] == now.Annotations[v1.AnnotationPodSpecHash] {
			continue
		}
		differs = true
		if len(r.Turnover.Because)+len(changes) == 0 {
			if changes, err = differences(old, now); err != nil {
				return err
			}
		}
	}
	if !differs {
		r.Untouched = append(r.Untouched, ordinal)
		return nil
	}
	r.Turnover.Replicas = append(r.Turnover.Replicas, ordinal)
	r.Turnover.Pods += int(after.role.Size)
	r.Turnover.Because = append(r.Turnover.Because, changes...)
	return nil
}

// byDeployment are the objects that were generated for each deployment, and
// itself.
func byDeployment(o *compiler.Output) map[[2]string][]emit.Object {
	out := map[[2]string][]emit.Object{}
	if o != nil {
		for _, x := range o.Objects {
			key := [2]string{x.Namespace, x.Deployment}
			out[key] = append(out[key], x)
		}
	}
	return out
}

// objects compares the objects of a deployment.
func objects(before, after []emit.Object) (out []Object, err error) {
	old, err := texts(before)
	if err != nil {
		return nil, err
	}
	now, err := texts(after)
	if err != nil {
		return nil, err
	}
	out = []Object{}
	all := slices.Concat(after, before)
	emit.Sort(all)
	for _, x := range all {
		key := [2]string{x.GroupKind(), x.Name}
		was, existed := old[key]
		is, exists := now[key]
		o := Object{Kind: x.Kind, Name: x.Name}
		switch {
		case !existed && !exists: // told already
		case !existed:
			o.Change = Added
		case !exists:
			o.Change = Removed
		case was != is:
			o.Change = Changed
		}
		if o.Change != "" {
			out = append(out, o)
		}
		delete(old, key)
		delete(now, key)
	}
	return out, nil
}

// texts are objects as they are printed, by kind and name.
func texts(objects []emit.Object) (map[[2]string]string, error) {
	out := map[[2]string]string{}
	for _, x := range objects {
		var b strings.Builder
		if err := emit.YAML(&b, []emit.Object{x}); err != nil {
			return nil, err
		}
		out[[2]string{x.GroupKind(), x.Name}] = b.String()
	}
	return out, nil
}

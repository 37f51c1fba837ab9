// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package facts indexes the objects a compile reads: hardware, cache pools,
// settings. A fact is an ordinary object of the input; what is not among the
// facts does not exist.
package facts

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	settingv1 "gpustack.ai/mdc/compiler/api/setting/v1"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// Index finds facts by kind, namespace and name.
type Index struct {
	instanceTypes  store[v1.InstanceType]
	bindings       store[v1.KVCachePoolBinding]
	pools          store[v1.KVCachePool]
	backends       store[v1.KVCacheBackend]
	artifacts      store[v1.ModelArtifact]
	settings       store[settingv1.Setting]
	runtimeClasses store[metav1.PartialObjectMetadata]

	overrides map[string]string
}

// Fact is one object with the place it was read from.
type Fact[T any] struct {
	Value  *T
	Source *source.Object
}

// store holds the facts of one kind. Cluster-scoped facts ignore a namespace
// that an overlay may have put on them.
type store[T any] struct {
	namespaced bool
	byKey      map[key]Fact[T]
}

type key struct{ namespace, name string }

func (s *store[T]) key(namespace, name string) key {
	if !s.namespaced {
		namespace = ""
	}
	return key{namespace, name}
}

func (s *store[T]) get(namespace, name string) (Fact[T], bool) {
	f, ok := s.byKey[s.key(namespace, name)]
	return f, ok
}

// add files an object under its name and, where an overlay renamed it, under
// the name it had before. The current name of one object beats the former name
// of another.
func (s *store[T]) add(o *source.Object, namespace string) diag.List {
	v := new(T)
	if fs := source.Decode(o, v); fs.HasErrors() {
		return fs
	}
	k := s.key(namespace, o.Name)
	if old, ok := s.byKey[k]; ok && old.Source.Name == o.Name {
		if equality.Semantic.DeepEqual(old.Value, v) {
			return nil
		}
		return diag.List{o.Finding(diag.Error, "object-clash", "metadata.name",
			fmt.Sprintf("two different facts are named %s %q; the other is at %s", o.Kind, o.Name, old.Source.Position("metadata.name")),
			"keep one of them")}
	}
	if s.byKey == nil {
		s.byKey = map[key]Fact[T]{}
	}
	s.byKey[k] = Fact[T]{v, o}
	if former := o.PreviousName; former != "" {
		if fk := s.key(namespace, former); s.byKey[fk].Value == nil {
			s.byKey[fk] = Fact[T]{v, o}
		}
	}
	return nil
}

// Kinds of the core API that are facts.
const kindRuntimeClass = "RuntimeClass"

// IsFact reports whether a compile reads objects of this kind.
func IsFact(o *source.Object) bool {
	_, ok := adders[groupKind(o)]
	return ok
}

func groupKind(o *source.Object) string { return o.APIVersion + "/" + o.Kind }

// adders tells how each kind is filed.
var adders = map[string]func(*Index, *source.Object, string) diag.List{
	v1.GroupVersion.String() + "/" + v1.KindInstanceType: func(x *Index, o *source.Object, ns string) diag.List {
		return x.instanceTypes.add(o, ns)
	},
	v1.GroupVersion.String() + "/" + v1.KindKVCachePoolBinding: func(x *Index, o *source.Object, ns string) diag.List {
		return x.bindings.add(o, ns)
	},
	v1.GroupVersion.String() + "/" + v1.KindKVCachePool: func(x *Index, o *source.Object, ns string) diag.List {
		return x.pools.add(o, ns)
	},
	v1.GroupVersion.String() + "/" + v1.KindKVCacheBackend: func(x *Index, o *source.Object, ns string) diag.List {
		return x.backends.add(o, ns)
	},
	v1.GroupVersion.String() + "/" + v1.KindModelArtifact: func(x *Index, o *source.Object, ns string) diag.List {
		return x.artifacts.add(o, ns)
	},
	settingv1.GroupVersion.String() + "/" + settingv1.KindSetting: func(x *Index, o *source.Object, ns string) diag.List {
		return x.settings.add(o, ns)
	},
	"node.k8s.io/v1/" + kindRuntimeClass: func(x *Index, o *source.Object, ns string) diag.List {
		return x.runtimeClasses.add(o, ns)
	},
}

// New indexes the facts among the objects. namespace is that of namespaced
// facts which state none; overrides are Settings by name that beat the facts.
func New(objects []*source.Object, namespace string, overrides map[string]string) (*Index, diag.List) {
	x := &Index{overrides: overrides}
	x.bindings.namespaced = true
	x.artifacts.namespaced = true
	var findings diag.List
	// In an order that is not the input's: of two objects that an overlay has
	// renamed from one name, the first is found by it.
	objects = slices.SortedStableFunc(slices.Values(objects), source.Compare)
	for _, o := range objects {
		add, ok := adders[groupKind(o)]
		if !ok {
			continue
		}
		ns := o.Namespace
		if ns == "" {
			ns = namespace
		}
		findings = append(findings, add(x, o, ns)...)
	}
	return x, append(findings, x.judgeSettings()...)
}

// InstanceType returns the InstanceType of that name.
func (x *Index) InstanceType(name string) (Fact[v1.InstanceType], bool) {
	return x.instanceTypes.get("", name)
}

// RuntimeClass reports whether a RuntimeClass of that name is among the facts.
func (x *Index) RuntimeClass(name string) bool {
	_, ok := x.runtimeClasses.get("", name)
	return ok
}

// Artifact returns the ModelArtifact of that namespace and name.
func (x *Index) Artifact(namespace, name string) (Fact[v1.ModelArtifact], bool) {
	return x.artifacts.get(namespace, name)
}

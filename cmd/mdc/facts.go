// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/kustomize/kyaml/kio/filters"

	"gpustack.ai/mdc/compiler"
	settingv1 "gpustack.ai/mdc/compiler/api/setting/v1"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

func newFacts(a *app) *cobra.Command {
	var (
		flags   inputFlags
		cluster clusterFlags
		format  string
	)
	c := &cobra.Command{
		Use:   "facts [PATH...]",
		Short: "Print the facts that deployments need, as a cluster has them",
		Long: `Read from a cluster the objects that a compile of the given deployments needs,
and print them with nothing but what a compile reads, to be committed and given
to --facts: InstanceTypes, KVCachePoolBindings with their KVCachePools and
KVCacheBackends, ModelArtifacts, Settings and RuntimeClasses.

A status that the cluster does not report is not printed. The queue, the runtime
version and the address of the cache are then left to the agent; delete them from
what is printed to leave them to it always.`,
		Example: `  mdc facts deployments > facts.yaml
  mdc facts deployment.yaml --context production | mdc build deployment.yaml --facts -`,
		RunE: func(c *cobra.Command, paths []string) error {
			in, err := a.read(&flags, paths)
			if err != nil {
				return err
			}
			deployments, err := a.deployments(in)
			if err != nil {
				return err
			}
			client, err := cluster.client()
			if err != nil {
				return err
			}
			r := newFactReader(client)
			if err := r.readAll(c.Context(), deployments); err != nil {
				return err
			}
			for _, text := range slices.Concat(r.notes, r.missing) {
				fmt.Fprintln(a.stderr, "mdc:", text)
			}
			if len(r.missing) > 0 {
				return errFindings
			}
			return a.print(format, r.objects())
		},
	}
	c.Flags().StringVarP(&flags.namespace, "namespace", "n", "", "namespace of deployments that state none")
	must(c.RegisterFlagCompletionFunc("namespace", a.completeNamespaces))
	cluster.add(c)
	formatFlag(c, &format, "yaml", "json")
	return c
}

// deployments reads the deployments of an input, which need not compile.
func (a *app) deployments(in *input) (out []*v1.ModelDeployment, err error) {
	findings := slices.Clone(in.objects.Findings)
	for _, o := range in.judged() {
		if !compiler.IsModelDeployment(o) {
			continue
		}
		md := &v1.ModelDeployment{}
		findings = append(findings, source.Decode(o, md)...)
		if md.Namespace == "" {
			md.Namespace = in.flags.namespace
		}
		if md.Namespace == "" {
			findings = append(findings, o.Finding(diag.Error, "namespace-required", "metadata.namespace",
				"the ModelDeployment states no namespace, and its facts are looked for in it", "set metadata.namespace, or give --namespace"))
		}
		out = append(out, md)
	}
	findings = append(findings, emptiness{}.judge(in.judged(), findings)...).Sorted()
	if !findings.HasErrors() {
		return out, nil
	}
	if err := a.report(in, findings); err != nil {
		return nil, err
	}
	return nil, errFindings
}

// factReader reads facts from a cluster, each once.
type factReader struct {
	client dynamic.Interface
	// answers are what the cluster has of each object; nil: it does not exist.
	answers map[factKey]*unstructured.Unstructured
	found   map[string]emit.Object
	notes   []string
	// missing are the objects that a compile would refuse to do without.
	missing []string
}

type factKey struct {
	schema.GroupVersionKind
	types.NamespacedName
}

func newFactReader(client dynamic.Interface) *factReader {
	return &factReader{client: client, answers: map[factKey]*unstructured.Unstructured{}, found: map[string]emit.Object{}}
}

// object is a fact that can be printed.
type object interface {
	metav1.Object
	runtime.Object
}

// readAll reads what the deployments refer to, and what that refers to.
func (r *factReader) readAll(ctx context.Context, deployments []*v1.ModelDeployment) error {
	for _, md := range deployments {
		of := fmt.Sprintf("ModelDeployment %s/%s", md.Namespace, md.Name)
		for _, role := range md.Spec.Roles {
			typ := &v1.InstanceType{}
			ok, err := r.need(ctx, v1.KindInstanceType, "instancetypes", "", role.InstanceType, of, typ)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			class := nodev1.SchemeGroupVersion.WithKind("RuntimeClass")
			if _, err := r.read(ctx, class, "runtimeclasses", "", facts.Manufacturer(typ), &nodev1.RuntimeClass{}); err != nil {
				return err
			}
		}
		if md.Spec.KVCache != nil {
			if err := r.cache(ctx, md.Namespace, md.Spec.KVCache.PoolRef.Name, of); err != nil {
				return err
			}
		}
		if ref := md.Spec.Model.ArtifactRef; ref != nil {
			if _, err := r.need(ctx, v1.KindModelArtifact, "modelartifacts", md.Namespace, ref.Name, of, &v1.ModelArtifact{}); err != nil {
				return err
			}
		}
	}
	return r.settings(ctx)
}

// settings reads the Settings of the operator, where there is one.
func (r *factReader) settings(ctx context.Context) error {
	list, err := r.client.Resource(settingv1.GroupVersion.WithResource("settings")).Namespace(facts.SettingNamespace).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		r.notes = append(r.notes, fmt.Sprintf("the Settings are left out, so that a compile takes their defaults: %v", err))
		return nil
	case err != nil:
		return fmt.Errorf("read Settings: %w", err)
	}
	for i := range list.Items {
		if slices.Contains(facts.SettingNames(), facts.SettingName(list.Items[i].GetName())) {
			if err := r.add(&list.Items[i], &settingv1.Setting{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// cache follows a Binding to the store.
func (r *factReader) cache(ctx context.Context, namespace, name, of string) error {
	binding, pool, backend := &v1.KVCachePoolBinding{}, &v1.KVCachePool{}, &v1.KVCacheBackend{}
	if ok, err := r.need(ctx, v1.KindKVCachePoolBinding, "kvcachepoolbindings", namespace, name, of, binding); err != nil || !ok {
		return err
	}
	of = fmt.Sprintf("%s %s/%s", v1.KindKVCachePoolBinding, namespace, name)
	if ok, err := r.need(ctx, v1.KindKVCachePool, "kvcachepools", "", binding.Spec.PoolRef.Name, of, pool); err != nil || !ok {
		return err
	}
	if len(pool.Spec.Backends) == 0 {
		r.missing = append(r.missing, fmt.Sprintf("%s %s has no backend", v1.KindKVCachePool, pool.Name))
		return nil
	}
	_, err := r.need(ctx, v1.KindKVCacheBackend, "kvcachebackends", "", pool.Spec.Backends[0], v1.KindKVCachePool+" "+pool.Name, backend)
	return err
}

// need reads an object of the GPUStack API that must be there.
func (r *factReader) need(ctx context.Context, kind, resource, namespace, name, of string, into object) (bool, error) {
	ok, err := r.read(ctx, v1.GroupVersion.WithKind(kind), resource, namespace, name, into)
	if err == nil && !ok {
		if namespace != "" {
			name = namespace + "/" + name
		}
		text := fmt.Sprintf("%s %s, which %s names, does not exist in the cluster", kind, name, of)
		if !slices.Contains(r.missing, text) {
			r.missing = append(r.missing, text)
		}
	}
	return ok, err
}

// read reads an object unless it has been read before. One that does not exist,
// or whose kind is not served, is no error.
func (r *factReader) read(ctx context.Context, kind schema.GroupVersionKind, resource, namespace, name string, into object) (bool, error) {
	if name == "" {
		return false, nil
	}
	key := factKey{kind, types.NamespacedName{Namespace: namespace, Name: name}}
	u, known := r.answers[key]
	if !known {
		var err error
		u, err = r.client.Resource(kind.GroupVersion().WithResource(resource)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			u = nil
		case err != nil:
			return false, fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
		}
		r.answers[key] = u
	}
	if u == nil {
		return false, nil
	}
	return true, r.add(u, into)
}

// add notes a fact, read into its Go type.
func (r *factReader) add(u *unstructured.Unstructured, into object) error {
	strip(u)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into)
	if err != nil {
		return fmt.Errorf("read %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	// As an object of the input it keeps its status.
	o := emit.New(into, "")
	if o.Node, err = emit.Node(into); err != nil {
		return fmt.Errorf("print %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	r.found[strings.Join([]string{o.Kind, o.Namespace, o.Name}, "/")] = o
	return nil
}

// strip leaves of an object what a compile reads, as far as its Go type does not.
func strip(u *unstructured.Unstructured) {
	meta := map[string]any{
		"name": u.GetName(),
		// A host must not apply what it has been read from.
		"annotations": map[string]any{filters.LocalConfigAnnotation: "true"},
	}
	if u.GetNamespace() != "" {
		meta["namespace"] = u.GetNamespace()
	}
	if u.GetKind() == v1.KindModelArtifact {
		meta["uid"] = string(u.GetUID()) // names what is cached of its content
	}
	u.Object["metadata"] = meta
	for _, path := range [][]string{{"status", "usedBy"}, {"overhead"}, {"scheduling"}} {
		unstructured.RemoveNestedField(u.Object, path...)
	}
}

// rank orders facts as the chain that leads to them.
var rank = []string{v1.KindInstanceType, "RuntimeClass", v1.KindKVCacheBackend, v1.KindKVCachePool, v1.KindKVCachePoolBinding, v1.KindModelArtifact, settingv1.KindSetting}

func (r *factReader) objects() []emit.Object {
	var out []emit.Object
	for _, o := range r.found {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b emit.Object) int {
		if d := slices.Index(rank, a.Kind) - slices.Index(rank, b.Kind); d != 0 {
			return d
		}
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out
}

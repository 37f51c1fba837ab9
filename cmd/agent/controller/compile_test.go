// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/source"
)

const (
	// typeFact leaves the queue and the runtime version to the cluster.
	typeFact = `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: pool-a}, spec: {acceleratorGroup: nvidia-a10g, acceleratable: true, os: linux, arch: amd64, unitResources: {cpu: "8", ram: 64Gi}, localStorage: 100Gi}, status: {detail: {manufacturer: nvidia}}}`
	// pinnedFact knows both.
	pinnedFact = `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: pool-a}, spec: {acceleratorGroup: nvidia-a10g, acceleratable: true, os: linux, arch: amd64, unitResources: {cpu: "8", ram: 64Gi}, localStorage: 100Gi}, status: {entrance: queue-a, detail: {manufacturer: nvidia, runtimeVersion: "12.9"}}}`

	bindingFact = `{apiVersion: worker.gpustack.ai/v1, kind: KVCachePoolBinding, metadata: {name: dram, namespace: NAMESPACE}, spec: {poolRef: {name: NAMESPACE}, domain: {name: team-a, blockSize: 64, dtype: bfloat16}}}`
	poolFact    = `{apiVersion: worker.gpustack.ai/v1, kind: KVCachePool, metadata: {name: NAMESPACE}, spec: {backends: [NAMESPACE]}}`
	backendFact = `{apiVersion: worker.gpustack.ai/v1, kind: KVCacheBackend, metadata: {name: NAMESPACE}, spec: {connection: {managed: {members: [{}]}}}}`
)

// compiled is a deployment as mdc build prints it.
type compiled struct {
	md        *v1.ModelDeployment
	templates []*corev1.PodTemplate
	services  []*corev1.Service
}

// compile compiles a deployment named m; NAMESPACE stands for the world's.
func (w *world) compile(spec string, facts ...string) compiled {
	w.Helper()
	md := "{apiVersion: worker.gpustack.ai/v1, kind: ModelDeployment, metadata: {name: m, namespace: NAMESPACE}, spec: " + spec + "}"
	fs := filesys.MakeFsInMemory()
	text := strings.ReplaceAll(strings.Join(append(facts, md), "\n---\n"), "NAMESPACE", w.namespace)
	if err := fs.WriteFile("in.yaml", []byte(text)); err != nil {
		w.Fatal(err)
	}
	set, err := source.Loader{FS: fs}.Load("in.yaml")
	if err != nil {
		w.Fatal(err)
	}
	out, findings := compiler.Compile(compiler.Input{Objects: set.Objects})
	if findings = append(set.Findings, findings...); findings.HasErrors() {
		w.Fatal(findings)
	}
	d := out.Deployments[0]
	for _, t := range d.Templates { // as Kueue does with every Pod
		t.Template.Labels[constants.ManagedByKueueLabelKey] = constants.ManagedByKueueLabelValue
	}
	return compiled{d.ModelDeployment, d.Templates, d.Services}
}

// apply brings the cluster what was compiled.
func (w *world) apply(c compiled) {
	w.Helper()
	for _, t := range c.templates {
		w.createOrUpdate(t)
	}
	for _, s := range c.services {
		w.createOrUpdate(s)
	}
	w.createOrUpdate(c.md)
}

func (w *world) createOrUpdate(o client.Object) {
	w.Helper()
	o = o.DeepCopyObject().(client.Object)
	old := o.DeepCopyObject().(client.Object)
	err := w.Get(w.Context(), client.ObjectKeyFromObject(o), old)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	if err != nil {
		w.create(o)
		return
	}
	o.SetResourceVersion(old.GetResourceVersion())
	o.SetFinalizers(old.GetFinalizers())
	if s, ok := o.(*corev1.Service); ok {
		s.Spec.ClusterIP = old.(*corev1.Service).Spec.ClusterIP
	}
	if err := w.Update(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

func (w *world) localQueue(name, clusterQueue string) {
	w.Helper()
	w.create(&kueue.LocalQueue{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(clusterQueue)},
	})
}

// store makes the chain behind the Binding dram, with an address if endpoint is
// not empty.
func (w *world) store(endpoint string) {
	w.Helper()
	key := metav1.ObjectMeta{Name: w.namespace}
	pool := &v1.KVCachePool{ObjectMeta: key, Spec: v1.KVCachePoolSpec{Backends: []string{w.namespace}}}
	binding := &v1.KVCachePoolBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "dram"},
		Spec: v1.KVCachePoolBindingSpec{
			PoolRef: v1.LocalObjectReference{Name: w.namespace},
			Domain:  v1.KVCacheDomain{Name: "team-a", BlockSize: 64, Dtype: "bfloat16"},
		},
	}
	w.create(&v1.KVCacheBackend{ObjectMeta: key, Spec: v1.KVCacheBackendSpec{Connection: v1.BackendConnection{Managed: &v1.ManagedStore{Members: []v1.StoreMember{{}}}}}}, pool, binding)
	pool.Status.ClientEndpoint = endpoint
	binding.Status.Phase = "Ready"
	binding.Status.Conditions = []v1.ReadCondition{{Type: "QuotaGranted", Status: metav1.ConditionTrue}}
	for _, o := range []client.Object{pool, binding} {
		if err := w.Status().Update(w.Context(), o); err != nil {
			w.Fatal(err)
		}
	}
}

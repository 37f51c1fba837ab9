// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/cmd/agent/localcluster"
	"gpustack.ai/mdc/cmd/agent/manifests"
	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/source"
)

const (
	cardsPerNode      = 8
	labelInstanceType = "localcluster.gpustack.ai/instance-type"
)

// example is a compiled directory of examples/.
type example struct {
	out   *compiler.Output
	facts []*source.Object
}

// namespace of its deployments.
func (e example) namespace() string { return e.out.Deployments[0].ModelDeployment.Namespace }

// compile compiles all examples: each tells which cards its hardware has.
func (s *sandbox) compile() (map[string]example, error) {
	dirs, err := filepath.Glob(filepath.Join(s.root, "examples", "*", "facts.yaml"))
	if err != nil {
		return nil, err
	}
	examples := map[string]example{}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		e, err := compileExample(dir, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		examples[filepath.Base(dir)] = e
	}
	if _, ok := examples[s.example]; !ok {
		return nil, fmt.Errorf("there is no example %q; choose %s", s.example, strings.Join(slices.Sorted(maps.Keys(examples)), ", "))
	}
	return examples, nil
}

func compileExample(dir, factsFile string) (example, error) {
	fs := filesys.MakeFsOnDisk()
	facts, err := source.Loader{FS: fs}.Load(factsFile)
	if err != nil {
		return example{}, err
	}
	objects, err := source.Loader{FS: fs, Exclude: []string{factsFile}}.Load(dir)
	if err != nil {
		return example{}, err
	}
	in := compiler.Input{Objects: objects.Objects, Facts: facts.Objects, Version: "sandbox"}
	for _, o := range objects.Skipped {
		if compiler.IsModelDeployment(o) {
			in.Objects = append(in.Objects, o)
		}
	}
	out, findings := compiler.Compile(in)
	if findings = slices.Concat(facts.Findings, objects.Findings, findings); findings.HasErrors() {
		var text strings.Builder
		return example{}, errors.Join(diag.Text{Line: objects.Line}.Print(&text, findings), errors.New(text.String()))
	}
	return example{out: out, facts: facts.Objects}, nil
}

// addHardware applies the facts of all examples, and gives every InstanceType a
// pool, a node, and a queue in every namespace with deployments of it.
func (s *sandbox) addHardware(ctx context.Context, examples map[string]example) error {
	type queue struct{ namespace, name, instanceType string }
	var (
		pools  = map[string]localcluster.Pool{} // by InstanceType
		queues = map[queue]bool{}
		spaces = map[string]bool{}
	)
	for _, e := range examples {
		for _, d := range e.out.Deployments {
			spaces[d.ModelDeployment.Namespace] = true
			for _, role := range d.ModelDeployment.Spec.Roles {
				for _, t := range d.Templates {
					if t.Name == v1.TemplateName(d.ModelDeployment.Name, role.Name) {
						pools[role.InstanceType] = s.pool(pools[role.InstanceType], role.InstanceType, t)
					}
				}
			}
		}
		for _, f := range e.facts {
			if f.Namespace != "" {
				spaces[f.Namespace] = true
			}
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(spaces)) {
		if err := s.cluster.AddNamespace(ctx, namespace); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		for _, f := range examples[name].facts {
			if err := s.applyFact(ctx, f); err != nil {
				return err
			}
			entrance, err := f.Node.GetString("status.entrance")
			if err != nil || f.Kind != "InstanceType" {
				continue
			}
			for namespace := range spaces {
				queues[queue{namespace, entrance, f.Name}] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		if err := s.addNodes(ctx, pools[name]); err != nil {
			return err
		}
		if err := s.cluster.SetPool(ctx, pools[name]); err != nil {
			return err
		}
	}
	for q := range queues {
		if _, ok := pools[q.instanceType]; !ok {
			continue
		}
		if err := s.cluster.AddQueue(ctx, q.namespace, q.name, q.instanceType); err != nil {
			return err
		}
	}
	return nil
}

// applyFact applies an object that was copied from another cluster.
func (s *sandbox) applyFact(ctx context.Context, f *source.Object) error {
	text, err := f.Node.String()
	if err != nil {
		return err
	}
	objects, err := localcluster.Parse([]byte(text))
	if err != nil {
		return err
	}
	for _, o := range objects {
		for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp"} {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
	}
	return s.cluster.Apply(ctx, objects...)
}

// pool is what an InstanceType needs so that the Pods of one more template fit.
func (s *sandbox) pool(p localcluster.Pool, instanceType string, t *corev1.PodTemplate) localcluster.Pool {
	p.InstanceType = instanceType
	p.Cards = s.cards
	p.Checks = []string{manifests.CheckName}
	p.NodeLabels = map[string]string{labelInstanceType: instanceType}
	if d := device(t); d != "" {
		p.Device = d
	}
	if level := t.Template.Annotations[kueue.PodSetRequiredTopologyAnnotation]; level != "" {
		p.Levels = []string{level, corev1.LabelHostname}
	}
	return p
}

// addNodes adds the nodes of a pool, two of which are in one place.
func (s *sandbox) addNodes(ctx context.Context, p localcluster.Pool) error {
	for i := 0; i*cardsPerNode < p.Cards; i++ {
		node := localcluster.Node{Name: fmt.Sprintf("%s-%d", p.InstanceType, i), Labels: maps.Clone(p.NodeLabels)}
		if p.Device != "" {
			node.Devices = map[corev1.ResourceName]int{p.Device: min(cardsPerNode, p.Cards-i*cardsPerNode)}
		}
		if len(p.Levels) > 0 {
			node.Labels[p.Levels[0]] = fmt.Sprintf("place-%d", i/2)
		}
		if err := s.cluster.AddNode(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// device is the extended resource that the Pods of a template request.
func device(t *corev1.PodTemplate) corev1.ResourceName {
	for _, c := range t.Template.Spec.Containers {
		for name := range c.Resources.Limits {
			if strings.Contains(string(name), "/") {
				return name
			}
		}
	}
	return ""
}

// apply applies the output of a compile, as a GitOps host does.
func (s *sandbox) apply(ctx context.Context, e example) error {
	var b bytes.Buffer
	if err := emit.YAML(&b, e.out.Objects); err != nil {
		return err
	}
	return s.cluster.ApplyYAML(ctx, b.Bytes())
}

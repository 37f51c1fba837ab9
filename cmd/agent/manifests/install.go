// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bytes"
	"errors"
	"io"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/emit"
)

// Options are what differs between installations.
type Options struct {
	Namespace string
	// Image has the agent as its entrypoint.
	Image string
	// PullSecret is a Secret in the namespace that opens the registry of the
	// image; empty when none is needed.
	PullSecret string
	Replicas   int32
	// ReadCRDs: also install the kinds that the agent only reads.
	ReadCRDs bool
}

// readKinds are the files of kinds that another operator writes, where one runs.
var readKinds = []string{
	"worker.gpustack.ai_instancetypes.yaml",
	"worker.gpustack.ai_kvcachebackends.yaml",
	"worker.gpustack.ai_kvcachepools.yaml",
	"worker.gpustack.ai_kvcachepoolbindings.yaml",
	"worker.gpustack.ai_modelartifacts.yaml",
}

// Install returns all that a cluster with Kueue needs, in the order in which it
// is applied.
func Install(o Options) ([]emit.Object, error) {
	files := [][]byte{v1.ModelDeploymentCRD()}
	if o.ReadCRDs {
		crds := v1.CRDs()
		for _, name := range readKinds {
			files = append(files, crds[name])
		}
	}
	crds, err := read(o.Namespace, files...)
	if err != nil {
		return nil, err
	}
	rights, err := Rights(o.Namespace)
	if err != nil {
		return nil, err
	}
	agent, err := o.deployment()
	if err != nil {
		return nil, err
	}
	check, err := read(o.Namespace, AdmissionCheck)
	if err != nil {
		return nil, err
	}
	// The namespace comes first, as people read it, then the kinds.
	return slices.Concat(rights[:1], crds, rights[1:], []emit.Object{agent}, check), nil
}

// Rights returns the namespace of the agent, its ServiceAccount and all roles.
func Rights(in string) ([]emit.Object, error) {
	return read(in, namespace, RBAC, users, account)
}

func (o Options) deployment() (emit.Object, error) {
	d := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict(deployment, d); err != nil {
		return emit.Object{}, err
	}
	d.Namespace = o.Namespace
	d.Spec.Replicas = &o.Replicas
	pod := &d.Spec.Template.Spec
	pod.Containers[0].Image = o.Image
	if o.PullSecret != "" {
		pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: o.PullSecret}}
	}
	return emit.New(d, ""), nil
}

// read reads files for an agent in a namespace.
func read(in string, files ...[]byte) (out []emit.Object, err error) {
	name, err := emit.Node(in) // quoted where it has to be
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		for d := kyaml.NewDecoder(bytes.NewReader(file)); ; {
			var doc kyaml.Node
			err := d.Decode(&doc)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			n := doc.Content[0]
			replace(n, Namespace, name)
			r := kyaml.NewRNode(n)
			out = append(out, emit.Object{
				APIVersion: r.GetApiVersion(), Kind: r.GetKind(), Namespace: r.GetNamespace(), Name: r.GetName(), Node: n,
			})
		}
	}
	return out, nil
}

// replace puts a value in the place of every scalar that is old.
func replace(n *kyaml.Node, old string, value *kyaml.Node) {
	if n.Kind == kyaml.ScalarNode && n.Value == old {
		n.Value, n.Tag, n.Style = value.Value, value.Tag, value.Style
	}
	for _, c := range n.Content {
		replace(c, old, value)
	}
}

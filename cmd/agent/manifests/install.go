// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"gpustack.ai/mdc/compiler"
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

// Validate refuses what no cluster takes. An option goes by its flag of "mdc
// install".
func (o Options) Validate() error {
	if o.Image == "" {
		return errors.New(`--image is required: no image of the agent is published; give one whose entrypoint is the program of cmd/agent ("mdc install --help" says how to build it)`)
	}
	if problems := compiler.IsImageReference(o.Image); len(problems) > 0 {
		return fmt.Errorf("--image %q is not the name of an image, such as registry.example/mdc-agent:1: %s", o.Image, problems[0])
	}
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		return fmt.Errorf("--namespace %q: %s", o.Namespace, problems[0])
	}
	if o.PullSecret != "" {
		if problems := validation.IsDNS1123Subdomain(o.PullSecret); len(problems) > 0 {
			return fmt.Errorf("--image-pull-secret %q: %s", o.PullSecret, problems[0])
		}
	}
	if o.Replicas < 1 {
		return fmt.Errorf("--replicas %d: there must be at least one", o.Replicas)
	}
	return nil
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
		documents, err := (&kio.ByteReader{Reader: bytes.NewReader(file), OmitReaderAnnotations: true}).Read()
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			replace(d.YNode(), Namespace, name)
			out = append(out, emit.Object{
				APIVersion: d.GetApiVersion(), Kind: d.GetKind(), Namespace: d.GetNamespace(), Name: d.GetName(), Node: d.YNode(),
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

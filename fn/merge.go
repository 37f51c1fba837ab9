// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package fn

import (
	"cmp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"
	"sigs.k8s.io/kustomize/kyaml/yaml/walk"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/source"
)

// hostAnnotations begin with these; a host keeps its books in them.
var hostAnnotations = []string{
	"internal.config.kubernetes.io/",
	"config.k8s.io/id",
	"kustomize.config.k8s.io/id",
	"config.kubernetes.io/path",
	"config.kubernetes.io/index",
}

// mergeDeployment adds the ModelDeployment of a functionConfig to the items. An
// item of the same namespace and name is the same deployment: what the
// functionConfig states is laid over it. Which one that is may depend on the
// namespace of objects that state none.
func mergeDeployment(objects []*source.Object, config *source.Object, namespace string) ([]*source.Object, diag.List) {
	stripHost(config.Node)
	in := func(o *source.Object) string { return cmp.Or(o.Namespace, namespace) }
	for i, o := range objects {
		if !compiler.IsModelDeployment(o) || in(o) != in(config) || o.Name != config.Name {
			continue
		}
		merged, err := walk.Walker{
			Sources:               []*yaml.RNode{o.Node, config.Node},
			Visitor:               merge2.Merger{},
			InferAssociativeLists: true, // roles and env are lists of named items
		}.Walk()
		if err != nil {
			return objects, diag.List{config.Finding(diag.Error, source.RuleYAML, "", "cannot be merged with the item of the same name: "+err.Error(), "remove one of the two")}
		}
		set := source.FromNodes([]*yaml.RNode{merged})
		if len(set.Objects) == 1 {
			objects[i] = set.Objects[0]
		}
		return objects, set.Findings
	}
	return append(objects, config), nil
}

func stripHost(n *yaml.RNode) {
	for key := range n.GetAnnotations() {
		for _, prefix := range hostAnnotations {
			if strings.HasPrefix(key, prefix) {
				// The key was just listed.
				_ = n.PipeE(yaml.ClearAnnotation(key))
			}
		}
	}
}

// id tells objects apart across versions of their API.
type id struct{ groupKind, namespace, name string }

// merge returns the items in their order, each ModelDeployment in its compiled
// form, without the output of earlier runs, followed by what was generated. A
// generated object stays in the file where an earlier run's was kept.
func merge(objects []*source.Object, out *compiler.Output) ([]*yaml.RNode, error) {
	compiled := map[id]*yaml.RNode{}
	var generated []emit.Object
	for _, o := range out.Objects {
		switch {
		case o.Deployment == "":
		case o.Kind == "ModelDeployment":
			compiled[id{o.GroupKind(), o.Namespace, o.Name}] = yaml.NewRNode(o.Node)
		default:
			generated = append(generated, o)
		}
	}
	earlier := map[id]*source.Object{}
	var items []*yaml.RNode
	for _, o := range objects {
		switch {
		case compiler.IsGenerated(o):
			earlier[id{o.Group() + "/" + o.Kind, o.Namespace, o.Name}] = o
		case compiler.IsModelDeployment(o):
			items = append(items, compiledForm(o, compiled))
		default:
			items = append(items, o.Node)
		}
	}
	for _, o := range generated {
		tree, err := o.Tree()
		if err != nil {
			return nil, err
		}
		n := yaml.NewRNode(tree)
		if e, ok := earlier[id{o.GroupKind(), o.Namespace, o.Name}]; ok {
			keepFile(n, e)
		}
		items = append(items, n)
	}
	return items, nil
}

// compiledForm finds the compiled form of an item. The item may state no
// namespace, in which case the compile gave it one.
func compiledForm(o *source.Object, compiled map[id]*yaml.RNode) *yaml.RNode {
	groupKind := o.Group() + "/" + o.Kind
	if n, ok := compiled[id{groupKind, o.Namespace, o.Name}]; ok {
		return n
	}
	for k, n := range compiled {
		if k.groupKind == groupKind && k.name == o.Name && o.Namespace == "" {
			return n
		}
	}
	return o.Node
}

// keepFile copies the annotations by which a host finds an item's file.
func keepFile(n *yaml.RNode, from *source.Object) {
	for _, key := range []string{source.AnnotationPath, source.AnnotationIndex} {
		if v := from.Annotation(key); v != "" {
			// A generated object has a mapping for its annotations.
			_ = n.PipeE(yaml.SetAnnotation(key, v))
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// annotationNeedsHash is how kustomize marks a generated ConfigMap or Secret
// whose name gets its hash after the last transformer has run.
const annotationNeedsHash = "internal.config.kubernetes.io/needsHashSuffix"

// reference is a field of a deployment that names another object.
type reference struct {
	kind string
	name *string
	path []any
}

// references lists the fields of a deployment that name other objects.
func references(md *v1.ModelDeployment) (out []reference) {
	add := func(kind string, ref *v1.LocalObjectReference, path ...any) {
		if ref != nil && ref.Name != "" {
			out = append(out, reference{kind, &ref.Name, append(path, "name")})
		}
	}
	secrets := func(refs []v1.LocalObjectReference, path ...any) {
		for i := range refs {
			add("Secret", &refs[i], append(path, "imagePullSecrets", i)...)
		}
	}
	if c := md.Spec.KVCache; c != nil {
		add(v1.KindKVCachePoolBinding, &c.PoolRef, "spec", "kvCache", "poolRef")
	}
	add(v1.KindModelArtifact, md.Spec.Model.ArtifactRef, "spec", "model", "artifactRef")
	if r := md.Spec.Router; r != nil {
		secrets(r.ImagePullSecrets, "spec", "router")
	}
	for i := range md.Spec.Roles {
		r := &md.Spec.Roles[i]
		secrets(r.ImagePullSecrets, "spec", "roles", i)
		for j := range r.AdditionalVolumes {
			v := &r.AdditionalVolumes[j]
			add("ConfigMap", v.ConfigMap, "spec", "roles", i, "additionalVolumes", j, "configMap")
			add("Secret", v.Secret, "spec", "roles", i, "additionalVolumes", j, "secret")
		}
	}
	return out
}

// followRenames puts the present name of an object where a deployment still has
// the one from before an overlay renamed it. kustomize corrects references only
// after its last transformer, which is too late for a compile: the templates and
// their hashes would speak of another deployment than the one that is applied.
func (c *compilation) followRenames(md *v1.ModelDeployment, o *source.Object) (findings diag.List) {
	for _, ref := range references(md) {
		target := c.names.find(ref.kind, md.Namespace, *ref.name)
		if target == nil {
			continue
		}
		if target.Annotation(annotationNeedsHash) == "enabled" {
			findings = append(findings, o.Finding(diag.Error, "generated-name", fieldPath(ref.path),
				fmt.Sprintf("kustomize appends a hash to the name of %s %q after mdc has run, so the compiled Pods and the deployment would not match", ref.kind, target.Name),
				"set generatorOptions.disableNameSuffixHash, or compile what kustomize has built: kustomize build | mdc build -"))
		}
		if target.Name != *ref.name {
			*ref.name = target.Name
			must(o.Set(target.Name, ref.path...))
		}
	}
	return findings
}

// objectNames finds the objects of the input that a deployment may refer to.
type objectNames struct {
	present, former map[objectName][]*source.Object
}

type objectName struct{ kind, name string }

func newObjectNames(lists ...[]*source.Object) *objectNames {
	n := &objectNames{map[objectName][]*source.Object{}, map[objectName][]*source.Object{}}
	for _, list := range lists {
		for _, o := range list {
			k := objectName{o.Kind, o.Name}
			n.present[k] = append(n.present[k], o)
			if o.PreviousName != "" && o.PreviousName != o.Name {
				k.name = o.PreviousName
				n.former[k] = append(n.former[k], o)
			}
		}
	}
	return n
}

// find returns an object by its name, else by its former one; nil is none.
func (n *objectNames) find(kind, namespace, name string) *source.Object {
	for _, list := range [][]*source.Object{n.present[objectName{kind, name}], n.former[objectName{kind, name}]} {
		for _, o := range list {
			if o.Namespace == "" || o.Namespace == namespace {
				return o
			}
		}
	}
	return nil
}

func fieldPath(path []any) (out string) {
	for _, step := range path {
		switch step := step.(type) {
		case int:
			out += fmt.Sprintf("[%d]", step)
		case string:
			if out != "" {
				out += "."
			}
			out += step
		}
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/kio/filters"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// annotationFunction marks, as that of local configuration does, an object that
// is configuration of a tool and is not to be applied.
const annotationFunction = "config.kubernetes.io/function"

// IsModelDeployment reports whether an object is one to compile.
func IsModelDeployment(o *source.Object) bool {
	return o.APIVersion == v1.GroupVersion.String() && o.Kind == v1.KindModelDeployment
}

// IsGenerated reports whether an object is the output of an earlier compile.
func IsGenerated(o *source.Object) bool {
	return o.Annotation(v1.AnnotationDeployment) != "" && o.Label(v1.LabelManagedBy) == v1.ManagedBy
}

// IsLocal reports whether an object is read and not to be applied.
func IsLocal(o *source.Object) bool {
	return o.Annotation(filters.LocalConfigAnnotation) == "true" || o.Annotation(annotationFunction) != ""
}

// classify splits the input, in an order that does not depend on it.
func (c *compilation) classify() {
	for _, o := range c.in.Objects {
		switch {
		case IsModelDeployment(o):
			c.sources = append(c.sources, o)
		case IsGenerated(o), IsLocal(o):
		default:
			c.passed = append(c.passed, o)
			c.findings = append(c.findings, misnamed(o)...)
		}
	}
	slices.SortStableFunc(c.sources, source.Compare)
	slices.SortStableFunc(c.passed, source.Compare)
}

// claim is an object of the output with where its name was taken.
type claim struct {
	emit.Object
	// by is the input object that is emitted or that it was generated for.
	by *source.Object
	// generated is false for an object of the input.
	generated bool
}

// collect gathers the objects of the output in their order and refuses two of
// one name.
func (c *compilation) collect() {
	var claims []claim
	for _, o := range c.passed {
		claims = append(claims, claim{by: o, Object: emit.Object{
			APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Node: o.Node.YNode(),
		}})
	}
	// A deployment that failed still takes its name.
	for _, o := range c.sources {
		claims = append(claims, claim{by: o, Object: emit.Object{
			APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Deployment: o.Name,
		}})
	}
	for i := range c.deployments {
		claims = append(claims, generated(&c.deployments[i])...)
	}
	claims, findings := distinct(claims, c.in.Namespace)
	c.findings = append(c.findings, findings...)
	for _, cl := range claims {
		if cl.Node != nil || cl.generated {
			c.objects = append(c.objects, cl.Object)
		}
	}
	for _, d := range c.deployments {
		c.objects = append(c.objects, emit.Object{
			APIVersion: d.Object.APIVersion, Kind: d.Object.Kind, Namespace: d.ModelDeployment.Namespace, Name: d.Object.Name,
			Deployment: d.Object.Name, Node: cleaned(d.Object.Node),
		})
	}
	emit.Sort(c.objects)
}

// generated returns the objects generated for one deployment.
func generated(d *Deployment) (out []claim) {
	add := func(o emit.Object) { out = append(out, claim{Object: o, by: d.Object, generated: true}) }
	for _, t := range d.Templates {
		add(emit.New(t, d.Object.Name))
	}
	for _, s := range d.Services {
		add(emit.New(s, d.Object.Name))
	}
	for _, o := range d.Router {
		add(emit.New(o, d.Object.Name))
	}
	return out
}

// cleaned removes from a deployment what a cluster or a host wrote into it and
// what would keep it from being applied.
func cleaned(n *yaml.RNode) *yaml.Node {
	clear := func(field string, path ...string) {
		// A missing path clears nothing.
		_, _ = n.Pipe(yaml.Lookup(path...), yaml.Clear(field))
	}
	clear("status")
	for _, f := range []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"} {
		clear(f, "metadata")
	}
	for _, a := range []string{annotationFunction, filters.LocalConfigAnnotation} {
		clear(a, "metadata", "annotations")
	}
	must(yaml.ClearEmptyAnnotations(n))
	return n.YNode()
}

// distinct refuses two objects of one kind, namespace and name. Of two facts of
// one name, which are judged as facts, it keeps the first.
func distinct(claims []claim, namespace string) (kept []claim, findings diag.List) {
	type id struct{ groupKind, namespace, name string }
	owners := map[id]claim{}
	for _, c := range claims {
		k := id{c.GroupKind(), c.Namespace, c.Name}
		if k.namespace == "" {
			k.namespace = namespace
		}
		first, taken := owners[k]
		switch {
		case !taken:
			owners[k] = c
			kept = append(kept, c)
		case c.generated && first.generated && first.by != c.by && sameName(first.by, c.by):
			// Two deployments of one name are refused as such.
		case c.generated || !facts.IsFact(c.by):
			findings = append(findings, c.by.Finding(diag.Error, "object-clash", "metadata.name",
				fmt.Sprintf("%s and %s both give %s %s", describe(first), describe(c), c.Kind, qualified(c.Namespace, c.Name)),
				"rename one of them"))
		}
	}
	return kept, findings
}

func sameName(a, b *source.Object) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

func describe(c claim) string {
	o := c.by
	s := fmt.Sprintf("%s %s at %s", o.Kind, qualified(o.Namespace, o.Name), o.Position("metadata.name"))
	if c.generated {
		return "what is generated for " + s
	}
	return s
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

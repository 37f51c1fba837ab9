// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/check"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// Validate judges every ModelDeployment of the input by the rules of admission
// and nothing else: what a compile cannot render is not looked for. A
// deployment is judged as an update of the one of its namespace and name among
// the stored ones, and as a create when there is none. A deployment with a
// deletionTimestamp, or whose stored one has it, is on its way out.
func Validate(in Input, stored []*source.Object) diag.List {
	index, findings := facts.New(slices.Concat(in.Facts, in.Objects), in.Namespace, in.Settings)
	before := storedDeployments(stored, in.Namespace)
	for _, o := range in.Objects {
		if IsModelDeployment(o) {
			findings = append(findings, validate(o, in.Namespace, index, before)...)
		}
		findings = append(findings, misnamed(o)...)
	}
	return findings.Sorted()
}

func validate(o *source.Object, namespace string, index *facts.Index, stored map[identity]*source.Object) diag.List {
	old := stored[identify(o, namespace)]
	// No update takes the timestamp away.
	deleting := o.IsDeleting() || old != nil && old.IsDeleting()
	s := subject(o, namespace, index, deleting)
	if old == nil {
		return check.Judge(s)
	}
	before := subject(old, namespace, index, deleting)
	if before.New == nil {
		// Without the stored deployment an update cannot be judged. Why it cannot
		// be read is all that counts of it.
		unreadable := slices.DeleteFunc(before.Structure, func(f diag.Finding) bool { return check.Readable(diag.List{f}) })
		s.New = nil
		return slices.Concat(unreadable, check.Judge(s))
	}
	s.Old = before.New
	return check.Judge(s)
}

// identity tells deployments apart.
type identity struct{ namespace, name string }

func identify(o *source.Object, namespace string) identity {
	return identity{cmp.Or(o.Namespace, namespace), o.Name}
}

// storedDeployments finds the stored deployments. Of several of one namespace
// and name the first counts.
func storedDeployments(stored []*source.Object, namespace string) map[identity]*source.Object {
	out := map[identity]*source.Object{}
	for _, o := range stored {
		if !IsModelDeployment(o) {
			continue
		}
		if id := identify(o, namespace); out[id] == nil {
			out[id] = o
		}
	}
	return out
}

// subject reads one deployment for judgement. Its object is a copy with the
// defaults and the namespace written in, so that the input stays as it was. It
// has no deployment when a value has the wrong type.
func subject(in *source.Object, namespace string, index *facts.Index, deleting bool) *check.Subject {
	o := in.Copy()
	s := &check.Subject{Object: o, Facts: index, Deleting: deleting, Structure: check.Schema(o)}
	if !check.Readable(s.Structure) {
		return s
	}
	source.ModelDeploymentSchema().Default(o)
	md := &v1.ModelDeployment{}
	if more := source.Decode(o, md); more.HasErrors() {
		s.Structure = append(s.Structure, more...)
		return s
	}
	if o.Namespace == "" && namespace != "" {
		must(o.SetNamespace(namespace))
		md.Namespace = namespace
	}
	if !deleting {
		defaultAccelerators(md, o, index)
	}
	s.New = md
	return s
}

// defaultAccelerators asks for one card where a role on a type with
// accelerators says nothing. The schema cannot hold this default, because it
// depends on the InstanceType.
func defaultAccelerators(md *v1.ModelDeployment, o *source.Object, index *facts.Index) {
	for i := range md.Spec.Roles {
		r := &md.Spec.Roles[i]
		t, ok := index.InstanceType(r.InstanceType)
		if !ok || !t.Value.Spec.Acceleratable || (r.Resources != nil && r.Resources.Accelerator != nil) {
			continue
		}
		if r.Resources == nil {
			r.Resources = &v1.RoleResources{}
		}
		r.Resources.Accelerator = ptr.To(resource.MustParse("1"))
		must(o.Set("1", "spec", "roles", i, "resources", "accelerator"))
	}
}

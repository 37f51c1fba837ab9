// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	imagereference "github.com/distribution/reference"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/replica"
	"gpustack.ai/mdc/compiler/source"
)

// What follows is what no schema can hold, and what an API server refuses only
// when the Pod is created, long after the edit was merged.

// validity gathers what an API server would have against the objects of a
// deployment.
type validity struct {
	o        *source.Object
	findings diag.List
}

func (v *validity) refuse(field, what string, problems []string, remedy string) {
	if len(problems) > 0 {
		v.findings = append(v.findings, v.o.Finding(diag.Error, "pod-invalid", field,
			fmt.Sprintf("%s is refused by Kubernetes: %s", what, strings.Join(problems, "; ")), remedy))
	}
}

// invalid judges what a deployment and the facts it names put into objects.
func (c *compilation) invalid(md *v1.ModelDeployment, o *source.Object) diag.List {
	v := &validity{o: o}
	v.metadata(md)
	if r := md.Spec.Router; r != nil {
		v.image("spec.router.image", r.Image)
		c.invalidSettings(v, r)
		v.secrets("spec.router.imagePullSecrets", r.ImagePullSecrets)
	}
	for i := range md.Spec.Roles {
		r := &md.Spec.Roles[i]
		field := fmt.Sprintf("spec.roles[%d].", i)
		v.image(field+"image", r.Image)
		v.secrets(field+"imagePullSecrets", r.ImagePullSecrets)
		for j, e := range r.Env {
			v.refuse(fmt.Sprintf("%senv[%d].name", field, j), fmt.Sprintf("the name of variable %d", j+1),
				validation.IsRelaxedEnvVarName(e.Name), "correct the name")
		}
		for j, volume := range r.AdditionalVolumes {
			at := fmt.Sprintf("%sadditionalVolumes[%d].", field, j)
			v.reference(at+"configMap.name", "ConfigMap", volume.ConfigMap)
			v.reference(at+"secret.name", "Secret", volume.Secret)
		}
		c.invalidType(v, md, r, field+"instanceType")
	}
	return v.findings
}

// invalidSettings judges the images that Settings put around a router.
func (c *compilation) invalidSettings(v *validity, r *v1.RouterSpec) {
	var used []facts.SettingName
	if r.Image == "" {
		used = append(used, facts.SettingRouterImage)
	}
	if r.Name == v1.RouterLLMD {
		used = append(used, facts.SettingRouterProxyImage, facts.SettingRoutingSidecarImage)
	}
	for _, name := range used {
		image := c.facts.Image(name)
		v.refuse("spec.router", fmt.Sprintf("the image %q of the Setting %s", image, name), imageProblems(image), "correct the Setting")
	}
}

// invalidType judges what an InstanceType puts into labels and image tags.
func (c *compilation) invalidType(v *validity, md *v1.ModelDeployment, r *v1.Role, field string) {
	t, ok := c.facts.InstanceType(r.InstanceType)
	if !ok {
		return
	}
	const correct = "correct the InstanceType among the facts"
	v.refuse(field, fmt.Sprintf("the queue %q of InstanceType %q, a label of the Pods,", t.Value.Status.Entrance, r.InstanceType),
		validation.IsValidLabelValue(t.Value.Status.Entrance), correct)
	if runtime := t.Value.Status.Detail.RuntimeVersion; r.Image == "" && runtime != "" {
		v.refuse(field, fmt.Sprintf("the runtime version %q of InstanceType %q, a part of the image tag,", runtime, r.InstanceType),
			imageProblems("image:"+runtime), correct)
	}
	if version := md.Spec.Engine.Version; r.Image == "" && version != "" {
		v.refuse("spec.engine.version", fmt.Sprintf("the engine version %q, a part of the image tag,", version),
			imageProblems("image:x"+version), "correct the version, or set image on the role")
	}
}

func (v *validity) metadata(md *v1.ModelDeployment) {
	v.refuse("metadata.namespace", fmt.Sprintf("the namespace %q", md.Namespace),
		apivalidation.ValidateNamespaceName(md.Namespace, false), "correct the namespace")
	for _, key := range slices.Sorted(maps.Keys(md.Labels)) {
		problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(md.Labels[key])...)
		v.refuse("metadata.labels["+key+"]", fmt.Sprintf("the label %q", key), problems, "correct the label")
	}
	total := 0
	for _, key := range slices.Sorted(maps.Keys(md.Annotations)) {
		v.refuse("metadata.annotations["+key+"]", fmt.Sprintf("the annotation %q", key),
			validation.IsQualifiedName(strings.ToLower(key)), "correct its key")
		total += len(key) + len(md.Annotations[key])
	}
	if total > apivalidation.TotalAnnotationSizeLimitB {
		v.refuse("metadata.annotations", "the metadata", []string{
			fmt.Sprintf("annotations of %d bytes in all, of %d that are possible", total, apivalidation.TotalAnnotationSizeLimitB),
		}, "remove or shorten annotations")
	}
}

func (v *validity) reference(field, kind string, ref *v1.LocalObjectReference) {
	if ref != nil {
		v.refuse(field, fmt.Sprintf("the name %q of a %s", ref.Name, kind), validation.IsDNS1123Subdomain(ref.Name), "name the "+kind)
	}
}

func (v *validity) secrets(field string, refs []v1.LocalObjectReference) {
	seen := map[string]bool{}
	for i := range refs {
		at := fmt.Sprintf("%s[%d].name", field, i)
		v.reference(at, "Secret", &refs[i])
		if seen[refs[i].Name] {
			v.refuse(at, fmt.Sprintf("the pull secret %q", refs[i].Name), []string{"it is listed twice"}, "remove one of the two")
		}
		seen[refs[i].Name] = true
	}
}

func (v *validity) image(field, image string) {
	if image != "" {
		v.refuse(field, fmt.Sprintf("the image %q", image), imageProblems(image), "correct the image")
	}
}

// imageProblems says what is wrong with an image reference. A token that is filled
// in later is read as the value that it stands for.
func imageProblems(image string) []string {
	return IsImageReference(strings.ReplaceAll(image, replica.LateRuntimeVersion.Token(), "1"))
}

// IsImageReference says what keeps a kubelet from reading an image reference, as the
// functions of k8s.io/apimachinery/pkg/util/validation do.
func IsImageReference(image string) []string {
	if _, err := imagereference.ParseNormalizedNamed(image); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/replica"
)

// labelEngineType tells the endpoint picker of llm-d whose metrics it reads;
// without it a Pod counts as vLLM.
const labelEngineType = "llm-d.ai/engine-type"

func (r *Role) podLabels() map[string]string {
	l := identity(r.Deployment.Name, r.spec().Name)
	l[v1.LabelRoleKind] = kindLabel(r.spec().Kind)
	if q := r.Type.Status.Entrance; q != "" {
		l[v1.LabelQueueName] = q
	}
	if r.router() == v1.RouterLLMD && r.dialect() == engine.SGLang {
		l[labelEngineType] = "sglang"
	}
	return l
}

func (r *Role) podAnnotations(c engine.Connector, p ports) map[string]string {
	a := map[string]string{
		podconstants.GroupTotalCountAnnotation: strconv.Itoa(int(r.size())),
		// The PodSet is named after the role, which is how status joins the two.
		podconstants.RoleHashAnnotation:        r.spec().Name,
		podconstants.GroupServingAnnotationKey: podconstants.GroupServingAnnotationValue,
	}
	if t := r.spec().Topology; t != nil && t.RequiredLevel != "" {
		a[v1.AnnotationRequiredTopology] = t.RequiredLevel
	}
	if r.size() > 1 {
		a[v1.AnnotationPodIndexLabel] = v1.LabelMemberIndex
	}
	if r.managed() {
		a[v1.AnnotationScrape] = "true"
		a[v1.AnnotationMetricsPath] = "/metrics"
		a[v1.AnnotationMetricsPort] = strconv.Itoa(int(p.engine))
		a[v1.AnnotationMetricsScheme] = strings.ToLower(string(r.scheme()))
	}
	maps.Copy(a, c.Annotations)
	return a
}

func (r *Role) podSpec(image string, resources corev1.ResourceRequirements, c engine.Connector, p ports, leg *engine.Leg) corev1.PodSpec {
	role := r.spec()
	main := corev1.Container{
		Name:            replica.MainContainer,
		Image:           image,
		ImagePullPolicy: corev1.PullPolicy(role.ImagePullPolicy),
		Command:         role.Command,
		Ports:           p.all,
		Env:             r.env(c),
		Resources:       resources,
		VolumeMounts:    append(r.additionalMounts(), c.Mounts...),
	}
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyAlways,
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		TerminationGracePeriodSeconds: role.TerminationGracePeriodSeconds,
		Volumes:                       append(r.additionalVolumes(), c.Volumes...),
	}
	if role.Privileged {
		main.SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
	}
	for _, s := range role.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: s.Name})
	}
	if class := makers[facts.Manufacturer(r.Type)].runtimeClass; r.Type.Spec.Acceleratable && class != "" && r.HasRuntimeClass(class) {
		spec.RuntimeClassName = &class
	}
	if r.managed() {
		grace := ptr.Deref(role.TerminationGracePeriodSeconds, defaultGrace)
		spec.TerminationGracePeriodSeconds = &grace
		main.Command = r.command(c, p)
		main.Lifecycle = r.drain(grace, p.engine)
		r.addProbes(&main, p)
	}
	if r.proxied() {
		spec.InitContainers = []corev1.Container{r.proxy(p)}
	}
	if r.ReuseTimeWait && leg != nil && r.dialect() == engine.SGLang && role.Kind == v1.RolePrefill {
		spec.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.ipv4.tcp_tw_reuse", Value: "1"}}}
	}
	spec.Containers = []corev1.Container{main}
	return spec
}

// command is the whole command line of a managed role.
func (r *Role) command(c engine.Connector, p ports) []string {
	model, revision := r.model()
	line := engine.Line{
		Engine: r.engine(), Model: model, Revision: revision,
		Connector: c, ExtraArgs: r.spec().ExtraArgs, Port: p.engine,
	}
	if r.Weights != nil {
		line.ServedName = r.Deployment.Spec.Model.Name
	}
	return line.Command()
}

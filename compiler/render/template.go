// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/replica"
)

// Templates returns the PodTemplates of the role: the one its Pods are made
// from, and for a managed role with a cache the one without a store connector
// that stands in while the cache cannot be resolved.
func (r *Role) Templates() ([]*corev1.PodTemplate, diag.List) {
	md, role := r.Deployment.Name, r.spec().Name
	store, findings := r.store()
	t, more := r.template(v1.TemplateName(md, role), store)
	if findings = append(findings, more...); findings != nil {
		return nil, findings
	}
	out := []*corev1.PodTemplate{t}
	if store != nil {
		uncached, findings := r.template(v1.UncachedTemplateName(md, role), nil)
		if findings != nil {
			return nil, findings
		}
		out = append(out, uncached)
	}
	return out, nil
}

// store is the cache as this role's engine reaches it; nil for a role that mdc
// does not configure.
func (r *Role) store() (*engine.Store, diag.List) {
	c := r.Cache
	if c == nil || !r.managed() {
		return nil, nil
	}
	protocol, ok := r.dialect().MatchTransport(c.Offers)
	if !ok {
		return nil, diag.List{{
			Rule: "transport-unsupported", Severity: diag.Error, Field: "spec.kvCache.poolRef.name",
			Message: fmt.Sprintf("role %q runs %s, whose cache client speaks %s only, and KVCacheBackend %q of pool %q offers %s",
				r.spec().Name, r.dialect(), r.dialect().RequiredTransport(), c.Backend, c.Pool, strings.Join(c.Offers, ", ")),
			Remedy: "set the transport protocol of the backend to CANN, or use another pool",
		}}
	}
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = replica.LateClientEndpoint.Token()
	}
	return &engine.Store{Endpoint: endpoint, Protocol: protocol, Tenant: c.Tenant, Dtype: c.Dtype}, nil
}

func (r *Role) template(name string, store *engine.Store) (*corev1.PodTemplate, diag.List) {
	md, role := r.Deployment, r.spec()
	image, imageLate, findings := r.image()
	resources, more := r.resources()
	if findings = append(findings, more...); findings != nil {
		return nil, findings
	}
	hash, err := replica.SourceHash(md, role.Name)
	if err != nil {
		panic(err) // the role is one of the deployment's
	}
	connector := engine.Connector{}
	if r.managed() {
		connector = engine.NewConnector(r.dialect(), store)
	}

	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: r.podLabels(), Annotations: r.podAnnotations(connector)},
		Spec:       r.podSpec(image, resources, connector),
	}
	late := r.late(imageLate, store)
	annotations := map[string]string{
		v1.AnnotationDeployment: md.Name,
		v1.AnnotationSourceHash: hash,
		v1.AnnotationSize:       strconv.Itoa(int(r.size())),
		v1.AnnotationRoleKind:   string(role.Kind),
	}
	if r.CompilerVersion != "" {
		annotations[v1.AnnotationCompilerVersion] = r.CompilerVersion
	}
	text, err := replica.FormatLate(late)
	if err != nil {
		panic(err) // plain strings
	}
	if text != "" {
		annotations[v1.AnnotationLateBound] = text
	}
	return &corev1.PodTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   md.Namespace,
			Labels:      generatedLabels(md.Name, role.Name),
			Annotations: annotations,
		},
		Template: pod,
	}, nil
}

// generatedLabels are the labels of an object generated for a role. No selector
// looks for managed-by, and no Pod carries it.
func generatedLabels(deployment, role string) map[string]string {
	l := identity(deployment, role)
	l[v1.LabelManagedBy] = v1.ManagedBy
	return l
}

// late lists what the compile does not know of this template.
func (r *Role) late(image bool, store *engine.Store) []replica.Late {
	var out []replica.Late
	if r.Type.Status.Entrance == "" {
		out = append(out, replica.NewLate(replica.LateQueueName, r.Type.Name, replica.LabelField(v1.LabelQueueName)))
	}
	if image {
		out = append(out, replica.NewLate(replica.LateRuntimeVersion, r.Type.Name, replica.ImageField(replica.MainContainer)))
	}
	if store != nil && r.Cache.Endpoint == "" {
		field := replica.AnnotationField(v1.AnnotationClientConfig)
		if r.dialect() == engine.SGLang {
			field = replica.EnvField(replica.MainContainer, engine.EnvMaster)
		}
		out = append(out, replica.NewLate(replica.LateClientEndpoint, r.Cache.Pool, field))
	}
	return out
}

func (r *Role) podLabels() map[string]string {
	l := identity(r.Deployment.Name, r.spec().Name)
	l[v1.LabelRoleKind] = kindLabel(r.spec().Kind)
	if q := r.Type.Status.Entrance; q != "" {
		l[v1.LabelQueueName] = q
	}
	return l
}

func (r *Role) podAnnotations(c engine.Connector) map[string]string {
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
		a["prometheus.io/scrape"] = "true"
		a["prometheus.io/path"] = "/metrics"
		a["prometheus.io/port"] = strconv.Itoa(int(r.ports().serving))
		a["prometheus.io/scheme"] = strings.ToLower(string(r.scheme()))
	}
	for k, v := range c.Annotations {
		a[k] = v
	}
	return a
}

func (r *Role) podSpec(image string, resources corev1.ResourceRequirements, c engine.Connector) corev1.PodSpec {
	role := r.spec()
	main := corev1.Container{
		Name:            replica.MainContainer,
		Image:           image,
		ImagePullPolicy: corev1.PullPolicy(role.ImagePullPolicy),
		Command:         role.Command,
		Ports:           r.ports().all,
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
		main.Command = engine.Command(r.engine(), r.Deployment.Spec.Model.Name, c, role.ExtraArgs, r.ports().serving)
		main.Lifecycle = r.drain(grace)
		r.addProbes(&main)
	}
	spec.Containers = []corev1.Container{main}
	return spec
}

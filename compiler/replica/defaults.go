// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// The defaults that an API server writes into a Pod spec, for every field that
// a compile can produce. Source: pkg/apis/core/v1/defaults.go of Kubernetes.
const (
	defaultGraceSeconds = 30
	defaultFileMode     = 0o644

	defaultProbeTimeout   = 1
	defaultProbePeriod    = 10
	defaultProbeSuccesses = 1
	defaultProbeFailures  = 3
)

func setDefaults(s *corev1.PodSpec) {
	fillIn(&s.RestartPolicy, corev1.RestartPolicyAlways)
	fillIn(&s.DNSPolicy, corev1.DNSClusterFirst)
	fillIn(&s.SchedulerName, corev1.DefaultSchedulerName)
	fillInPtr(&s.TerminationGracePeriodSeconds, defaultGraceSeconds)
	fillInPtr(&s.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	fillInPtr(&s.SecurityContext, corev1.PodSecurityContext{})
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i].VolumeSource)
	}
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			defaultContainer(&list[i])
		}
	}
}

func defaultVolume(v *corev1.VolumeSource) {
	switch {
	case v.ConfigMap != nil:
		fillInPtr(&v.ConfigMap.DefaultMode, defaultFileMode)
	case v.Secret != nil:
		fillInPtr(&v.Secret.DefaultMode, defaultFileMode)
	case v.DownwardAPI != nil:
		fillInPtr(&v.DownwardAPI.DefaultMode, defaultFileMode)
		for i := range v.DownwardAPI.Items {
			defaultFieldRef(v.DownwardAPI.Items[i].FieldRef)
		}
	case v.HostPath != nil:
		fillInPtr(&v.HostPath.Type, corev1.HostPathUnset)
	case v.Image != nil:
		fillIn(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	case *v == corev1.VolumeSource{}:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil {
		v.EmptyDir.SizeLimit = ptr.To(canonical(*v.EmptyDir.SizeLimit))
	}
}

func defaultContainer(c *corev1.Container) {
	fillIn(&c.ImagePullPolicy, pullPolicy(c.Image))
	fillIn(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fillIn(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		fillIn(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultFieldRef(from.FieldRef)
		}
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p == nil {
			continue
		}
		fillIn(&p.TimeoutSeconds, defaultProbeTimeout)
		fillIn(&p.PeriodSeconds, defaultProbePeriod)
		fillIn(&p.SuccessThreshold, defaultProbeSuccesses)
		fillIn(&p.FailureThreshold, defaultProbeFailures)
		defaultHTTPGet(p.HTTPGet)
		if p.GRPC != nil {
			fillInPtr(&p.GRPC.Service, "")
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				defaultHTTPGet(h.HTTPGet)
			}
		}
	}
	defaultResources(&c.Resources)
}

// defaultResources also requests what is limited, as an API server does in a
// Pod, though not in a PodTemplate.
func defaultResources(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, ok := r.Requests[name]; ok {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit.DeepCopy()
	}
	for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
		for name, q := range list {
			list[name] = canonical(q)
		}
	}
}

// canonical returns a quantity that is spelled the same whatever the spelling
// of its value. An API server rounds up to thousandths.
func canonical(q resource.Quantity) resource.Quantity {
	q = q.DeepCopy()
	q.RoundUp(resource.Milli)
	return *resource.NewDecimalQuantity(*q.AsDec(), resource.BinarySI)
}

func defaultHTTPGet(h *corev1.HTTPGetAction) {
	if h != nil {
		fillIn(&h.Path, "/")
		fillIn(&h.Scheme, corev1.URISchemeHTTP)
	}
}

func defaultFieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		fillIn(&f.APIVersion, "v1")
	}
}

// imageReference takes an image apart into its tag and its digest.
var imageReference = func() *regexp.Regexp {
	const (
		label      = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
		host       = `(?:` + label + `(?:\.` + label + `)*|\[[0-9A-Fa-f:]+\])`
		registry   = `(?:` + host + `(?::[0-9]+)?/)?`
		repository = `[a-z0-9]+(?:(?:\.|__?|-+|/)[a-z0-9]+)*`
		tag        = `(?::(\w[\w.-]{0,127}))?`
		algorithm  = `[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*`
		digest     = `(?:@(` + algorithm + `:[0-9a-fA-F]{32,}))?`
	)
	return regexp.MustCompile(`^` + registry + repository + tag + digest + `$`)
}()

// pullPolicy is Always for the tag "latest", stated or implied, and
// IfNotPresent for any other tag, for a digest without a tag, and for what is
// no image reference.
func pullPolicy(image string) corev1.PullPolicy {
	m := imageReference.FindStringSubmatch(image)
	if m != nil && (m[1] == "latest" || m[1] == "" && m[2] == "") {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func fillIn[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func fillInPtr[T any](field **T, value T) {
	if *field == nil {
		*field = ptr.To(value)
	}
}

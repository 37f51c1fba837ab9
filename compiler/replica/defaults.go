// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
		if p.HTTPGet != nil {
			fillIn(&p.HTTPGet.Path, "/")
			fillIn(&p.HTTPGet.Scheme, corev1.URISchemeHTTP)
		}
	}
	for name, limit := range c.Resources.Limits {
		if _, ok := c.Resources.Requests[name]; ok {
			continue
		}
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		c.Resources.Requests[name] = limit.DeepCopy()
	}
}

func defaultFieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		fillIn(&f.APIVersion, "v1")
	}
}

// pullPolicy is Always for the tag "latest", stated or implied, and
// IfNotPresent for any other tag and for a digest.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, digested := strings.Cut(image, "@")
	if digested {
		return corev1.PullIfNotPresent
	}
	if _, tag, tagged := strings.Cut(path.Base(name), ":"); tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
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

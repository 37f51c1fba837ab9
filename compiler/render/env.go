// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/engine"
)

// env returns the environment of the engine: what is owned, what is defaulted
// and not set by the role, and the role's own entries, one entry per name.
func (r *Role) env(c engine.Connector) []corev1.EnvVar {
	own := r.spec().Env
	stated := map[string]bool{}
	for _, e := range own {
		stated[e.Name] = true
	}
	out := append([]corev1.EnvVar{}, c.Env...)
	for _, e := range c.DefaultedEnv {
		if !stated[e.Name] {
			out = append(out, e)
		}
	}
	index := map[string]int{}
	for _, e := range own {
		if r.ownsEnv(e.Name) {
			continue // refused by the rules; never two values for one name
		}
		if i, ok := index[e.Name]; ok {
			out[i].Value = e.Value
			continue
		}
		index[e.Name] = len(out)
		out = append(out, corev1.EnvVar{Name: e.Name, Value: e.Value})
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// ownsEnv reports whether mdc alone may set a variable of the role.
func (r *Role) ownsEnv(name string) bool {
	engine := argv.Engine(r.engine())
	return argv.OwnsEnv(engine, name) || r.Weights != nil && r.managed() && argv.OwnsArtifactEnv(engine, name)
}

func (r *Role) additionalVolumes() []corev1.Volume {
	var out []corev1.Volume
	for i, v := range r.spec().AdditionalVolumes {
		out = append(out, corev1.Volume{Name: volumeName(i), VolumeSource: volumeSource(v)})
	}
	return out
}

func (r *Role) additionalMounts() []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for i, v := range r.spec().AdditionalVolumes {
		out = append(out, corev1.VolumeMount{
			Name: volumeName(i), MountPath: v.MountPath, SubPath: v.SubPath, ReadOnly: v.ReadOnly,
		})
	}
	return out
}

func volumeSource(v v1.RoleVolume) corev1.VolumeSource {
	switch {
	case v.ConfigMap != nil:
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: v.ConfigMap.Name},
		}}
	case v.Secret != nil:
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: v.Secret.Name}}
	default:
		return corev1.VolumeSource{HostPath: v.HostPath}
	}
}

func volumeName(i int) string { return fmt.Sprintf("additional-%d", i) }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/replica"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Pin is a value that was compiled in from a fact and that the cluster has
// otherwise by now. What is in Git decides; the user should know.
type Pin struct {
	Name           replica.LateName
	Compiled, Live string
}

// pins compares what was compiled into a template with what the cluster tells,
// as far as it tells anything.
func (r *Role) pins(live map[replica.LateName]string) (out []Pin) {
	if r.full == nil {
		return nil
	}
	entries, err := replica.ParseLate(r.full)
	if err != nil {
		return nil // reported where the template is judged
	}
	t := &r.full.Template
	for _, p := range []Pin{
		{Name: replica.LateQueueName, Compiled: t.Labels[v1.LabelQueueName]},
		{Name: replica.LateRuntimeVersion, Compiled: compiledRuntime(r.Spec, t)},
		{Name: replica.LateClientEndpoint, Compiled: compiledEndpoint(t)},
	} {
		p.Live = live[p.Name]
		late := slices.ContainsFunc(entries, func(e replica.Late) bool { return e.Name == p.Name })
		if !late && p.Compiled != "" && p.Live != "" && !p.agrees() {
			out = append(out, p)
		}
	}
	return out
}

func (p Pin) agrees() bool {
	if p.Name == replica.LateRuntimeVersion {
		return len(Versions([]string{p.Compiled, p.Live})) < 2
	}
	return p.Compiled == p.Live
}

// runnerTag is the tag of an image that mdc has chosen: the name of a runtime
// with its version, and what else tells the images apart.
var runnerTag = regexp.MustCompile(`:[a-z]+([0-9.]+)-[^/:@]+$`)

// compiledRuntime is the runtime version of the image that mdc has chosen; empty
// when it has not, or when a host has chosen another.
func compiledRuntime(role *v1.Role, t *corev1.PodTemplateSpec) string {
	c := mainContainer(t)
	if role.Image != "" || c == nil {
		return ""
	}
	if m := runnerTag.FindStringSubmatch(c.Image); m != nil {
		return m[1]
	}
	return ""
}

// compiledEndpoint is the address of the store that a template names.
func compiledEndpoint(t *corev1.PodTemplateSpec) string {
	var config struct {
		Address string `json:"master_server_address"`
	}
	if json.Unmarshal([]byte(t.Annotations[v1.AnnotationClientConfig]), &config) == nil && config.Address != "" {
		return config.Address
	}
	if c := mainContainer(t); c != nil {
		for _, e := range c.Env {
			if e.Name == engine.EnvMaster {
				return e.Value
			}
		}
	}
	return ""
}

func mainContainer(t *corev1.PodTemplateSpec) *corev1.Container {
	for i := range t.Spec.Containers {
		if c := &t.Spec.Containers[i]; c.Name == replica.MainContainer {
			return c
		}
	}
	return nil
}

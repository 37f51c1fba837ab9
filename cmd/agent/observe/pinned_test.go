// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
)

func TestPins(t *testing.T) {
	template := func(edits ...func(*corev1.PodTemplate)) *corev1.PodTemplate {
		t := &corev1.PodTemplate{}
		t.Template.Labels = map[string]string{v1.LabelQueueName: "queue-a"}
		t.Template.Annotations = map[string]string{v1.AnnotationClientConfig: `{"master_server_address":"h:1"}`}
		t.Template.Spec.Containers = []corev1.Container{{Name: "sidecar", Image: "x:cuda1.0-y"}, {Name: replica.MainContainer, Image: "registry:5000/runner:cuda12.9-vllm0.29.0"}}
		for _, edit := range edits {
			edit(t)
		}
		return t
	}
	late := func(names ...replica.LateName) func(*corev1.PodTemplate) {
		return func(t *corev1.PodTemplate) {
			var entries []replica.Late
			for _, n := range names {
				entries = append(entries, replica.NewLate(n, "x", "spec.containers[main].image"))
			}
			text, err := replica.FormatLate(entries)
			if err != nil {
				panic(err)
			}
			t.Annotations = map[string]string{v1.AnnotationLateBound: text}
		}
	}
	image := func(image string) func(*corev1.PodTemplate) {
		return func(t *corev1.PodTemplate) { t.Template.Spec.Containers[1].Image = image }
	}
	moved := map[replica.LateName]string{replica.LateQueueName: "queue-b", replica.LateRuntimeVersion: "12.8", replica.LateClientEndpoint: "h:2"}
	same := map[replica.LateName]string{replica.LateQueueName: "queue-a", replica.LateRuntimeVersion: "12.09", replica.LateClientEndpoint: "h:1"}
	for name, c := range map[string]struct {
		template *corev1.PodTemplate
		live     map[replica.LateName]string
		stated   string
		want     []replica.LateName
	}{
		"as compiled":            {template: template(), live: same},
		"nothing is known":       {template: template()},
		"all have moved":         {template: template(), live: moved, want: []replica.LateName{"queueName", "runtimeVersion", "clientEndpoint"}},
		"late values may move":   {template: template(late(replica.LateQueueName, replica.LateClientEndpoint)), live: moved, want: []replica.LateName{"runtimeVersion"}},
		"the role states images": {template: template(), live: moved, stated: "mine:cuda1.0-x", want: []replica.LateName{"queueName", "clientEndpoint"}},
		"a host states a digest": {template: template(image("gpustack/runner@sha256:0")), live: moved, want: []replica.LateName{"queueName", "clientEndpoint"}},
		"SGLang": {
			template: template(func(t *corev1.PodTemplate) {
				t.Template.Annotations = nil
				t.Template.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "MOONCAKE_MASTER", Value: "h:1"}}
			}),
			live: moved, want: []replica.LateName{"queueName", "runtimeVersion", "clientEndpoint"},
		},
		"not compiled": {live: moved},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Role{Spec: &v1.Role{Image: c.stated}, full: c.template}
			var got []replica.LateName
			for _, p := range r.pins(c.live) {
				got = append(got, p.Name)
				if p.Compiled == p.Live {
					t.Errorf("%+v", p)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

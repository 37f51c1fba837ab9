// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/render"
)

// wantService builds a Service of role of deployment qwen; term is what its
// selector has beside the identity.
func wantService(name, role, key, value string, headless bool) *corev1.Service {
	s := &corev1.Service{}
	s.APIVersion, s.Kind, s.Namespace, s.Name = "v1", "Service", "team-a", name
	s.Labels = map[string]string{
		"app.kubernetes.io/name":       "model-deployment",
		"app.kubernetes.io/instance":   "qwen",
		"app.kubernetes.io/component":  role,
		"app.kubernetes.io/managed-by": "mdc",
	}
	s.Annotations = map[string]string{"modeldeployment.gpustack.ai/deployment": "qwen"}
	s.Spec.Type = "ClusterIP"
	s.Spec.Selector = map[string]string{
		"app.kubernetes.io/name":      "model-deployment",
		"app.kubernetes.io/instance":  "qwen",
		"app.kubernetes.io/component": role,
		key:                           value,
	}
	s.Spec.Ports = []corev1.ServicePort{{Name: "http", Protocol: "TCP", Port: 8000, TargetPort: intstr.FromInt32(8000)}}
	if headless {
		s.Spec.ClusterIP = "None"
		s.Spec.PublishNotReadyAddresses = true
	}
	return s
}

func TestServices(t *testing.T) {
	const (
		member  = "modeldeployment.gpustack.ai/member-index"
		ordinal = "modeldeployment.gpustack.ai/pod-ordinal"
	)
	type role struct {
		name           string
		replicas, size int32
	}
	for name, tc := range map[string]struct {
		roles []role
		want  []*corev1.Service
	}{
		"size 1": {
			[]role{{"server", 4, 1}},
			[]*corev1.Service{
				wantService("qwen", "server", member, "0", false),
				wantService("qwen-server", "server", member, "0", false),
			},
		},
		"size 2": {
			[]role{{"server", 2, 2}},
			[]*corev1.Service{
				wantService("qwen", "server", member, "0", false),
				wantService("qwen-server", "server", member, "0", false),
				wantService("qwen-server-r0", "server", ordinal, "0", true),
				wantService("qwen-server-r1", "server", ordinal, "1", true),
			},
		},
		"two roles, the first answers for the deployment": {
			[]role{{"big", 1, 4}, {"small", 2, 1}},
			[]*corev1.Service{
				wantService("qwen", "big", member, "0", false),
				wantService("qwen-big", "big", member, "0", false),
				wantService("qwen-big-r0", "big", ordinal, "0", true),
				wantService("qwen-small", "small", member, "0", false),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			md := newRole().Deployment
			template := md.Spec.Roles[0]
			md.Spec.Roles = nil
			for _, r := range tc.roles {
				s := *template.DeepCopy()
				s.Name, s.Replicas, s.Size = r.name, r.replicas, r.size
				md.Spec.Roles = append(md.Spec.Roles, s)
			}
			var roles []*render.Role
			for i := range md.Spec.Roles {
				r := newRole()
				r.Deployment, r.Index = md, i
				roles = append(roles, r)
			}
			if diff := cmp.Diff(tc.want, render.Services(roles)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("most replicas", func(t *testing.T) {
		out := render.Services([]*render.Role{newRole(size(64), spec(func(s *v1.Role) { s.Replicas = 1024 }))})
		if last := out[len(out)-1]; len(out) != 1026 || last.Name != "qwen-server-r1023" {
			t.Errorf("%d Services, the last is %s", len(out), last.Name)
		}
	})
}

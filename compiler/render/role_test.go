// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/render"
)

// edit changes the role under test.
type edit func(*render.Role)

// newRole returns role "server" of deployment team-a/qwen: vLLM on one card of
// an nvidia type of which everything is known.
func newRole(edits ...edit) *render.Role {
	md := &v1.ModelDeployment{}
	md.Namespace, md.Name = "team-a", "qwen"
	md.Spec.Model.Name = "Qwen/Qwen2.5-7B-Instruct"
	md.Spec.Engine = v1.EngineSpec{Name: v1.EngineVLLM, Version: "0.29.0"}
	md.Spec.Roles = []v1.Role{{
		Name: "server", Kind: v1.RoleServer, Replicas: 1, Size: 1, InstanceType: "a10g",
		Resources: &v1.RoleResources{Accelerator: ptr.To(resource.MustParse("1"))},
	}}
	it := &v1.InstanceType{}
	it.Name = "a10g"
	it.Spec = v1.InstanceTypeSpec{
		AcceleratorGroup: "nvidia-a10g", Acceleratable: true,
		UnitResources: v1.UnitResources{CPU: "8", RAM: "64Gi"}, LocalStorage: "100Gi",
	}
	it.Status.Entrance = "queue"
	it.Status.Detail = v1.InstanceTypeDetail{Manufacturer: "nvidia", RuntimeVersion: "12.9"}
	r := &render.Role{Deployment: md, Type: it, HasRuntimeClass: func(string) bool { return false }}
	for _, e := range edits {
		e(r)
	}
	return r
}

// spec edits the role of the deployment.
func spec(f func(*v1.Role)) edit {
	return func(r *render.Role) { f(&r.Deployment.Spec.Roles[r.Index]) }
}

func extraArgs(args ...string) edit { return spec(func(s *v1.Role) { s.ExtraArgs = args }) }

func command(args ...string) edit { return spec(func(s *v1.Role) { s.Command = args }) }

func ports(p ...v1.RolePort) edit { return spec(func(s *v1.Role) { s.Ports = p }) }

func size(n int32) edit { return spec(func(s *v1.Role) { s.Size = n }) }

func sglang(r *render.Role) {
	r.Deployment.Spec.Engine = v1.EngineSpec{Name: v1.EngineSGLang, Version: "0.5.18"}
}

// maker makes the type one of a manufacturer.
func maker(name string) edit {
	return func(r *render.Role) {
		r.Type.Spec.AcceleratorGroup = name + "-x"
		r.Type.Status.Detail.Manufacturer = name
		if name == "ascend" {
			r.Type.Status.Detail.Family = "910B"
		}
	}
}

func cpuOnly(r *render.Role) {
	r.Type.Spec.Acceleratable = false
	r.Type.Spec.AcceleratorGroup = ""
	r.Type.Status.Detail = v1.InstanceTypeDetail{}
	s := &r.Deployment.Spec.Roles[r.Index]
	s.Resources, s.Image = nil, "own:1"
}

// cache attaches the deployment to a store of which everything is known.
func cache(edits ...func(*render.Cache)) edit {
	return func(r *render.Role) {
		r.Deployment.Spec.KVCache = &v1.KVCacheSpec{PoolRef: v1.LocalObjectReference{Name: "team-a"}, Connector: v1.ConnectorMooncake}
		r.Cache = &render.Cache{
			Pool: "dram", Backend: "mooncake", Endpoint: "10.0.0.7:50051",
			Offers: []string{"tcp"}, Tenant: "team-a-dram", Dtype: "bfloat16",
		}
		for _, e := range edits {
			e(r.Cache)
		}
	}
}

func templates(t *testing.T, r *render.Role) []*corev1.PodTemplate {
	t.Helper()
	out, findings := r.Templates()
	if findings != nil {
		t.Fatalf("findings: %v", findings)
	}
	return out
}

// pod returns the Pod of the role's first template.
func pod(t *testing.T, edits ...edit) corev1.PodTemplateSpec {
	t.Helper()
	return templates(t, newRole(edits...))[0].Template
}

// mainContainer returns the engine's container, the only one.
func mainContainer(t *testing.T, edits ...edit) corev1.Container {
	t.Helper()
	s := pod(t, edits...).Spec
	if len(s.Containers) != 1 || s.Containers[0].Name != "main" || s.InitContainers != nil {
		t.Fatalf("want container main alone, got %v and %v", s.Containers, s.InitContainers)
	}
	return s.Containers[0]
}

// refused renders a role that cannot be rendered and returns the rules that
// refuse it, in order.
func refused(t *testing.T, r *render.Role) (rules []string, findings diag.List) {
	t.Helper()
	out, findings := r.Templates()
	if out != nil {
		t.Fatalf("rendered beside findings %v", findings)
	}
	for _, f := range findings {
		if f.Severity != diag.Error || f.Field == "" || f.Message == "" || f.Remedy == "" {
			t.Errorf("incomplete finding: %+v", f)
		}
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules, findings
}

func mentions(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not mention %q", text, p)
		}
	}
}

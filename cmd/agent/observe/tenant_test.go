// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
)

func TestTenantFault(t *testing.T) {
	config := func(text string) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1.AnnotationClientConfig: text}}}
	}
	env := func(c corev1.Container) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
	}
	literal := func(v string) corev1.PodTemplateSpec {
		return env(corev1.Container{Name: "main", Env: []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: engine.EnvTenant, Value: v}}})
	}
	from := []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{}}}
	for name, tc := range map[string]struct {
		template corev1.PodTemplateSpec
		domain   string
		lax      bool
		want     string // part of the fault; empty: none
	}{
		"nothing stated":            {corev1.PodTemplateSpec{}, "a", false, ""},
		"config, the same":          {config(`{"tenant_id":"a","x":{"y":1}}`), "a", false, ""},
		"config, another":           {config(`{"tenant_id":"b"}`), "a", false, `"b", and the Binding grants tenant "a"`},
		"config, none":              {config(`{"master_server_address":"__clientEndpoint__"}`), "a", false, ""},
		"config, nothing granted":   {config(`{"tenant_id":"a"}`), "", false, "grants no tenant at all"},
		"config, unreadable":        {config(`{`), "a", false, "cannot be read"},
		"config, no text":           {config(`{"tenant_id":1}`), "a", false, "cannot be read"},
		"config, another key":       {config(`{"Tenant_ID":"b"}`), "a", false, ""},
		"config, told twice":        {config(`{"tenant_id":"a","tenant_id":"b"}`), "a", false, `"b"`},
		"variable, the same":        {literal("a"), "a", false, ""},
		"variable, another":         {literal("b"), "a", false, `container "main" is "b"`},
		"variable, empty":           {literal(""), "a", false, ""},
		"variable, nothing granted": {literal("a"), "", true, "no tenant at all"},
		"variable from elsewhere":   {env(corev1.Container{Name: "main", Env: []corev1.EnvVar{{Name: engine.EnvTenant, ValueFrom: &corev1.EnvVarSource{}}}}), "a", true, "valueFrom"},
		"another from elsewhere":    {env(corev1.Container{Name: "main", Env: []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{}}}}), "a", false, ""},
		"environment":               {env(corev1.Container{Name: "main", EnvFrom: from}), "a", false, "envFrom"},
		"environment, lax":          {env(corev1.Container{Name: "main", EnvFrom: from}), "a", true, ""},
		"environment, overridden":   {env(corev1.Container{Name: "main", EnvFrom: from, Env: []corev1.EnvVar{{Name: engine.EnvTenant, Value: "a"}}}), "a", false, ""},
		"init container": {corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{
			{Name: "init", Env: []corev1.EnvVar{{Name: engine.EnvTenant, Value: "b"}}},
		}}}, "a", false, `container "init"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := tenantFault(&tc.template, tc.domain, !tc.lax)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

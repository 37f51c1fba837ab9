// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
)

const (
	configTenant  = "tenant_id"
	unnamedTenant = "no tenant at all"
)

// tenantFault says how a template speaks of another tenant than the Binding
// grants, or may do so in a way that cannot be read here. It is empty when it
// does not. domain is empty when nothing is granted; strict also refuses
// environments that are filled from elsewhere.
//
// What a Binding grants must not be widened by editing a template.
func tenantFault(t *corev1.PodTemplateSpec, domain string, strict bool) string {
	granted := unnamedTenant
	if domain != "" {
		granted = fmt.Sprintf("tenant %q", domain)
	}
	if text, ok := t.Annotations[v1.AnnotationClientConfig]; ok {
		tenant, err := tenantOfConfig(text)
		switch {
		case err != nil:
			return fmt.Sprintf("annotation %s cannot be read (%v), and the Binding grants %s", v1.AnnotationClientConfig, err, granted)
		case tenant != "" && tenant != domain:
			return fmt.Sprintf("%s of annotation %s is %q, and the Binding grants %s", configTenant, v1.AnnotationClientConfig, tenant, granted)
		}
	}
	for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		for i := range list {
			if fault := containerTenantFault(&list[i], domain, granted, strict); fault != "" {
				return fault
			}
		}
	}
	return ""
}

func containerTenantFault(c *corev1.Container, domain, granted string, strict bool) string {
	stated := false
	for _, e := range c.Env {
		switch {
		case e.Name != engine.EnvTenant:
			continue
		case e.ValueFrom != nil:
			return fmt.Sprintf("%s of container %q comes from elsewhere (valueFrom), and the Binding grants %s", engine.EnvTenant, c.Name, granted)
		case e.Value != "" && e.Value != domain:
			return fmt.Sprintf("%s of container %q is %q, and the Binding grants %s", engine.EnvTenant, c.Name, e.Value, granted)
		}
		stated = true
	}
	if strict && !stated && len(c.EnvFrom) > 0 {
		return fmt.Sprintf("%s of container %q may come from elsewhere (envFrom), and the Binding grants %s", engine.EnvTenant, c.Name, granted)
	}
	return ""
}

// namesTenant reports whether a template states any tenant.
func namesTenant(t *corev1.PodTemplateSpec) bool {
	if tenant, err := tenantOfConfig(t.Annotations[v1.AnnotationClientConfig]); err == nil && tenant != "" {
		return true
	}
	for _, c := range t.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == engine.EnvTenant && e.Value != "" {
				return true
			}
		}
	}
	return false
}

// tenantOfConfig reads the tenant of a client configuration. Its keys are read
// as the client reads them: by their exact spelling.
func tenantOfConfig(text string) (tenant string, err error) {
	var config map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return "", err
	}
	if raw, ok := config[configTenant]; ok {
		err = json.Unmarshal(raw, &tenant)
	}
	return tenant, err
}

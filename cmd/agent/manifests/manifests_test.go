// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"gpustack.ai/mdc/cmd/agent/observe"
)

// TestAdmissionCheck: the check is the one that the agent answers.
func TestAdmissionCheck(t *testing.T) {
	c := &kueue.AdmissionCheck{}
	if err := yaml.UnmarshalStrict(AdmissionCheck, c); err != nil {
		t.Fatal(err)
	}
	if c.Name != CheckName || c.Spec.ControllerName != observe.CheckController {
		t.Errorf("%s, %s", c.Name, c.Spec.ControllerName)
	}
}

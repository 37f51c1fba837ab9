// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
)

// Rules are all rules, in the order they are judged.
var Rules = []Rule{
	{"type-missing", diag.Error, typeMissing},
	{"member-probes", diag.Warning, memberProbes},
}

func typeMissing(s *Subject) (out []Fault) {
	for i, r := range s.New.Spec.Roles {
		if _, ok := s.Facts.InstanceType(r.InstanceType); ok || r.InstanceType == "" {
			continue
		}
		out = append(out, Fault{
			Field:   fmt.Sprintf("spec.roles[%d].instanceType", i),
			Message: fmt.Sprintf("InstanceType %q is not among the facts; queue, hardware and sizes of role %q come from it", r.InstanceType, r.Name),
			Remedy:  fmt.Sprintf("correct the name, or add the InstanceType to the input or to --facts (kubectl get instancetype %s -o yaml)", r.InstanceType),
		})
	}
	return out
}

func memberProbes(s *Subject) (out []Fault) {
	if s.New.Spec.Engine.Name != v1.EngineVLLM {
		return nil
	}
	for i, r := range s.New.Spec.Roles {
		if r.Size <= 1 || len(r.Command) > 0 {
			continue
		}
		out = append(out, Fault{
			Field:   fmt.Sprintf("spec.roles[%d].size", i),
			Message: fmt.Sprintf("all %d members of an instance of role %q carry the same probes; a member that opens no HTTP listener (--headless) never passes startup and is restarted after 30 minutes", r.Size, r.Name),
			Remedy:  fmt.Sprintf("start such members through spec.roles[%d].command, which takes the role over and has no probes", i),
		})
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// compiled judges the templates, what keeps the most from being made first.
func compiled(s *state) verdict {
	return first(s,
		faulty(ReasonNotCompiled, ReasonNotCompiled, ReasonTemplateInvalid),
		faulty(ReasonTenantMismatch, ReasonTenantMismatch),
		faulty(ReasonUnknownLateValue, ReasonUnknownLateValue),
		faulty(ReasonStale, ReasonStale),
		serviceMissing,
		func(*state) *verdict {
			return yes(ReasonInSync, "Every role has a PodTemplate that was compiled from the live spec")
		},
	)
}

// faulty tells the faults of some reasons. A template with two faults, one of
// them that it is stale, counts for the other one.
func faulty(reason string, faults ...string) rule {
	return func(s *state) *verdict {
		var messages []string
		for _, r := range s.roles {
			for _, f := range faults {
				if r.Fault.Reason == f {
					messages = append(messages, "role "+r.Name+": "+r.Fault.Message)
				}
			}
			if reason == ReasonStale && r.Stale && r.Fault.Reason != ReasonStale {
				messages = append(messages, "role "+r.Name+": its PodTemplate was compiled from another spec than the live one")
			}
		}
		if len(messages) == 0 {
			return nil
		}
		return no(reason, "%s", strings.Join(messages, "; "))
	}
}

func serviceMissing(s *state) *verdict {
	var names []string
	for _, r := range s.missing() {
		if r.waitsFor() == converge.WaitService {
			names = append(names, r.role.Service(r.ordinal))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return no(ReasonServiceMissing, "Replicas wait for their Services: %s; compile the deployment with \"mdc build\" and apply what it prints", few(names, ", "))
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import v1 "gpustack.ai/mdc/compiler/api/v1"

func routerReady(s *state) verdict {
	r := s.in.Router
	return first(s,
		func(s *state) *verdict {
			if s.in.Deployment.Spec.Router != nil {
				return nil
			}
			return yes(notApplicable, "The deployment has no router")
		},
		func(*state) *verdict {
			if r.Deployed {
				return nil
			}
			return unknown("NotDeployed", "Deployment %q does not exist; compile the deployment with \"mdc build\" and apply what it prints", r.Name)
		},
		func(*state) *verdict {
			if r.Ready > 0 {
				return nil
			}
			return no("NoReadyReplicas", "Deployment %q of the router has no ready Pod", r.Name)
		},
		func(*state) *verdict { return yes("Ready", "The router answers") },
	)
}

// kvEventsPublishing tells what is configured, not what flows.
func kvEventsPublishing(s *state) verdict {
	routed := s.in.Deployment.Spec.Router != nil
	return first(s,
		func(s *state) *verdict {
			for _, r := range s.roles {
				if !routed && r.spec.Kind != v1.RoleServer {
					return no("NoRouter", "Role %s is half of a pair, and no router listens to its events", r.Name)
				}
			}
			return nil
		},
		func(*state) *verdict {
			if routed {
				return nil
			}
			return yes(notApplicable, "The deployment has no router that would listen")
		},
		func(s *state) *verdict {
			for _, r := range s.roles {
				switch {
				case r.spec.Kind == v1.RoleDecode, r.managed() && r.Publishes:
				case !r.managed():
					return unknown("RoleUnmanaged", "The command line of role %s is not mdc's", r.Name)
				default:
					return no("PublisherDisabled", "The engine of role %s publishes no events of its cache", r.Name)
				}
			}
			return nil
		},
		func(*state) *verdict {
			return yes("Publishing", "Every role that computes blocks publishes events of its cache")
		},
	)
}

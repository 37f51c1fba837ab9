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
			return yes(ReasonNotApplicable, "The deployment has no router")
		},
		func(*state) *verdict {
			if r.Deployed {
				return nil
			}
			return unknown(ReasonNotDeployed, "Deployment %q does not exist; compile the deployment with \"mdc build\" and apply what it prints", r.Name)
		},
		func(*state) *verdict {
			if r.Ready > 0 {
				return nil
			}
			return no(ReasonNoReadyReplicas, "Deployment %q of the router has no ready Pod", r.Name)
		},
		func(*state) *verdict { return yes(ReasonReady, "The router has a Pod that is ready") },
	)
}

// kvEventsPublishing tells what is configured, not what flows.
func kvEventsPublishing(s *state) verdict {
	routed := s.in.Deployment.Spec.Router != nil
	return first(s,
		func(s *state) *verdict {
			for _, r := range s.roles {
				if !routed && r.spec.Kind != v1.RoleServer {
					return no(ReasonNoRouter, "Role %s is half of a pair, and no router listens to its events", r.Name)
				}
			}
			return nil
		},
		func(*state) *verdict {
			if routed {
				return nil
			}
			return yes(ReasonNotApplicable, "The deployment has no router that would listen")
		},
		func(s *state) *verdict {
			for _, r := range s.roles {
				switch {
				case r.spec.Kind == v1.RoleDecode, r.managed() && r.Publishes:
				case !r.managed():
					return unknown(ReasonRoleUnmanaged, "The command line of role %s is not mdc's", r.Name)
				case r.Fault.Reason == ReasonNotCompiled:
					return no(ReasonPublisherDisabled, "Role %s is not compiled, and publishes no events of its cache until then", r.Name)
				default:
					return no(ReasonPublisherDisabled, "The engine of role %s publishes no events of its cache", r.Name)
				}
			}
			return nil
		},
		func(*state) *verdict {
			return yes(ReasonPublishing, "Every role that computes blocks publishes events of its cache")
		},
	)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import "slices"

// cacheAttached tells whether the engines use the store. What an engine tells
// counts before what is known of the whole domain, which others may fill too.
func cacheAttached(s *state) verdict {
	c := s.in.Cache
	return first(s,
		func(*state) *verdict {
			if c.Name != "" {
				return nil
			}
			return yes(ReasonNotApplicable, "The deployment has no cache")
		},
		func(s *state) *verdict {
			var taken []string
			for _, r := range s.roles {
				if !r.managed() {
					taken = append(taken, r.Name)
				}
			}
			if len(taken) == 0 {
				return nil
			}
			return unknown(ReasonUnmanaged, "The command line of %s is not mdc's, and so is the cache of its engine", rolesNamed(taken))
		},
		func(s *state) *verdict {
			if len(s.replicas((*replica).ready)) > 0 {
				return nil
			}
			return unknown(ReasonNoReplicaReady, "No replica is ready to be asked")
		},
		func(s *state) *verdict {
			if len(s.telling(Active)) == 0 {
				return nil
			}
			return yes(ReasonCacheActive, "Engines store and load blocks")
		},
		// What was told before the agent was started stands until it has asked.
		func(s *state) *verdict {
			before, _ := find(s.in.Deployment.Status.Conditions, CacheAttached)
			known := before.Reason == ReasonCacheActive || before.Reason == ReasonCacheOperationsFailing
			if !known || len(s.telling(Unasked)) == 0 {
				return nil
			}
			return &verdict{before.Status, before.Reason, before.Message}
		},
		func(s *state) *verdict {
			failing := s.telling(Failing)
			if len(failing) == 0 {
				return nil
			}
			return no(ReasonCacheOperationsFailing, "Every operation of the store that an engine has tried has failed, on %s; look at the log of the engine, and whether its Pod reaches the store", rolesOf(failing))
		},
		func(*state) *verdict {
			if c.Binding == nil || !c.Binding.HoldsData {
				return nil
			}
			return yes(ReasonCacheActive, "Domain %q holds blocks; which deployment has stored them is not known", c.Binding.Domain.Name)
		},
		func(*state) *verdict {
			return unknown(ReasonNoObservationAvailable, "No engine tells of operations of the store, as before the first one")
		},
	)
}

// telling are the ready replicas whose leader tells something of the store.
func (s *state) telling(e Evidence) []*replica {
	return s.replicas(func(r *replica) bool {
		return r.ready() && slices.ContainsFunc(r.live, func(p *Pod) bool { return p.Member == 0 && p.Store == e })
	})
}

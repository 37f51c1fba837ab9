// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

// domainRegistered judges the Binding that grants access to the cache.
func domainRegistered(s *state) verdict {
	c, namespace := s.in.Cache, s.in.Deployment.Namespace
	b := c.Binding
	return first(s,
		func(*state) *verdict {
			if c.Name != "" {
				return nil
			}
			return yes(ReasonNotApplicable, "The deployment has no cache")
		},
		func(*state) *verdict {
			if b != nil {
				return nil
			}
			return no(ReasonBindingNotFound, "KVCachePoolBinding %q does not exist in namespace %q", c.Name, namespace)
		},
		func(*state) *verdict {
			if !b.Deleting {
				return nil
			}
			return no(ReasonBindingDeleting, "KVCachePoolBinding %q is being deleted", c.Name)
		},
		func(*state) *verdict {
			switch {
			case b.Phase == "":
				return no(ReasonBindingNotReady, "KVCachePoolBinding %q has not been observed yet", c.Name)
			case b.Phase != bindingReady:
				detail := ""
				if b.PhaseMessage != "" {
					detail = ": " + cut(b.PhaseMessage, quoteLimit)
				}
				return no(ReasonBindingNotReady, "KVCachePoolBinding %q is %s%s", c.Name, b.Phase, detail)
			case !b.QuotaGranted:
				return no(ReasonBindingNotReady, "KVCachePoolBinding %q has been granted no quota: its condition QuotaGranted is not True", c.Name)
			}
			return nil
		},
		func(*state) *verdict {
			return yes(ReasonRegistered, "Attached to domain %q by KVCachePoolBinding %q of KVCachePool %q", b.Domain.Name, c.Name, b.Pool)
		},
	)
}

const bindingReady = "Ready"

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// mostRoles is how many roles a deployment may have.
const mostRoles = 10

func roleCount(s *Subject) []Fault {
	if n := len(s.now.roles); n > mostRoles {
		return one(tooManyRoles(n))
	}
	return nil
}

func tooManyRoles(n int) Fault {
	return Fault{
		Field:   "spec.roles",
		Message: fmt.Sprintf("spec.roles has %d items; at most %d are allowed, which is a limit of ModelDeployment and not one of Kueue or Kubernetes", n, mostRoles),
		Remedy:  "split the deployment, or join roles that differ in nothing but replicas",
	}
}

func roleNameDup(s *Subject) (out []Fault) {
	for i, r := range s.now.roles {
		first := s.now.role(r.Name)
		if first == r || s.broken(fmt.Sprintf("spec.roles[%d]", i)) {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("name"),
			Message: fmt.Sprintf("the name %q is already that of %s; Pods and Services are told apart by it", r.Name, first.path),
			Remedy:  "give each role its own name",
		})
	}
	return out
}

// Names of the Services of a deployment.
func roleService(deployment, role string) string { return deployment + "-" + role }
func routerService(deployment string) string     { return deployment + "-router" }

func memberService(deployment, role string, ordinal int32) string {
	return fmt.Sprintf("%s-%s-r%d", deployment, role, ordinal)
}

var (
	serviceLabel = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	hostLabel    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

func isServiceName(s string) bool {
	return len(s) <= validation.DNS1035LabelMaxLength && serviceLabel.MatchString(s)
}

// whyNot says what keeps a name from being a label.
func whyNot(name string) string {
	switch {
	case strings.Contains(name, "."):
		return "it has a dot"
	case len(name) > validation.DNS1035LabelMaxLength:
		return "it has more than 63 characters"
	case name != "" && name[0] >= '0' && name[0] <= '9':
		return "it begins with a digit"
	}
	return "only lower case letters, digits and inner hyphens are allowed"
}

func serviceName(s *Subject) []Fault {
	if s.now.Name == "" && s.misspelt("metadata") {
		return nil
	}
	if s.now.Name == "" {
		return one(Fault{
			Field:   "metadata.name",
			Message: "the deployment has no name, and the names of its Services and Pods begin with it",
			Remedy:  "set metadata.name",
		})
	}
	out := deploymentServiceNames(s)
	for _, r := range s.now.roles {
		name := roleService(s.now.Name, r.Name)
		if isServiceName(name) || r.stored != nil || r.Name == "" {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("name"),
			Message: fmt.Sprintf("the Service of role %q would be named %q (%d characters), which is no DNS label: %s", r.Name, name, len(name), whyNot(name)),
			Remedy:  "choose names of the deployment and the role that together begin with a letter, have no dot and at most 63 characters",
		})
	}
	return out
}

// deploymentServiceNames judges the names that do not depend on a role. A name
// that a stored deployment already answers to is left alone.
func deploymentServiceNames(s *Subject) []Fault {
	var bad []string
	if s.before == nil && !isServiceName(s.now.Name) {
		bad = append(bad, s.now.Name)
	}
	if s.now.routed() && (s.before == nil || !s.before.routed()) && !isServiceName(routerService(s.now.Name)) {
		bad = append(bad, routerService(s.now.Name))
	}
	if len(bad) == 0 {
		return nil
	}
	var texts []string
	for _, name := range bad {
		texts = append(texts, fmt.Sprintf("%q (%d characters)", name, len(name)))
	}
	return one(Fault{
		Field:   "metadata.name",
		Message: fmt.Sprintf("a Service of the deployment would be named %s, which is no DNS label: %s", strings.Join(texts, " and "), whyNot(bad[0])),
		Remedy:  "choose a name that begins with a letter, has no dot and leaves room for what is added to it, at most 63 characters in all",
	})
}

// serviceNameClash claims the names of all Services in a fixed order and faults
// the role that claims one a second time.
func serviceNameClash(s *Subject) (out []Fault) {
	claimed := map[string]string{s.now.Name: "the deployment"}
	if s.now.routed() {
		claimed[routerService(s.now.Name)] = "the router"
	}
	seen := map[string]bool{}
	for _, r := range s.now.roles {
		if seen[r.Name] || r.Name == "" {
			continue
		}
		seen[r.Name] = true
		for name, by := range r.services() {
			if other, ok := claimed[name]; ok {
				out = append(out, Fault{
					Field:   r.field("name"),
					Message: fmt.Sprintf("two Services would be named %q: that of %s and that of %s", name, other, by),
					Remedy:  "rename the role",
				})
				continue
			}
			claimed[name] = by
		}
	}
	return out
}

// services yields the names of the role's Services, each with whose it is.
func (r *role) services() func(func(name, by string) bool) {
	return func(yield func(string, string) bool) {
		deployment := r.of.Name
		if !yield(roleService(deployment, r.Name), fmt.Sprintf("role %q", r.Name)) || r.Size <= 1 {
			return
		}
		for k := range min(r.Replicas, mostReplicas) {
			if !yield(memberService(deployment, r.Name, k), fmt.Sprintf("instance %d of role %q", k, r.Name)) {
				return
			}
		}
	}
}

// mostReplicas bounds the walk over instances; the schema refuses more.
const mostReplicas = 1024

func memberName(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.Size <= 1 || s.now.Name == "" || s.broken(r.field("name")) || s.broken(r.field("size")) || s.broken(r.field("replicas")) {
			continue
		}
		name := memberHost(s.now.Name, r.Role)
		if len(name) <= validation.DNS1123LabelMaxLength && hostLabel.MatchString(name) {
			continue
		}
		out = append(out, Fault{
			Field:   r.path,
			Message: fmt.Sprintf("the last Pod of role %q would be named %q (%d characters), which is no hostname: %s; the members of an instance find each other by hostname", r.Name, name, len(name), whyNot(name)),
			Remedy:  "shorten the name of the role, shorten the name of the deployment, or ask for fewer replicas",
			Where:   r.field("name"),
		})
	}
	return out
}

// memberHost is the longest hostname of a role.
func memberHost(deployment string, r *v1.Role) string {
	return fmt.Sprintf("%s-m%d", memberService(deployment, r.Name, r.Replicas-1), r.Size-1)
}

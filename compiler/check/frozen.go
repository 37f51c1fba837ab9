// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// equal compares as the API does: absent is empty, quantities by value.
func equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// frozen says that a field cannot change. Another value describes other Pods,
// which cannot be reached by turning over the present ones.
func frozen(field, detail string) Fault {
	return Fault{
		Field:   field,
		Message: fmt.Sprintf("%s is frozen after creation%s; another value describes another deployment", field, detail),
		Remedy:  "restore the stored value, or create another deployment and delete this one when the other has taken over",
	}
}

func frozenModel(s *Subject) []Fault {
	if equal(s.before.Spec.Model, s.now.Spec.Model) || s.now.Spec.Model.ArtifactRef == nil && s.misspelt("spec.model") {
		return nil
	}
	return one(frozen("spec.model", ""))
}

func frozenEngine(s *Subject) []Fault {
	if s.before.Spec.Engine.Name == s.now.Spec.Engine.Name {
		return nil
	}
	return one(frozen("spec.engine.name", fmt.Sprintf(" (it was %s)", s.before.Spec.Engine.Name)))
}

func frozenKVCache(s *Subject) []Fault {
	if equal(s.before.Spec.KVCache, s.now.Spec.KVCache) || s.now.Spec.KVCache == nil && s.misspelt("spec") {
		return nil
	}
	return one(frozen("spec.kvCache", ""))
}

func frozenRoleSet(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.stored == nil && s.now.role(r.Name) == r {
			out = append(out, frozen(r.field("name"), fmt.Sprintf(", and so is the set of roles: there is no stored role %q", r.Name)))
		}
	}
	for _, old := range s.before.roles {
		if s.now.role(old.Name) == nil && s.before.role(old.Name) == old {
			out = append(out, frozen("spec.roles", fmt.Sprintf(" as a set of names: the stored role %q is gone", old.Name)))
		}
	}
	return out
}

// frozenField judges one field of every role that is stored. absent tells that
// the field may not be there, which a misspelt one is not either.
func frozenField(s *Subject, name string, same func(now, old *role) bool, absent func(*role) bool) (out []Fault) {
	for _, r := range s.now.roles {
		if r.stored != nil && !same(r, r.stored) && !(absent(r) && s.misspelt(r.path)) {
			out = append(out, frozen(r.field("%s", name), ""))
		}
	}
	return out
}

func frozenKind(s *Subject) []Fault {
	return frozenField(s, "kind", func(now, old *role) bool { return now.kind() == old.kind() },
		func(r *role) bool { return r.kind() == v1.RoleServer })
}

func frozenInstanceType(s *Subject) []Fault {
	return frozenField(s, "instanceType", func(now, old *role) bool { return now.InstanceType == old.InstanceType },
		func(*role) bool { return false })
}

func frozenCommand(s *Subject) []Fault {
	return frozenField(s, "command", func(now, old *role) bool { return equal(now.Command, old.Command) },
		func(r *role) bool { return !r.takeOver() })
}

func frozenSize(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.stored == nil || r.stored.Size == r.Size {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("size"),
			Message: fmt.Sprintf("%s is fixed at creation (it was %d), because the Pods of an instance are admitted and started together", r.field("size"), r.stored.Size),
			Remedy:  fmt.Sprintf("restore it; for more or fewer instances change %s", r.field("replicas")),
		})
	}
	return out
}

func frozenResources(s *Subject) []Fault {
	return frozenField(s, "resources", func(now, old *role) bool {
		a, b := now.resources(), old.resources()
		return a.AcceleratorSlicedMemoryPercentage == b.AcceleratorSlicedMemoryPercentage &&
			a.AcceleratorSlicedCoresPercentage == b.AcceleratorSlicedCoresPercentage &&
			a.AcceleratorPartitionedProfile == b.AcceleratorPartitionedProfile &&
			amount(a.Interface).Cmp(*amount(b.Interface)) == 0 &&
			sameCards(s, now, old)
	}, func(*role) bool { return true })
}

// sameCards compares the cards after the default. A count that is still absent
// is one the default could not be applied to, and counts as unchanged, except
// where it is known that there is none.
func sameCards(s *Subject, now, old *role) bool {
	a, b := now.resources().Accelerator, old.resources().Accelerator
	switch {
	case a == nil:
		return true
	case b == nil:
		return s.Deleting || old.hardware == nil || a.IsZero()
	}
	return a.Cmp(*b) == 0
}

// amount of a quantity; absent is nothing.
func amount(q *resource.Quantity) *resource.Quantity {
	if q == nil {
		return &resource.Quantity{}
	}
	return q
}

func frozenRouterName(s *Subject) []Fault {
	if !s.now.routed() || !s.before.routed() || s.now.router == s.before.router {
		return nil
	}
	return one(Fault{
		Field:   "spec.router.name",
		Message: fmt.Sprintf("spec.router.name is immutable (it was %s): clients would lose the router while another takes its name", s.before.router),
		Remedy:  "remove spec.router, and add it with the other name in a second edit",
	})
}

// protocol of the direct transfer; empty when none is stated.
func protocol(md *v1.ModelDeployment) v1.TransferProtocol {
	if md.Spec.KVTransfer == nil {
		return ""
	}
	return md.Spec.KVTransfer.Protocol
}

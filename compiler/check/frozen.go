// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
)

// equal compares as the API does: absent is empty, quantities by value.
func equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// frozen says that a field cannot change, and in detail how it did. Another
// value describes other Pods, which cannot be reached by turning over the
// present ones.
func frozen(field, detail string) Fault {
	return Fault{
		Field:   field,
		Message: fmt.Sprintf("%s is frozen after creation%s; another value describes another deployment", field, detail),
		Remedy:  "restore the stored value, or create another deployment and delete this one when the other has taken over",
	}
}

// changes lists how fields differ from the stored ones, for a message.
type changes []string

// add notes a field that differs; an empty value is one that is not there.
func (c *changes) add(field, old, now string) {
	if old == now {
		return
	}
	text := fmt.Sprintf("%s -> %s", stated(old), stated(now))
	if field != "" {
		text = field + " " + text
	}
	*c = append(*c, text)
}

func (c changes) String() string {
	if len(c) == 0 {
		return ""
	}
	return " (" + strings.Join(c, ", ") + ")"
}

func stated(value string) string {
	if value == "" {
		return "none"
	}
	return shorten(value)
}

// change is the detail of a field with one value.
func change[T ~string](old, now T) string {
	var c changes
	c.add("", string(old), string(now))
	return c.String()
}

func frozenModel(s *Subject) []Fault {
	old, now := s.before.Spec.Model, s.now.Spec.Model
	if equal(old, now) || now.ArtifactRef == nil && s.misspelt("spec.model") {
		return nil
	}
	var c changes
	c.add("name", old.Name, now.Name)
	c.add("artifactRef", refName(old.ArtifactRef), refName(now.ArtifactRef))
	return one(frozen("spec.model", c.String()))
}

// refName is what a reference names; empty without one.
func refName(ref *v1.LocalObjectReference) string {
	if ref == nil {
		return ""
	}
	return ref.Name
}

func frozenEngine(s *Subject) []Fault {
	old, now := s.before.Spec.Engine.Name, s.now.Spec.Engine.Name
	if old == now {
		return nil
	}
	return one(frozen("spec.engine.name", change(old, now)))
}

func frozenKVCache(s *Subject) []Fault {
	old, now := s.before.Spec.KVCache, s.now.Spec.KVCache
	if equal(old, now) || now == nil && s.misspelt("spec") {
		return nil
	}
	var c changes
	c.add("poolRef", poolName(old), poolName(now))
	if old != nil && now != nil {
		c.add("connector", string(old.Connector), string(now.Connector))
	}
	return one(frozen("spec.kvCache", c.String()))
}

func poolName(c *v1.KVCacheSpec) string {
	if c == nil {
		return ""
	}
	return c.PoolRef.Name
}

func frozenRoleSet(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.stored == nil && s.now.role(r.Name) == r {
			out = append(out, frozen(r.field("name"), fmt.Sprintf(", and so is the set of roles: there is no stored role %q", r.Name)))
		}
	}
	if slices.ContainsFunc(s.now.roles, func(r *role) bool { return s.misnamed(r) }) {
		return out // it may be the one that is gone
	}
	for _, old := range s.before.roles {
		if s.now.role(old.Name) == nil && s.before.role(old.Name) == old {
			out = append(out, frozen("spec.roles", fmt.Sprintf(" as a set of names: the stored role %q is gone", old.Name)))
		}
	}
	return out
}

// misnamed reports whether the schema has refused the name of a role.
func (s *Subject) misnamed(r *role) bool {
	return slices.ContainsFunc(s.Structure, func(v diag.Finding) bool {
		return v.Field == r.field("name") || v.Field == r.path
	})
}

// frozenField judges one field of every role that is stored. differ says how it
// changed and is empty when it did not; absent tells that the field may not be
// there, which a misspelt one is not either.
func frozenField(s *Subject, name string, differ func(old, now *role) string, absent func(*role) bool) (out []Fault) {
	for _, r := range s.now.roles {
		if r.stored == nil || absent(r) && s.misspelt(r.path) {
			continue
		}
		if detail := differ(r.stored, r); detail != "" {
			out = append(out, frozen(r.field("%s", name), detail))
		}
	}
	return out
}

func frozenKind(s *Subject) []Fault {
	return frozenField(s, "kind", func(old, now *role) string { return change(old.kind(), now.kind()) },
		func(r *role) bool { return r.kind() == v1.RoleServer })
}

func frozenInstanceType(s *Subject) []Fault {
	return frozenField(s, "instanceType", func(old, now *role) string { return change(old.InstanceType, now.InstanceType) },
		func(*role) bool { return false })
}

func frozenCommand(s *Subject) []Fault {
	return frozenField(s, "command", func(old, now *role) string { return commandChange(old.Command, now.Command) },
		func(r *role) bool { return !r.takeOver() })
}

// commandChange says where two command lines part. What stands there may be a
// secret, so that it is not shown.
func commandChange(old, now []string) string {
	switch {
	case equal(old, now):
		return ""
	case len(old) == 0:
		return " (the stored role has none)"
	case len(now) == 0:
		return fmt.Sprintf(" (the stored one, of %s, is gone)", plural(int64(len(old)), "item"))
	}
	at := 0
	for at < min(len(old), len(now)) && old[at] == now[at] {
		at++
	}
	if len(old) != len(now) {
		return fmt.Sprintf(" (%s -> %d, different from item %d on)", plural(int64(len(old)), "item"), len(now), at)
	}
	return fmt.Sprintf(" (different from item %d on)", at)
}

func frozenSize(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.stored == nil || r.stored.Size == r.Size || s.meant(r.path, "size") {
			continue
		}
		out = append(out, Fault{
			Field: r.field("size"),
			Message: fmt.Sprintf("%s is fixed at creation (%d -> %d), because the Pods of an instance are admitted and started together",
				r.field("size"), r.stored.Size, r.Size),
			Remedy: fmt.Sprintf("restore it; for more or fewer instances change %s", r.field("replicas")),
		})
	}
	return out
}

func frozenResources(s *Subject) []Fault {
	return frozenField(s, "resources", func(old, now *role) string {
		var c changes
		a, b := old.resources(), now.resources()
		if !sameCards(s, now, old) {
			c.add("accelerator", amountText(a.Accelerator), amountText(b.Accelerator))
		}
		percent := func(field string, old, now int32) { c.add(field, fmt.Sprint(old), fmt.Sprint(now)) }
		percent("acceleratorSlicedMemoryPercentage", a.AcceleratorSlicedMemoryPercentage, b.AcceleratorSlicedMemoryPercentage)
		percent("acceleratorSlicedCoresPercentage", a.AcceleratorSlicedCoresPercentage, b.AcceleratorSlicedCoresPercentage)
		c.add("acceleratorPartitionedProfile", a.AcceleratorPartitionedProfile, b.AcceleratorPartitionedProfile)
		if amount(a.Interface).Cmp(*amount(b.Interface)) != 0 {
			c.add("interface", amountText(a.Interface), amountText(b.Interface))
		}
		return c.String()
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

// amountText is a quantity for a message; empty when it is absent.
func amountText(q *resource.Quantity) string {
	if q == nil {
		return ""
	}
	return q.String()
}

func frozenRouterName(s *Subject) []Fault {
	if !s.now.routed() || !s.before.routed() || s.now.router == s.before.router {
		return nil
	}
	return one(Fault{
		Field:   "spec.router.name",
		Message: fmt.Sprintf("spec.router.name is immutable%s: clients would lose the router while another takes its name", change(s.before.router, s.now.router)),
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

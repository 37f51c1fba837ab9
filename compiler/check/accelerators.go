// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

func typeMissing(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.hardware != nil || r.InstanceType == "" {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("instanceType"),
			Message: fmt.Sprintf("InstanceType %q is not among the facts; queue, hardware and sizes of role %q come from it", r.InstanceType, r.Name),
			Remedy:  fmt.Sprintf("correct the name, or add the InstanceType to the input or to --facts (mdc facts, or kubectl get instancetype %s -o yaml)", r.InstanceType),
		})
	}
	return out
}

// accelerated is the hardware of the role when it has accelerators, else nil.
func (r *role) accelerated() *v1.InstanceType {
	if r.hardware == nil || !r.hardware.Spec.Acceleratable {
		return nil
	}
	return r.hardware
}

// shared is the accelerated hardware of a role that asks for part of a card,
// else nil. ready tells whether it is known how its cards can be shared.
func (r *role) shared() (t *v1.InstanceType, ready bool) {
	t = r.accelerated()
	if t == nil || !r.sliced() && r.profile() == "" {
		return nil, false
	}
	return t, t.Status.Detail.Manufacturer != ""
}

func typeNotReady(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if t, ready := r.shared(); t == nil || ready {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("instanceType"),
			Message: fmt.Sprintf("how the cards of InstanceType %q can be shared is not known yet: its status.detail is empty", r.InstanceType),
			Remedy:  "wait until the status is there, refresh the InstanceType among the facts, and retry",
		})
	}
	return out
}

func modeSlice(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		t, ready := r.shared()
		if !ready || !r.sliced() || t.Status.Detail.SlicedDetail.Logical.Count != 0 {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("resources.acceleratorSlicedMemoryPercentage"),
			Message: fmt.Sprintf("InstanceType %q offers no logical slicing, and role %q asks for a slice of a card", r.InstanceType, r.Name),
			Remedy:  "ask for whole cards, or use a type with logical slicing",
		})
	}
	return out
}

func modePartition(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		t, ready := r.shared()
		if !ready || r.profile() == "" || t.Status.Detail.SlicedDetail.Physical.Count != 0 {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("resources.acceleratorPartitionedProfile"),
			Message: fmt.Sprintf("InstanceType %q offers no hardware partitioning, and role %q asks for a partition", r.InstanceType, r.Name),
			Remedy:  "ask for whole cards, or use a type with hardware partitioning",
		})
	}
	return out
}

// modeProfile compares with the catalog of the type, not with what is free.
func modeProfile(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		t, ready := r.shared()
		if !ready || r.profile() == "" || t.Status.Detail.SlicedDetail.Physical.Count == 0 {
			continue
		}
		var offered []string
		for _, p := range t.Status.Detail.SlicedDetail.Physical.Profiles {
			if p.Name == r.profile() {
				offered = nil
				break
			}
			offered = append(offered, p.Name)
		}
		if offered == nil && len(t.Status.Detail.SlicedDetail.Physical.Profiles) > 0 {
			continue
		}
		list := strings.Join(offered, ", ")
		if list == "" {
			list = "none"
		}
		out = append(out, Fault{
			Field:   r.field("resources.acceleratorPartitionedProfile"),
			Message: fmt.Sprintf("InstanceType %q has no partition profile %q; it offers %s", r.InstanceType, shorten(r.profile()), list),
			Remedy:  "choose one of the offered profiles",
		})
	}
	return out
}

func singleCard(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		cards, ok := r.cards()
		if t, _ := r.shared(); t == nil || !ok || cards == 1 {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("resources.accelerator"),
			Message: fmt.Sprintf("role %q asks for %d cards; a sliced or partitioned request is part of exactly 1 card", r.Name, cards),
			Remedy:  "set resources.accelerator to 1 or leave it out, or ask for whole cards",
		})
	}
	return out
}

// capacity compares with the whole pool: what is free now is a question of
// waiting, what is not there at all is not.
func capacity(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		t := r.accelerated()
		cards, ok := r.cards()
		if t == nil || !ok || r.sliced() || r.profile() != "" {
			continue
		}
		most := t.Status.Accelerator.Capacity
		if most == nil || most.CmpInt64(cards) >= 0 {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("resources.accelerator"),
			Message: fmt.Sprintf("role %q asks for %s per Pod, and InstanceType %q has a capacity of %s in all; the Pod would wait for ever", r.Name, plural(cards, "card"), r.InstanceType, most.String()),
			Remedy:  "ask for fewer cards per Pod, or use a larger type",
		})
	}
	return out
}

// zeroAccelerator: cards of a type are counted per type in a quota, so a role
// without cards would ride on those of its neighbours.
func zeroAccelerator(s *Subject) (out []Fault) {
	users := map[string]int{}
	for _, r := range s.now.roles {
		users[r.InstanceType]++
	}
	for _, r := range s.now.roles {
		cards, ok := r.cards()
		if r.accelerated() == nil || !ok || cards != 0 || users[r.InstanceType] < 2 {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("resources.accelerator"),
			Message: fmt.Sprintf("role %q asks for 0 cards of InstanceType %q, which has accelerators and is shared with another role", r.Name, r.InstanceType),
			Remedy:  "ask for at least one accelerator, or use a non-acceleratable type",
		})
	}
	return out
}

// pairSlice: both halves of a pair cut from the same cards would be placed on
// one card and starve each other.
func pairSlice(s *Subject) (out []Fault) {
	slice := func(r *role, k v1.RoleKind) bool { return r.kind() == k && r.sliced() && r.profile() == "" }
	for _, p := range s.now.roles {
		for _, d := range s.now.roles {
			if !slice(p, v1.RolePrefill) || !slice(d, v1.RoleDecode) || p.hardware == nil || d.hardware == nil {
				continue
			}
			group := p.hardware.Spec.AcceleratorGroup
			if group == "" || group != d.hardware.Spec.AcceleratorGroup {
				continue
			}
			out = append(out, Fault{
				Field: "spec.roles",
				Message: fmt.Sprintf("roles %q and %q both ask for a logical slice, of InstanceTypes %q and %q, which are the same cards (group %q); the two halves of a pair would share one card and starve each other",
					p.Name, d.Name, p.InstanceType, d.InstanceType, group),
				Remedy: "give one of them whole cards, or put them on types of different groups",
			})
		}
	}
	return out
}

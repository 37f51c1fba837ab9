// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// resources are those of the role; none stated is the same as an empty block.
func (r *role) resources() v1.RoleResources {
	if r.Resources == nil {
		return v1.RoleResources{}
	}
	return *r.Resources
}

// sliced: the role asks for a share of a card, cut by software.
func (r *role) sliced() bool {
	res := r.resources()
	return res.AcceleratorSlicedMemoryPercentage != 0 || res.AcceleratorSlicedCoresPercentage != 0
}

// profile is the hardware partition the role asks for.
func (r *role) profile() string { return r.resources().AcceleratorPartitionedProfile }

// cards is the number of accelerators of one Pod; false when it is not stated
// or no whole number from 0.
func (r *role) cards() (int64, bool) {
	q := r.resources().Accelerator
	if q == nil || !isCount(*q) {
		return 0, false
	}
	return q.Value(), true
}

// isCount reports whether a quantity is a whole number from 0.
func isCount(q resource.Quantity) bool {
	return q.Sign() >= 0 && q.CmpInt64(q.Value()) == 0
}

func acceleratorCount(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if q := r.resources().Accelerator; q != nil && !isCount(*q) {
			out = append(out, notACount(r.field("resources.accelerator"), q, "cards"))
		}
	}
	return out
}

func interfaceCount(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if q := r.resources().Interface; q != nil && !isCount(*q) {
			out = append(out, notACount(r.field("resources.interface"), q, "fabric interfaces"))
		}
	}
	return out
}

func notACount(field string, q *resource.Quantity, what string) Fault {
	return Fault{
		Field:   field,
		Message: fmt.Sprintf("%s is %s; it counts whole %s and must be a non-negative whole number", field, q.String(), what),
		Remedy:  "write 0, 1, 2 or more",
	}
}

func sliceAndProfile(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.profile() == "" || !r.sliced() {
			continue
		}
		out = append(out, Fault{
			Field: r.field("resources.acceleratorPartitionedProfile"),
			Message: fmt.Sprintf("role %q asks for a hardware partition together with acceleratorSlicedMemoryPercentage or acceleratorSlicedCoresPercentage; a card is shared in one way only",
				r.Name),
			Remedy: "keep the profile, or keep the percentages",
		})
	}
	return out
}

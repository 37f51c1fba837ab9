// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// ManufacturerAscend is the one manufacturer that changes what an engine is
// given: vLLM on Ascend has connectors of its own.
const ManufacturerAscend = "ascend"

// Manufacturer of the cards of a type, in lower case: what was observed, else
// the prefix of the accelerator group. Empty when neither tells.
func Manufacturer(t *v1.InstanceType) string {
	if m := t.Status.Detail.Manufacturer; m != "" {
		return m
	}
	m, _, _ := strings.Cut(t.Spec.AcceleratorGroup, "-")
	return m
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"
)

// maker is what mdc knows of the cards of one manufacturer.
type maker struct {
	// backend begins the tag of a runner image; empty: none is published.
	backend string
	// resource is the base of the extended resources of the device plugin.
	resource string
	// runtimeClass is set when a RuntimeClass of that name exists; empty: none.
	runtimeClass string
	// partition is the word between the resource and a hardware partition
	// profile; empty: the cards cannot be partitioned.
	partition string
}

var makers = map[string]maker{
	"amd":       {backend: "rocm", resource: "amd.com/gpu", runtimeClass: "amd"},
	"ascend":    {backend: "cann", resource: "huawei.com/npu", runtimeClass: "ascend"},
	"cambricon": {resource: "cambricon.com/mlu", runtimeClass: "cambricon"},
	"hygon":     {backend: "dtk", resource: "hygon.com/dcu", runtimeClass: "hygon", partition: "mig"},
	"iluvatar":  {backend: "corex", resource: "iluvatar.com/gpu", runtimeClass: "iluvatar"},
	"metax":     {backend: "maca", resource: "metax-tech.com/gpu", runtimeClass: "metax"},
	"mthreads":  {backend: "musa", resource: "mthreads.com/gpu", runtimeClass: "mthreads"},
	"nvidia":    {backend: "cuda", resource: "nvidia.com/gpu", runtimeClass: "nvidia", partition: "mig"},
	"thead":     {backend: "hggc", resource: "alibabacloud.com/ppu", partition: "mig"},
}

// ascendVariants is the tag segment of an Ascend family. A family that is not
// listed has no published image.
var ascendVariants = map[string]string{
	"310P": "310p",
	"910B": "910b",
	"910C": "a3",
	"950":  "950",
}

func manufacturers() []string { return slices.Sorted(maps.Keys(makers)) }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// storagePerCard is the ephemeral storage that goes with one card.
var storagePerCard = resource.MustParse("15Gi")

// request is what the role asks of the accelerators of one Pod.
type request struct {
	// cards is the number asked for.
	cards int64
	// memory and cores are percentages of one card; zero: no slice.
	memory, cores int32
	// profile is a hardware partition; nil: none.
	profile *v1.PartitionProfile
}

// whole is how many times the figures of one card count: a slice or a partition
// counts as one card, and so does a Pod without cards.
func (q request) whole() int64 {
	if q.profile != nil || q.memory > 0 {
		return 1
	}
	return max(q.cards, 1)
}

// request reads the role's resources against what its type offers. A mode that
// the type does not offer is not taken here: the admission rules refuse it.
func (r *Role) request() request {
	var q request
	res := r.spec().Resources
	if res == nil || !r.Type.Spec.Acceleratable {
		return q
	}
	if res.Accelerator != nil {
		q.cards = res.Accelerator.Value()
	}
	offer := r.Type.Status.Detail.SlicedDetail
	if makers[facts.Manufacturer(r.Type)].partition != "" {
		for i := range offer.Physical.Profiles {
			if p := &offer.Physical.Profiles[i]; p.Name == res.AcceleratorPartitionedProfile {
				q.profile = p
			}
		}
	}
	if q.profile == nil && offer.Logical.Count > 0 {
		q.memory, q.cores = res.AcceleratorSlicedMemoryPercentage, res.AcceleratorSlicedCoresPercentage
		if q.memory == 0 {
			q.memory = q.cores
		}
		if q.cores == 0 {
			q.cores = q.memory
		}
	}
	return q
}

// resources returns the requests and limits of the engine's container.
func (r *Role) resources() (corev1.ResourceRequirements, diag.List) {
	var none corev1.ResourceRequirements
	if findings := r.undetermined(); findings != nil {
		return none, findings
	}
	q := r.request()
	limits, findings := r.general(q)
	if findings != nil {
		return none, findings
	}
	requests := maps.Clone(limits)
	if r.Overcommit {
		overcommit(requests, r.Type.Spec.Acceleratable)
	}
	cards, findings := r.accelerators(q)
	if findings != nil {
		return none, findings
	}
	for _, extended := range []corev1.ResourceList{cards, r.interfaces()} {
		maps.Copy(limits, extended)
		maps.Copy(requests, extended)
	}
	if w := r.Weights; w != nil && w.Delivery == v1.DeliveryEngine && r.managed() {
		// What the engine downloads lies on the node's disk. It is no request:
		// nodes that share the weights by other means need no room for it.
		storage := limits[corev1.ResourceEphemeralStorage]
		storage.Add(w.cacheSize())
		limits[corev1.ResourceEphemeralStorage] = storage
	}
	return corev1.ResourceRequirements{Limits: limits, Requests: requests}, nil
}

// undetermined refuses a slice or a partition of a type whose cards have not
// been looked at yet.
func (r *Role) undetermined() diag.List {
	res := r.spec().Resources
	if res == nil || !r.Type.Spec.Acceleratable || r.Type.Status.Detail.Manufacturer != "" {
		return nil
	}
	if res.AcceleratorPartitionedProfile == "" && res.AcceleratorSlicedMemoryPercentage == 0 && res.AcceleratorSlicedCoresPercentage == 0 {
		return nil
	}
	return diag.List{r.refuse("type-not-ready", "resources",
		fmt.Sprintf("a part of a card is requested, and what InstanceType %q offers has not been observed yet", r.Type.Name),
		"retry with an InstanceType whose status.detail is filled in")}
}

// general returns CPU, memory and ephemeral storage.
func (r *Role) general(q request) (corev1.ResourceList, diag.List) {
	var findings diag.List
	unit := func(field, text string) resource.Quantity {
		v, err := source.ParseQuantity(text)
		if err != nil || v.Sign() <= 0 {
			findings = append(findings, r.refuse("type-units", "instanceType",
				fmt.Sprintf("spec.%s of InstanceType %q is %q, which is no positive quantity, so the Pod cannot be sized", field, r.Type.Name, text),
				"correct the InstanceType"))
		}
		return v
	}
	cpu := unit("unitResources.cpu", r.Type.Spec.UnitResources.CPU)
	memory := unit("unitResources.ram", r.Type.Spec.UnitResources.RAM)
	storage := storagePerCard.DeepCopy()
	storage.Mul(q.whole())
	if bound := r.Type.Spec.LocalStorage; bound != "" {
		local := unit("localStorage", bound)
		if local.Cmp(storage) < 0 {
			storage = local
		}
	}
	if findings != nil {
		return nil, findings
	}

	switch {
	case q.profile != nil:
		percent, ok := r.partitionPercent(q.profile)
		if !ok {
			return nil, diag.List{r.refuse("partition-size", "resources.acceleratorPartitionedProfile",
				fmt.Sprintf("the share of partition %q cannot be computed: InstanceType %q states %d MiB for it and %q for the card",
					q.profile.Name, r.Type.Name, q.profile.MemoryMib, r.Type.Status.Detail.Memory),
				"correct status.detail of the InstanceType")}
		}
		cpu, memory = shareOfCores(cpu, percent), shareOfBytes(memory, percent)
	case q.memory > 0:
		cpu, memory = shareOfCores(cpu, int64(q.memory)), shareOfBytes(memory, int64(q.memory))
	default:
		cpu.Mul(q.whole())
		memory.Mul(q.whole())
		// The API server rounds finer figures up itself, and a host would see a
		// difference for ever.
		cpu.RoundUp(resource.Milli)
		memory.RoundUp(0)
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:              cpu,
		corev1.ResourceMemory:           memory,
		corev1.ResourceEphemeralStorage: storage,
	}, nil
}

// partitionPercent is the share of a card's memory that a partition has.
func (r *Role) partitionPercent(p *v1.PartitionProfile) (int64, bool) {
	card, err := source.ParseQuantity(r.Type.Status.Detail.Memory)
	if err != nil {
		return 0, false
	}
	cardMiB := card.Value() >> 20
	if cardMiB <= 0 || p.MemoryMib <= 0 {
		return 0, false
	}
	return min(max(p.MemoryMib*100/cardMiB, 1), 100), true
}

// shareOfCores is a percentage of cores, cut to thousandths.
func shareOfCores(q resource.Quantity, percent int64) resource.Quantity {
	return *resource.NewMilliQuantity(q.MilliValue()*percent/100, resource.DecimalSI)
}

// shareOfBytes is a percentage of bytes, cut to whole ones.
func shareOfBytes(q resource.Quantity, percent int64) resource.Quantity {
	return *resource.NewQuantity(q.Value()*percent/100, q.Format)
}

// Requests under overcommit: a tenth of a core for each core, and 128Mi for
// each GiB.
const (
	overcommitMilliCores    = 100
	overcommitMilliCoresCPU = 800 // on a type without accelerators
	overcommitBytesPerGiB   = 128 << 20
	gib                     = 1 << 30
)

func overcommit(requests corev1.ResourceList, acceleratable bool) {
	milli := int64(overcommitMilliCoresCPU)
	if acceleratable {
		milli = overcommitMilliCores
	}
	cores := requests.Cpu().Value() // rounded up
	requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(cores*milli, resource.DecimalSI)
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		q := requests[name]
		requests[name] = *resource.NewQuantity(q.Value()/gib*overcommitBytesPerGiB, resource.BinarySI)
	}
}

// accelerators returns the extended resources of the cards.
func (r *Role) accelerators(q request) (corev1.ResourceList, diag.List) {
	if q.cards == 0 {
		return nil, nil
	}
	manufacturer := facts.Manufacturer(r.Type)
	m, ok := makers[manufacturer]
	if !ok && r.spec().Image == "" {
		return nil, nil // refused already: no image can be synthesized either
	}
	if !ok {
		return nil, diag.List{r.refuse("type-not-ready", "instanceType",
			fmt.Sprintf("the resource name of the accelerators of InstanceType %q is not known, because its manufacturer is %q", r.Type.Name, manufacturer),
			"retry with an InstanceType whose status.detail.manufacturer or spec.acceleratorGroup names one of "+strings.Join(manufacturers(), ", "))}
	}
	one := *resource.NewQuantity(1, resource.DecimalSI)
	key := func(suffix string) corev1.ResourceName { return corev1.ResourceName(m.resource + suffix) }
	percent := func(p int32) resource.Quantity { return *resource.NewQuantity(int64(p), resource.DecimalSI) }
	count := *resource.NewQuantity(q.cards, resource.DecimalSI)
	switch {
	case q.profile != nil:
		return corev1.ResourceList{
			key(".partitioned"): one,
			key(".partitioned." + m.partition + "-" + q.profile.Name): one,
		}, nil
	case q.memory > 0:
		return corev1.ResourceList{
			key(".sliced"):                   count,
			key(".sliced.memory-percentage"): percent(q.memory),
			key(".sliced.cores-percentage"):  percent(q.cores),
		}, nil
	default:
		return corev1.ResourceList{key(""): count}, nil
	}
}

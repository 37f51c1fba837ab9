// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/render"
)

func cards(n string) edit {
	return spec(func(s *v1.Role) { s.Resources.Accelerator = ptr.To(resource.MustParse(n)) })
}

func slice(memory, cores int32) edit {
	return spec(func(s *v1.Role) {
		s.Resources.AcceleratorSlicedMemoryPercentage, s.Resources.AcceleratorSlicedCoresPercentage = memory, cores
	})
}

func profile(name string) edit {
	return spec(func(s *v1.Role) { s.Resources.AcceleratorPartitionedProfile = name })
}

func sliceable(r *render.Role) { r.Type.Status.Detail.SlicedDetail.Logical.Count = 4 }

func unit(cpu, ram string) edit {
	return func(r *render.Role) { r.Type.Spec.UnitResources = v1.UnitResources{CPU: cpu, RAM: ram} }
}

func localStorage(bound string) edit {
	return func(r *render.Role) { r.Type.Spec.LocalStorage = bound }
}

// partitions offers profiles on cards of a memory.
func partitions(card string, profiles ...v1.PartitionProfile) edit {
	return func(r *render.Role) {
		r.Type.Status.Detail.Memory = card
		r.Type.Status.Detail.SlicedDetail.Physical = v1.PhysicalPartitioning{Count: 1, Profiles: profiles}
	}
}

func overcommit(r *render.Role) { r.Overcommit = true }

// amounts spells the figures of a list.
func amounts(l corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, q := range l {
		out[string(name)] = q.String()
	}
	return out
}

func TestLimits(t *testing.T) {
	type figures = map[string]string
	half := v1.PartitionProfile{Name: "3g.40gb", MemoryMib: 40960, Count: 2}
	for name, tc := range map[string]struct {
		edits []edit
		want  figures
	}{
		"one card": {
			nil, figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu": "1"},
		},
		"two cards": {
			[]edit{cards("2")}, figures{"cpu": "16", "memory": "128Gi", "ephemeral-storage": "30Gi", "nvidia.com/gpu": "2"},
		},
		"the node's storage bounds": {
			[]edit{cards("8")}, figures{"cpu": "64", "memory": "512Gi", "ephemeral-storage": "100Gi", "nvidia.com/gpu": "8"},
		},
		"no bound of storage": {
			[]edit{cards("8"), localStorage("")}, figures{"cpu": "64", "memory": "512Gi", "ephemeral-storage": "120Gi", "nvidia.com/gpu": "8"},
		},
		"a bound below one card's": {
			[]edit{localStorage("10Gi")}, figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "10Gi", "nvidia.com/gpu": "1"},
		},
		"no cards on a type with accelerators": {
			[]edit{cards("0")}, figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi"},
		},
		"another spelling of the count": {
			[]edit{cards("2000m")}, figures{"cpu": "16", "memory": "128Gi", "ephemeral-storage": "30Gi", "nvidia.com/gpu": "2"},
		},
		"no accelerators": {
			[]edit{cpuOnly}, figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi"},
		},
		"no accelerators, and cards asked for": {
			[]edit{cpuOnly, spec(func(s *v1.Role) { s.Resources = &v1.RoleResources{Accelerator: ptr.To(resource.MustParse("4"))} })},
			figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi"},
		},
		"fractions of a core": {
			[]edit{cards("3"), unit("2500m", "1536Mi")}, figures{"cpu": "7500m", "memory": "4608Mi", "ephemeral-storage": "45Gi", "nvidia.com/gpu": "3"},
		},

		"slice, memory alone": {
			[]edit{sliceable, slice(25, 0)},
			figures{"cpu": "2", "memory": "16Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu.sliced": "1", "nvidia.com/gpu.sliced.memory-percentage": "25", "nvidia.com/gpu.sliced.cores-percentage": "25"},
		},
		"slice, cores alone": {
			[]edit{sliceable, slice(0, 50)},
			figures{"cpu": "4", "memory": "32Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu.sliced": "1", "nvidia.com/gpu.sliced.memory-percentage": "50", "nvidia.com/gpu.sliced.cores-percentage": "50"},
		},
		"slice, both: memory sizes the Pod": {
			[]edit{sliceable, slice(25, 75)},
			figures{"cpu": "2", "memory": "16Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu.sliced": "1", "nvidia.com/gpu.sliced.memory-percentage": "25", "nvidia.com/gpu.sliced.cores-percentage": "75"},
		},
		"slice, rounded down to milli-cores and bytes": {
			[]edit{sliceable, slice(33, 0), unit("7", "64Gi")},
			figures{"cpu": "2310m", "memory": "22677427322", "ephemeral-storage": "15Gi", "nvidia.com/gpu.sliced": "1", "nvidia.com/gpu.sliced.memory-percentage": "33", "nvidia.com/gpu.sliced.cores-percentage": "33"},
		},
		"slice of memory in decimal bytes": {
			[]edit{sliceable, slice(33, 0), unit("7.777", "1000000007")},
			figures{"cpu": "2566m", "memory": "330000002", "ephemeral-storage": "15Gi", "nvidia.com/gpu.sliced": "1", "nvidia.com/gpu.sliced.memory-percentage": "33", "nvidia.com/gpu.sliced.cores-percentage": "33"},
		},
		"slice counts as one card of storage": {
			[]edit{sliceable, slice(50, 0), cards("2")},
			figures{"cpu": "4", "memory": "32Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu.sliced": "2", "nvidia.com/gpu.sliced.memory-percentage": "50", "nvidia.com/gpu.sliced.cores-percentage": "50"},
		},
		"slice that the type does not offer": {
			[]edit{slice(25, 0)}, figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu": "1"},
		},
		"slice of amd": {
			[]edit{maker("amd"), sliceable, slice(25, 0)},
			figures{"cpu": "2", "memory": "16Gi", "ephemeral-storage": "15Gi", "amd.com/gpu.sliced": "1", "amd.com/gpu.sliced.memory-percentage": "25", "amd.com/gpu.sliced.cores-percentage": "25"},
		},

		"partition": {
			[]edit{partitions("81920Mi", half), profile("3g.40gb")},
			figures{"cpu": "4", "memory": "32Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu.partitioned": "1", "nvidia.com/gpu.partitioned.mig-3g.40gb": "1"},
		},
		"partition, share rounded down": {
			[]edit{partitions("81559Mi", v1.PartitionProfile{Name: "1g.10gb", MemoryMib: 9728}), profile("1g.10gb")}, // 11.9 %
			figures{"cpu": "880m", "memory": "7559142440", "ephemeral-storage": "15Gi", "nvidia.com/gpu.partitioned": "1", "nvidia.com/gpu.partitioned.mig-1g.10gb": "1"},
		},
		"partition, at least one percent": {
			[]edit{partitions("80Gi", v1.PartitionProfile{Name: "tiny", MemoryMib: 1}), profile("tiny")},
			figures{"cpu": "80m", "memory": "687194767", "ephemeral-storage": "15Gi", "nvidia.com/gpu.partitioned": "1", "nvidia.com/gpu.partitioned.mig-tiny": "1"},
		},
		"partition, at most the card": {
			[]edit{partitions("80Gi", v1.PartitionProfile{Name: "7g.80gb", MemoryMib: 90000}), profile("7g.80gb")},
			figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu.partitioned": "1", "nvidia.com/gpu.partitioned.mig-7g.80gb": "1"},
		},
		"partition beside slices on offer": {
			[]edit{partitions("81920Mi", half), sliceable, profile("3g.40gb")},
			figures{"cpu": "4", "memory": "32Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu.partitioned": "1", "nvidia.com/gpu.partitioned.mig-3g.40gb": "1"},
		},
		"partition of thead": {
			[]edit{maker("thead"), partitions("81920Mi", half), profile("3g.40gb")},
			figures{"cpu": "4", "memory": "32Gi", "ephemeral-storage": "15Gi", "alibabacloud.com/ppu.partitioned": "1", "alibabacloud.com/ppu.partitioned.mig-3g.40gb": "1"},
		},
		"partition of hygon": {
			[]edit{maker("hygon"), partitions("81920Mi", half), profile("3g.40gb")},
			figures{"cpu": "4", "memory": "32Gi", "ephemeral-storage": "15Gi", "hygon.com/dcu.partitioned": "1", "hygon.com/dcu.partitioned.mig-3g.40gb": "1"},
		},
		"partition of a maker without them": {
			[]edit{maker("amd"), partitions("81920Mi", half), profile("3g.40gb")},
			figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi", "amd.com/gpu": "1"},
		},
		"partition that the type does not offer": {
			[]edit{partitions("81920Mi", half), profile("1g.10gb")},
			figures{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "15Gi", "nvidia.com/gpu": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := mainContainer(t, tc.edits...).Resources
			if diff := cmp.Diff(tc.want, amounts(got.Limits)); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, amounts(got.Requests)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAcceleratorKeys(t *testing.T) {
	for name, want := range map[string]string{
		"amd":       "amd.com/gpu",
		"ascend":    "huawei.com/npu",
		"cambricon": "cambricon.com/mlu",
		"hygon":     "hygon.com/dcu",
		"iluvatar":  "iluvatar.com/gpu",
		"metax":     "metax-tech.com/gpu",
		"mthreads":  "mthreads.com/gpu",
		"nvidia":    "nvidia.com/gpu",
		"thead":     "alibabacloud.com/ppu",
	} {
		t.Run(name, func(t *testing.T) {
			image := spec(func(s *v1.Role) { s.Image = "own:1" })
			general := []string{"cpu", "ephemeral-storage", "memory"}
			for kind, tc := range map[string]struct {
				edits []edit
				keys  []string
			}{
				"cards":                       {[]edit{cards("2")}, []string{want}},
				"slice":                       {[]edit{sliceable, slice(10, 0)}, []string{want + ".sliced", want + ".sliced.cores-percentage", want + ".sliced.memory-percentage"}},
				"cards, told by the group":    {[]edit{func(r *render.Role) { r.Type.Status.Detail = v1.InstanceTypeDetail{} }}, []string{want}},
				"cards, none":                 {[]edit{cards("0")}, nil},
				"cards of a type without any": {[]edit{cpuOnly}, nil},
			} {
				got := amounts(mainContainer(t, append([]edit{maker(name), image}, tc.edits...)...).Resources.Limits)
				keys := slices.Sorted(maps.Keys(got))
				if wantKeys := slices.Sorted(slices.Values(append(tc.keys, general...))); !slices.Equal(keys, wantKeys) {
					t.Errorf("%s: keys %v, want %v", kind, keys, wantKeys)
				}
			}
		})
	}
}

func TestOvercommit(t *testing.T) {
	type figures = map[string]string
	for name, tc := range map[string]struct {
		edits []edit
		want  figures // requests; the limits stay
	}{
		"one card":           {nil, figures{"cpu": "800m", "memory": "8Gi", "ephemeral-storage": "1920Mi", "nvidia.com/gpu": "1"}},
		"two cards":          {[]edit{cards("2")}, figures{"cpu": "1600m", "memory": "16Gi", "ephemeral-storage": "3840Mi", "nvidia.com/gpu": "2"}},
		"no accelerators":    {[]edit{cpuOnly, unit("1", "2Gi")}, figures{"cpu": "800m", "memory": "256Mi", "ephemeral-storage": "1920Mi"}},
		"cores rounded up":   {[]edit{unit("2500m", "64Gi")}, figures{"cpu": "300m", "memory": "8Gi", "ephemeral-storage": "1920Mi", "nvidia.com/gpu": "1"}},
		"memory rounded off": {[]edit{unit("8", "2047Mi")}, figures{"cpu": "800m", "memory": "128Mi", "ephemeral-storage": "1920Mi", "nvidia.com/gpu": "1"}},
		"less than one GiB":  {[]edit{unit("8", "1023Mi")}, figures{"cpu": "800m", "memory": "0", "ephemeral-storage": "1920Mi", "nvidia.com/gpu": "1"}},
		"slice": {
			[]edit{sliceable, slice(25, 0)},
			figures{"cpu": "200m", "memory": "2Gi", "ephemeral-storage": "1920Mi", "nvidia.com/gpu.sliced": "1", "nvidia.com/gpu.sliced.memory-percentage": "25", "nvidia.com/gpu.sliced.cores-percentage": "25"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plain := mainContainer(t, tc.edits...).Resources
			got := mainContainer(t, append(tc.edits, overcommit)...).Resources
			if diff := cmp.Diff(tc.want, amounts(got.Requests)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(amounts(plain.Limits), amounts(got.Limits)); diff != "" {
				t.Errorf("limits changed:\n%s", diff)
			}
		})
	}
}

func TestResourcesRefused(t *testing.T) {
	unobserved := func(r *render.Role) { r.Type.Status.Detail = v1.InstanceTypeDetail{} }
	half := v1.PartitionProfile{Name: "3g.40gb", MemoryMib: 40960}
	for name, tc := range map[string]struct {
		edits []edit
		rule  string
	}{
		"slice, detail not computed":         {[]edit{unobserved, slice(25, 0)}, "type-not-ready"},
		"slice of cores, ditto":              {[]edit{unobserved, slice(0, 25)}, "type-not-ready"},
		"partition, detail not computed":     {[]edit{unobserved, profile("3g.40gb")}, "type-not-ready"},
		"partition without memory":           {[]edit{partitions("81920Mi", v1.PartitionProfile{Name: "x"}), profile("x")}, "partition-size"},
		"card without memory":                {[]edit{partitions("", half), profile("3g.40gb")}, "partition-size"},
		"card with unreadable memory":        {[]edit{partitions("80 GB", half), profile("3g.40gb")}, "partition-size"},
		"card below a MiB":                   {[]edit{partitions("1Ki", half), profile("3g.40gb")}, "partition-size"},
		"cpu unreadable":                     {[]edit{unit("eight", "64Gi")}, "type-units"},
		"ram unreadable":                     {[]edit{unit("8", "64 GiB")}, "type-units"},
		"ram absent":                         {[]edit{unit("8", "")}, "type-units"},
		"cpu zero":                           {[]edit{unit("0", "64Gi")}, "type-units"},
		"ram negative":                       {[]edit{unit("8", "-1Gi")}, "type-units"},
		"storage unreadable":                 {[]edit{localStorage("100 Gi")}, "type-units"},
		"cards of a maker without resources": {[]edit{maker("acme"), spec(func(s *v1.Role) { s.Image = "own:1" })}, "type-not-ready"},
	} {
		t.Run(name, func(t *testing.T) {
			rules, findings := refused(t, newRole(tc.edits...))
			if !slices.Equal(rules, []string{tc.rule}) {
				t.Fatalf("findings %v, want rule %s", findings, tc.rule)
			}
			mentions(t, findings[0].Message, `"a10g"`)
		})
	}
	t.Run("all units at once", func(t *testing.T) {
		_, findings := refused(t, newRole(unit("", ""), localStorage("x")))
		if len(findings) != 3 {
			t.Errorf("%d findings, want one for each figure: %v", len(findings), findings)
		}
	})
}

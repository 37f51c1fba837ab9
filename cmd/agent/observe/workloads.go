// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// workloadOf returns what a decision reads of a Workload.
func workloadOf(w *kueue.Workload) converge.Workload {
	holds := func(condition string) bool { return meta.IsStatusConditionTrue(w.Status.Conditions, condition) }
	out := converge.Workload{
		Name:     w.Name,
		UID:      string(w.UID),
		Created:  w.CreationTimestamp.Time,
		Deleting: w.DeletionTimestamp != nil,
		Reserved: holds(kueue.WorkloadQuotaReserved),
		Admitted: holds(kueue.WorkloadAdmitted),
		Evicted:  holds(kueue.WorkloadEvicted),
	}
	for _, ref := range OwnerPods(w) {
		out.Pods = append(out.Pods, string(ref.UID))
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package joint

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	conditionTerminationTarget = "TerminationTarget"
	evictedPrefix              = "WorkloadEvictedDueTo"
)

// PreemptedBy is the condition by which Kueue notes on a Pod that it has evicted
// its Workload, which is the only trace once that is gone, and the cause; nil when
// it has not.
func PreemptedBy(p *corev1.Pod) (c *corev1.PodCondition, cause string) {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type == conditionTerminationTarget && c.Status == corev1.ConditionTrue && strings.HasPrefix(c.Reason, evictedPrefix) {
			return c, strings.TrimPrefix(c.Reason, evictedPrefix)
		}
	}
	return nil, ""
}

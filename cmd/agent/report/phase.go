// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// phase sums up what is ready. It counts what is declared, not what the agent
// was last asked for: a deployment that is not compiled is not ready.
func (s *state) phase() (v1.Phase, string) {
	phase, message := s.phaseOfCounts()
	if phase == v1.PhaseReady || phase == v1.PhaseDeleting {
		return phase, message
	}
	if w := s.said[WeightsReady]; w.status == metav1.ConditionFalse && len(s.in.Pods) == 0 {
		return phase, w.message
	}
	return phase, cut(join(message, s.evicted()), messageLimit)
}

func (s *state) phaseOfCounts() (v1.Phase, string) {
	ready, total := s.ready(), s.total()
	router := s.said[RouterReady]
	switch {
	case s.deleting():
		return v1.PhaseDeleting, s.leaving()
	case ready == total && router.status != metav1.ConditionTrue:
		return v1.PhaseDegraded, router.message
	case ready == total:
		return v1.PhaseReady, ""
	case ready > 0:
		return v1.PhaseDegraded, fmt.Sprintf("%d of %d replicas are ready", ready, total)
	}
	return v1.PhaseStarting, s.said[QuotaReserved].message
}

// leaving tells what a deployment that is being deleted waits for.
func (s *state) leaving() string {
	n := len(s.in.Pods)
	if n == 0 {
		return "All Pods have gone"
	}
	message := fmt.Sprintf("Still there: %s", count(n, "Pod"))
	var stuck []string
	for i := range s.in.Pods {
		if p := &s.in.Pods[i]; p.NodeLost && !p.Ended {
			stuck = append(stuck, fmt.Sprintf("%s on Node %q", p.Name, p.Node))
		}
	}
	if len(stuck) > 0 {
		message += fmt.Sprintf("; on Nodes that do not answer: %s, which go when the Node is back, or its object is deleted", few(stuck, ", "))
	}
	return message
}

// evicted is the kubelet's account of the first Pod, by name, that it evicted.
func (s *state) evicted() string {
	var found *Pod
	for i := range s.in.Pods {
		if p := &s.in.Pods[i]; p.Evicted != "" && (found == nil || p.Name < found.Name) {
			found = p
		}
	}
	if found == nil {
		return ""
	}
	return fmt.Sprintf("Pod %s was evicted: %s", found.Name, cut(found.Evicted, quoteLimit))
}

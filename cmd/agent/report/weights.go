// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import v1 "gpustack.ai/mdc/compiler/api/v1"

// weightsReady judges what a ModelArtifact delivers, and to whom it has not yet.
func weightsReady(s *state) verdict {
	w := s.in.Weights
	mounts := w.Delivery == v1.DeliveryPVC || w.Delivery == v1.DeliveryNode
	return first(s,
		func(*state) *verdict {
			if w.Artifact != "" {
				return nil
			}
			return yes(ReasonNotApplicable, "No ModelArtifact delivers the weights")
		},
		func(*state) *verdict {
			if w.Blocked.Reason == "" {
				return nil
			}
			return no(w.Blocked.Reason, "%s. Nothing is created until then", w.Blocked.Message)
		},
		func(s *state) *verdict {
			n := s.running(func(p *Pod) bool { return !p.EngineReady })
			if w.Delivery != v1.DeliveryEngine || n == 0 {
				return nil
			}
			return no(ReasonDownloading, "Engines download ModelArtifact %q, or start, or wait for quota, in %s", w.Artifact, count(n, "Pod"))
		},
		func(s *state) *verdict {
			n := s.running(func(p *Pod) bool { return !p.Mounted })
			if !mounts || n == 0 {
				return nil
			}
			return no(ReasonWeightsNotMounted, "ModelArtifact %q is not mounted yet in %s", w.Artifact, count(n, "Pod"))
		},
		func(*state) *verdict {
			if w.Delivery == v1.DeliveryEngine {
				return yes(ReasonDownloaded, "ModelArtifact %q is where it is needed", w.Artifact)
			}
			return yes(ReasonMounted, "ModelArtifact %q is where it is needed", w.Artifact)
		},
	)
}

// running counts the Pods that live and have not ended of which a condition
// holds.
func (s *state) running(holds func(*Pod) bool) (n int) {
	for i := range s.in.Pods {
		if p := &s.in.Pods[i]; !p.Deleting && !p.Ended && holds(p) {
			n++
		}
	}
	return n
}

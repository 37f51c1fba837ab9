// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestRequire(t *testing.T) {
	selector := func(keys ...string) *corev1.NodeSelector {
		s := &corev1.NodeSelector{}
		for _, k := range keys {
			term := corev1.NodeSelectorTerm{}
			for _, c := range k {
				term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: string(c), Operator: corev1.NodeSelectorOpExists})
			}
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, term)
		}
		return s
	}
	for name, tc := range map[string]struct{ own, where, want *corev1.NodeSelector }{
		"nothing of its own":        {nil, selector("a", "b"), selector("a", "b")},
		"both":                      {selector("x"), selector("a"), selector("xa")},
		"one of each, in every way": {selector("x", "y"), selector("a", "b"), selector("xa", "xb", "ya", "yb")},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &corev1.PodSpec{}
			if tc.own != nil {
				spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: tc.own}}
			}
			require(spec, tc.where)
			if diff := cmp.Diff(tc.want, spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/render"
)

func TestWeightsOfAnotherRevision(t *testing.T) {
	artifact := func(edit func(*v1.ModelArtifact)) *v1.ModelArtifact {
		a := &v1.ModelArtifact{ObjectMeta: metav1.ObjectMeta{Name: "w"}}
		a.Spec.Source.HuggingFace = &v1.HubSource{Repository: "r"}
		a.Status.Resolved = &v1.ResolvedArtifact{Revision: "new", ManifestDigest: "sha256:new"}
		a.Status.Conditions = []v1.ReadCondition{{Type: "Resolved", Status: metav1.ConditionTrue}}
		edit(a)
		return a
	}
	same := func(*v1.ModelArtifact) {}
	engine := func(args ...string) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Command: append([]string{"vllm", "serve", "r"}, args...)}}}}
	}
	node := func(digest string) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{
			CSI: &corev1.CSIVolumeSource{Driver: render.ModelDriver, VolumeAttributes: map[string]string{render.AttributeDigest: digest}},
		}}}}}
	}
	for name, tc := range map[string]struct {
		edit     func(*v1.ModelArtifact)
		template corev1.PodTemplateSpec
		want     bool
	}{
		"engine, the same":       {same, engine("--revision", "new"), false},
		"engine, another":        {same, engine("--revision", "old"), true},
		"engine, taken over":     {same, engine(), false},
		"engine, flag at end":    {same, engine("--revision"), false},
		"node, the same":         {same, node("sha256:new"), false},
		"node, another":          {same, node("sha256:old"), true},
		"claim":                  {func(a *v1.ModelArtifact) { a.Spec.Source.PersistentVolumeClaim = &v1.ClaimSource{} }, engine("--revision", "old"), false},
		"image":                  {func(a *v1.ModelArtifact) { a.Spec.Source.Image = &v1.ImageSource{} }, engine("--revision", "old"), false},
		"resolved to no content": {func(a *v1.ModelArtifact) { a.Status.Resolved = nil }, engine("--revision", "old"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := otherRevision(artifact(tc.edit), &tc.template); (got != "") != tc.want {
				t.Errorf("%q", got)
			}
		})
	}

	for name, tc := range map[string]struct {
		conditions []v1.ReadCondition
		want       string
	}{
		"resolved":     {[]v1.ReadCondition{{Type: "Other", Status: "False"}, {Type: "Resolved", Status: "True"}}, ""},
		"not resolved": {[]v1.ReadCondition{{Type: "Resolved", Status: "False", Reason: "AccessDenied", Message: "no"}}, "AccessDenied: no"},
		"not yet":      {nil, "not resolved yet"},
	} {
		t.Run(name, func(t *testing.T) {
			got := unresolved(artifact(func(a *v1.ModelArtifact) { a.Status.Conditions = tc.conditions }))
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

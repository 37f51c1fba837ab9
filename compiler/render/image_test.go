// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"testing"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/render"
)

func TestImage(t *testing.T) {
	runtime := func(version string) edit {
		return func(r *render.Role) { r.Type.Status.Detail.RuntimeVersion = version }
	}
	family := func(name string) edit {
		return func(r *render.Role) { r.Type.Status.Detail.Family = name }
	}
	unobserved := func(group string) edit {
		return func(r *render.Role) {
			r.Type.Spec.AcceleratorGroup = group
			r.Type.Status.Detail = v1.InstanceTypeDetail{}
		}
	}
	for name, tc := range map[string]struct {
		edits []edit
		want  string
	}{
		"nvidia":   {[]edit{maker("nvidia")}, "gpustack/runner:cuda12.9-vllm0.29.0"},
		"amd":      {[]edit{maker("amd"), runtime("6.4")}, "gpustack/runner:rocm6.4-vllm0.29.0"},
		"metax":    {[]edit{maker("metax"), runtime("3.2")}, "gpustack/runner:maca3.2-vllm0.29.0"},
		"mthreads": {[]edit{maker("mthreads"), runtime("4.1")}, "gpustack/runner:musa4.1-vllm0.29.0"},
		"iluvatar": {[]edit{maker("iluvatar"), runtime("4.2")}, "gpustack/runner:corex4.2-vllm0.29.0"},
		"hygon":    {[]edit{maker("hygon"), runtime("25.04")}, "gpustack/runner:dtk25.04-vllm0.29.0"},
		"thead":    {[]edit{maker("thead"), runtime("1.6")}, "gpustack/runner:hggc1.6-vllm0.29.0"},

		"ascend 310P": {[]edit{maker("ascend"), runtime("9.0"), family("310P")}, "gpustack/runner:cann9.0-310p-vllm0.29.0"},
		"ascend 910B": {[]edit{maker("ascend"), runtime("9.0"), family("910B")}, "gpustack/runner:cann9.0-910b-vllm0.29.0"},
		"ascend 910C": {[]edit{maker("ascend"), runtime("9.0"), family("910C")}, "gpustack/runner:cann9.0-a3-vllm0.29.0"},
		"ascend 950":  {[]edit{maker("ascend"), runtime("9.0"), family("950")}, "gpustack/runner:cann9.0-950-vllm0.29.0"},

		"family of another maker":       {[]edit{family("910B")}, "gpustack/runner:cuda12.9-vllm0.29.0"},
		"SGLang":                        {[]edit{sglang}, "gpustack/runner:cuda12.9-sglang0.5.18"},
		"SGLang on Ascend":              {[]edit{sglang, maker("ascend"), runtime("9.0")}, "gpustack/runner:cann9.0-910b-sglang0.5.18"},
		"version verbatim":              {[]edit{func(r *render.Role) { r.Deployment.Spec.Engine.Version = "v0.29.0rc1" }}, "gpustack/runner:cuda12.9-vllmv0.29.0rc1"},
		"runtime verbatim":              {[]edit{runtime("13")}, "gpustack/runner:cuda13-vllm0.29.0"},
		"runtime not observed":          {[]edit{runtime("")}, "gpustack/runner:cuda__runtimeVersion__-vllm0.29.0"},
		"runtime not observed, ascend":  {[]edit{maker("ascend"), runtime("")}, "gpustack/runner:cann__runtimeVersion__-910b-vllm0.29.0"},
		"maker told by the group":       {[]edit{unobserved("amd-mi300x")}, "gpustack/runner:rocm__runtimeVersion__-vllm0.29.0"},
		"observed maker beats group":    {[]edit{func(r *render.Role) { r.Type.Spec.AcceleratorGroup = "amd-mi300x" }}, "gpustack/runner:cuda12.9-vllm0.29.0"},
		"take-over":                     {[]edit{command("serve")}, "gpustack/runner:cuda12.9-vllm0.29.0"},
		"stated":                        {[]edit{spec(func(s *v1.Role) { s.Image = "r.example.com/own@sha256:0" })}, "r.example.com/own@sha256:0"},
		"stated, maker without runner":  {[]edit{maker("cambricon"), spec(func(s *v1.Role) { s.Image = "own:1" })}, "own:1"},
		"stated, no engine version":     {[]edit{func(r *render.Role) { r.Deployment.Spec.Engine.Version = "" }, spec(func(s *v1.Role) { s.Image = "own:1" })}, "own:1"},
		"stated, no accelerators":       {[]edit{cpuOnly}, "own:1"},
		"stated with the text of token": {[]edit{runtime(""), spec(func(s *v1.Role) { s.Image = "own:__runtimeVersion__" })}, "own:__runtimeVersion__"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mainContainer(t, tc.edits...).Image; got != tc.want {
				t.Errorf("image %q, want %q", got, tc.want)
			}
		})
	}
}

func TestImageRefused(t *testing.T) {
	const (
		never = "never resolves"
		later = "it resolves once"
	)
	noVersion := func(r *render.Role) { r.Deployment.Spec.Engine.Version = "" }
	family := func(name string) edit {
		return func(r *render.Role) { r.Type.Status.Detail.Family = name }
	}
	for name, tc := range map[string]struct {
		edits    []edit
		rules    []string
		mentions []string
	}{
		"no engine version": {[]edit{noVersion}, []string{"image-version"}, []string{never, `"server"`}},
		"take-over":         {[]edit{noVersion, command("serve")}, []string{"image-version"}, []string{never}},
		"maker not observed": {
			[]edit{func(r *render.Role) {
				r.Type.Spec.AcceleratorGroup = ""
				r.Type.Status.Detail = v1.InstanceTypeDetail{}
			}},
			[]string{"image-maker-unknown"}, []string{later, "status.detail.manufacturer", `"a10g"`},
		},
		"maker without runner": {[]edit{maker("cambricon")}, []string{"image-maker"}, []string{never, `"cambricon"`}},
		"unknown maker":        {[]edit{maker("acme")}, []string{"image-maker"}, []string{never, `"acme"`}},
		"no accelerators":      {[]edit{cpuOnly, spec(func(s *v1.Role) { s.Image = "" })}, []string{"image-maker"}, []string{never, "no accelerators"}},
		"ascend 910":           {[]edit{maker("ascend"), family("910")}, []string{"image-variant"}, []string{never, `"910"`}},
		"ascend 310B":          {[]edit{maker("ascend"), family("310B")}, []string{"image-variant"}, []string{never, `"310B"`}},
		"ascend lower case":    {[]edit{maker("ascend"), family("910b")}, []string{"image-variant"}, []string{never}},
		"ascend not observed":  {[]edit{maker("ascend"), family("")}, []string{"image-variant"}, []string{later, "status.detail.family"}},
		"both halves":          {[]edit{noVersion, maker("cambricon")}, []string{"image-version", "image-maker"}, []string{never}},
	} {
		t.Run(name, func(t *testing.T) {
			rules, findings := refused(t, newRole(tc.edits...))
			if !slices.Equal(rules, tc.rules) {
				t.Errorf("rules %v, want %v", rules, tc.rules)
			}
			for _, f := range findings {
				if f.Rule == tc.rules[0] {
					mentions(t, f.Message, tc.mentions...)
				}
			}
		})
	}
}

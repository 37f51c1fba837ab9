// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
)

func TestStatus(t *testing.T) {
	role := func(name string, replicas int32, edit func(*observe.Role)) *observe.Role {
		r := &observe.Role{Spec: &v1.Role{Name: name, Kind: v1.RoleServer, Replicas: replicas}}
		edit(r)
		return r
	}
	fine := func(*observe.Role) {}
	stale := func(r *observe.Role) { r.Stale = true }
	fault := func(reason string) func(*observe.Role) { return func(r *observe.Role) { r.Fault.Reason = reason } }
	desired := func(stored map[string]int32, roles ...*observe.Role) map[string]int32 {
		v := &observe.View{Deployment: &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Generation: 3}}, Roles: roles}
		for name, n := range stored {
			v.Deployment.Status.Roles = append(v.Deployment.Status.Roles, v1.RoleStatus{Name: name, Desired: n})
		}
		s, out := statusOf(v), map[string]int32{}
		if s.ObservedGeneration != 3 {
			t.Errorf("generation %d", s.ObservedGeneration)
		}
		for _, r := range s.Roles {
			out[r.Name] = r.Desired
		}
		return out
	}
	type counts = map[string]int32
	for name, tc := range map[string]struct{ got, want counts }{
		"first":                     {desired(nil, role("a", 2, fine)), counts{"a": 2}},
		"grown":                     {desired(counts{"a": 2}, role("a", 3, fine)), counts{"a": 3}},
		"grown while stale":         {desired(counts{"a": 2}, role("a", 3, stale)), counts{"a": 2}},
		"shrunk while stale":        {desired(counts{"a": 2}, role("a", 1, stale)), counts{"a": 1}},
		"first while stale":         {desired(nil, role("a", 3, stale)), counts{"a": 0}},
		"grown while not compiled":  {desired(counts{"a": 2}, role("a", 3, fault(observe.ReasonNotCompiled))), counts{"a": 2}},
		"a value is missing":        {desired(counts{"a": 2}, role("a", 3, fault(observe.ReasonMissingLateValue))), counts{"a": 3}},
		"grown beside a stale role": {desired(counts{"a": 2, "b": 1}, role("a", 3, fine), role("b", 1, stale)), counts{"a": 2, "b": 1}},
		"a role is gone":            {desired(counts{"a": 2, "b": 1}, role("a", 2, fine)), counts{"a": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Error(diff)
			}
		})
	}

	v := &observe.View{Deployment: &v1.ModelDeployment{}, Observation: converge.Observation{Deleting: true}}
	v.Deployment.Status.Roles = []v1.RoleStatus{{Name: "a", Desired: 2}}
	if got := statusOf(v).Roles; len(got) != 1 || got[0].Desired != 2 {
		t.Errorf("while deleting: %v", got)
	}
}

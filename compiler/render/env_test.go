// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// env sets the role's own entries, given as name, value, name, value.
func env(pairs ...string) edit {
	return spec(func(s *v1.Role) {
		for p := range slices.Chunk(pairs, 2) {
			s.Env = append(s.Env, v1.EnvVar{Name: p[0], Value: p[1]})
		}
	})
}

// flat spells a list of variables as name=value.
func flat(vars []corev1.EnvVar) (out []string) {
	for _, e := range vars {
		value := e.Value
		if e.ValueFrom != nil {
			value = "<" + e.ValueFrom.FieldRef.FieldPath + ">"
		}
		out = append(out, e.Name+"="+value)
	}
	return out
}

func TestEnv(t *testing.T) {
	config := "MOONCAKE_CONFIG_PATH=/etc/gpustack/kvcache/mooncake.json"
	store := []string{
		"MOONCAKE_TENANT_ID=team-a-dram", "MOONCAKE_MASTER=10.0.0.7:50051", "MOONCAKE_TE_META_DATA_SERVER=P2PHANDSHAKE",
		"MOONCAKE_PROTOCOL=tcp", "MOONCAKE_DEVICE=", "MOONCAKE_GLOBAL_SEGMENT_SIZE=0", "MOONCAKE_LOCAL_HOSTNAME=<status.podIP>",
	}
	for name, tc := range map[string]struct {
		edits []edit
		want  []string
	}{
		"none":                    {nil, nil},
		"own, in order":           {[]edit{env("B", "1", "A", "2")}, []string{"B=1", "A=2"}},
		"own, empty value":        {[]edit{env("A", "")}, []string{"A="}},
		"own, a name twice":       {[]edit{env("A", "1", "B", "2", "A", "3")}, []string{"A=3", "B=2"}},
		"vLLM":                    {[]edit{cache()}, []string{config, "MC_TE_METRIC=1"}},
		"vLLM, own after":         {[]edit{cache(), env("FOO", "bar")}, []string{config, "MC_TE_METRIC=1", "FOO=bar"}},
		"default given way to":    {[]edit{cache(), env("FOO", "bar", "MC_TE_METRIC", "0")}, []string{config, "FOO=bar", "MC_TE_METRIC=0"}},
		"owned, never the user's": {[]edit{cache(), env("MOONCAKE_CONFIG_PATH", "x", "FOO", "bar")}, []string{config, "MC_TE_METRIC=1", "FOO=bar"}},
		"owned without a cache":   {[]edit{env("MOONCAKE_CONFIG_PATH", "x", "VLLM_MOONCAKE_BOOTSTRAP_PORT", "1")}, nil},
		"rank names at size 1":    {[]edit{env("GPUSTACK_REPLICA_SIZE", "x", "GPUSTACK_MEMBER_INDEX", "0", "GPUSTACK_REPLICA_LEADER_ADDRESS", "y", "A", "1")}, []string{"A=1"}},
		"owned by another engine": {[]edit{env("MOONCAKE_MASTER", "x")}, []string{"MOONCAKE_MASTER=x"}},
		"another case of a name":  {[]edit{env("mooncake_config_path", "x")}, []string{"mooncake_config_path=x"}},
		"SGLang":                  {[]edit{sglang, cache()}, append(slices.Clone(store), "MC_TE_METRIC=1")},
		"SGLang, own value":       {[]edit{sglang, cache(), env("MC_TE_METRIC", "0", "MOONCAKE_MASTER", "x", "MOONCAKE_CONFIG_PATH", "y")}, append(slices.Clone(store), "MC_TE_METRIC=0", "MOONCAKE_CONFIG_PATH=y")},
		"take-over beside a cache": {
			[]edit{cache(), command("serve"), env("MODE", "fast", "MOONCAKE_CONFIG_PATH", "x", "MC_TE_METRIC", "0")},
			[]string{"MODE=fast", "MC_TE_METRIC=0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, flat(mainContainer(t, tc.edits...).Env)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

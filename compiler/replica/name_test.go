// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica_test

import (
	"testing"

	"gpustack.ai/mdc/compiler/replica"
)

func TestGroupName(t *testing.T) {
	for _, tc := range []struct {
		namespace, deployment, role string
		ordinal                     int32
		want                        string
	}{
		{"team-a", "qwen-chat", "server", 0, "gpustack-fnv64-dc611a87ddf1aa0e"},
		{"team-a", "qwen-chat", "server", 1, "gpustack-fnv64-dc611b87ddf1abc1"},
		{"team-a", "qwen-sgl", "server", 0, "gpustack-fnv64-2fb98d61bf83cdd0"},
		{"team-a", "llama-big", "server", 0, "gpustack-fnv64-89e8d2590fafd78c"},
		{"team-a", "qwen-own", "server", 0, "gpustack-fnv64-fcb5da4a71b32186"},
		{"team-a", "qwen-npu", "server", 0, "gpustack-fnv64-c7264a433a25651d"},
		// A leading zero is kept.
		{"team-a", "qwen-chat", "server", 400, "gpustack-fnv64-05eb65733d68eeaa"},
	} {
		if got := replica.GroupName(tc.namespace, tc.deployment, tc.role, tc.ordinal); got != tc.want {
			t.Errorf("%s/%s/%s/%d: %s, want %s", tc.namespace, tc.deployment, tc.role, tc.ordinal, got, tc.want)
		}
	}
}

func TestNames(t *testing.T) {
	if got, want := replica.InstanceName("llama-big", "server", 1), "llama-big-server-r1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := replica.MemberName("llama-big", "server", 1023, 63), "llama-big-server-r1023-m63"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := replica.LeaderAddress("llama-big", "server", 7), "llama-big-server-r7-m0.llama-big-server-r7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"hash/fnv"
)

// GroupName is the name of the Kueue pod group of one instance, which all its
// members share. It is a hash, never parsed back, so that any combination of
// names fits a label.
func GroupName(namespace, deployment, role string, ordinal int32) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s/%s/%d", namespace, deployment, role, ordinal)
	return fmt.Sprintf("gpustack-fnv64-%016x", h.Sum64())
}

// InstanceName is the name of one instance above size 1: the headless Service
// and the subdomain of its members.
func InstanceName(deployment, role string, ordinal int32) string {
	return fmt.Sprintf("%s-%s-r%d", deployment, role, ordinal)
}

// MemberName is the name and the hostname of one Pod above size 1.
func MemberName(deployment, role string, ordinal, member int32) string {
	return fmt.Sprintf("%s-m%d", InstanceName(deployment, role, ordinal), member)
}

// LeaderAddress is the address of member 0, resolvable within the namespace.
func LeaderAddress(deployment, role string, ordinal int32) string {
	return MemberName(deployment, role, ordinal, 0) + "." + InstanceName(deployment, role, ordinal)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import corev1 "k8s.io/api/core/v1"

// BootstrapPort is where a prefill half tells decode halves how to fetch its
// blocks.
const BootstrapPort = 8998

// Leg is the direct transfer from a prefill half to a decode half.
type Leg struct {
	// Protocol in the spelling of Mooncake.
	Protocol string
	// Prefill and Decode are the widths of the two halves. Only vLLM on Ascend
	// reads them.
	Prefill, Decode Degrees
}

// Degrees is how a half is parallelised.
type Degrees struct {
	TP int64 `json:"tp_size"`
	DP int64 `json:"dp_size"`
}

func tcpPort(name string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/facts"
)

// fabricKeys are the resources of the device plugins of each fabric: one
// interface may be shared, several are whole ones.
var fabricKeys = map[string]struct{ one, several corev1.ResourceName }{
	facts.Protocols["RDMA"]: {"device.gpustack.ai/rdma.shared", "device.gpustack.ai/rdma"},
	facts.Protocols["EFA"]:  {"vpc.amazonaws.com/efa", "vpc.amazonaws.com/efa"},
}

// interfaces returns the fabric interfaces of the role. Which fabric it is
// follows from what the role transfers; the rules refuse a role for which no
// single one does.
func (r *Role) interfaces() corev1.ResourceList {
	res := r.spec().Resources
	if res == nil || res.Interface == nil || res.Interface.Sign() <= 0 || !r.managed() {
		return nil
	}
	var protocols []string
	if r.Cache != nil {
		protocols = append(protocols, r.Cache.Offers...)
	}
	// Other dialects choose their devices by themselves.
	if r.dialect() == engine.VLLM && r.transfers(nil) {
		protocols = append(protocols, r.transferProtocol())
	}
	count := res.Interface.Value()
	for _, p := range protocols {
		keys, ok := fabricKeys[p]
		if !ok {
			continue
		}
		key := keys.several
		if count == 1 {
			key = keys.one
		}
		return corev1.ResourceList{key: *resource.NewQuantity(count, resource.DecimalSI)}
	}
	return nil
}

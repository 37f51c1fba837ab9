// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
)

// EnvMaster is the variable that gives SGLang the address of the store.
const EnvMaster = "MOONCAKE_MASTER"

// EnvTenant is the variable that gives a client its tenant of the store.
const EnvTenant = "MOONCAKE_TENANT_ID"

// annotationBootstrapPort tells the SGLang gateway where a prefill half
// answers.
const annotationBootstrapPort = "sglang.ai/bootstrap-port"

// sglangStore configures through the environment alone: SGLang needs the Pod's
// own IP, which neither a file nor an argument fixed beforehand can carry.
func sglangStore(r Request) (c Connector) {
	if r.Store == nil {
		return c
	}
	c.Args = []string{argv.FlagHicacheStorageBackend, "mooncake"}
	if r.Store.Tenant != "" {
		c.Env = append(c.Env, corev1.EnvVar{Name: EnvTenant, Value: r.Store.Tenant})
	}
	c.Env = append(c.Env,
		corev1.EnvVar{Name: EnvMaster, Value: r.Store.Endpoint},
		corev1.EnvVar{Name: "MOONCAKE_TE_META_DATA_SERVER", Value: metadataServer},
		corev1.EnvVar{Name: "MOONCAKE_PROTOCOL", Value: r.Store.Protocol},
		corev1.EnvVar{Name: "MOONCAKE_DEVICE"},
		corev1.EnvVar{Name: "MOONCAKE_GLOBAL_SEGMENT_SIZE", Value: "0"},
		corev1.EnvVar{Name: "MOONCAKE_LOCAL_HOSTNAME", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"},
		}},
	)
	if r.Leg == nil || r.Kind != v1.RoleDecode {
		// The storage backend without the host tier crashes the first request. A
		// decode half refuses the host tier.
		c.DefaultedArgs = [][]string{{argv.FlagEnableHierarchicalCache}}
	}
	return c
}

// sglangSplit makes a role one half of a pair.
func sglangSplit(r Request) (c Connector) {
	if r.Leg == nil {
		return c
	}
	mode := "decode"
	if r.Kind == v1.RolePrefill {
		mode = "prefill"
	}
	backend := "mooncake"
	if r.overTCP() {
		backend = "mooncake_tcp"
	}
	c.Args = []string{argv.FlagDisaggregationMode, mode, argv.FlagDisaggregationTransferBackend, backend}
	if r.Kind == v1.RolePrefill {
		port := strconv.Itoa(BootstrapPort)
		c.Args = append(c.Args, argv.FlagDisaggregationBootstrapPort, port)
		c.Ports = []corev1.ContainerPort{tcpPort("bootstrap", BootstrapPort)}
		c.Annotations = map[string]string{annotationBootstrapPort: port}
		return c
	}
	// Unset, a decode half backs retracted requests up in a pool of its own that
	// takes more host memory than most nodes have free.
	c.DefaultedArgs = [][]string{{argv.FlagDisaggregationDecodeRetractionBackup, "cpu_tensor"}}
	return c
}

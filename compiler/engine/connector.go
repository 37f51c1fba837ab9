// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Connector is everything that a role gets so that its engine uses the cache.
// The zero value is a role without one.
type Connector struct {
	// Args stand between the base of the command line and the role's own.
	Args []string
	// DefaultedArgs are groups of a flag and its values; a group is left out
	// when the role names its flag.
	DefaultedArgs [][]string
	// Env is owned: the role may not set these names.
	Env []corev1.EnvVar
	// DefaultedEnv gives way to the role's own entries of the same name.
	DefaultedEnv []corev1.EnvVar
	Volumes      []corev1.Volume
	Mounts       []corev1.VolumeMount
	Annotations  map[string]string
}

const (
	configVolume = "gpustack-kvcache-config"
	configDir    = "/etc/gpustack/kvcache"
	configFile   = "mooncake.json"

	// metadataServer makes clients find each other through the master alone.
	metadataServer = "P2PHANDSHAKE"
	// localBufferBytes is the transfer buffer of a client, host memory that no
	// resource field accounts for.
	localBufferBytes = 128 << 20
)

// NewConnector returns what attaches a managed role to the store; nil is no
// store.
func NewConnector(d Dialect, store *Store) Connector {
	if store == nil {
		return Connector{}
	}
	var c Connector
	if d == SGLang {
		c = sglangStore(store)
	} else {
		c = vllmStore(d, store)
	}
	// The dtype comes last of the owned arguments, so that a value stored before
	// the flag was owned still wins by coming later.
	if store.Dtype != "" {
		c.Args = append(c.Args, "--kv-cache-dtype", store.Dtype)
	}
	// Without it the transfer engine exports no metrics, and a hit rate cannot
	// be measured.
	c.DefaultedEnv = []corev1.EnvVar{{Name: "MC_TE_METRIC", Value: "1"}}
	return c
}

// storeConnectors names the class of the store connector.
var storeConnectors = map[Dialect]string{
	VLLM:       "MooncakeStoreConnector",
	VLLMAscend: "AscendStoreConnector",
}

// transferConfig is the document of --kv-transfer-config. The order of its
// fields is part of the Pod's fingerprint.
type transferConfig struct {
	Connector string `json:"kv_connector"`
	Role      string `json:"kv_role"`
}

// clientConfig is the file a Mooncake client of the vLLM family reads. The
// order of its fields is part of the Pod's fingerprint.
type clientConfig struct {
	MetadataServer      string `json:"metadata_server"`
	MasterServerAddress string `json:"master_server_address"`
	Protocol            string `json:"protocol"`
	DeviceName          string `json:"device_name"`
	Mode                string `json:"mode"`
	GlobalSegmentSize   int64  `json:"global_segment_size"`
	LocalBufferSize     int64  `json:"local_buffer_size"`
	TenantID            string `json:"tenant_id,omitempty"`
}

func vllmStore(d Dialect, store *Store) Connector {
	return Connector{
		Args: []string{"--kv-transfer-config", document(transferConfig{Connector: storeConnectors[d], Role: "kv_both"})},
		Env:  []corev1.EnvVar{{Name: "MOONCAKE_CONFIG_PATH", Value: configDir + "/" + configFile}},
		Annotations: map[string]string{v1.AnnotationClientConfig: document(clientConfig{
			MetadataServer:      metadataServer,
			MasterServerAddress: store.Endpoint,
			Protocol:            store.Protocol,
			Mode:                "standalone-store",
			LocalBufferSize:     localBufferBytes,
			TenantID:            store.Tenant,
		})},
		Volumes: []corev1.Volume{{
			Name: configVolume,
			VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
				Items: []corev1.DownwardAPIVolumeFile{{
					Path:     configFile,
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + v1.AnnotationClientConfig + "']"},
				}},
			}},
		}},
		Mounts: []corev1.VolumeMount{{Name: configVolume, MountPath: configDir, ReadOnly: true}},
	}
}

// EnvMaster is the variable that gives SGLang the address of the store.
const EnvMaster = "MOONCAKE_MASTER"

// sglangStore configures through the environment alone: SGLang needs the Pod's
// own IP, which neither a file nor an argument fixed beforehand can carry.
func sglangStore(store *Store) Connector {
	var env []corev1.EnvVar
	if store.Tenant != "" {
		env = append(env, corev1.EnvVar{Name: "MOONCAKE_TENANT_ID", Value: store.Tenant})
	}
	env = append(env,
		corev1.EnvVar{Name: EnvMaster, Value: store.Endpoint},
		corev1.EnvVar{Name: "MOONCAKE_TE_META_DATA_SERVER", Value: metadataServer},
		corev1.EnvVar{Name: "MOONCAKE_PROTOCOL", Value: store.Protocol},
		corev1.EnvVar{Name: "MOONCAKE_DEVICE"},
		corev1.EnvVar{Name: "MOONCAKE_GLOBAL_SEGMENT_SIZE", Value: "0"},
		corev1.EnvVar{Name: "MOONCAKE_LOCAL_HOSTNAME", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"},
		}},
	)
	return Connector{
		Args: []string{"--hicache-storage-backend", "mooncake"},
		// The storage backend without the host tier crashes the first request.
		DefaultedArgs: [][]string{{"--enable-hierarchical-cache"}},
		Env:           env,
	}
}

// document encodes a configuration compactly, with a fixed order of fields and
// no HTML escapes.
func document(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only structs of strings and numbers
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

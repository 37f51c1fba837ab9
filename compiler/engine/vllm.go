// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
)

const (
	configVolume = "gpustack-kvcache-config"
	configDir    = "/etc/gpustack/kvcache"
	configFile   = "mooncake.json"

	driverVolume = "gpustack-ascend-driver"
	// DriverDir is where the driver of Ascend is mounted on the halves of a pair.
	DriverDir = "/usr/local/Ascend/driver"

	// metadataServer makes clients find each other through the master alone.
	metadataServer = "P2PHANDSHAKE"
	// localBufferBytes is the transfer buffer of a client, host memory that no
	// resource field accounts for.
	localBufferBytes = 128 << 20
)

// connectors names vLLM's connector classes. A name that a build does not know
// stops it at the start.
var connectors = map[Dialect]struct{ store, leg string }{
	VLLM:       {store: "MooncakeStoreConnector", leg: "MooncakeConnector"},
	VLLMAscend: {store: "AscendStoreConnector", leg: "MooncakeConnectorV1"},
}

// both is the class that runs a leg and a store side by side.
const both = "MultiConnector"

// Roles of a connector.
const (
	roleBoth     = "kv_both"
	roleProducer = "kv_producer"
	roleConsumer = "kv_consumer"
)

func connectorRole(k v1.RoleKind) string {
	switch k {
	case v1.RolePrefill:
		return roleProducer
	case v1.RoleDecode:
		return roleConsumer
	default:
		return roleBoth
	}
}

// transferConfig is the document of --kv-transfer-config. The order of its
// fields is part of the Pod's fingerprint.
type transferConfig struct {
	Connector string       `json:"kv_connector"`
	Role      string       `json:"kv_role"`
	Port      int          `json:"kv_port,omitempty"`
	Extra     *extraConfig `json:"kv_connector_extra_config,omitempty"`
}

type extraConfig struct {
	CachePrefix string           `json:"cache_prefix,omitempty"`
	Connectors  []transferConfig `json:"connectors,omitempty"`
	Protocol    string           `json:"mooncake_protocol,omitempty"`
	Prefill     *Degrees         `json:"prefill,omitempty"`
	Decode      *Degrees         `json:"decode,omitempty"`
}

// transferDocument returns the document of a role that has a store, a leg or
// both.
func transferDocument(r Request) transferConfig {
	role := connectorRole(r.Kind)
	switch {
	case r.Leg == nil:
		return storeEntry(r, role)
	case r.Store == nil:
		return legEntry(r, role)
	}
	// A prefiller that also has a leg reads the store as well as writing it.
	storeRole := role
	if r.Kind == v1.RolePrefill {
		storeRole = roleBoth
	}
	return transferConfig{Connector: both, Role: role, Extra: &extraConfig{
		Connectors: []transferConfig{legEntry(r, role), storeEntry(r, storeRole)},
	}}
}

func storeEntry(r Request, role string) transferConfig {
	c := transferConfig{Connector: connectors[r.Dialect].store, Role: role}
	if r.Dialect == VLLM && r.Store.Prefix != "" {
		c.Extra = &extraConfig{CachePrefix: r.Store.Prefix}
	}
	return c
}

func legEntry(r Request, role string) transferConfig {
	c := transferConfig{Connector: connectors[r.Dialect].leg, Role: role}
	if r.Dialect == VLLMAscend {
		// Its transport is fixed, and both halves must name one side channel
		// and both widths.
		c.Port = BootstrapPort
		c.Extra = &extraConfig{Prefill: &r.Leg.Prefill, Decode: &r.Leg.Decode}
		return c
	}
	c.Extra = &extraConfig{Protocol: r.Leg.Protocol}
	return c
}

// vllmTransfer is the connector of a store, a leg or both.
func vllmTransfer(r Request) (c Connector) {
	if r.Store == nil && r.Leg == nil {
		return c
	}
	c.Args = []string{argv.FlagKVTransferConfig, document(transferDocument(r))}
	if r.Store != nil {
		c.Add(vllmClient(r.Store))
	}
	if r.Leg == nil {
		return c
	}
	if r.Kind == v1.RolePrefill {
		c.Ports = append(c.Ports, tcpPort("mc-bootstrap", BootstrapPort))
	}
	if r.Dialect == VLLMAscend {
		c.Add(ascendDriver())
		return c
	}
	if r.Kind == v1.RolePrefill {
		c.Env = append(c.Env, corev1.EnvVar{Name: "VLLM_MOONCAKE_BOOTSTRAP_PORT", Value: strconv.Itoa(BootstrapPort)})
	}
	if r.overTCP() {
		c.DefaultedEnv = append(c.DefaultedEnv, corev1.EnvVar{Name: "MC_FORCE_TCP", Value: "1"})
	}
	return c
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

// vllmClient configures the client of the store: an annotation of the Pod that
// the downward API projects into the container.
func vllmClient(store *Store) Connector {
	return Connector{
		Env: []corev1.EnvVar{{Name: "MOONCAKE_CONFIG_PATH", Value: configDir + "/" + configFile}},
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

// ascendDriver gives the container the driver tree of the node, which the
// transfer engine of Ascend loads.
func ascendDriver() Connector {
	return Connector{
		Volumes: []corev1.Volume{{
			Name: driverVolume,
			VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{
				Path: DriverDir, Type: ptr.To(corev1.HostPathDirectory),
			}},
		}},
		Mounts: []corev1.VolumeMount{{Name: driverVolume, MountPath: DriverDir, ReadOnly: true}},
	}
}

// Ports of the KV cache event stream.
const (
	EventsPort = 5557
	ReplayPort = 5558
	// EventsTopic is the topic of the stream.
	EventsTopic = "kv@"
)

// EventPorts are the ports of a role that publishes.
func EventPorts() []corev1.ContainerPort {
	return []corev1.ContainerPort{tcpPort("kv-events", EventsPort), tcpPort("kv-replay", ReplayPort)}
}

// eventsConfig is the document of --kv-events-config. The order of its fields
// is part of the Pod's fingerprint.
type eventsConfig struct {
	Enable         bool   `json:"enable_kv_cache_events"`
	Publisher      string `json:"publisher"`
	Endpoint       string `json:"endpoint"`
	ReplayEndpoint string `json:"replay_endpoint"`
	BufferSteps    int    `json:"buffer_steps"`
	HighWaterMark  int    `json:"hwm"`
	MaxQueueSize   int    `json:"max_queue_size"`
	Topic          string `json:"topic"`
}

func vllmEvents(r Request) (c Connector) {
	if !r.Publishes {
		return c
	}
	bind := func(port int) string { return "tcp://*:" + strconv.Itoa(port) }
	c.Args = []string{argv.FlagKVEventsConfig, document(eventsConfig{
		Enable:         true,
		Publisher:      "zmq",
		Endpoint:       bind(EventsPort),
		ReplayEndpoint: bind(ReplayPort),
		BufferSteps:    10_000,
		HighWaterMark:  100_000,
		MaxQueueSize:   100_000,
		Topic:          EventsTopic,
	})}
	c.Ports = EventPorts()
	return c
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

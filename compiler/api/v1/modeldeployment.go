// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ModelDeployment serves one large language model with vLLM or SGLang. It
// declares one or more roles, each with its own replicas, and optionally a
// shared KV cache pool and one request router in front of the roles.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=md,categories=gpustack
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.engine.name`
// +kubebuilder:printcolumn:name="Roles",type=string,JSONPath=`.status.roleSummary`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:validation:XValidation:rule="(has(self.status) && has(self.status.observedGeneration) && self.status.observedGeneration >= 0) || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",message="service-name: a Service has the name of the deployment, so it must begin with a letter, have no dot and at most 63 characters",fieldPath=".metadata"
// +kubebuilder:validation:XValidation:rule="(has(self.status) && has(self.status.observedGeneration) && self.status.observedGeneration >= 0) || self.spec.roles.all(r, size(self.metadata.name) + 1 + size(r.name) <= 63)",message="service-name: the Service <deployment>-<role> would have more than 63 characters",fieldPath=".spec.roles"
// +kubebuilder:validation:XValidation:rule="(has(self.status) && has(self.status.observedGeneration) && self.status.observedGeneration >= 0) || !has(self.spec.router) || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,54}[a-z0-9])?$')",message="service-name: the Service <deployment>-router would be no DNS label of at most 63 characters",fieldPath=".metadata"
// +kubebuilder:validation:XValidation:rule="has(oldSelf.spec.router) || !has(self.spec.router) || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,54}[a-z0-9])?$')",message="service-name: the Service <deployment>-router would be no DNS label of at most 63 characters",fieldPath=".metadata"
// +kubebuilder:validation:XValidation:rule="self.spec.roles.all(r, r.size <= 1 || (!self.metadata.name.contains('.') && size(self.metadata.name) + size(r.name) + size(string(r.replicas - 1)) + size(string(r.size - 1)) <= 58))",message="member-name: the hostname <deployment>-<role>-r<replicas-1>-m<size-1> of the last Pod must be a DNS label of at most 63 characters; shorten a name or ask for fewer replicas",fieldPath=".spec.roles"
type ModelDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is to be served and how.
	Spec ModelDeploymentSpec `json:"spec"`

	// Status is what the agent last observed.
	// +optional
	// +default={"observedGeneration":-1}
	Status ModelDeploymentStatus `json:"status,omitempty,omitzero"`
}

// ModelDeploymentList is a list of ModelDeployments.
//
// +kubebuilder:object:root=true
type ModelDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModelDeployment `json:"items"`
}

// ModelDeploymentSpec is the declared state. Fields that identify the
// deployment (model, engine.name, kvCache, the set of roles and their kind,
// size, instanceType, resources and command) cannot be changed after creation;
// another value describes another deployment.
//
// +kubebuilder:validation:XValidation:rule="has(self.kvCache) == has(oldSelf.kvCache)",message="frozen-kvcache: kvCache cannot be added or removed after creation; another value describes another deployment",fieldPath=".kvCache"
// +kubebuilder:validation:XValidation:rule=`(has(self.engine.version) && self.engine.version != "") || self.roles.all(r, has(r.image) && r.image != "")`,message="engine-version: engine.version is missing and some role has no image; set a version, or an image on the role",fieldPath=".engine.version",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.router) || self.router.name == 'llm-d-router' || self.router.name == (self.engine.name == 'vLLM' ? 'vllm-router' : 'sglang-gateway')",message="router-engine: vllm-router fronts vLLM only and sglang-gateway fronts SGLang only; llm-d-router fronts both",fieldPath=".router.name"
// +kubebuilder:validation:XValidation:rule="!has(self.router) || self.roles.all(r, r.name != 'router')",message="service-name-clash: the Services of the router and of a role named router would have one name",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="!has(self.router) || self.roles.all(r, !has(r.ports) || size(r.ports) == 0 || r.ports[0].protocol == 'TCP')",message="router-tcp: a router speaks HTTP over TCP, and the first port of some role is not TCP",fieldPath=".router"
// +kubebuilder:validation:XValidation:rule="!has(self.router) || self.roles.all(r, !has(r.ports) || size(r.ports) == 0 || self.roles.all(o, !has(o.ports) || size(o.ports) == 0 || o.ports[0].port == r.ports[0].port))",message="router-same-port: the roles serve on different ports, and a router calls all of them on one",fieldPath=".router"
// +kubebuilder:validation:XValidation:rule="!has(self.router) || self.roles.all(r, (has(r.command) && size(r.command) > 0 ? r.command : has(r.extraArgs) ? r.extraArgs : []).all(a, !a.startsWith('--ssl') || !((a.startsWith('--ssl-keyfile') && (size(a) == 13 || a.charAt(13) == '=')) || (a.startsWith('--ssl-certfile') && (size(a) == 14 || a.charAt(14) == '=')))))",message="router-tls: no router calls its engines by HTTPS, and some role has --ssl-keyfile or --ssl-certfile",fieldPath=".router"
// +kubebuilder:validation:XValidation:rule="!(has(self.router) || (self.engine.name == 'SGLang' && has(self.kvCache))) || !self.roles.exists(r, r.kind == 'Decode') || self.roles.all(r, r.kind != 'Prefill' || (has(r.command) && size(r.command) > 0) || !has(r.ports) || r.ports.all(p, p.port != 8998))",message="reserved-port: a Prefill role opens port 8998 itself; use another port",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'vLLM' || self.roles.all(r, (has(r.command) && size(r.command) > 0) || !has(r.extraArgs) || r.extraArgs.all(a, !a.startsWith('--kv') || !(((a.startsWith('--kv-transfer-config') || a.startsWith('--kv-transfer_config') || a.startsWith('--kv_transfer-config') || a.startsWith('--kv_transfer_config')) && (size(a) == 20 || a.charAt(20) in ['=', '.'])) || ((a.startsWith('--kv-events-config') || a.startsWith('--kv-events_config') || a.startsWith('--kv_events-config') || a.startsWith('--kv_events_config')) && (size(a) == 18 || a.charAt(18) in ['=', '.'])))))",message="owned-arg: --kv-transfer-config and --kv-events-config are written by mdc for vLLM; remove them, or own the command line with command",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'SGLang' || self.roles.all(r, (has(r.command) && size(r.command) > 0) || !has(r.extraArgs) || r.extraArgs.all(a, !((a.startsWith('--hicache-storage-backend') && (size(a) == 25 || a.charAt(25) == '=')) || (a.startsWith('--hicache-storage-backend-extra-config') && (size(a) == 38 || a.charAt(38) == '=')) || (a.startsWith('--disaggregation-mode') && (size(a) == 21 || a.charAt(21) == '=')) || (a.startsWith('--disaggregation-transfer-backend') && (size(a) == 33 || a.charAt(33) == '=')) || (a.startsWith('--disaggregation-bootstrap-port') && (size(a) == 31 || a.charAt(31) == '=')))))",message="owned-arg: --hicache-storage-backend, its extra-config, --disaggregation-mode, -transfer-backend and -bootstrap-port are written by mdc for SGLang; remove them, or own the command line with command",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="self.roles.all(r, !has(r.env) || !r.env.exists(e, e.name in ['GPUSTACK_REPLICA_LEADER_ADDRESS', 'GPUSTACK_REPLICA_SIZE', 'GPUSTACK_MEMBER_INDEX']))",message="owned-env: GPUSTACK_REPLICA_LEADER_ADDRESS, GPUSTACK_REPLICA_SIZE, GPUSTACK_MEMBER_INDEX are left to mdc",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'vLLM' || self.roles.all(r, !has(r.env) || !r.env.exists(e, e.name in ['MOONCAKE_CONFIG_PATH', 'VLLM_MOONCAKE_BOOTSTRAP_PORT']))",message="owned-env: MOONCAKE_CONFIG_PATH, VLLM_MOONCAKE_BOOTSTRAP_PORT are left to mdc on vLLM",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'SGLang' || self.roles.all(r, !has(r.env) || !r.env.exists(e, e.name in ['SGLANG_HICACHE_MOONCAKE_CONFIG_PATH', 'MOONCAKE_MASTER', 'MOONCAKE_TE_META_DATA_SERVER', 'MOONCAKE_PROTOCOL', 'MOONCAKE_DEVICE', 'MOONCAKE_GLOBAL_SEGMENT_SIZE', 'MOONCAKE_LOCAL_HOSTNAME', 'MOONCAKE_TENANT_ID']))",message="owned-env: SGLANG_HICACHE_MOONCAKE_CONFIG_PATH, MOONCAKE_MASTER, MOONCAKE_TE_META_DATA_SERVER, MOONCAKE_PROTOCOL, MOONCAKE_DEVICE, MOONCAKE_GLOBAL_SEGMENT_SIZE, MOONCAKE_LOCAL_HOSTNAME, MOONCAKE_TENANT_ID are left to mdc on SGLang",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="!has(self.model.artifactRef) || self.engine.name != 'vLLM' || self.roles.all(r, (has(r.command) && size(r.command) > 0) || !has(r.extraArgs) || r.extraArgs.all(a, !((a.startsWith('--model') && (size(a) == 7 || a.charAt(7) in ['=', '.'])) || (a.startsWith('--revision') && (size(a) == 10 || a.charAt(10) in ['=', '.'])) || ((a.startsWith('--tokenizer-revision') || a.startsWith('--tokenizer_revision')) && (size(a) == 20 || a.charAt(20) in ['=', '.'])) || ((a.startsWith('--download-dir') || a.startsWith('--download_dir')) && (size(a) == 14 || a.charAt(14) in ['=', '.'])))))",message="artifact-arg: --model, --revision, --tokenizer-revision, --download-dir are decided by model.artifactRef; remove them, or own the command line with command",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="!has(self.model.artifactRef) || self.engine.name != 'SGLang' || self.roles.all(r, (has(r.command) && size(r.command) > 0) || !has(r.extraArgs) || r.extraArgs.all(a, !((a.startsWith('--model-path') && (size(a) == 12 || a.charAt(12) == '=')) || (a.startsWith('--revision') && (size(a) == 10 || a.charAt(10) == '=')) || (a.startsWith('--download-dir') && (size(a) == 14 || a.charAt(14) == '=')))))",message="artifact-arg: --model-path, --revision, --download-dir are decided by model.artifactRef; remove them, or own the command line with command",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="!has(self.model.artifactRef) || self.roles.all(r, (has(r.command) && size(r.command) > 0) || !has(r.env) || !r.env.exists(e, e.name in ['HF_TOKEN', 'HF_ENDPOINT', 'HF_HOME', 'MODELSCOPE_API_TOKEN', 'MODELSCOPE_DOMAIN', 'MODELSCOPE_CACHE']))",message="artifact-env: HF_TOKEN, HF_ENDPOINT, HF_HOME, MODELSCOPE_API_TOKEN, MODELSCOPE_DOMAIN, MODELSCOPE_CACHE are decided by model.artifactRef; remove them, or own the command line with command",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="!has(self.model.artifactRef) || self.roles.all(r, (has(r.command) && size(r.command) > 0) || !has(r.env) || !r.env.exists(e, e.name == (self.engine.name == 'vLLM' ? 'VLLM_USE_MODELSCOPE' : 'SGLANG_USE_MODELSCOPE')))",message="artifact-env: VLLM_USE_MODELSCOPE on vLLM and SGLANG_USE_MODELSCOPE on SGLang are decided by model.artifactRef; remove them, or own the command line with command",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="!has(self.model.artifactRef) || self.roles.all(r, !has(r.additionalVolumes) || !r.additionalVolumes.exists(v, v.mountPath in ['/var', '/var/lib', '/var/lib/gpustack', '/var/lib/gpustack/model', '/var/lib/gpustack/model-cache'] || v.mountPath.startsWith('/var/lib/gpustack/model/') || v.mountPath.startsWith('/var/lib/gpustack/model-cache/')))",message="artifact-mount: the weights of model.artifactRef are mounted at /var/lib/gpustack/model and /var/lib/gpustack/model-cache; mount volumes elsewhere",fieldPath=".roles"
type ModelDeploymentSpec struct {
	// Model is what is served. Frozen after creation.
	Model ModelSpec `json:"model"`

	// Engine chooses the inference engine.
	Engine EngineSpec `json:"engine"`

	// KVCache attaches every managed role to a shared KV cache pool. Absent, no
	// pool is attached. Frozen after creation.
	// +optional
	KVCache *KVCacheSpec `json:"kvCache,omitempty"`

	// Roles are the parts of the deployment, 1 to 10 of them. The set of names
	// is frozen after creation; the order matters, because without a router the
	// first role answers on the endpoint of the deployment.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule="self.all(r, oldSelf.exists(o, o.name == r.name)) && oldSelf.all(o, self.exists(r, r.name == o.name))",message="frozen-role-set: roles cannot be added, removed or renamed after creation; another set describes another deployment"
	// +kubebuilder:validation:XValidation:rule="self.all(o, o.size <= 1 || self.all(r, !r.name.startsWith(o.name + '-r') || !r.name.substring(size(o.name) + 2).matches('^(0|[1-9][0-9]{0,3})$') || int(r.name.substring(size(o.name) + 2)) >= o.replicas))",message="service-name-clash: the Services of a role named <other>-r<n> and of instance n of the other role would have one name"
	// +kubebuilder:validation:XValidation:rule="self.all(r, r.kind == 'Server') || self.all(r, r.kind != 'Server')",message="kind-mix: a Server cannot stand beside a Prefill or Decode"
	// +kubebuilder:validation:XValidation:rule="self.filter(r, r.kind == 'Prefill').size() <= 1 && self.filter(r, r.kind == 'Decode').size() <= 1",message="kind-repeat: a pair has one Prefill and one Decode; raise replicas instead"
	Roles []Role `json:"roles"`

	// Router puts one request router in front of the roles. The block can be
	// added and removed; its name cannot be changed in place.
	// +optional
	Router *RouterSpec `json:"router,omitempty"`

	// KVTransfer holds settings of the direct transfer from a Prefill to a
	// Decode role. It is independent of kvCache.
	// +optional
	KVTransfer *KVTransferSpec `json:"kvTransfer,omitempty"`
}

// ModelSpec names the model and, optionally, where its weights come from.
//
// +kubebuilder:validation:XValidation:rule=`self.name == oldSelf.name && has(self.artifactRef) == has(oldSelf.artifactRef) && (!has(self.artifactRef) || (has(self.artifactRef.name) ? self.artifactRef.name : "") == (has(oldSelf.artifactRef.name) ? oldSelf.artifactRef.name : ""))`,message="frozen-model: model is frozen after creation; another value describes another deployment"
type ModelSpec struct {
	// Name is the served model name: what clients put in a request, what routers
	// and metric labels match, and, without artifactRef, what the engine loads
	// through its own hub client or finds in a volume.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// ArtifactRef names a ModelArtifact in the namespace of the deployment that
	// delivers the weights.
	// +optional
	ArtifactRef *LocalObjectReference `json:"artifactRef,omitempty"`
}

// EngineName is an inference engine.
//
// +kubebuilder:validation:Enum=vLLM;SGLang
type EngineName string

// The engines. vLLM on Ascend hardware is not another engine: it follows from
// the manufacturer of a role's InstanceType.
const (
	EngineVLLM   EngineName = "vLLM"
	EngineSGLang EngineName = "SGLang"
)

// EngineSpec chooses the engine and its version.
type EngineSpec struct {
	// Name is the engine. Frozen after creation.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="frozen-engine: engine.name is frozen after creation; another value describes another deployment"
	Name EngineName `json:"name"`

	// Version is the version half of a synthesized image tag, for example
	// "0.29.0". It is required while any role states no image of its own. It is
	// not checked against what was published: you guarantee that the image
	// exists and runs on the installed driver.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
}

// ConnectorName is an implementation of the store connector.
//
// +kubebuilder:validation:Enum=Mooncake
type ConnectorName string

// ConnectorMooncake is the only connector.
const ConnectorMooncake ConnectorName = "Mooncake"

// KVCacheSpec attaches the deployment to a shared KV cache pool.
//
// +kubebuilder:validation:XValidation:rule=`has(self.poolRef.name) && self.poolRef.name != ""`,message="kvcache-pool-ref: the KVCachePoolBinding that poolRef names is what grants access to the pool, and an empty name grants nothing",fieldPath=".poolRef.name",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`(has(self.poolRef.name) ? self.poolRef.name : "") == (has(oldSelf.poolRef.name) ? oldSelf.poolRef.name : "") && self.connector == oldSelf.connector`,message="frozen-kvcache: kvCache is frozen after creation; another value describes another deployment"
type KVCacheSpec struct {
	// PoolRef names a KVCachePoolBinding in the namespace of the deployment. The
	// Binding is what grants the namespace access to a pool and what fixes the
	// reuse domain (name, block size, dtype).
	PoolRef LocalObjectReference `json:"poolRef"`

	// Connector is reserved for further connectors.
	// +optional
	// +kubebuilder:default=Mooncake
	Connector ConnectorName `json:"connector,omitempty"`
}

// TransferProtocol is the transport of the direct prefill to decode leg.
//
// +kubebuilder:validation:Enum=Auto;TCP;RDMA;EFA;CANN;ROCM
type TransferProtocol string

// KVTransferSpec holds settings of the direct transfer.
type KVTransferSpec struct {
	// Protocol is the transport of the leg. Absent and Auto mean TCP; no fabric
	// is inspected. An edit restarts every role.
	// +optional
	Protocol TransferProtocol `json:"protocol,omitempty"`
}

// LocalObjectReference names an object in the namespace of the deployment.
type LocalObjectReference struct {
	// Name of the object.
	// +optional
	Name string `json:"name,omitempty"`
}

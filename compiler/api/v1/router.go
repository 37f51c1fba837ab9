// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// RouterName is an implementation of the request router.
//
// +kubebuilder:validation:Enum=llm-d-router;vllm-router;sglang-gateway
type RouterName string

// The routers.
const (
	// RouterLLMD is the llm-d endpoint picker behind an Envoy proxy; it fronts
	// both engines.
	RouterLLMD RouterName = "llm-d-router"
	// RouterVLLM is the vLLM router; it fronts vLLM.
	RouterVLLM RouterName = "vllm-router"
	// RouterSGLang is the SGLang gateway; it fronts SGLang.
	RouterSGLang RouterName = "sglang-gateway"
)

// RouterSpec is the request router in front of the roles.
//
// +kubebuilder:validation:XValidation:rule="self.name != 'llm-d-router' || !has(self.extraArgs) || self.extraArgs.all(a, !a.startsWith('--') || !(a in ['--endpoint-selector', '--endpoint-target-ports', '--config-file', '--secure-serving', '--grpc-health-port', '--metrics-endpoint-auth'] || a.startsWith('--endpoint-selector=') || a.startsWith('--endpoint-target-ports=') || a.startsWith('--config-file=') || a.startsWith('--secure-serving=') || a.startsWith('--grpc-health-port=') || a.startsWith('--metrics-endpoint-auth=')))",message="router-owned-arg: of llm-d-router mdc derives --endpoint-selector, --endpoint-target-ports, --config-file, --secure-serving, --grpc-health-port, --metrics-endpoint-auth",fieldPath=".extraArgs"
// +kubebuilder:validation:XValidation:rule="self.name != 'vllm-router' || !has(self.extraArgs) || self.extraArgs.all(a, !a.startsWith('--') || !(a in ['--host', '--port', '--prometheus-host', '--prometheus-port', '--kv-connector', '--service-discovery', '--service-discovery-namespace', '--service-discovery-port', '--selector', '--prefill-selector', '--decode-selector', '--vllm-pd-disaggregation'] || a.startsWith('--host=') || a.startsWith('--port=') || a.startsWith('--prometheus-host=') || a.startsWith('--prometheus-port=') || a.startsWith('--kv-connector=') || a.startsWith('--service-discovery=') || a.startsWith('--service-discovery-namespace=') || a.startsWith('--service-discovery-port=') || a.startsWith('--selector=') || a.startsWith('--prefill-selector=') || a.startsWith('--decode-selector=') || a.startsWith('--vllm-pd-disaggregation=')))",message="router-owned-arg: of vllm-router mdc derives --host, --port, --prometheus-host, --prometheus-port, --kv-connector, --service-discovery, --service-discovery-namespace, --service-discovery-port, --selector, --prefill-selector, --decode-selector, --vllm-pd-disaggregation",fieldPath=".extraArgs"
// +kubebuilder:validation:XValidation:rule="self.name != 'sglang-gateway' || !has(self.extraArgs) || self.extraArgs.all(a, !a.startsWith('--') || !(a in ['--host', '--port', '--prometheus-host', '--prometheus-port', '--service-discovery', '--service-discovery-namespace', '--service-discovery-port', '--selector', '--prefill-selector', '--decode-selector', '--pd-disaggregation'] || a.startsWith('--host=') || a.startsWith('--port=') || a.startsWith('--prometheus-host=') || a.startsWith('--prometheus-port=') || a.startsWith('--service-discovery=') || a.startsWith('--service-discovery-namespace=') || a.startsWith('--service-discovery-port=') || a.startsWith('--selector=') || a.startsWith('--prefill-selector=') || a.startsWith('--decode-selector=') || a.startsWith('--pd-disaggregation=')))",message="router-owned-arg: of sglang-gateway mdc derives --host, --port, --prometheus-host, --prometheus-port, --service-discovery, --service-discovery-namespace, --service-discovery-port, --selector, --prefill-selector, --decode-selector, --pd-disaggregation",fieldPath=".extraArgs"
// +kubebuilder:validation:XValidation:rule="!has(self.disaggregationThresholdTokens) || self.name == 'llm-d-router'",message="router-threshold: only llm-d-router has a threshold from which a request is split",fieldPath=".disaggregationThresholdTokens"
type RouterSpec struct {
	// Name is the implementation. It cannot be changed in place; the whole block
	// can be removed and added.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="frozen-router-name: router.name is immutable; remove the router and add it with the other name in a second edit"
	Name RouterName `json:"name"`

	// Replicas is the number of router Pods; absent means 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"`

	// Image of the router, used as it is. Absent, the Setting
	// model-deployment-router-image decides.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// ImagePullPolicy is when the image is pulled.
	// +optional
	ImagePullPolicy PullPolicy `json:"imagePullPolicy,omitempty"`

	// ImagePullSecrets name Secrets in the namespace of the deployment.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	ImagePullSecrets []LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// ExtraArgs are flags for the router. Flags that mdc derives are refused.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=32768
	ExtraArgs []string `json:"extraArgs,omitempty"`

	// RequestTimeoutSeconds is how long a reply may take. Absent, one day behind
	// llm-d-router and 30 minutes behind the others.
	// +optional
	// +kubebuilder:validation:Minimum=1
	RequestTimeoutSeconds *int32 `json:"requestTimeoutSeconds,omitempty"`

	// DisaggregationThresholdTokens is the number of uncached prompt tokens from
	// which a request is split between Prefill and Decode; 0 never splits. Only
	// llm-d-router has it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DisaggregationThresholdTokens *int32 `json:"disaggregationThresholdTokens,omitempty"`
}

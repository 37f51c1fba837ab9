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
type RouterSpec struct {
	// Name is the implementation. It cannot be changed in place; the whole block
	// can be removed and added.
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

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// RoleKind is the behaviour of a role.
//
// +kubebuilder:validation:Enum=Server;Prefill;Decode
type RoleKind string

// The kinds of a role.
const (
	// RoleServer prefills and decodes by itself.
	RoleServer RoleKind = "Server"
	// RolePrefill is the first half of a pair: it computes the KV cache of a
	// prompt.
	RolePrefill RoleKind = "Prefill"
	// RoleDecode is the second half of a pair: it generates tokens.
	RoleDecode RoleKind = "Decode"
)

// Role is one part of a deployment: a number of equal serving instances.
//
// +kubebuilder:validation:XValidation:rule="!has(self.additionalVolumes) || self.additionalVolumes.all(v, [{v.mountPath: true}].all(path, self.additionalVolumes.exists_one(w, w.mountPath in path)))",message="volume-path-dup: two volumes of a role have one mountPath",fieldPath=".additionalVolumes"
// +kubebuilder:validation:XValidation:rule="(has(self.resources) && has(self.resources.acceleratorSlicedMemoryPercentage) ? self.resources.acceleratorSlicedMemoryPercentage : 0) == (has(oldSelf.resources) && has(oldSelf.resources.acceleratorSlicedMemoryPercentage) ? oldSelf.resources.acceleratorSlicedMemoryPercentage : 0)",message="frozen-resources: resources are frozen after creation; another acceleratorSlicedMemoryPercentage describes another deployment",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="(has(self.resources) && has(self.resources.acceleratorSlicedCoresPercentage) ? self.resources.acceleratorSlicedCoresPercentage : 0) == (has(oldSelf.resources) && has(oldSelf.resources.acceleratorSlicedCoresPercentage) ? oldSelf.resources.acceleratorSlicedCoresPercentage : 0)",message="frozen-resources: resources are frozen after creation; another acceleratorSlicedCoresPercentage describes another deployment",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule=`(has(self.resources) && has(self.resources.acceleratorPartitionedProfile) ? self.resources.acceleratorPartitionedProfile : "") == (has(oldSelf.resources) && has(oldSelf.resources.acceleratorPartitionedProfile) ? oldSelf.resources.acceleratorPartitionedProfile : "")`,message="frozen-resources: resources are frozen after creation; another acceleratorPartitionedProfile describes another deployment",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.accelerator) || !has(oldSelf.resources) || !has(oldSelf.resources.accelerator) || (type(self.resources.accelerator) == int ? double(self.resources.accelerator) : quantity(self.resources.accelerator).asApproximateFloat()) == (type(oldSelf.resources.accelerator) == int ? double(oldSelf.resources.accelerator) : quantity(oldSelf.resources.accelerator).asApproximateFloat())",message="frozen-resources: resources are frozen after creation; another number of accelerators describes another deployment",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="(!has(self.resources) || !has(self.resources.interface) ? 0.0 : type(self.resources.interface) == int ? double(self.resources.interface) : quantity(self.resources.interface).asApproximateFloat()) == (!has(oldSelf.resources) || !has(oldSelf.resources.interface) ? 0.0 : type(oldSelf.resources.interface) == int ? double(oldSelf.resources.interface) : quantity(oldSelf.resources.interface).asApproximateFloat())",message="frozen-resources: resources are frozen after creation; another number of interfaces describes another deployment",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="(has(self.command) ? self.command : []) == (has(oldSelf.command) ? oldSelf.command : [])",message="frozen-command: command is frozen after creation; another value describes another deployment",fieldPath=".command"
type Role struct {
	// Name identifies the role and becomes the name of its Kueue PodSet. Frozen
	// after creation.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Kind is the behaviour. Any number of roles may be Server; at most one may
	// be Prefill and one Decode, and Server never stands beside them. Frozen
	// after creation.
	// +optional
	// +kubebuilder:default=Server
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="frozen-kind: kind is frozen after creation; another value describes another deployment"
	Kind RoleKind `json:"kind,omitempty"`

	// Replicas is the number of independent serving instances. Changing it adds
	// or removes instances and touches no other.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Replicas int32 `json:"replicas,omitempty"`

	// Size is the number of Pods that form one instance. They are admitted,
	// started and replaced together; member 0 is the leader and serves the API.
	// Frozen after creation.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="frozen-size: size is fixed at creation; for more or fewer instances change replicas"
	Size int32 `json:"size,omitempty"`

	// InstanceType names the InstanceType (cluster-scoped) that gives the queue,
	// the hardware and the CPU, memory and storage per card. Frozen after
	// creation.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="frozen-instance-type: instanceType is frozen after creation; another value describes another deployment"
	InstanceType string `json:"instanceType"`

	// Resources is the request of one Pod. CPU, memory and ephemeral storage
	// follow from the InstanceType and the number of cards. Frozen after
	// creation.
	// +optional
	Resources *RoleResources `json:"resources,omitempty"`

	// Image is the container image, used as it is. Absent, the image is
	// gpustack/runner with a tag made of the hardware's runtime and the engine's
	// version.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// ImagePullPolicy is when the image is pulled; absent, the default of
	// Kubernetes.
	// +optional
	ImagePullPolicy PullPolicy `json:"imagePullPolicy,omitempty"`

	// ImagePullSecrets name Secrets in the namespace of the deployment.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	ImagePullSecrets []LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Privileged runs the container privileged. Refused unless the Setting
	// instance-privileged-allowed is "true".
	// +optional
	Privileged bool `json:"privileged,omitempty"`

	// Ports are the container ports. The first entry is the serving port, which
	// is 8000 without any.
	// +optional
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	// +patchStrategy=merge
	// +patchMergeKey=port
	// +kubebuilder:validation:MaxItems=64
	Ports []RolePort `json:"ports,omitempty" patchStrategy:"merge" patchMergeKey:"port"`

	// Env is the environment of the engine container, literal values only. Names
	// that mdc owns on the engine are refused.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +kubebuilder:validation:MaxItems=256
	Env []EnvVar `json:"env,omitempty" patchStrategy:"merge" patchMergeKey:"name"`

	// AdditionalVolumes are mounted into the engine container.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	AdditionalVolumes []RoleVolume `json:"additionalVolumes,omitempty"`

	// ExtraArgs are appended to the synthesized command line. Flags that mdc
	// owns on the engine are refused. They are ignored when command is set.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=32768
	ExtraArgs []string `json:"extraArgs,omitempty"`

	// Command is the whole command line, program included. It takes the role
	// over: mdc then adds no argument, probe, cache client or drain hook of its
	// own. Frozen after creation.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=32768
	Command []string `json:"command,omitempty"`

	// Topology is where the Pods of one instance are placed in relation to each
	// other.
	// +optional
	Topology *RoleTopology `json:"topology,omitempty"`

	// TerminationGracePeriodSeconds is how long a Pod may take to end, in
	// seconds. A managed role drains until 5 seconds before it; absent it is 30
	// there, and the default of Kubernetes on a role with command.
	// +optional
	// +kubebuilder:validation:Minimum=15
	// +kubebuilder:validation:Maximum=3600
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// RoleResources is the request of one Pod.
//
// +kubebuilder:validation:XValidation:rule="!has(self.accelerator) || [type(self.accelerator) == int ? double(self.accelerator) : quantity(self.accelerator).asApproximateFloat()].all(n, n >= 0.0 && double(int(n)) == n)",message="accelerator-count: accelerator must be a non-negative whole number",fieldPath=".accelerator"
// +kubebuilder:validation:XValidation:rule="!has(self.interface) || [type(self.interface) == int ? double(self.interface) : quantity(self.interface).asApproximateFloat()].all(n, n >= 0.0 && double(int(n)) == n)",message="interface-count: interface must be a non-negative whole number",fieldPath=".interface"
// +kubebuilder:validation:XValidation:rule=`!has(self.acceleratorPartitionedProfile) || self.acceleratorPartitionedProfile == "" || (!has(self.acceleratorSlicedMemoryPercentage) || self.acceleratorSlicedMemoryPercentage == 0) && (!has(self.acceleratorSlicedCoresPercentage) || self.acceleratorSlicedCoresPercentage == 0)`,message="slice-and-profile: a card is shared in one way only; keep the profile, or acceleratorSlicedMemoryPercentage and acceleratorSlicedCoresPercentage",fieldPath=".acceleratorPartitionedProfile"
type RoleResources struct {
	// Accelerator is the number of cards. Absent on a type that has accelerators
	// it becomes 1; an explicit 0 is kept.
	// +optional
	Accelerator *resource.Quantity `json:"accelerator,omitempty"`

	// AcceleratorSlicedMemoryPercentage is the share of a card's memory, in
	// percent. 0 means a whole card.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	AcceleratorSlicedMemoryPercentage int32 `json:"acceleratorSlicedMemoryPercentage,omitempty"`

	// AcceleratorSlicedCoresPercentage is the share of a card's compute, in
	// percent. 0 means a whole card.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	AcceleratorSlicedCoresPercentage int32 `json:"acceleratorSlicedCoresPercentage,omitempty"`

	// AcceleratorPartitionedProfile is a hardware partition profile, for example
	// "3g.40gb". It excludes both slice percentages.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	AcceleratorPartitionedProfile string `json:"acceleratorPartitionedProfile,omitempty"`

	// Interface is the number of RDMA or EFA interfaces. The kind follows the
	// transports that the role uses.
	// +optional
	Interface *resource.Quantity `json:"interface,omitempty"`
}

// PullPolicy is when an image is pulled.
//
// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
type PullPolicy string

// PortProtocol is the protocol of a port.
//
// +kubebuilder:validation:Enum=TCP;UDP;SCTP
type PortProtocol string

// RolePort is one container port.
type RolePort struct {
	// Port number.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// Protocol of the port.
	// +optional
	// +kubebuilder:default=TCP
	Protocol PortProtocol `json:"protocol,omitempty"`
}

// EnvVar is one environment variable with a literal value.
type EnvVar struct {
	// Name of the variable.
	Name string `json:"name"`

	// Value of the variable.
	// +optional
	Value string `json:"value"`
}

// RoleVolume mounts exactly one of a ConfigMap, a Secret or a path of the node.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.hostPath)].exists_one(x, x)",message="volume-source: state exactly one of configMap, secret and hostPath"
type RoleVolume struct {
	// MountPath is the absolute path in the container, unique within the role.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(/[^/]+)+$`
	MountPath string `json:"mountPath"`

	// ReadOnly mounts the volume read-only.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`

	// SubPath is a relative path within the volume to mount instead of its root.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[^/].*$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'(^|/)\.\.(/|$)')`,message="volume-subpath: no element of subPath may be .."
	SubPath string `json:"subPath,omitempty"`

	// ConfigMap in the namespace of the deployment.
	// +optional
	ConfigMap *LocalObjectReference `json:"configMap,omitempty"`

	// Secret in the namespace of the deployment.
	// +optional
	Secret *LocalObjectReference `json:"secret,omitempty"`

	// HostPath is a path of the node. Refused unless the Setting
	// instance-host-path-volume-allowed is "true".
	// +optional
	HostPath *corev1.HostPathVolumeSource `json:"hostPath,omitempty"`
}

// RoleTopology is a placement request for the Pods of one instance.
type RoleTopology struct {
	// RequiredLevel is the label key of a topology level that Kueue knows, for
	// example "topology.kubernetes.io/zone". All Pods of one instance are placed
	// in one domain of that level. Empty requests nothing;
	// kubernetes.io/hostname is implicit and refused.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.indexOf('/') <= 253 && self.matches(r'^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')`,message="topology-syntax: requiredLevel must be a topology label key such as topology.kubernetes.io/zone"
	// +kubebuilder:validation:XValidation:rule="self != 'kubernetes.io/hostname'",message="topology-hostname: kubernetes.io/hostname is implicit as the lowest level and cannot be required",reason=FieldValueForbidden
	RequiredLevel string `json:"requiredLevel,omitempty"`
}

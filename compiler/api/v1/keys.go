// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Labels of Pods and of the selectors of Services. Together the first three
// identify a role.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"

	// NameModelDeployment is the value of LabelName on every Pod.
	NameModelDeployment = "model-deployment"

	// LabelRoleKind is the kind of the role in lower case.
	LabelRoleKind = "modeldeployment.gpustack.ai/role-kind"
	// LabelPodOrdinal is the ordinal of the instance within its role, from 0.
	LabelPodOrdinal = "modeldeployment.gpustack.ai/pod-ordinal"
	// LabelMemberIndex is the index of the Pod within its instance, from 0; the
	// Pod with "0" is the leader.
	LabelMemberIndex = "modeldeployment.gpustack.ai/member-index"
)

// Labels and annotations of generated objects.
const (
	// LabelManagedBy with the value ManagedBy marks what mdc generated. It
	// stands on no Pod and in no selector.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "mdc"

	// AnnotationDeployment names the ModelDeployment an object was generated
	// for. GitOps hosts rewrite labels, so this is how the agent finds its
	// templates.
	AnnotationDeployment = "modeldeployment.gpustack.ai/deployment"
)

// Annotations of a PodTemplate.
const (
	// AnnotationSourceHash tells which part of the ModelDeployment the template
	// was compiled from.
	AnnotationSourceHash = "modeldeployment.gpustack.ai/source-hash"
	// AnnotationSize is the number of Pods of one instance.
	AnnotationSize = "modeldeployment.gpustack.ai/size"
	// AnnotationRoleKind is the kind of the role as the API spells it.
	AnnotationRoleKind = "modeldeployment.gpustack.ai/role-kind"
	// AnnotationLateBound lists, as JSON, the values the compile did not know.
	AnnotationLateBound = "modeldeployment.gpustack.ai/late-bound"
	// AnnotationCompilerVersion is the version of mdc, for people.
	AnnotationCompilerVersion = "modeldeployment.gpustack.ai/compiler-version"
)

// Annotations by which Prometheus finds the metrics of a Pod, and the agent those
// of an engine.
const (
	AnnotationScrape        = "prometheus.io/scrape"
	AnnotationMetricsPath   = "prometheus.io/path"
	AnnotationMetricsPort   = "prometheus.io/port"
	AnnotationMetricsScheme = "prometheus.io/scheme"
)

// Annotations of a Pod.
const (
	// AnnotationPodSpecHash is the fingerprint of a Pod: a Pod is outdated when
	// it differs from a fresh stamp of the same seat.
	AnnotationPodSpecHash = "modeldeployment.gpustack.ai/pod-spec-hash"
	// AnnotationClientConfig holds the client configuration of the store, which
	// the downward API projects into the container.
	AnnotationClientConfig = "kvcache.gpustack.ai/client-config"
)

// Keys of Kueue that its client-free packages do not export.
const (
	// LabelQueueName is the LocalQueue of a Pod.
	LabelQueueName = "kueue.x-k8s.io/queue-name"
	// AnnotationRequiredTopology is the topology level that all Pods of a group
	// must share.
	AnnotationRequiredTopology = "kueue.x-k8s.io/podset-required-topology"
	// AnnotationPodIndexLabel names the label that orders the Pods of a group.
	AnnotationPodIndexLabel = "kueue.x-k8s.io/pod-group-pod-index-label"
)

// Environment variables that tell a member of a multi-Pod instance its place.
// They are reserved at every size and on every engine.
const (
	EnvLeaderAddress = "GPUSTACK_REPLICA_LEADER_ADDRESS"
	EnvReplicaSize   = "GPUSTACK_REPLICA_SIZE"
	EnvMemberIndex   = "GPUSTACK_MEMBER_INDEX"
)

// TemplateName is the name of a role's PodTemplate.
func TemplateName(deployment, role string) string { return deployment + "-" + role }

// UncachedTemplateName is the name of the PodTemplate used while the cache of a
// role cannot be resolved. A role name has no dot, so no other name meets it.
func UncachedTemplateName(deployment, role string) string {
	return TemplateName(deployment, role) + ".uncached"
}

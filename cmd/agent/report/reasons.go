// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import "slices"

// The reasons of the conditions; those of faults of templates are reasons of
// Compiled too. Why weights are Blocked is a reason of WeightsReady that the input
// gives.
const (
	// ReasonNotApplicable: the deployment has nothing that the condition is about.
	ReasonNotApplicable = "NotApplicable"

	// ReasonServiceMissing: replicas wait for their Services.
	ReasonServiceMissing = "ServiceMissing"
	// ReasonInSync: every template was compiled from the live spec.
	ReasonInSync = "InSync"

	// ReasonDownloading: engines download the weights, or start.
	ReasonDownloading = "Downloading"
	ReasonDownloaded  = "Downloaded"
	// ReasonWeightsNotMounted: Pods wait for the volume of the weights.
	ReasonWeightsNotMounted = "WeightsNotMounted"
	ReasonMounted           = "Mounted"

	ReasonBindingNotFound = "BindingNotFound"
	ReasonBindingDeleting = "BindingDeleting"
	// ReasonBindingNotReady: the Binding grants no access yet.
	ReasonBindingNotReady = "BindingNotReady"
	ReasonRegistered      = "Registered"

	// ReasonParked: the agent has deactivated Workloads, and a person must
	// reactivate them.
	ReasonParked = "Parked"
	// ReasonPreemptedInPart: Kueue has taken some replicas away, others still run.
	ReasonPreemptedInPart = "PreemptedInPart"
	// ReasonNoReplicas: there is no Pod.
	ReasonNoReplicas             = "NoReplicas"
	ReasonAllReplicasTerminating = "AllReplicasTerminating"
	// ReasonPodGroupIncomplete: some replicas lack Pods.
	ReasonPodGroupIncomplete = "PodGroupIncomplete"
	// ReasonNoQueueInReservedNamespace: Kueue does not take up Pods in the
	// namespace.
	ReasonNoQueueInReservedNamespace = "NoQueueInReservedNamespace"
	// ReasonAdmissionInFlight: some replicas have no Workload yet.
	ReasonAdmissionInFlight = "AdmissionInFlight"
	ReasonReserved          = "Reserved"
	// ReasonPending: replicas wait for quota.
	ReasonPending = "Pending"

	// ReasonRolloutNotObserved: there is nothing to compare with what is declared.
	ReasonRolloutNotObserved    = "RolloutNotObserved"
	ReasonRolloutHeldByWeights  = "RolloutHeldByWeights"
	ReasonRolloutHeldByCache    = "RolloutHeldByCache"
	ReasonRolloutInProgress     = "RolloutInProgress"
	ReasonReplacementInProgress = "ReplacementInProgress"
	ReasonUpToDate              = "UpToDate"

	ReasonNoRoleStatuses = "NoRoleStatuses"
	// ReasonKindsNotReady: a kind of role has no replica that is ready.
	ReasonKindsNotReady = "KindsNotReady"
	ReasonAllKindsReady = "AllKindsReady"

	// ReasonNotDeployed: the router has no Deployment.
	ReasonNotDeployed = "NotDeployed"
	// ReasonNoReadyReplicas: the router has no Pod that is ready.
	ReasonNoReadyReplicas = "NoReadyReplicas"
	// ReasonReady: the router answers; of Ready: all is ready.
	ReasonReady = "Ready"

	// ReasonNoRouter: a role is half of a pair, and no router listens.
	ReasonNoRouter = "NoRouter"
	// ReasonRoleUnmanaged: the command line of a role is the user's.
	ReasonRoleUnmanaged     = "RoleUnmanaged"
	ReasonPublisherDisabled = "PublisherDisabled"
	ReasonPublishing        = "Publishing"

	// ReasonUnmanaged: the command line of a role, and so its cache, is the user's.
	ReasonUnmanaged              = "Unmanaged"
	ReasonNoReplicaReady         = "NoReplicaReady"
	ReasonCacheActive            = "CacheActive"
	ReasonCacheOperationsFailing = "CacheOperationsFailing"
	// ReasonNoObservationAvailable: no engine tells of operations of the store.
	ReasonNoObservationAvailable = "NoObservationAvailable"

	// ReasonImageUnresolvable: nothing tells by which version to choose an image.
	ReasonImageUnresolvable = "ImageUnresolvable"
	ReasonNotStalled        = "NotStalled"

	// ReasonReplicaUnavailable: a replica that served is missing, and nothing
	// replaces it.
	ReasonReplicaUnavailable = "ReplicaUnavailable"
	ReasonStarting           = "Starting"
	ReasonProgressing        = "Progressing"

	ReasonDeleting = "Deleting"
	// ReasonStalled: Stalled tells why nothing goes on.
	ReasonStalled           = "Stalled"
	ReasonWaitingForWeights = "WaitingForWeights"
	ReasonWaitingForCache   = "WaitingForCache"
	ReasonRollingOut        = "RollingOut"
	ReasonCreating          = "Creating"
	ReasonWaitingForQuota   = "WaitingForQuota"
	ReasonWaitingForReady   = "WaitingForReady"
	ReasonAsDeclared        = "AsDeclared"
)

// reasons are those that each condition can give by itself.
var reasons = map[string][]string{
	Compiled:         {ReasonNotCompiled, ReasonTenantMismatch, ReasonUnknownLateValue, ReasonStale, ReasonServiceMissing, ReasonInSync},
	WeightsReady:     {ReasonNotApplicable, ReasonDownloading, ReasonDownloaded, ReasonWeightsNotMounted, ReasonMounted},
	DomainRegistered: {ReasonNotApplicable, ReasonBindingNotFound, ReasonBindingDeleting, ReasonBindingNotReady, ReasonRegistered},
	QuotaReserved: {
		ReasonParked, ReasonPreemptedInPart, ReasonNoReplicas, ReasonAllReplicasTerminating, ReasonPodGroupIncomplete,
		ReasonNoQueueInReservedNamespace, ReasonAdmissionInFlight, ReasonReserved, ReasonPending,
	},
	ReplicasUpToDate: {
		ReasonRolloutNotObserved, ReasonRolloutHeldByWeights, ReasonRolloutHeldByCache, ReasonRolloutInProgress,
		ReasonReplacementInProgress, ReasonUpToDate,
	},
	RoleKindsReady:     {ReasonNoRoleStatuses, ReasonKindsNotReady, ReasonAllKindsReady},
	RouterReady:        {ReasonNotApplicable, ReasonNotDeployed, ReasonNoReadyReplicas, ReasonReady},
	KVEventsPublishing: {ReasonNotApplicable, ReasonNoRouter, ReasonRoleUnmanaged, ReasonPublisherDisabled, ReasonPublishing},
	CacheAttached: {
		ReasonNotApplicable, ReasonUnmanaged, ReasonNoReplicaReady, ReasonCacheActive, ReasonCacheOperationsFailing,
		ReasonNoObservationAvailable,
	},
	Stalled: {
		ReasonNotCompiled, ReasonTenantMismatch, ReasonImageUnresolvable, ReasonNoQueueInReservedNamespace, ReasonParked,
		ReasonNotStalled,
	},
	Ready: {ReasonReady, ReasonReplicaUnavailable, ReasonStarting, ReasonProgressing},
	Reconciling: {
		ReasonDeleting, ReasonStalled, ReasonWaitingForWeights, ReasonWaitingForCache, ReasonRollingOut, ReasonCreating,
		ReasonWaitingForQuota, ReasonWaitingForReady, ReasonAsDeclared,
	},
}

// Reasons are those that a condition can give by itself, to compare with.
func Reasons(condition string) []string { return slices.Clone(reasons[condition]) }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests holds what the agent needs in a cluster.
package manifests

import _ "embed"

// RBAC is what the agent may do, as YAML: a ClusterRole for its work and a Role
// for its lease, to be made in its own namespace.
//
//go:embed rbac.yaml
var RBAC []byte

// Account is the agent's ServiceAccount, bound to what it may do, as YAML.
//
//go:embed account.yaml
var Account []byte

// AdmissionCheck is what the agent answers, as YAML. A ClusterQueue that names it
// holds the replicas of a deployment with several roles until all have quota.
//
//go:embed check.yaml
var AdmissionCheck []byte

// CheckName is the name of the AdmissionCheck.
const CheckName = "modeldeployment-joint"

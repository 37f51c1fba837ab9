// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests holds what the agent needs in a cluster.
package manifests

import _ "embed"

// RBAC is what the agent may do, as YAML: a ClusterRole for its work and a Role
// for its lease.
//
//go:embed rbac.yaml
var RBAC []byte

// AdmissionCheck is what the agent answers, as YAML. A ClusterQueue that names it
// holds the replicas of a deployment with several roles until all have quota.
//
//go:embed check.yaml
var AdmissionCheck []byte

// CheckName is the name of the AdmissionCheck.
const CheckName = "modeldeployment-joint"

// Name is that of the agent's ServiceAccount and Deployment.
const Name = "mdc-agent"

// Namespace is where the agent runs by default, and what the files state.
const Namespace = "mdc-system"

var (
	//go:embed namespace.yaml
	namespace []byte
	// account is the agent's ServiceAccount, bound to what it may do.
	//go:embed account.yaml
	account []byte
	// users is what Kubernetes' roles for users lack.
	//go:embed users.yaml
	users []byte
	//go:embed deployment.yaml
	deployment []byte
)

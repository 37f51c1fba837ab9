// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the agent on a whole local cluster, with Kueue and simulated
// nodes, under no more rights than it has in any cluster.
package e2e

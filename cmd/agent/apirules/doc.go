// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apirules tests, against a real API server, what the
// CustomResourceDefinitions refuse there: it must be what mdc refuses, never
// more, and where the two differ a table says why.
package apirules

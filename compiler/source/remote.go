// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"net/url"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
)

// isURL reports whether kustomize would fetch a file over HTTP.
func isURL(p string) bool {
	u, err := url.Parse(p)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// isRepository reports whether kustomize would clone what it is asked to enter.
// Its own test can be reached only through the origin of a resource.
func isRepository(p string) bool {
	return strings.Contains(p, "://") || strings.HasPrefix(strings.ToLower(p), "git::") || new(resource.Origin).Append(p).Repo != ""
}

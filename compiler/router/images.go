// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// image is the image of the router: the stated one, as it is, or that of the
// Setting.
func (in Input) image() string { return cmp.Or(in.spec().Image, in.Image) }

// container starts a container of the router. The pull policy of spec.router
// goes for every image.
func (in Input) container(image string) corev1.Container {
	return corev1.Container{
		Image:           image,
		ImagePullPolicy: cmp.Or(corev1.PullPolicy(in.spec().ImagePullPolicy), pullPolicy(image)),
	}
}

// pullPolicy is what an API server would fill in. It is spelled out because a
// value that only the cluster has reads as drift.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, pinned := strings.Cut(image, "@")
	// A colon before the last slash belongs to the port of the registry.
	base := name[strings.LastIndexByte(name, '/')+1:]
	_, tag, _ := strings.Cut(base, ":")
	if tag == "latest" || tag == "" && !pinned {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"maps"
	"slices"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// LabelRouter names the router on its objects and Pods. It keeps the Pods of
// the router apart from those of the roles, with which they share the labels of
// the deployment.
const LabelRouter = "modeldeployment.gpustack.ai/router"

// Values of the kind label.
const (
	prefillKind = "prefill"
	decodeKind  = "decode"
)

// leader is the member of an instance that serves the API, so an instance of any
// size is one endpoint.
const leader = "0"

func (in Input) identity() map[string]string {
	return map[string]string{
		v1.LabelName:     v1.NameModelDeployment,
		v1.LabelInstance: in.Deployment.Name,
	}
}

// labels select the Pods of the router.
func (in Input) labels() map[string]string {
	l := in.identity()
	l[LabelRouter] = string(in.spec().Name)
	return l
}

// leaders select every Pod that serves the API.
func (in Input) leaders() map[string]string {
	l := in.identity()
	l[v1.LabelMemberIndex] = leader
	return l
}

// roleLeaders select the Pods of one role that serve the API.
func (in Input) roleLeaders(r Role) map[string]string {
	l := in.leaders()
	l[v1.LabelComponent] = r.Name
	l[v1.LabelRoleKind] = r.kindLabel()
	return l
}

// leaderSelector is what leaders select, in the syntax of a label selector. The
// order of its terms is fixed: it is part of the hash of the configuration.
func (in Input) leaderSelector() string {
	return strings.Join([]string{
		v1.LabelName + "=" + v1.NameModelDeployment,
		v1.LabelInstance + "=" + in.Deployment.Name,
		v1.LabelMemberIndex + "=" + leader,
		"!" + LabelRouter,
	}, ",")
}

// terms spells labels as key=value, sorted by key.
func terms(labels map[string]string) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, k+"="+labels[k])
	}
	return out
}

func (r Role) kindLabel() string { return strings.ToLower(string(r.Kind)) }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// SourceHash is the SHA-256, in hex, of the part of a deployment that the
// template of one role depends on. The agent compares it with the live object
// to learn whether the compile is stale. Replicas are not part of it: a scale
// needs no compile of the template.
//
// peer is the other half of an Ascend pair, whose command line and environment
// the template depends on too; empty for any other role.
//
// The deployment is defaulted; an empty field counts as an absent one and
// quantities compare by value.
func SourceHash(md *v1.ModelDeployment, role, peer string) (string, error) {
	type roleID struct {
		Name string      `json:"name"`
		Kind v1.RoleKind `json:"kind"`
	}
	doc := struct {
		Namespace  string             `json:"namespace"`
		Name       string             `json:"name"`
		Model      v1.ModelSpec       `json:"model"`
		Engine     v1.EngineSpec      `json:"engine"`
		KVCache    *v1.KVCacheSpec    `json:"kvCache"`
		KVTransfer *v1.KVTransferSpec `json:"kvTransfer"`
		RouterName v1.RouterName      `json:"router.name"`
		Roles      []roleID           `json:"roles"`
		Role       *v1.Role           `json:"role"`
		Peer       *v1.Role           `json:"peer"`
	}{
		Namespace:  md.Namespace,
		Name:       md.Name,
		Model:      md.Spec.Model,
		Engine:     md.Spec.Engine,
		KVCache:    md.Spec.KVCache,
		KVTransfer: md.Spec.KVTransfer,
	}
	if md.Spec.Router != nil {
		doc.RouterName = md.Spec.Router.Name
	}
	for i := range md.Spec.Roles {
		r := &md.Spec.Roles[i]
		doc.Roles = append(doc.Roles, roleID{r.Name, r.Kind})
		if r.Name == role {
			doc.Role = r.DeepCopy()
			doc.Role.Replicas = 0
			canonicalResources(doc.Role.Resources)
		}
		if r.Name == peer {
			doc.Peer = &v1.Role{Command: r.Command, ExtraArgs: r.ExtraArgs, Env: r.Env}
		}
	}
	if doc.Role == nil || peer != "" && doc.Peer == nil {
		return "", fmt.Errorf("deployment %s/%s has no role %q, or no role %q", md.Namespace, md.Name, role, peer)
	}
	t, err := tree(doc)
	if err != nil {
		return "", err
	}
	return hash(withoutEmpty(t))
}

func canonicalResources(r *v1.RoleResources) {
	if r == nil {
		return
	}
	for _, q := range []*resource.Quantity{r.Accelerator, r.Interface} {
		if q != nil {
			*q = canonical(*q)
		}
	}
}

// withoutEmpty drops every map entry that says nothing. Items of a list stay:
// an empty argument is an argument.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			child = withoutEmpty(child)
			if isEmpty(child) {
				delete(v, k)
			} else {
				v[k] = child
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

func memberProbes(s *Subject) (out []Fault) {
	if s.now.Spec.Engine.Name != v1.EngineVLLM {
		return nil
	}
	for _, r := range s.now.roles {
		if r.Size <= 1 || r.takeOver() {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("size"),
			Message: fmt.Sprintf("all %d members of an instance of role %q carry the same probes; a member that opens no HTTP listener (--headless) never passes startup and is restarted after 30 minutes", r.Size, r.Name),
			Remedy:  fmt.Sprintf("start such members through %s, which takes the role over and has no probes", r.takeOverField()),
		})
	}
	return out
}

func (r *role) level() string {
	if r.Topology == nil {
		return ""
	}
	return r.Topology.RequiredLevel
}

func topologySyntax(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.level() == "" {
			continue
		}
		if why := validation.IsQualifiedName(r.level()); len(why) > 0 {
			out = append(out, Fault{
				Field:   r.field("topology.requiredLevel"),
				Message: fmt.Sprintf("%q is no topology label key: %s", shorten(r.level()), strings.Join(why, "; ")),
				Remedy:  "name the label key of a level, such as topology.kubernetes.io/zone, and not a value of it",
			})
		}
	}
	return out
}

func topologyHostname(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.level() != corev1.LabelHostname {
			continue
		}
		out = append(out, Fault{
			Field:   r.field("topology.requiredLevel"),
			Message: fmt.Sprintf("%s is implicit as the lowest level, and requiring it would put all members of an instance on one node", corev1.LabelHostname),
			Remedy:  "name a higher level, such as a rack or a zone, or leave the field out",
		})
	}
	return out
}

// shorten cuts a value for a message.
func shorten(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"path"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/facts"
)

// router is the name of the router, empty without one.
func (r *Role) router() v1.RouterName {
	if r.Deployment.Spec.Router == nil {
		return ""
	}
	return r.Deployment.Spec.Router.Name
}

// ofKind returns the first role of a kind; nil is none.
func (r *Role) ofKind(k v1.RoleKind) *v1.Role {
	for i := range r.Deployment.Spec.Roles {
		if role := &r.Deployment.Spec.Roles[i]; role.Kind == k {
			return role
		}
	}
	return nil
}

// half reports whether the role is one of a declared pair.
func (r *Role) half() bool {
	return r.spec().Kind != v1.RoleServer && r.ofKind(v1.RolePrefill) != nil && r.ofKind(v1.RoleDecode) != nil
}

// peer returns the other half of the pair.
func (r *Role) peer() *v1.Role {
	if r.spec().Kind == v1.RolePrefill {
		return r.ofKind(v1.RoleDecode)
	}
	return r.ofKind(v1.RolePrefill)
}

// proxied reports whether a routing proxy owns the serving port and the engine
// listens behind it.
func (r *Role) proxied() bool {
	return r.managed() && r.router() == v1.RouterLLMD && r.spec().Kind == v1.RoleDecode && r.half()
}

// Publishes reports whether the role publishes KV cache events: what computes
// blocks does, where a router may listen.
func (r *Role) Publishes() bool {
	return r.managed() && r.router() != "" && r.dialect() == engine.VLLM && r.spec().Kind != v1.RoleDecode
}

// transfers reports whether a direct leg from prefill to decode is rendered on
// the role.
func (r *Role) transfers(store *engine.Store) bool {
	if !r.managed() || !r.half() {
		return false
	}
	ascend := facts.Manufacturer(r.Type) == facts.ManufacturerAscend
	switch r.dialect() {
	case engine.SGLang:
		// The two halves of SGLang are split by their own arguments, which a
		// shared store needs as much as a router.
		return store != nil || r.router() != "" && (!ascend || r.router() == v1.RouterLLMD)
	default:
		return r.router() == v1.RouterLLMD || r.router() != "" && !ascend
	}
}

// transferProtocol is the transport of the direct leg, as Mooncake spells it.
func (r *Role) transferProtocol() string {
	if t := r.Deployment.Spec.KVTransfer; t != nil {
		return facts.Protocols[string(t.Protocol)]
	}
	return facts.Protocols[""]
}

// leg is the direct transfer of the role; nil is none.
func (r *Role) leg(store *engine.Store) (*engine.Leg, diag.List) {
	if !r.transfers(store) {
		return nil, nil
	}
	leg := &engine.Leg{Protocol: r.transferProtocol()}
	if r.dialect() != engine.VLLMAscend {
		return leg, nil
	}
	prefill, read := degrees(r.ofKind(v1.RolePrefill))
	decode, both := degrees(r.ofKind(v1.RoleDecode))
	leg.Prefill, leg.Decode = prefill, decode
	// A width that cannot be read is refused as such.
	if prefill.TP >= decode.TP || !read || !both {
		return leg, nil
	}
	return nil, diag.List{{
		Rule: "pair-width", Severity: diag.Error, Field: fmt.Sprintf("spec.roles[%d]", r.index(v1.RolePrefill)),
		Message: fmt.Sprintf("on Ascend the prefill half must be at least as wide as the decode half: tensor parallelism is %d on %q and %d on %q",
			leg.Prefill.TP, r.ofKind(v1.RolePrefill).Name, leg.Decode.TP, r.ofKind(v1.RoleDecode).Name),
		Remedy: "raise the tensor parallel size of the prefill role, or lower that of the decode role",
	}}
}

// overDriver judges the volumes of the role against the mount of the driver: at
// one path no container can have both, inside or around it the driver may be
// hidden.
func (r *Role) overDriver(leg *engine.Leg) (findings diag.List) {
	if leg == nil || r.dialect() != engine.VLLMAscend {
		return nil
	}
	for i, v := range r.spec().AdditionalVolumes {
		mount := path.Clean(v.MountPath)
		f := r.refuse("volume-owned-path", fmt.Sprintf("additionalVolumes[%d].mountPath", i),
			fmt.Sprintf("%q is where the driver of Ascend is mounted for the transfer between the halves, and a container cannot have two mounts on one path", v.MountPath),
			"mount it elsewhere")
		switch {
		case mount == engine.DriverDir:
		case within(mount, engine.DriverDir), within(engine.DriverDir, mount):
			f.Severity = diag.Warning
			f.Message = fmt.Sprintf("%q meets %s, where the driver of Ascend is mounted for the transfer between the halves, and may hide it", v.MountPath, engine.DriverDir)
		default:
			continue
		}
		findings = append(findings, f)
	}
	return findings
}

// within compares whole elements of two clean paths.
func within(inner, outer string) bool {
	return strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/")
}

func (r *Role) index(k v1.RoleKind) int {
	for i, role := range r.Deployment.Spec.Roles {
		if role.Kind == k {
			return i
		}
	}
	return -1
}

// degrees reads how wide a half is from its own command line; ok is false when
// something there cannot be read.
func degrees(role *v1.Role) (d engine.Degrees, ok bool) {
	args := role.Command
	if len(args) == 0 {
		args = role.ExtraArgs
	}
	var dpSize []string
	for _, e := range role.Env {
		if e.Name == argv.EnvDPSize {
			dpSize = append(dpSize, e.Value)
		}
	}
	p, _ := argv.ReadParallelism(argv.VLLM, args, dpSize)
	return engine.Degrees{TP: max(p.TP, 1), DP: max(p.DP, 1)}, !p.Failed
}

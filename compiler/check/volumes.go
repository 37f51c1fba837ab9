// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/facts"
)

// Paths of the container that mdc mounts.
const (
	configPath = "/etc/gpustack/kvcache"
	modelPath  = "/var/lib/gpustack/model"
	cachePath  = "/var/lib/gpustack/model-cache"
)

func volumeSource(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		for j, v := range r.AdditionalVolumes {
			field := r.field("additionalVolumes[%d]", j)
			var stated []string
			for _, source := range []struct {
				name string
				set  bool
			}{{"configMap", v.ConfigMap != nil}, {"secret", v.Secret != nil}, {"hostPath", v.HostPath != nil}} {
				if source.set {
					stated = append(stated, source.name)
				}
			}
			if len(stated) == 1 || s.misspelt(field) {
				continue
			}
			message := fmt.Sprintf("the volume at %q has no source, so there is nothing to mount", v.MountPath)
			if len(stated) > 1 {
				message = fmt.Sprintf("the volume at %q has %d sources (%s), and a mount shows one", v.MountPath, len(stated), strings.Join(stated, ", "))
			}
			out = append(out, Fault{
				Field:   field,
				Message: message,
				Remedy:  "state exactly one of configMap, secret and hostPath",
			})
		}
	}
	return out
}

func volumePathDup(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		first := map[string]int{}
		for j, v := range r.AdditionalVolumes {
			i, seen := first[v.MountPath]
			if !seen {
				first[v.MountPath] = j
				continue
			}
			if v.MountPath == "" {
				continue
			}
			out = append(out, Fault{
				Field:   r.field("additionalVolumes[%d].mountPath", j),
				Message: fmt.Sprintf("%q is already the mount path of %s; a container cannot have two mounts on one path", v.MountPath, r.field("additionalVolumes[%d]", i)),
				Remedy:  "mount it elsewhere, or remove one of the two",
			})
		}
	}
	return out
}

func volumeSubPath(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		for j, v := range r.AdditionalVolumes {
			if !slices.Contains(strings.Split(v.SubPath, "/"), "..") {
				continue
			}
			out = append(out, Fault{
				Field:   r.field("additionalVolumes[%d].subPath", j),
				Message: fmt.Sprintf("subPath %q has the element \"..\", which leads out of the volume", shorten(v.SubPath)),
				Remedy:  "write the path below the root of the volume without \"..\"",
			})
		}
	}
	return out
}

// relation of a mount to a path that mdc mounts.
type relation int

const (
	apart relation = iota
	at
	inside
	around
)

// relations are the words for them.
var relations = map[relation]string{at: "at", inside: "inside", around: "around"}

// relate compares whole path elements.
func relate(mount, owned string) relation {
	mount = path.Clean(mount)
	switch {
	case mount == owned:
		return at
	case strings.HasPrefix(mount, owned+"/"):
		return inside
	case mount == "/" || strings.HasPrefix(owned, mount+"/"):
		return around
	}
	return apart
}

func artifactMount(s *Subject) (out []Fault) {
	if s.now.Spec.Model.ArtifactRef == nil {
		return nil
	}
	for _, r := range s.now.roles {
		for j, v := range r.AdditionalVolumes {
			var hit []string
			for _, owned := range []string{modelPath, cachePath} {
				if how := relate(v.MountPath, owned); how != apart {
					hit = append(hit, relations[how]+" "+owned)
				}
			}
			if len(hit) == 0 {
				continue
			}
			out = append(out, Fault{
				Field:   r.field("additionalVolumes[%d].mountPath", j),
				Message: fmt.Sprintf("%q is %s, where the weights of spec.model.artifactRef are mounted", v.MountPath, strings.Join(hit, " and ")),
				Remedy:  "mount it elsewhere",
			})
		}
	}
	return out
}

// volumeOwnedPath is about roles that get the client configuration of the store
// as a file.
func volumeOwnedPath(s *Subject) (out []Fault) {
	if s.now.Spec.KVCache == nil || s.now.Spec.Engine.Name != v1.EngineVLLM {
		return nil
	}
	for _, r := range s.now.roles {
		for j, v := range r.AdditionalVolumes {
			if r.takeOver() || relate(v.MountPath, configPath) == apart {
				continue
			}
			f := Fault{
				Field:   r.field("additionalVolumes[%d].mountPath", j),
				Message: fmt.Sprintf("%q meets %s, where the client configuration of the cache is mounted, and replaces the configuration silently", v.MountPath, configPath),
				Remedy:  "mount it elsewhere",
			}
			if s.Rendering && relate(v.MountPath, configPath) == at {
				f.Message = fmt.Sprintf("%q is where the client configuration of the cache is mounted, and a container cannot have two mounts on one path", v.MountPath)
				f.Invalid = true
			}
			out = append(out, f)
		}
	}
	return out
}

func hostPrivileged(s *Subject) (out []Fault) {
	if s.Facts.Enabled(facts.SettingPrivilegedAllowed) {
		return nil
	}
	for _, r := range s.now.roles {
		if !r.Privileged || r.stored != nil && r.stored.Privileged {
			continue
		}
		settings := allow(facts.SettingPrivilegedAllowed)
		if len(hostPathsOf(s, r)) > 0 {
			settings += " (its hostPath volumes need " + allow(facts.SettingHostPathAllowed) + " too)"
		}
		out = append(out, Fault{
			Field:   r.field("privileged"),
			Message: fmt.Sprintf("role %q asks to run privileged, which the platform does not allow: Setting %s is off", r.Name, facts.SettingPrivilegedAllowed),
			Remedy:  "remove it, or have an administrator set " + settings,
		})
	}
	return out
}

func hostPath(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		for _, j := range hostPathsOf(s, r) {
			out = append(out, Fault{
				Field:   r.field("additionalVolumes[%d].hostPath", j),
				Message: fmt.Sprintf("role %q mounts a path of the node, which the platform does not allow: Setting %s is off", r.Name, facts.SettingHostPathAllowed),
				Remedy:  "use a configMap or a secret, or have an administrator set " + allow(facts.SettingHostPathAllowed),
			})
		}
	}
	return out
}

func allow(setting facts.SettingName) string {
	return fmt.Sprintf("the Setting %s to \"true\"", setting)
}

// hostPathsOf are the volumes of a role that show a path of the node without
// leave. What the stored role already has is not taken from it.
func hostPathsOf(s *Subject, r *role) (out []int) {
	if s.Facts.Enabled(facts.SettingHostPathAllowed) {
		return nil
	}
	for j, v := range r.AdditionalVolumes {
		held := func(old v1.RoleVolume) bool {
			return old.HostPath != nil &&
				path.Clean(old.HostPath.Path) == path.Clean(v.HostPath.Path) &&
				path.Clean(old.SubPath) == path.Clean(v.SubPath) &&
				(v.ReadOnly || !old.ReadOnly)
		}
		if v.HostPath == nil || r.stored != nil && slices.ContainsFunc(r.stored.AdditionalVolumes, held) {
			continue
		}
		out = append(out, j)
	}
	return out
}

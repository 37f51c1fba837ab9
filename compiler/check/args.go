// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"

	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/facts"
)

// owner is who a flag is left to.
type owner int

const (
	ownerUser owner = iota
	ownerConnector
	ownerDtype
	ownerArtifact
)

// ownerOf says whom a token of a managed role belongs to, and which flag it
// spells then. A token has one owner, so that it is refused once.
func (s *Subject) ownerOf(token string) (owner, string) {
	engine := s.now.engine
	if key, ok := argv.Resolve(engine, token, argv.OwnedArgs(engine)); ok {
		return ownerConnector, key
	}
	if s.now.Spec.KVCache != nil && s.Facts.Enabled(facts.SettingKVCacheDtypeOwned) {
		if key, ok := argv.Resolve(engine, token, []string{argv.FlagKVCacheDtype}); ok {
			return ownerDtype, key
		}
	}
	if s.now.Spec.Model.ArtifactRef != nil {
		if key, ok := argv.ResolveArtifact(engine, token); ok {
			return ownerArtifact, key
		}
	}
	return ownerUser, ""
}

// ownedArgs reports every argument of managed roles that belongs to an owner.
// The extraArgs of a take-over role are never passed to anything.
func ownedArgs(s *Subject, whose owner, fault func(r *role, key, spelled string) Fault) (out []Fault) {
	for _, r := range s.now.roles {
		if r.takeOver() {
			continue
		}
		for j, token := range r.ExtraArgs {
			who, key := s.ownerOf(token)
			if who != whose {
				continue
			}
			spelled := key
			if name := flagName(token); name != key {
				spelled = fmt.Sprintf("%s (written %s)", key, shorten(name))
			}
			f := fault(r, key, spelled)
			f.Field = r.field("extraArgs[%d]", j)
			out = append(out, f)
		}
	}
	return out
}

// flagName is the flag of a token. Values never appear in a message: they may
// be secrets.
func flagName(token string) string {
	name, _, _ := strings.Cut(token, "=")
	return name
}

func ownedArg(s *Subject) []Fault {
	return ownedArgs(s, ownerConnector, func(r *role, _, spelled string) Fault {
		return Fault{
			Message: fmt.Sprintf("%s is written by mdc for %s; a second value could not be told from it", spelled, s.now.engine),
			Remedy:  fmt.Sprintf("remove it, or own the whole command line with %s", r.takeOverField()),
		}
	})
}

func kvCacheDtype(s *Subject) []Fault {
	return ownedArgs(s, ownerDtype, func(r *role, _, spelled string) Fault {
		return Fault{
			Message: fmt.Sprintf("%s follows from spec.kvCache: its Binding declares the element type that all users of the cache share, and blocks of another type cannot be read", spelled),
			Remedy:  fmt.Sprintf("remove it; for another type, use a Binding that declares this dtype, or own the whole command line with %s", r.takeOverField()),
		}
	})
}

func artifactArg(s *Subject) []Fault {
	return ownedArgs(s, ownerArtifact, func(r *role, _, spelled string) Fault {
		return Fault{
			Message: fmt.Sprintf("%s is decided by spec.model.artifactRef, which says what weights are loaded and from where", spelled),
			Remedy: fmt.Sprintf("remove it (mdc decides %s here); for other weights, change the ModelArtifact or own the whole command line with %s",
				strings.Join(argv.ArtifactArgs(s.now.engine), ", "), r.takeOverField()),
		}
	})
}

func servedName(s *Subject) (out []Fault) {
	want := s.now.Spec.Model.Name
	for _, r := range s.now.roles {
		served := argv.ReadServed(s.now.engine, r.ExtraArgs)
		if r.takeOver() || !served.Stated() || served.Only(want) || s.servedBefore(r, served) || s.broken("spec.model.name") {
			continue
		}
		out = append(out, Fault{
			Field: r.field("extraArgs"),
			Message: fmt.Sprintf("%s of role %q must be exactly %q, which is spec.model.name: clients, routers and metrics know the model by that name",
				argv.FlagServedModelName, r.Name, want),
			Remedy: fmt.Sprintf("remove %s, or give it that one name", argv.FlagServedModelName),
			Where:  r.field("extraArgs[%d]", served.Index),
		})
	}
	return out
}

// servedBefore reports whether the stored role serves the same names: an edit
// elsewhere is not refused for what already runs.
func (s *Subject) servedBefore(r *role, served argv.Served) bool {
	if r.stored == nil || s.before.Spec.Model.Name != s.now.Spec.Model.Name || len(r.stored.Command) != len(r.Command) {
		return false
	}
	old := argv.ReadServed(s.before.engine, r.stored.ExtraArgs)
	return old.Stated() && equal(old.Names, served.Names)
}

func argTypo(s *Subject) (out []Fault) {
	for _, r := range s.now.roles {
		if r.takeOver() || s.broken(r.field("extraArgs")) {
			continue
		}
		for j, token := range r.ExtraArgs {
			if token == "--" {
				break
			}
			meant, ok := argv.Suggest(s.now.engine, token)
			if !ok {
				continue
			}
			if who, _ := s.ownerOf(token); who != ownerUser {
				continue
			}
			out = append(out, Fault{
				Field:   r.field("extraArgs[%d]", j),
				Message: fmt.Sprintf("%s is no flag of %s that mdc knows, and close to %s; the engine exits at an unknown flag", shorten(flagName(token)), s.now.engine, meant),
				Remedy:  fmt.Sprintf("did you mean %s?", meant),
			})
		}
	}
	return out
}

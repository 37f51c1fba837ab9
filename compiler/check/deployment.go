// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"path"
	"slices"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/facts"
)

// deployment is a ModelDeployment with what several rules read off it.
type deployment struct {
	*v1.ModelDeployment
	engine argv.Engine
	// router is the name of the router; empty without one.
	router v1.RouterName
	// pair: a Prefill and a Decode role are declared.
	pair  bool
	roles []*role
	facts *facts.Index
}

// role is one role of a deployment.
type role struct {
	*v1.Role
	of *deployment
	// path of the role's own block.
	path string
	// args is the command line as far as the role states it.
	args   []string
	listen argv.Listen
	// hardware is nil when the InstanceType is not among the facts.
	hardware *v1.InstanceType
	// stored is the role of that name in the stored deployment, nil if there is
	// none.
	stored *role
}

// look prepares the deployment and the stored one, and joins their roles by
// name: their order means nothing.
func (s *Subject) look() {
	s.now = newDeployment(s.New, s.Facts)
	s.before = nil
	if s.Old == nil {
		return
	}
	s.before = newDeployment(s.Old, s.Facts)
	for _, r := range s.now.roles {
		r.stored = s.before.role(r.Name)
	}
}

func newDeployment(md *v1.ModelDeployment, x *facts.Index) *deployment {
	d := &deployment{ModelDeployment: md, engine: argv.Engine(md.Spec.Engine.Name), facts: x}
	if md.Spec.Router != nil {
		d.router = md.Spec.Router.Name
	}
	for i := range md.Spec.Roles {
		r := &role{Role: &md.Spec.Roles[i], of: d, path: fmt.Sprintf("spec.roles[%d]", i)}
		r.args = r.ExtraArgs
		if r.takeOver() {
			r.args = r.Command
		}
		r.listen = argv.ReadListen(d.engine, r.args)
		if t, ok := x.InstanceType(r.InstanceType); ok {
			r.hardware = t.Value
		}
		d.roles = append(d.roles, r)
	}
	has := func(k v1.RoleKind) bool {
		return slices.ContainsFunc(d.roles, func(r *role) bool { return r.kind() == k })
	}
	d.pair = has(v1.RolePrefill) && has(v1.RoleDecode)
	return d
}

func (d *deployment) routed() bool { return d.Spec.Router != nil }

// role returns the first role of that name, nil if there is none.
func (d *deployment) role(name string) *role {
	if i := slices.IndexFunc(d.roles, func(r *role) bool { return r.Name == name }); i >= 0 {
		return d.roles[i]
	}
	return nil
}

// takeOver: the role states its whole command line.
func (r *role) takeOver() bool { return len(r.Command) > 0 }

func (r *role) kind() v1.RoleKind {
	if r.Kind == "" {
		return v1.RoleServer
	}
	return r.Kind
}

// field is the full path of a field of the role.
func (r *role) field(format string, args ...any) string {
	return r.path + "." + fmt.Sprintf(format, args...)
}

// takeOverField names the way to own the command line. It cannot be taken on a
// role that is stored, because command is frozen.
func (r *role) takeOverField() string {
	if r.stored != nil && !r.takeOver() {
		return r.field("command") + " of a new deployment"
	}
	return r.field("command")
}

// argsField is where the role's command line is stated.
func (r *role) argsField() string {
	if r.takeOver() {
		return r.field("command")
	}
	return r.field("extraArgs")
}

// shells run a command line that stands in a string, where nobody can read it.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"}

// inShell reports whether the tokens of the command are those of a shell and
// not of an engine.
func (r *role) inShell() bool {
	return r.takeOver() && slices.Contains(shells, path.Base(r.Command[0]))
}

// one is a list of one fault.
func one(f Fault) []Fault { return []Fault{f} }

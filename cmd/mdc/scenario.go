// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"gpustack.ai/mdc/cmd/agent/simulate"
	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/source"
)

// scenario reads a scenario and all that it names.
func (a *app) scenario(s *simulation) ([]simulate.Input, error) {
	text, err := a.fs.ReadFile(s.scenario)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	sc, err := simulate.Parse(s.scenario, text)
	if err != nil {
		return nil, failure(err)
	}
	c := &cast{app: a, flags: s.flags, dir: filepath.Dir(s.scenario), in: simulate.Input{Scenario: sc}}
	if err := c.present(sc); err != nil {
		return nil, failure(err)
	}
	c.flags.facts = append(slices.Clone(c.flags.facts), c.beside(sc.Facts...)...)
	// Files that only an edit names are not deployments of their own.
	exclude := []string{s.scenario}
	for _, e := range sc.Events {
		named := func(p string) bool { return filepath.Clean(p) == filepath.Clean(e.Edit) }
		if e.Edit != "" && !slices.ContainsFunc(sc.Deployments, named) {
			exclude = append(exclude, c.beside(e.Edit)...)
		}
	}
	if err := c.apply("", sc.Deployments, exclude...); err != nil {
		return nil, err
	}
	for _, i := range sc.Order() {
		if path := sc.Events[i].Edit; path != "" {
			if err := c.apply(path, []string{path}); err != nil {
				return nil, err
			}
		}
	}
	return []simulate.Input{c.in}, nil
}

// cast are the deployments of a scenario as far as it is read.
type cast struct {
	*app
	flags  inputFlags
	dir    string
	in     simulate.Input
	stored []*source.Object
}

// beside are paths relative to the scenario.
func (c *cast) beside(paths ...string) (out []string) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(c.dir, p)
		}
		out = append(out, p)
	}
	return out
}

// present refuses paths of a scenario that do not exist.
func (c *cast) present(sc *simulate.Scenario) error {
	named := map[string]string{}
	for i, path := range sc.Deployments {
		named[fmt.Sprintf("deployments[%d]", i)] = path
	}
	for i, path := range sc.Facts {
		named[fmt.Sprintf("facts[%d]", i)] = path
	}
	for i, e := range sc.Events {
		if e.Edit != "" {
			named[fmt.Sprintf("events[%d].edit", i)] = e.Edit
		}
	}
	var problems simulate.Problems
	for _, field := range slices.Sorted(maps.Keys(named)) {
		if path := c.beside(named[field])[0]; !c.fs.Exists(path) {
			problems = append(problems, sc.Problem(field, path+": no such file or directory")...)
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// apply adds an edition of deployments: the first one, or that of an edit, which
// is judged as an update of what is stored by then.
func (c *cast) apply(edit string, paths []string, exclude ...string) error {
	e, err := c.edition(&c.flags, c.beside(paths...), c.stored, exclude...)
	if err != nil {
		return err
	}
	for i := range e.out.Deployments {
		compiled := &e.out.Deployments[i]
		at := slices.IndexFunc(c.in.Deployments, func(d simulate.Deployment) bool {
			return same(d.Compiled.ModelDeployment, compiled.ModelDeployment)
		})
		if at < 0 {
			at = len(c.in.Deployments)
			c.in.Deployments = append(c.in.Deployments, simulate.Deployment{
				Compiled: compiled, Since: edit, Edits: map[string]*compiler.Deployment{},
			})
		}
		if edit != "" {
			c.in.Deployments[at].Edits[edit] = compiled
		}
	}
	for _, o := range e.judged() {
		if at := slices.IndexFunc(c.stored, func(s *source.Object) bool { return e.in.sameObject(s, o) }); at >= 0 {
			c.stored[at] = o
		} else {
			c.stored = append(c.stored, o)
		}
	}
	return nil
}

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
func (a *app) scenario(o *simulateOptions) ([]simulate.Input, error) {
	text, err := a.fs.ReadFile(o.scenario)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	sc, err := simulate.Parse(o.scenario, text)
	if err != nil {
		return nil, failure(err)
	}
	l := &scenarioLoader{app: a, flags: o.flags, dir: filepath.Dir(o.scenario), in: simulate.Input{Scenario: sc}}
	if err := l.present(sc); err != nil {
		return nil, failure(err)
	}
	l.flags.facts = append(slices.Clone(l.flags.facts), l.beside(sc.Facts...)...)
	// Files that only an edit names are not deployments of their own.
	exclude := []string{o.scenario}
	for _, e := range sc.Events {
		named := func(p string) bool { return filepath.Clean(p) == filepath.Clean(e.Edit) }
		if e.Edit != "" && !slices.ContainsFunc(sc.Deployments, named) {
			exclude = append(exclude, l.beside(e.Edit)...)
		}
	}
	if err := l.apply("", sc.Deployments, exclude...); err != nil {
		return nil, err
	}
	for _, i := range sc.Order() {
		if path := sc.Events[i].Edit; path != "" {
			if err := l.apply(path, []string{path}); err != nil {
				return nil, err
			}
		}
	}
	return []simulate.Input{l.in}, nil
}

// scenarioLoader reads the deployments of a scenario, edition by edition.
type scenarioLoader struct {
	*app
	flags  inputFlags
	dir    string
	in     simulate.Input
	stored []*source.Object
}

// beside are paths relative to the scenario.
func (l *scenarioLoader) beside(paths ...string) (out []string) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(l.dir, p)
		}
		out = append(out, p)
	}
	return out
}

// present refuses paths of a scenario that do not exist.
func (l *scenarioLoader) present(sc *simulate.Scenario) error {
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
		if path := l.beside(named[field])[0]; !l.fs.Exists(path) {
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
func (l *scenarioLoader) apply(edit string, paths []string, exclude ...string) error {
	e, err := l.edition(&l.flags, l.beside(paths...), l.stored, exclude...)
	if err != nil {
		return err
	}
	for i := range e.out.Deployments {
		compiled := &e.out.Deployments[i]
		at := slices.IndexFunc(l.in.Deployments, func(d simulate.Deployment) bool {
			return same(d.Compiled.ModelDeployment, compiled.ModelDeployment)
		})
		if at < 0 {
			at = len(l.in.Deployments)
			l.in.Deployments = append(l.in.Deployments, simulate.Deployment{
				Compiled: compiled, Since: edit, Edits: map[string]*compiler.Deployment{},
			})
		}
		if edit != "" {
			l.in.Deployments[at].Edits[edit] = compiled
		}
	}
	for _, o := range e.judged() {
		if at := slices.IndexFunc(l.stored, func(s *source.Object) bool { return e.in.sameObject(s, o) }); at >= 0 {
			l.stored[at] = o
		} else {
			l.stored = append(l.stored, o)
		}
	}
	return nil
}

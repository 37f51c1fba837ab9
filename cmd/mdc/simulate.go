// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/cmd/agent/simulate"
	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/source"
)

var players = map[string]func(w io.Writer, results []*simulate.Result) error{
	"text": simulate.Text,
	"json": simulate.JSON,
	"svg":  simulate.SVG,
}

// simulation is what the flags of the command say.
type simulation struct {
	flags    inputFlags
	scenario string
	old      []string
	seed     uint64
	format   string
}

func newSimulate(a *app) *cobra.Command {
	s := &simulation{}
	c := &cobra.Command{
		Use:   "simulate [PATH...]",
		Short: "Play what the agent would do, without a cluster",
		Long: `Play what the agent would do to deployments, on a model of Kueue, kubelets and
the API server. The decisions are those of the agent itself. With --old the
deployments there are running and Ready, and the ones in PATH are applied;
with --scenario a file says what happens when, and how long Pods take:

  deployments: [deployment.yaml]
  facts: [facts.yaml]
  running: true            # all Ready at the start; default: created then
  capacity: {<instanceType>: 8}
  timing: {load: 5m, drain: 30s, roles: {decode: {load: 8m}}}
  events:
  - {at: 10m, edit: edited.yaml}
  - {at: 20m, scale: {role: server, replicas: 3}}
  - {at: 30m, deletePod: {role: server, ordinal: 0}}
  until: 2h

An event is one of edit, scale, deletePod, failPod, evict, preempt,
nodeNotReady, nodeReady, nodeRemoved, capacity or delete. Paths are relative to
the scenario. Times are those of a model and no promise.`,
		Example: `  mdc simulate deployment.yaml --old ../main/deployment.yaml --facts facts/
  mdc simulate --scenario scenario.yaml
  mdc simulate --scenario scenario.yaml -o svg > rollout.svg`,
		RunE: func(_ *cobra.Command, paths []string) error { return a.simulate(s, paths) },
	}
	s.flags.add(c)
	formatFlag(c, &s.format, "text", "json", "svg")
	c.Flags().StringVar(&s.scenario, "scenario", "", "file that tells what happens")
	c.Flags().StringArrayVar(&s.old, "old", nil, "file or directory of the running deployments (repeatable)")
	c.Flags().Uint64Var(&s.seed, "seed", 0, "vary times by up to a tenth, and how Pods end; 0 does not")
	must(c.MarkFlagFilename("scenario", "yaml", "yml"))
	must(c.MarkFlagFilename("old", "yaml", "yml", "json"))
	return c
}

func (a *app) simulate(s *simulation, paths []string) error {
	var (
		inputs []simulate.Input
		err    error
	)
	switch {
	case s.scenario != "" && len(s.old) > 0, s.scenario == "" && len(s.old) == 0:
		return errors.New("simulate: give either --scenario or --old")
	case s.scenario != "" && len(paths) > 0:
		return errors.New("simulate: with --scenario the deployments are named in the file")
	case s.scenario != "":
		inputs, err = a.played(s)
	default:
		inputs, err = a.edited(s, paths)
	}
	if err != nil {
		return err
	}
	var results []*simulate.Result
	for _, in := range inputs {
		in.Seed = s.seed
		r, err := simulate.Play(in)
		if err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		results = append(results, r)
	}
	return players[s.format](a.stdout, results)
}

// edited are the deployments that run and are then replaced by those of the
// paths.
func (a *app) edited(s *simulation, paths []string) ([]simulate.Input, error) {
	old, err := a.edition(&s.flags, s.old, nil)
	if err != nil {
		return nil, err
	}
	edited, err := a.edition(&s.flags, paths, old, besides(s.old, paths)...)
	if err != nil {
		return nil, err
	}
	name := strings.Join(paths, ", ")
	if name == "" {
		name = "."
	}
	var inputs []simulate.Input
	for i := range edited.out.Deployments {
		d := &edited.out.Deployments[i]
		before := old.find(d)
		sc := &simulate.Scenario{}
		in := simulate.Input{Deployment: d, Scenario: sc}
		if before != nil {
			sc.Running = true
			sc.Events = []simulate.Event{{Edit: name}}
			in.Deployment = before
			in.Edits = map[string]*compiler.Deployment{name: d}
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// played are the deployments of a scenario.
func (a *app) played(s *simulation) ([]simulate.Input, error) {
	text, err := a.fs.ReadFile(s.scenario)
	if err != nil {
		return nil, err
	}
	sc, err := simulate.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.scenario, err)
	}
	beside := func(paths ...string) (out []string) {
		for _, p := range paths {
			if !filepath.IsAbs(p) {
				p = filepath.Join(filepath.Dir(s.scenario), p)
			}
			out = append(out, p)
		}
		return out
	}
	flags := s.flags
	flags.facts = append(slices.Clone(flags.facts), beside(sc.Facts...)...)
	// Files that only an edit names are not deployments of their own.
	var edits []string
	for _, e := range sc.Events {
		if e.Edit != "" && !slices.Contains(sc.Deployments, e.Edit) {
			edits = append(edits, beside(e.Edit)...)
		}
	}
	exclude := slices.Concat(edits, []string{s.scenario})
	first, err := a.edition(&flags, beside(sc.Deployments...), nil, exclude...)
	if err != nil {
		return nil, err
	}
	if n := len(first.out.Deployments); n > 1 && len(sc.Events)+len(sc.Capacity) > 0 {
		return nil, fmt.Errorf("%s: events and capacity need a scenario of one deployment, and there are %d", s.scenario, n)
	}
	editions := map[string]*edition{}
	last := first
	for _, e := range sc.Events {
		if e.Edit == "" {
			continue
		}
		if last, err = a.edition(&flags, beside(e.Edit), last); err != nil {
			return nil, err
		}
		editions[e.Edit] = last
	}
	var inputs []simulate.Input
	for i := range first.out.Deployments {
		d := &first.out.Deployments[i]
		in := simulate.Input{Deployment: d, Scenario: sc, Edits: map[string]*compiler.Deployment{}}
		for path, e := range editions {
			if in.Edits[path] = e.find(d); in.Edits[path] == nil {
				md := d.ModelDeployment
				return nil, fmt.Errorf("%s: there is no deployment %s/%s", path, md.Namespace, md.Name)
			}
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// edition is a set of deployments as compiled.
type edition struct {
	in  *input
	out *compiler.Output
}

func (e *edition) find(d *compiler.Deployment) *compiler.Deployment {
	for i := range e.out.Deployments {
		if same(e.out.Deployments[i].ModelDeployment, d.ModelDeployment) {
			return &e.out.Deployments[i]
		}
	}
	return nil
}

func same(a, b *v1.ModelDeployment) bool { return a.Namespace == b.Namespace && a.Name == b.Name }

// edition reads and compiles. An edit is judged as an update of what was
// before.
func (a *app) edition(flags *inputFlags, paths []string, before *edition, exclude ...string) (*edition, error) {
	in, err := a.read(flags, paths, exclude...)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if err := a.judgeEdit(in, before.in.judged()); err != nil {
			return nil, err
		}
	}
	out, err := a.compile(in, emptiness{})
	if err != nil {
		return nil, err
	}
	return &edition{in, out}, nil
}

// judgeEdit refuses an edit that the API server would refuse. What is wrong
// with the deployment itself is left to the compile.
func (a *app) judgeEdit(in *input, stored []*source.Object) error {
	findings := compiler.Validate(compiler.Input{
		Objects: in.judged(), Facts: in.facts.Objects, Namespace: in.flags.namespace,
	}, stored).Sorted()
	if !findings.HasErrors() {
		return nil
	}
	if err := a.report(in, slices.Concat(in.objects.Findings, in.facts.Findings, findings).Sorted()); err != nil {
		return err
	}
	return errFindings
}

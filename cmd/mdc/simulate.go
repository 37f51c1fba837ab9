// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gpustack.ai/mdc/cmd/agent/simulate"
	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

var simulatePrinters = map[string]func(w io.Writer, results []*simulate.Result) error{
	"text": simulate.Text,
	"json": simulate.JSON,
	"svg":  simulate.SVG,
}

// simulateOptions are the flags of the command.
type simulateOptions struct {
	flags    inputFlags
	scenario string
	old      []string
	seed     uint64
	format   string
}

func newSimulate(a *app) *cobra.Command {
	o := &simulateOptions{}
	c := &cobra.Command{
		Use:   "simulate [PATH...]",
		Short: "Play what the agent would do, without a cluster",
		Long: `Play what the agent would do to deployments, on a model of Kueue, kubelets and
the API server. The decisions are those of the agent itself. With --old the
deployments there are running and Ready, and the ones in PATH are applied;
with --scenario a file says what happens when, and how long Pods take:

  deployments: [chat.yaml, code.yaml]
  facts: [facts.yaml]
  running: true            # all Ready at the start; default: created then
  capacity: {<instanceType>: 8}   # cards that all share; default: no end
  timing: {load: 5m, drain: 30s, roles: {chat/decode: {load: 8m}}}
  events:
  - {at: 10m, edit: edited.yaml}
  - {at: 20m, deployment: chat, scale: {role: server, replicas: 3}}
  - {at: 30m, deployment: code, deletePod: {role: server, ordinal: 0}}
  - {at: 40m, capacity: {<instanceType>: 10}}
  until: 2h                # default: a day after the last event

An event is one of edit, scale, deletePod, failPod, evict, preempt, reactivate,
nodeNotReady, nodeReady, nodeRemoved, capacity or delete. With several
deployments it names the one that it is about; an edit is about those in its
file, and creates the ones that were not there. Paths are relative to the
scenario. "mdc schema scenario" prints the schema of the file, "mdc schema
simulation" that of -o json.

Deployments share the cards of an InstanceType. Freed cards go to whoever waits
longest, as in a ClusterQueue that is left at its defaults. Priorities are not
played: nobody preempts anybody but by an event. Times are those of a model and
no promise.`,
		Example: `  mdc simulate deployment.yaml --old ../main/deployment.yaml --facts facts/
  mdc simulate --scenario scenario.yaml
  mdc simulate --scenario scenario.yaml -o svg > rollout.svg`,
		RunE: func(_ *cobra.Command, paths []string) error { return a.simulate(o, paths) },
	}
	o.flags.add(a, c)
	formatFlag(c, &o.format, "text", "json", "svg")
	c.Flags().StringVar(&o.scenario, "scenario", "", "file that tells what happens")
	c.Flags().StringArrayVar(&o.old, "old", nil, "file or directory of the running deployments (repeatable)")
	c.Flags().Uint64Var(&o.seed, "seed", 0, "vary times by up to a tenth, and how Pods end; 0 does not")
	must(c.MarkFlagFilename("scenario", "yaml", "yml"))
	must(c.MarkFlagFilename("old", "yaml", "yml", "json"))
	return c
}

func (a *app) simulate(o *simulateOptions, paths []string) error {
	var (
		inputs []simulate.Input
		err    error
	)
	switch {
	case o.scenario != "" && len(o.old) > 0, o.scenario == "" && len(o.old) == 0:
		return errors.New("simulate: give either --scenario or --old")
	case o.scenario != "" && len(paths) > 0:
		return errors.New("simulate: with --scenario the deployments are named in the file")
	case o.scenario != "":
		inputs, err = a.scenario(o)
	default:
		inputs, err = a.edited(o, paths)
	}
	if err != nil {
		return err
	}
	var results []*simulate.Result
	for _, in := range inputs {
		in.Seed = o.seed
		r, err := simulate.Play(in)
		if err != nil {
			return failure(err)
		}
		results = append(results, r...)
	}
	return simulatePrinters[o.format](a.stdout, results)
}

// failure tells what is wrong with a scenario by the place alone.
func failure(err error) error {
	var problems simulate.Problems
	if errors.As(err, &problems) {
		return fmt.Errorf("simulate: the scenario cannot be played\n%w", problems)
	}
	return fmt.Errorf("simulate: %w", err)
}

// edited are the deployments that run and are then replaced by those of the
// paths. Without a capacity they do not meet.
func (a *app) edited(o *simulateOptions, paths []string) ([]simulate.Input, error) {
	old, err := a.edition(&o.flags, o.old, nil)
	if err != nil {
		return nil, err
	}
	edited, err := a.edition(&o.flags, paths, old.judged(), besides(o.old, paths)...)
	if err != nil {
		return nil, err
	}
	name := strings.Join(paths, ", ")
	if name == "" {
		name = "."
	}
	for i := range old.out.Deployments {
		if d := &old.out.Deployments[i]; edited.find(d) == nil {
			fmt.Fprintf(a.stderr, "mdc: %s/%s is not among the deployments of %s and is not played\n", d.ModelDeployment.Namespace, d.ModelDeployment.Name, name)
		}
	}
	var inputs []simulate.Input
	for i := range edited.out.Deployments {
		d := simulate.Deployment{Compiled: &edited.out.Deployments[i]}
		sc := &simulate.Scenario{}
		if before := old.find(d.Compiled); before != nil {
			sc.Running = true
			sc.Events = []simulate.Event{{Edit: name}}
			d = simulate.Deployment{Compiled: before, Edits: map[string]*compiler.Deployment{name: d.Compiled}}
		}
		inputs = append(inputs, simulate.Input{Deployments: []simulate.Deployment{d}, Scenario: sc})
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

func (e *edition) judged() []*source.Object { return e.in.judged() }

// edition reads and compiles. An edit is judged as an update of what is stored.
func (a *app) edition(flags *inputFlags, paths []string, stored []*source.Object, exclude ...string) (*edition, error) {
	in, err := a.read(flags, paths, exclude...)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		in.inherit(stored)
		errs, err := a.judgeEdit(in, stored)
		if err != nil {
			return nil, err
		}
		if len(errs) > 0 {
			return nil, errFindings
		}
	}
	out, err := a.compile(in, emptiness{})
	if err != nil {
		return nil, err
	}
	return &edition{in, out}, nil
}

// inherit makes facts of what is stored beside the deployments and is not given
// again.
func (in *input) inherit(stored []*source.Object) {
	facts := *in.facts
	facts.Objects = slices.Clone(facts.Objects)
	given := slices.Concat(in.objects.Objects, facts.Objects)
	for _, o := range stored {
		if !compiler.IsModelDeployment(o) && !slices.ContainsFunc(given, func(g *source.Object) bool { return in.sameObject(g, o) }) {
			facts.Objects = append(facts.Objects, o)
		}
	}
	in.facts = &facts
}

// sameObject reports whether one of two objects takes the place of the other.
func (in *input) sameObject(a, b *source.Object) bool {
	namespace := func(o *source.Object) string { return cmp.Or(o.Namespace, in.flags.namespace) }
	return a.Group() == b.Group() && a.Kind == b.Kind && namespace(a) == namespace(b) && a.Name == b.Name
}

// judgeEdit returns the errors of an edit that the API server would refuse; they
// are printed.
func (a *app) judgeEdit(in *input, stored []*source.Object) (errs diag.List, err error) {
	for _, f := range compiler.Validate(in.compilerInput(), stored).Sorted() {
		if f.Severity == diag.Error {
			errs = append(errs, f)
		}
	}
	if len(errs) == 0 {
		return nil, nil
	}
	return errs, a.report(in, errs)
}

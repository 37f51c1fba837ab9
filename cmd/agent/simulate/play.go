// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gpustack.ai/mdc/cmd/agent/model"
	"gpustack.ai/mdc/compiler"
)

// What a scenario says nothing about.
const (
	defaultLoad  = 5 * time.Minute
	defaultDrain = 30 * time.Second
	defaultRest  = 24 * time.Hour
)

// mostWork ends a simulation after about a minute. A step costs stepWork, and
// the square of the Pods that it looks at.
const (
	mostWork = 3_000_000_000
	stepWork = 2000
)

// Input is what to play.
type Input struct {
	Deployments []Deployment
	// Scenario is what happens; its paths are read already.
	Scenario *Scenario
	// Seed varies times and orders; zero keeps to what the scenario says.
	Seed uint64
}

// Deployment is one of the deployments of a scenario.
type Deployment struct {
	// Compiled is the first edition.
	Compiled *compiler.Deployment
	// Since is the edit that creates it; empty when it is there from the start.
	Since string
	// Edits are the compiled editions by what the events call them.
	Edits map[string]*compiler.Deployment
}

// born is the start of every simulation.
var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Play plays deployments on one clock and one set of cards. What is wrong with
// the scenario comes as Problems.
func Play(in Input) ([]*Result, error) {
	p := &play{scenario: in.Scenario, seed: in.Seed, random: rand.New(rand.NewPCG(in.Seed, 0))}
	for i := range in.Deployments {
		d, err := p.join(&in.Deployments[i])
		if err != nil {
			return nil, err
		}
		p.players = append(p.players, d)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.start()
	if err := p.run(); err != nil {
		return nil, err
	}
	var out []*Result
	for _, d := range p.players {
		out = append(out, d.record.result(d))
	}
	return out, nil
}

// play is a simulation under way.
type play struct {
	scenario   *Scenario
	seed       uint64
	random     *rand.Rand
	now, until time.Duration
	players    []*player
	pools      []*pool
	// composed counts the Workloads, to tell the older from the younger.
	composed int
}

// start lets the clock begin.
func (p *play) start() {
	last := Duration(0)
	for _, e := range p.scenario.Events {
		last = max(last, e.At)
	}
	p.until = p.scenario.Until.or(time.Duration(last) + defaultRest)
	for _, q := range p.pools {
		if n, ok := p.scenario.Capacity[q.name]; ok {
			q.limited, q.cards = true, int(n)
		}
	}
	for _, d := range p.players {
		if d.since == "" {
			d.begin(p.scenario.Running)
		}
	}
}

// run takes one step after another, by the time they are due.
func (p *play) run() error {
	order := p.scenario.Order()
	for work := 0; work < mostWork; {
		t, ok := p.next()
		if len(order) > 0 {
			if at := time.Duration(p.scenario.Events[order[0]].At); !ok || at <= t.at {
				if p.now = max(p.now, at); p.now > p.until {
					return nil
				}
				if err := p.happen(order[0]); err != nil {
					return err
				}
				order = order[1:]
				work += stepWork
				continue
			}
		}
		if !ok || t.at > p.until {
			return nil
		}
		p.now = t.at
		work += stepWork + len(t.player.state.Pods)*len(t.player.state.Pods)
		if err := t.player.take(t.step); err != nil {
			return err
		}
	}
	return fmt.Errorf("too much happens, and %s are played so far; shorten until, or play fewer replicas or events", clock(p.now))
}

// turn is a step that a deployment's part of the world takes next.
type turn struct {
	player *player
	step   model.Step
	at     time.Duration
}

// next is the step that is due first.
func (p *play) next() (first turn, ok bool) {
	consider := func(t turn) {
		if !ok || t.at < first.at {
			first, ok = t, true
		}
	}
	for _, d := range p.players {
		for _, st := range d.steps() {
			consider(turn{d, st, d.due[st]})
		}
		if at, due := d.looks(); due {
			consider(turn{d, model.Step{Kind: model.Pass}, at})
		}
	}
	for _, t := range p.reservations() {
		consider(t)
	}
	return first, ok
}

// pool returns the place of an InstanceType's cards.
func (p *play) pool(name string) int {
	i := slices.IndexFunc(p.pools, func(q *pool) bool { return q.name == name })
	if i < 0 {
		i = len(p.pools)
		p.pools = append(p.pools, &pool{name: name})
	}
	return i
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/model"
	"gpustack.ai/mdc/compiler"
)

// What a scenario says nothing about.
const (
	defaultLoad  = 5 * time.Minute
	defaultDrain = 30 * time.Second
	defaultUntil = 2 * time.Hour
)

// Input is one deployment to play.
type Input struct {
	Deployment *compiler.Deployment
	// Edits are the compiled editions that the events of a scenario name.
	Edits map[string]*compiler.Deployment
	// Scenario is what happens; its paths count no more.
	Scenario *Scenario
	// Seed varies times and orders; zero keeps to what the scenario says.
	Seed uint64
}

// born is the start of every simulation.
var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Play plays one deployment.
func Play(in Input) (*Result, error) {
	p := &player{in: in, random: rand.New(rand.NewPCG(in.Seed, 0)), due: map[model.Step]time.Duration{}}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.record.result(p), nil
}

// player is a simulation under way.
type player struct {
	in       Input
	world    *model.World
	state    *model.State
	versions []*versions
	pools    []string
	random   *rand.Rand
	until    time.Duration
	now      time.Duration
	// due tells when each step that is possible happens.
	due map[model.Step]time.Duration
	// passed is when the agent last looked, and again when it looks again though
	// nothing has happened; news is what has reached its cache since.
	passed, again time.Duration
	news          bool
	// failed is why a fingerprint could not be had.
	failed error
	record recorder
}

func (p *player) prepare() error {
	md := p.in.Deployment.ModelDeployment
	p.until = time.Duration(p.in.Scenario.Until)
	if p.until == 0 {
		p.until = defaultUntil
	}
	p.world = &model.World{
		Decide: model.By(converge.Decide), Joint: true, Born: born, Now: born, Store: md.Spec.KVCache != nil,
		Hash: func(role int, version uint8, _ bool, seat converge.Seat) string {
			h, err := p.versions[role].hash(version, seat)
			if err != nil {
				p.failed = err
			}
			return h
		},
		Decided: func(_ *model.State, d *model.Decision) error {
			p.again = 0
			if d.Requeue > 0 {
				p.again = p.now + d.Requeue
			}
			return nil
		},
	}
	p.state = &model.State{}
	if len(md.Spec.Roles) > model.MaxRoles {
		return fmt.Errorf("%d roles are too many to simulate", len(md.Spec.Roles))
	}
	for i := range md.Spec.Roles {
		r := &md.Spec.Roles[i]
		t, err := template(p.in.Deployment, r.Name)
		if err != nil {
			return err
		}
		v := &versions{}
		if _, err := v.add(t); err != nil {
			return err
		}
		p.versions = append(p.versions, v)
		pool := slices.Index(p.pools, r.InstanceType)
		if pool < 0 {
			pool = len(p.pools)
			p.pools = append(p.pools, r.InstanceType)
		}
		p.world.Roles = append(p.world.Roles, model.Role{
			Name: r.Name, Size: int16(r.Size), Pool: int16(pool), Cards: cards(r), Managed: len(r.Command) == 0,
		})
		p.state.Spec.Roles[i] = model.RoleSpec{Replicas: int16(r.Replicas), Settled: int16(r.Replicas)}
	}
	p.world.Pools = len(p.pools)
	for i, name := range p.pools {
		p.state.Capacity[i] = math.MaxInt16 / 2
		if n, ok := p.in.Scenario.Capacity[name]; ok {
			p.state.Capacity[i] = int16(min(n, math.MaxInt16/2))
		}
	}
	if p.in.Scenario.Running {
		p.state = p.world.Running(p.state)
	}
	p.state.Cache = p.state.View
	p.news = true
	p.record.start(p)
	return nil
}

// run takes one step after another, by the time they are due.
func (p *player) run() error {
	events := slices.Clone(p.in.Scenario.Events)
	slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
	for p.failed == nil {
		step, at, ok := p.next()
		switch {
		case len(events) > 0 && (!ok || time.Duration(events[0].At) <= at):
			if p.now = max(p.now, time.Duration(events[0].At)); p.now > p.until {
				return nil
			}
			if err := p.happen(&events[0]); err != nil {
				return fmt.Errorf("at %s: %w", clock(p.now), err)
			}
			events = events[1:]
		case !ok, at > p.until:
			return nil
		default:
			if p.now = at; step.Kind == model.Pass {
				p.passed, p.news = p.now, false
			}
			p.news = p.news || step.Kind >= model.SyncSpec && step.Kind <= model.SyncAll
			why := p.why(step)
			p.world.Now = born.Add(p.now)
			after, err := p.world.Apply(p.state, step)
			if err != nil {
				return err
			}
			delete(p.due, step)
			p.move(after, why)
		}
	}
	return p.failed
}

// move goes on to a state.
func (p *player) move(after *model.State, why string) {
	p.record.compare(p, p.state, after, why)
	p.state = after
}

// next is the step that is due first.
func (p *player) next() (first model.Step, at time.Duration, ok bool) {
	p.world.Now = born.Add(p.now)
	possible := map[model.Step]bool{}
	for _, st := range p.world.Steps(p.state, nil) {
		if unasked(st.Kind) {
			continue
		}
		possible[st] = true
		due, known := p.due[st]
		if !known {
			due = p.now + p.delay(st)
			p.due[st] = due
		}
		if st.Kind == model.Pass {
			switch {
			case p.news:
				due = p.passed + watchDelay
			case p.again > 0:
				due = p.again
			default:
				continue
			}
			due = max(due, p.now)
		}
		if !ok || due < at {
			first, at, ok = st, due, true
		}
	}
	for st := range p.due {
		if !possible[st] {
			delete(p.due, st)
		}
	}
	return first, at, ok
}

// why tells what a step means to the Pods that it changes.
func (p *player) why(st model.Step) string {
	switch st.Kind {
	case model.WriteOne:
		w := p.state.Agent.Writes[0]
		if w.Kind == model.Create {
			return "created"
		}
		return string(w.Cause)
	case model.Reserve, model.Admit, model.Adopt:
		return "admitted"
	case model.BecomeReady:
		return "loaded"
	case model.ExitClean, model.ExitSignal, model.Remove, model.FinishDelete, model.ReleaseInactive:
		return ""
	}
	return st.Kind.String()
}

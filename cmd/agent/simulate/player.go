// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/model"
	"gpustack.ai/mdc/compiler"
)

// player is one deployment with its own part of the world and its own passes of
// the agent. Cards are no matter of its model: they are shared.
type player struct {
	*play
	first    *compiler.Deployment
	since    string
	edits    map[string]*compiler.Deployment
	there    bool
	world    *model.World
	state    *model.State
	roles    []role
	versions []*versions
	// possible are the steps of the state listed, waiting those that need cards,
	// and due when each of them happens.
	possible, waiting []model.Step
	listed            *model.State
	due               map[model.Step]time.Duration
	// age tells the order in which Workloads were composed.
	age map[model.ID]int
	// paused are Pods that were Ready when their node was lost.
	paused map[model.ID]bool
	// passed is when the agent last looked, and again when it looks again though
	// nothing has happened; news is what has reached its cache since, and changed
	// when something last did, or the agent wrote.
	passed, again, changed time.Duration
	news                   bool
	// made counts the objects, which the model can name only so many of.
	made int
	// failed is why a fingerprint could not be had.
	failed error
	record recorder
}

// role is what the model does not know of a role.
type role struct {
	pool int
	// cards of a whole instance.
	cards int
}

// settling is how long decisions may depend on time alone.
const settling = 10 * time.Second

// mostMade keeps to what an ID can count.
const mostMade = 60_000

// join sets the stage for a deployment.
func (p *play) join(in *Deployment) (*player, error) {
	md := in.Compiled.ModelDeployment
	d := &player{
		play: p, first: in.Compiled, since: in.Since, edits: in.Edits, state: &model.State{},
		due: map[model.Step]time.Duration{}, age: map[model.ID]int{}, paused: map[model.ID]bool{},
	}
	d.world = &model.World{
		Decide: model.By(converge.Decide), Joint: true, Parks: true, Born: born, Now: born, Store: md.Spec.KVCache != nil,
		Pools: 1, Hash: d.hash, Decided: d.decided,
	}
	if len(md.Spec.Roles) > model.MaxRoles {
		return nil, fmt.Errorf("%s has %d roles, which are too many to simulate", d.name(), len(md.Spec.Roles))
	}
	for i := range md.Spec.Roles {
		r := &md.Spec.Roles[i]
		t, err := template(in.Compiled, r.Name)
		if err != nil {
			return nil, err
		}
		v := &versions{}
		if _, err := v.add(t); err != nil {
			return nil, err
		}
		d.versions = append(d.versions, v)
		d.roles = append(d.roles, role{pool: p.pool(r.InstanceType), cards: cards(r) * int(r.Size)})
		d.world.Roles = append(d.world.Roles, model.Role{Name: r.Name, Size: int16(r.Size), Managed: len(r.Command) == 0})
	}
	return d, nil
}

// name is what events and messages call the deployment.
func (d *player) name() string {
	md := d.first.ModelDeployment
	return md.Namespace + "/" + md.Name
}

// begin puts the first edition in force.
func (d *player) begin(running bool) {
	d.there = true
	for i, r := range d.first.ModelDeployment.Spec.Roles {
		d.state.Spec.Roles[i] = model.RoleSpec{Replicas: int16(r.Replicas), Settled: int16(r.Replicas)}
	}
	d.world.Born = born.Add(d.now)
	if running {
		d.state = d.world.Running(d.state)
	}
	d.state.Cache = d.state.View
	d.news, d.changed = true, d.now
	d.record.start(d)
}

func (d *player) hash(role int, version uint8, _ bool, seat converge.Seat) string {
	h, err := d.versions[role].hash(version, seat)
	if err != nil {
		d.failed = err
	}
	return h
}

// decided notes when the agent wants to look again. As long as nothing changes
// it finds the same, so that the time between two looks grows.
func (d *player) decided(_ *model.State, decision *model.Decision) error {
	d.again = 0
	if len(decision.Writes) > 0 {
		d.changed = d.now
	}
	if wait := decision.Requeue; wait > 0 {
		if quiet := d.now - d.changed; quiet > settling {
			wait = max(wait, quiet)
		}
		d.again = d.now + wait
	}
	return nil
}

// looks is when the agent looks next.
func (d *player) looks() (time.Duration, bool) {
	switch {
	case !d.there, d.state.Agent.Stage != model.Idle:
		return 0, false
	case d.news:
		return max(d.passed+watchDelay, d.now), true
	}
	return max(d.again, d.now), d.again > 0
}

// steps are what may happen next, besides reservations and passes, so that no
// decision is asked for.
func (d *player) steps() []model.Step {
	if !d.there || d.state == d.listed {
		return d.possible
	}
	d.listed, d.possible, d.waiting = d.state, d.possible[:0], d.waiting[:0]
	world := *d.world
	world.Now = born.Add(d.now)
	world.Decide = func(*model.World, *model.Snapshot) model.Outcome { return model.Outcome{} }
	known := d.due
	d.due = make(map[model.Step]time.Duration, len(known))
	for _, st := range world.Steps(d.state, nil) {
		at, ok := known[st]
		switch {
		case unasked(st.Kind), st.Kind == model.Pass:
			continue
		case st.Kind == model.Reserve:
			d.waiting = append(d.waiting, st)
		default:
			if !ok {
				at, ok = d.now+d.delay(st), true
			}
			d.possible = append(d.possible, st)
		}
		if ok {
			d.due[st] = at
		}
	}
	return d.possible
}

// take takes a step.
func (d *player) take(st model.Step) error {
	switch {
	case st.Kind == model.Pass:
		d.passed, d.news = d.now, false
	case st.Kind >= model.SyncSpec && st.Kind <= model.SyncAll:
		d.news, d.changed = true, d.now
	}
	why := d.why(st)
	d.world.Now = born.Add(d.now)
	after, err := d.world.Apply(d.state, st)
	if err != nil {
		return err
	}
	delete(d.due, st)
	if st.Kind == model.Compose {
		d.composed++
		d.made++
		d.age[after.Group(st.Role, st.Ordinal).ID] = d.composed
	}
	d.move(after, why)
	if st.Kind == model.Park {
		d.record.parked(d, st)
	}
	switch {
	case d.failed != nil:
		return fmt.Errorf("%s: %w", d.name(), d.failed)
	case d.made > mostMade:
		return fmt.Errorf("%s: more than %d Pods and Workloads until %s are too many to simulate; shorten until", d.name(), mostMade, clock(d.now))
	}
	return nil
}

// move goes on to a state.
func (d *player) move(after *model.State, why string) {
	d.made += d.record.compare(d, d.state, after, why)
	d.state = after
}

// why tells what a step means to the Pods that it changes.
func (d *player) why(st model.Step) string {
	switch st.Kind {
	case model.WriteOne:
		w := d.state.Agent.Writes[0]
		if w.Kind == model.Create {
			return "created"
		}
		return string(w.Cause)
	case model.Reserve, model.Admit, model.Adopt:
		return "admitted"
	case model.BecomeReady:
		if d.paused[st.Pod] {
			return "node ready"
		}
		return "loaded"
	case model.ExitClean, model.ExitSignal, model.Remove, model.FinishDelete, model.ReleaseInactive:
		return ""
	}
	return st.Kind.String()
}

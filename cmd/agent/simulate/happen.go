// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"slices"

	"gpustack.ai/mdc/cmd/agent/model"
	"gpustack.ai/mdc/compiler"
)

// happen lets an event of the scenario happen.
func (p *play) happen(i int) error {
	e := &p.scenario.Events[i]
	switch {
	case e.Capacity != nil:
		p.capacity(e)
		return nil
	case e.Edit != "":
		for _, d := range p.players {
			if c := d.edits[e.Edit]; c != nil {
				if err := d.apply(e, c); err != nil {
					return err
				}
			}
		}
		return nil
	}
	d := p.players[p.about(e)]
	actions := e.actions()
	if len(actions) == 0 {
		return d.change(e)
	}
	st, err := d.step(&actions[0])
	if err != nil {
		field := fmt.Sprintf("events[%d].%s", i, actions[0].field)
		return Problems{p.scenario.places.problem(field, "at %s %s", clock(p.now), err)}
	}
	return d.disturb(&actions[0], st)
}

// capacity sets cards, which is news to every deployment that uses them.
func (p *play) capacity(e *Event) {
	for name, n := range e.Capacity {
		q := p.pools[p.pool(name)]
		q.limited, q.cards = true, int(n)
	}
	for _, d := range p.players {
		if d.there && slices.ContainsFunc(d.roles, func(r role) bool {
			_, ok := e.Capacity[p.pools[r.pool].name]
			return ok
		}) {
			d.record.note(d, e.text())
		}
	}
}

// apply puts an edition of the deployment in force.
func (d *player) apply(e *Event, c *compiler.Deployment) error {
	if !d.there {
		d.begin(false)
		d.record.event(d, e.text())
		return nil
	}
	after := *d.state
	for i := range c.ModelDeployment.Spec.Roles {
		r := &c.ModelDeployment.Spec.Roles[i]
		t, err := template(c, r.Name)
		if err != nil {
			return err
		}
		at := d.role(r.Name)
		if at < 0 {
			return fmt.Errorf("%s: %s adds role %s", d.name(), e.Edit, r.Name)
		}
		version, err := d.versions[at].add(t)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name(), err)
		}
		after.Spec.Roles[at].Version = version
		after.Spec.Roles[at].Replicas, after.Spec.Roles[at].Settled = int16(r.Replicas), int16(r.Replicas)
	}
	d.record.event(d, e.text())
	d.move(&after, "")
	return nil
}

// change lets an event happen that is about the deployment itself.
func (d *player) change(e *Event) error {
	after := *d.state
	if e.Scale != nil {
		r := &after.Spec.Roles[d.role(e.Scale.Role)]
		r.Replicas, r.Settled = int16(e.Scale.Replicas), int16(e.Scale.Replicas)
	} else {
		gone, err := d.world.Apply(d.state, model.Step{Kind: model.DeleteDeployment})
		if err != nil {
			return err
		}
		after = *gone
	}
	d.record.event(d, e.text())
	d.move(&after, "")
	return nil
}

// disturb lets an event happen to a Pod or a Workload.
func (d *player) disturb(a *action, st model.Step) error {
	switch st.Kind {
	case model.Preempt:
		d.preempted(st)
	case model.LoseNode:
		d.paused[st.Pod] = d.state.Pod(st.Pod).Phase == model.Ready
	}
	d.record.event(d, fmt.Sprintf("%s: %s", a.text, d.seat(a)))
	after, err := d.world.Apply(d.state, st)
	if err != nil {
		return err
	}
	d.move(after, a.text)
	return nil
}

// seat spells whom an action is about.
func (d *player) seat(a *action) string {
	where := fmt.Sprintf("%s/%d", a.seat.Role, a.seat.Ordinal)
	if !a.whole() && d.world.Roles[d.role(a.seat.Role)].Size > 1 {
		where += fmt.Sprintf("/%d", a.seat.Member)
	}
	return where
}

// role is the place of a role, or -1.
func (d *player) role(name string) int {
	return slices.IndexFunc(d.world.Roles, func(r model.Role) bool { return r.Name == name })
}

// step finds the Pod or the Workload of an event.
func (d *player) step(a *action) (model.Step, error) {
	st := model.Step{Kind: a.kind, Role: int16(d.role(a.seat.Role)), Ordinal: int16(a.seat.Ordinal)}
	where := d.seat(a)
	if a.whole() {
		switch wl := d.state.Group(st.Role, st.Ordinal); {
		case a.kind == model.Reactivate && (wl == nil || !wl.Parked):
			return st, fmt.Errorf("%s is not parked", where)
		case a.kind == model.Reactivate:
			return st, nil
		case wl == nil || wl.Deleting || !wl.Reserved:
			return st, fmt.Errorf("%s holds no quota, of which it could lose some", where)
		case wl.Evicted:
			return st, fmt.Errorf("%s is being evicted already", where)
		}
		return st, nil
	}
	for i := range d.state.Pods {
		pod := &d.state.Pods[i]
		if pod.Role != st.Role || pod.Ordinal != st.Ordinal || pod.Member != int16(a.seat.Member) || pod.Phase >= model.Succeeded {
			continue
		}
		back := a.kind == model.NodeBack || a.kind == model.NodeGone
		switch {
		case a.kind == model.DeletePod:
		case pod.Phase == model.Gated:
			return st, fmt.Errorf("%s is gated and has no node yet", where)
		case back && !pod.Lost:
			return st, fmt.Errorf("the node of %s is ready; lose it by nodeNotReady first", where)
		case !back && pod.Lost:
			return st, fmt.Errorf("the node of %s is not ready already", where)
		}
		st.Pod = pod.ID
		return st, nil
	}
	return st, fmt.Errorf("there is no Pod %s", where)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gpustack.ai/mdc/cmd/agent/model"
	"gpustack.ai/mdc/compiler"
)

// happen lets an event of the scenario happen.
func (p *player) happen(e *Event) error {
	text := strings.Join(e.kinds(), "")
	if actions := e.actions(); len(actions) > 0 {
		a := actions[0]
		st, err := p.step(a)
		if err != nil {
			return err
		}
		p.record.event(p, text)
		after, err := p.world.Apply(p.state, st)
		if err != nil {
			return err
		}
		p.move(after, a.text)
		return nil
	}
	after := *p.state
	var err error
	switch {
	case e.Edit != "":
		err = p.edit(&after, p.in.Edits[e.Edit])
	case e.Scale != nil:
		var role int
		role, err = p.role(e.Scale.Role)
		if err == nil {
			r := &after.Spec.Roles[role]
			r.Replicas, r.Settled = int16(e.Scale.Replicas), int16(e.Scale.Replicas)
		}
	case e.Capacity != nil:
		for i, name := range p.pools {
			if n, ok := e.Capacity[name]; ok {
				after.Capacity[i] = int16(min(n, math.MaxInt16/2))
			}
		}
	case e.Delete:
		after.Spec.Deleting = true
	}
	if err != nil {
		return err
	}
	p.record.event(p, text)
	p.move(&after, "")
	return nil
}

// edit puts another edition of the deployment in force.
func (p *player) edit(s *model.State, d *compiler.Deployment) error {
	for i := range d.ModelDeployment.Spec.Roles {
		r := &d.ModelDeployment.Spec.Roles[i]
		t, err := template(d, r.Name)
		if err != nil {
			return err
		}
		version, err := p.versions[i].add(t)
		if err != nil {
			return err
		}
		s.Spec.Roles[i].Version = version
		s.Spec.Roles[i].Replicas, s.Spec.Roles[i].Settled = int16(r.Replicas), int16(r.Replicas)
	}
	return nil
}

func (p *player) role(name string) (int, error) {
	i := slices.IndexFunc(p.world.Roles, func(r model.Role) bool { return r.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("there is no role %q", name)
	}
	return i, nil
}

// step finds the Pod or the Workload of an event.
func (p *player) step(a action) (model.Step, error) {
	role, err := p.role(a.seat.Role)
	if err != nil {
		return model.Step{}, err
	}
	st := model.Step{Kind: a.kind, Role: int16(role), Ordinal: int16(a.seat.Ordinal)}
	if a.kind == model.Evict || a.kind == model.Preempt {
		if wl := p.state.Group(st.Role, st.Ordinal); wl == nil || !wl.Reserved || wl.Deleting {
			return st, fmt.Errorf("%s: %s/%d holds no quota", a.text, a.seat.Role, a.seat.Ordinal)
		}
		return st, nil
	}
	for i := range p.state.Pods {
		pod := &p.state.Pods[i]
		if pod.Role != st.Role || pod.Ordinal != st.Ordinal || pod.Member != int16(a.seat.Member) || pod.Phase >= model.Succeeded {
			continue
		}
		lost := a.kind == model.NodeBack || a.kind == model.NodeGone
		if lost != pod.Lost || pod.Phase == model.Gated && a.kind != model.DeletePod {
			continue
		}
		st.Pod = pod.ID
		return st, nil
	}
	return st, fmt.Errorf("%s: %s/%d has no such Pod at that time", a.text, a.seat.Role, a.seat.Ordinal)
}

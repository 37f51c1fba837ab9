// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"

	"gpustack.ai/mdc/cmd/agent/model"
)

// pool is the cards of an InstanceType, which all deployments share.
type pool struct {
	name    string
	limited bool
	cards   int
}

// used is how many cards of each pool are reserved.
func (p *play) used() []int {
	used := make([]int, len(p.pools))
	for _, d := range p.players {
		for i := range d.state.Workloads {
			if wl := &d.state.Workloads[i]; wl.Reserved {
				r := &d.roles[wl.Role]
				used[r.pool] += r.cards
			}
		}
	}
	return used
}

// reservations are the Workloads that get quota next, at most one of each pool:
// of those that there is room for it is the oldest, as in a ClusterQueue of
// Kueue that is left at its defaults.
func (p *play) reservations() (out []turn) {
	used := p.used()
	oldest := make([]*turn, len(p.pools))
	ages := make([]int, len(p.pools))
	for _, d := range p.players {
		for _, st := range d.waiting {
			r := &d.roles[st.Role]
			if q := p.pools[r.pool]; q.limited && r.cards > 0 && used[r.pool]+r.cards > q.cards {
				delete(d.due, st)
				continue
			}
			at, known := d.due[st]
			if !known {
				at = p.now + d.delay(st)
				d.due[st] = at
			}
			age := d.age[d.state.Group(st.Role, st.Ordinal).ID]
			if oldest[r.pool] == nil || age < ages[r.pool] {
				oldest[r.pool], ages[r.pool] = &turn{d, st, at}, age
			}
		}
	}
	for _, t := range oldest {
		if t != nil {
			out = append(out, turn{t.player, t.step, max(t.at, p.now)})
		}
	}
	return out
}

// preempted gives the cards of a replica to somebody outside of the scenario.
func (d *player) preempted(st model.Step) {
	r := &d.roles[st.Role]
	d.pools[r.pool].cards -= r.cards
}

// waits tells which replicas do not get what they need.
func (d *player) waits() (out []string) {
	used := d.used()
	for i := range d.state.Workloads {
		wl := &d.state.Workloads[i]
		name := fmt.Sprintf("%s/%d", d.world.Roles[wl.Role].Name, wl.Ordinal)
		r := &d.roles[wl.Role]
		switch q := d.pools[r.pool]; {
		case wl.Deleting, wl.Evicted, wl.Admitted:
		case wl.Parked:
			out = append(out, name+" is parked: it has given its cards back, and asks for none until it is reactivated")
		case wl.Reserved:
			out = append(out, name+" holds its cards and waits for the other replicas")
		case q.limited:
			out = append(out, fmt.Sprintf("%s waits for cards of %s: it needs %d, and %d of %d are reserved", name, q.name, r.cards, used[r.pool], q.cards))
		}
	}
	for i := range d.state.Pods {
		if pod := &d.state.Pods[i]; pod.Lost {
			out = append(out, fmt.Sprintf("%s/%d has a Pod on a node that is not ready", d.world.Roles[pod.Role].Name, pod.Ordinal))
		}
	}
	return out
}

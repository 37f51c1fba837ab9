// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"slices"
	"strings"
)

// How many Pods can be played in reasonable time: of one deployment, whose
// rollout looks at all of them for each, and of all.
const (
	mostPods    = 256
	mostPodsAll = 1024
)

// check compares a scenario with its deployments.
func (p *play) check() error {
	c := &check{play: p}
	c.known("capacity", p.scenario.Capacity)
	c.timing()
	there := make([]bool, len(p.players))
	deleted := make([]bool, len(p.players))
	for i, d := range p.players {
		there[i] = d.since == ""
	}
	for _, i := range p.scenario.Order() {
		e, field := &p.scenario.Events[i], fmt.Sprintf("events[%d]", i)
		if e.Capacity != nil {
			c.known(field+".capacity", e.Capacity)
			continue
		}
		for d := range p.players {
			if p.players[d].edits[e.Edit] == nil {
				continue
			}
			there[d] = true
			if deleted[d] {
				c.problem(field+".edit", "%s is deleted before; a simulation does not create it again", p.players[d].name())
			}
		}
		if e.Edit != "" {
			continue
		}
		at, ok := c.about(e, field)
		if !ok {
			continue
		}
		d := p.players[at]
		switch {
		case !there[at]:
			c.problem(field, "%s is created later, by %s", d.name(), d.since)
		case deleted[at] && (e.Delete || e.Scale != nil):
			c.problem(field, "%s is deleted before", d.name())
		}
		deleted[at] = deleted[at] || e.Delete
		c.seats(d, e, field)
	}
	if len(c.problems) == 0 {
		c.size()
	}
	return c.problems.err()
}

type check struct {
	*play
	problems Problems
}

func (c *check) problem(field, format string, args ...any) {
	c.problems = append(c.problems, c.scenario.places.problem(field, format, args...))
}

// known refuses the cards of InstanceTypes that nobody uses.
func (c *check) known(field string, cards map[string]Cards) {
	var names []string
	for _, q := range c.pools {
		names = append(names, q.name)
	}
	for name := range cards {
		if !slices.Contains(names, name) {
			c.problem(fmt.Sprintf("%s[%s]", field, name), "no role has InstanceType %q; %s", name, instead(name, names))
		}
	}
}

func (c *check) timing() {
	var names []string
	for _, d := range c.players {
		for _, r := range d.world.Roles {
			names = append(names, d.spellings(r.Name)...)
		}
	}
	for name := range c.scenario.Timing.Roles {
		if !slices.Contains(names, name) {
			c.problem(fmt.Sprintf("timing.roles[%s]", name), "there is no role %q; %s", name, instead(name, names))
		}
	}
}

// spellings are the names of a role in timing, the most exact first.
func (d *player) spellings(role string) []string {
	md := d.first.ModelDeployment
	return []string{md.Namespace + "/" + md.Name + "/" + role, md.Name + "/" + role, role}
}

// about finds the deployment of an event.
func (c *check) about(e *Event, field string) (int, bool) {
	var names, found []string
	for _, d := range c.players {
		names = append(names, d.name())
		if d.answers(e.Deployment) {
			found = append(found, d.name())
		}
	}
	switch {
	case e.Deployment == "" && len(c.players) > 1:
		c.problem(field, "does not tell which deployment it is about; add deployment: %s", strings.Join(names, " or "))
		return 0, false
	case len(found) == 0:
		c.problem(field+".deployment", "there is no deployment %q; %s", e.Deployment, instead(e.Deployment, names))
		return 0, false
	case len(found) > 1:
		c.problem(field+".deployment", "%q may be %s; write one of them", e.Deployment, strings.Join(found, " or "))
		return 0, false
	}
	return c.play.about(e), true
}

// about is the place of the deployment of an event.
func (p *play) about(e *Event) int {
	return slices.IndexFunc(p.players, func(d *player) bool { return d.answers(e.Deployment) })
}

// answers reports whether a name, which may be left out, is that of the
// deployment.
func (d *player) answers(name string) bool {
	return name == "" || name == d.name() || name == d.first.ModelDeployment.Name
}

// seats checks the roles that an event names.
func (c *check) seats(d *player, e *Event, field string) {
	var names []string
	for _, r := range d.world.Roles {
		names = append(names, r.Name)
	}
	role := func(field, name string) bool {
		if !slices.Contains(names, name) {
			c.problem(field+".role", "%s has no role %q; %s", d.name(), name, instead(name, names))
			return false
		}
		return true
	}
	if e.Scale != nil {
		role(field+".scale", e.Scale.Role)
	}
	for _, a := range e.actions() {
		at := field + "." + a.field
		if !role(at, a.seat.Role) {
			continue
		}
		if size := d.world.Roles[d.role(a.seat.Role)].Size; a.seat.Member >= int32(size) {
			c.problem(at+".member", "a replica of %s has %d Pods, counted from 0", a.seat.Role, size)
		}
	}
}

// size refuses what would take too long.
func (c *check) size() {
	const remedy = "lower replicas and capacity by the same factor"
	all := 0
	for _, d := range c.players {
		pods := c.pods(d)
		if all += pods; pods > mostPods {
			c.problem("deployments", "%s has up to %d Pods, and a simulation takes %d of one deployment; %s", d.name(), pods, mostPods, remedy)
		}
	}
	if all > mostPodsAll {
		c.problem("deployments", "there are up to %d Pods, and a simulation takes %d; %s", all, mostPodsAll, remedy)
	}
}

// pods is how many a deployment has at most.
func (c *check) pods(d *player) (n int) {
	most := make([]int32, len(d.roles))
	declared := func(role string, replicas int32) {
		if r := d.role(role); r >= 0 {
			most[r] = max(most[r], replicas)
		}
	}
	for _, r := range d.first.ModelDeployment.Spec.Roles {
		declared(r.Name, r.Replicas)
	}
	for _, e := range d.edits {
		for _, r := range e.ModelDeployment.Spec.Roles {
			declared(r.Name, r.Replicas)
		}
	}
	for i := range c.scenario.Events {
		if e := &c.scenario.Events[i]; e.Scale != nil && c.players[c.play.about(e)] == d {
			declared(e.Scale.Role, e.Scale.Replicas)
		}
	}
	for r, replicas := range most {
		n += int(replicas) * int(d.world.Roles[r].Size)
	}
	return n
}

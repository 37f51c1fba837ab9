// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"slices"
	"time"

	"gpustack.ai/mdc/cmd/agent/model"
)

// recorder turns states into a timeline.
type recorder struct {
	entries []Entry
	rows    map[[2]int16]*row
	roles   []tally
	// changed is when a Pod, or what is declared, last changed.
	changed time.Duration
}

// tally counts one role.
type tally struct {
	seen             bool
	lowest           int32
	lowestAt         time.Duration
	created, deleted int32
}

func (r *recorder) start(d *player) {
	r.rows = map[[2]int16]*row{}
	r.roles = make([]tally, len(d.world.Roles))
	r.track(d, d.state)
}

// event notes something that happens to the deployment from outside.
func (r *recorder) event(d *player, text string) {
	r.note(d, text)
	r.changed = d.now
}

// note notes something that happens around the deployment.
func (r *recorder) note(d *player, text string) {
	r.entries = append(r.entries, Entry{At: clock(d.now), Event: text, time: d.now})
}

func stageOf(p *model.Pod) Stage {
	switch {
	case p.Deleting, p.Phase >= model.Succeeded:
		return Draining
	case p.Phase == model.Gated:
		return Gated
	case p.Phase == model.Ready && !p.Lost:
		return Ready
	}
	return Starting
}

func (r *recorder) pod(d *player, pod *model.Pod, s Stage, why string) {
	ordinal, member := int32(pod.Ordinal), int32(pod.Member)
	r.entries = append(r.entries, Entry{
		At: clock(d.now), Role: d.world.Roles[pod.Role].Name, Ordinal: &ordinal, Member: &member,
		State: s, Event: why, time: d.now,
	})
	r.changed = d.now
}

// parked notes that the Pods of a replica wait without quota, which changes
// nothing else about them.
func (r *recorder) parked(d *player, st model.Step) {
	for i := range d.state.Pods {
		if pod := &d.state.Pods[i]; pod.Role == st.Role && pod.Ordinal == st.Ordinal {
			r.pod(d, pod, stageOf(pod), "parked")
		}
	}
}

// compare notes every Pod that differs between two states. It returns the number
// of new ones.
func (r *recorder) compare(d *player, before, after *model.State, why string) (created int) {
	note := func(pod *model.Pod, s Stage, why string) { r.pod(d, pod, s, why) }
	for i := range before.Pods {
		old := &before.Pods[i]
		now := after.Pod(old.ID)
		switch {
		case now == nil:
			note(old, Gone, "")
		case stageOf(now) != stageOf(old):
			note(now, stageOf(now), why)
			if stageOf(now) == Draining {
				r.roles[now.Role].deleted++
			}
		}
	}
	for i := range after.Pods {
		if pod := &after.Pods[i]; before.Pod(pod.ID) == nil {
			note(pod, stageOf(pod), why)
			r.roles[pod.Role].created++
			created++
		}
	}
	r.track(d, after)
	return created
}

// stages in the order in which one counts for the whole instance.
var weight = map[Stage]int{Gone: 0, Ready: 1, Starting: 2, Gated: 3, Draining: 4}

// track notes the stage of every instance and how many are Ready.
func (r *recorder) track(d *player, s *model.State) {
	stages, members := map[[2]int16]Stage{}, map[[2]int16]int16{}
	for i := range s.Pods {
		pod := &s.Pods[i]
		key := [2]int16{pod.Role, pod.Ordinal}
		members[key]++
		if stage := stageOf(pod); weight[stage] > weight[stages[key]] {
			stages[key] = stage
		}
		if r.rows[key] == nil {
			r.rows[key] = &row{role: d.world.Roles[pod.Role].Name, ordinal: int32(pod.Ordinal)}
		}
	}
	for key, row := range r.rows {
		row.be(stages[key], d.now)
	}
	for i := range r.roles {
		t, ready := &r.roles[i], int32(0)
		for key, stage := range stages {
			if int(key[0]) == i && stage == Ready && members[key] == d.world.Roles[i].Size {
				ready++
			}
		}
		want := int32(s.Spec.Roles[i].Replicas)
		switch {
		case !t.seen && ready == want:
			t.seen, t.lowest, t.lowestAt = true, ready, d.now
		case t.seen && ready < t.lowest:
			t.lowest, t.lowestAt = ready, d.now
		}
	}
}

// be notes the stage of an instance from now on; empty when it has no Pod.
func (r *row) be(s Stage, now time.Duration) {
	if n := len(r.spans); n > 0 {
		last := &r.spans[n-1]
		if last.to < 0 {
			if last.stage == s {
				return
			}
			last.to = now
		}
	}
	if s != "" {
		r.spans = append(r.spans, span{s, now, -1})
	}
}

func (r *recorder) result(d *player) *Result {
	md := d.first.ModelDeployment
	out := &Result{
		Namespace: md.Namespace, Name: md.Name, Timeline: r.entries,
		Until: clock(d.until), until: d.until, size: map[string]int32{},
	}
	if out.Timeline == nil {
		out.Timeline = []Entry{}
	}
	for key, row := range r.rows {
		for i := range row.spans {
			if row.spans[i].to < 0 {
				row.spans[i].to = d.until
			}
		}
		row.role = d.world.Roles[key[0]].Name
		out.rows = append(out.rows, *row)
	}
	order := func(role string) int {
		return slices.IndexFunc(d.world.Roles, func(r model.Role) bool { return r.Name == role })
	}
	slices.SortFunc(out.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(order(a.role), order(b.role)), cmp.Compare(a.ordinal, b.ordinal))
	})
	for i, t := range r.roles {
		role := d.world.Roles[i]
		s := Summary{
			Role: role.Name, Replicas: int32(d.state.Spec.Roles[i].Replicas),
			Ready: d.ready(int16(i)), Created: t.created, Deleted: t.deleted,
		}
		if t.seen {
			s.LowestReady, s.LowestAt = &t.lowest, clock(t.lowestAt)
		}
		out.Summary = append(out.Summary, s)
		out.size[role.Name] = int32(role.Size)
	}
	if d.asDeclared() {
		out.Settled = clock(r.changed)
	} else {
		out.waits = d.waits()
	}
	return out
}

// ready is how many instances of a role are Ready now.
func (d *player) ready(role int16) (n int32) {
	members := map[int16]int16{}
	for i := range d.state.Pods {
		if pod := &d.state.Pods[i]; pod.Role == role && stageOf(pod) == Ready {
			members[pod.Ordinal]++
		}
	}
	for _, m := range members {
		if m == d.world.Roles[role].Size {
			n++
		}
	}
	return n
}

// asDeclared reports whether everything is Ready in its newest version, and
// nothing else is left.
func (d *player) asDeclared() bool {
	s, want := d.state, 0
	for r, role := range d.world.Roles {
		if !s.Spec.Deleting {
			want += int(s.Spec.Roles[r].Replicas) * int(role.Size)
		}
	}
	return len(s.Pods) == want && !slices.ContainsFunc(s.Pods, func(pod model.Pod) bool {
		return stageOf(&pod) != Ready || pod.Version != s.Spec.Roles[pod.Role].Version
	})
}

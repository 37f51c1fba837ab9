// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/model"
)

// watchDelay is how long the agent gathers news before it looks.
const watchDelay = 200 * time.Millisecond

// nodeDelay is how long a Pod that kept running takes to be Ready again when its
// node comes back.
const nodeDelay = time.Second

// delays of the steps of the machinery, of the order that they have on a real
// cluster.
var delays = map[model.Kind]time.Duration{
	model.Compose:          50 * time.Millisecond,
	model.StopUnmatched:    50 * time.Millisecond,
	model.ReleaseInactive:  50 * time.Millisecond,
	model.Trim:             30 * time.Millisecond,
	model.Adopt:            30 * time.Millisecond,
	model.Reserve:          100 * time.Millisecond,
	model.Admit:            50 * time.Millisecond,
	model.ClearReservation: 100 * time.Millisecond,
	model.FinishDelete:     100 * time.Millisecond,
	model.Collect:          100 * time.Millisecond,
	model.Remove:           500 * time.Millisecond,
	model.SyncSpec:         20 * time.Millisecond,
	model.SyncPods:         20 * time.Millisecond,
	model.SyncWorkloads:    20 * time.Millisecond,
	model.ReadWorkloads:    20 * time.Millisecond,
	model.WriteOne:         10 * time.Millisecond,
}

// unasked reports whether a step happens only when the scenario says so.
func unasked(k model.Kind) bool {
	switch k {
	case model.FailOne, model.Crash:
		return true
	}
	return k >= model.NodeBack && k <= model.ForeignLeaves
}

// delay is how long a step takes from when it is possible.
func (d *player) delay(st model.Step) time.Duration {
	takes := delays[st.Kind]
	switch st.Kind {
	case model.BecomeReady:
		if takes = d.load(st.Role); d.paused[st.Pod] {
			takes = nodeDelay
		}
	case model.Park: // counted from the reservation
		reserved := time.Duration(d.state.Group(st.Role, st.Ordinal).ReservedAt) * time.Second
		return max(reserved+joint.Bound+time.Second-(born.Add(d.now).Sub(d.world.Born)), 0)
	case model.ExitSignal:
		takes = d.drain(st.Role)
	case model.ExitClean:
		// Which way a Pod ends is drawn; as a rule by the signal.
		takes = d.drain(st.Role) + time.Millisecond
		if d.seed != 0 && d.random.IntN(2) == 0 {
			takes -= 2 * time.Millisecond
		}
	}
	if d.seed != 0 {
		takes += time.Duration((d.random.Float64() - 0.5) * 0.2 * float64(takes))
	}
	return max(takes, 0)
}

// load is how long a Pod of a role takes from admission to Ready.
func (d *player) load(role int16) time.Duration {
	for _, t := range d.timings(role) {
		if t.Load != nil {
			return time.Duration(*t.Load)
		}
	}
	return d.scenario.Timing.Load.or(defaultLoad)
}

// drain is how long a Pod of a role takes from deletion to the end.
func (d *player) drain(role int16) time.Duration {
	for _, t := range d.timings(role) {
		if t.Drain != nil {
			return time.Duration(*t.Drain)
		}
	}
	return d.scenario.Timing.Drain.or(defaultDrain)
}

// timings are what the scenario says of a role, the most exact first.
func (d *player) timings(role int16) (out []RoleTiming) {
	for _, name := range d.spellings(d.world.Roles[role].Name) {
		if t, ok := d.scenario.Timing.Roles[name]; ok {
			out = append(out, t)
		}
	}
	return out
}

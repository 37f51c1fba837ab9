// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"gpustack.ai/mdc/cmd/agent/model"
)

// watchDelay is how long the agent gathers news before it looks.
const watchDelay = 200 * time.Millisecond

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
func (p *player) delay(st model.Step) time.Duration {
	d := delays[st.Kind]
	switch st.Kind {
	case model.BecomeReady:
		d = p.timing(st.Role).load
	case model.ExitSignal:
		d = p.timing(st.Role).drain
	case model.ExitClean:
		// Which way a Pod ends is drawn; as a rule by the signal.
		d = p.timing(st.Role).drain + time.Millisecond
		if p.in.Seed != 0 && p.random.IntN(2) == 0 {
			d -= 2 * time.Millisecond
		}
	}
	if p.in.Seed != 0 {
		d += time.Duration((p.random.Float64() - 0.5) * 0.2 * float64(d))
	}
	return max(d, 0)
}

type roleTiming struct{ load, drain time.Duration }

func (p *player) timing(role int16) roleTiming {
	t := p.in.Scenario.Timing
	out := roleTiming{defaultLoad, defaultDrain}
	own := t.Roles[p.world.Roles[role].Name]
	for _, d := range []Duration{t.Load, own.Load} {
		if d > 0 {
			out.load = time.Duration(d)
		}
	}
	for _, d := range []Duration{t.Drain, own.Drain} {
		if d > 0 {
			out.drain = time.Duration(d)
		}
	}
	return out
}

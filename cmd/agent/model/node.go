// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// kubeletSteps are what kubelets do with Pods that are not gated.
func (w *World) kubeletSteps(s *State, out []Step) []Step {
	for i := range s.Pods {
		p := &s.Pods[i]
		add := func(k Kind) {
			out = append(out, Step{Kind: k, Role: p.Role, Ordinal: p.Ordinal, Pod: p.ID})
		}
		switch {
		case p.Lost:
		case p.Phase == Starting && !p.Deleting && !w.broken(p):
			add(BecomeReady)
		case p.running() && p.Deleting:
			add(ExitClean)
			add(ExitSignal)
		case p.Phase == Succeeded && p.Deleting && !p.Held:
			add(Remove)
		}
	}
	return out
}

func (w *World) broken(p *Pod) bool { return w.Broken != nil && w.Broken(int(p.Role), p.Version) }

func (w *World) applyKubelet(s *State, st Step) {
	p := s.Pod(st.Pod)
	switch st.Kind {
	case BecomeReady:
		p.Phase = Ready
	case ExitClean:
		p.Phase = Succeeded
	case ExitSignal:
		p.Phase = Failed
	case Remove:
		s.Pods = slices.DeleteFunc(s.Pods, func(p Pod) bool { return p.ID == st.Pod })
	}
}

// repairSteps end what an event has disturbed. They may happen at any time.
func (w *World) repairSteps(s *State, out []Step) []Step {
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Lost {
			out = append(out,
				Step{Kind: NodeBack, Role: p.Role, Ordinal: p.Ordinal, Pod: p.ID},
				Step{Kind: NodeGone, Role: p.Role, Ordinal: p.Ordinal, Pod: p.ID})
		} else if p.Foreign && !p.Abandoned {
			out = append(out, Step{Kind: ForeignLeaves, Role: p.Role, Ordinal: p.Ordinal, Pod: p.ID})
		}
	}
	for r := range w.Roles {
		if w.Broken != nil && w.Broken(r, s.Spec.Roles[r].Version) {
			out = append(out, Step{Kind: Fix, Role: int16(r)})
		}
		if s.Spec.Roles[r].Stale {
			out = append(out, Step{Kind: Compile, Role: int16(r)})
		}
	}
	for i := range s.Workloads {
		if wl := &s.Workloads[i]; wl.Parked && !wl.Deleting {
			out = append(out, Step{Kind: Reactivate, Role: wl.Role, Ordinal: wl.Ordinal, Workload: wl.ID})
		}
	}
	if s.Left.Stolen > 0 {
		out = append(out, Step{Kind: RoomBack})
	}
	if s.Spec.StoreLost {
		out = append(out, Step{Kind: StoreBack})
	}
	if s.Spec.WeightsBlocked {
		out = append(out, Step{Kind: WeightsBack})
	}
	return out
}

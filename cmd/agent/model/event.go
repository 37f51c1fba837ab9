// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Budget is what may still happen from outside.
type Budget struct {
	// Events is how many in all; Of how many of each kind, counted from Edit.
	Events uint8
	Of     [kinds - Edit]uint8
	// Most is the greatest number of replicas to scale to; zero does not limit it.
	Most int16
	// Stolen is how many instances' room others have taken, Pool where.
	Stolen, Pool int16
}

// Allow returns a budget of n events of the given kinds, each at most once, or
// as often as it is named.
func Allow(n int, of ...Kind) Budget {
	b := Budget{Events: uint8(n)}
	for _, k := range of {
		b.Of[k-Edit]++
	}
	return b
}

// brokenFrom is added to a version that never starts.
const brokenFrom = 100

// NeverStarts is the World.Broken of versions made by EditBroken.
func NeverStarts(_ int, version uint8) bool { return version >= brokenFrom }

// Events appends what may happen from outside within the budget.
func (w *World) Events(s *State, out []Step) []Step {
	if s.Left.Events == 0 {
		return out
	}
	add := func(st Step) {
		if s.Left.Of[st.Kind-Edit] > 0 {
			out = append(out, st)
		}
	}
	if !s.Spec.Deleting && !s.Spec.Gone {
		for r := range w.Roles {
			role := int16(r)
			add(Step{Kind: Edit, Role: role})
			add(Step{Kind: EditBroken, Role: role})
			if !s.Spec.Roles[r].Stale {
				add(Step{Kind: Outrun, Role: role})
			}
			n := s.Spec.Roles[r].Replicas
			if s.Left.Most == 0 || n < s.Left.Most {
				add(Step{Kind: Scale, Role: role, N: n + 1})
			}
			if n > 0 {
				add(Step{Kind: Scale, Role: role, N: n - 1})
			}
			add(Step{Kind: ForeignPod, Role: role, Ordinal: 0})
		}
		add(Step{Kind: DeleteDeployment})
		if !s.Spec.StoreLost {
			add(Step{Kind: LoseStore})
		}
		if !s.Spec.WeightsBlocked {
			add(Step{Kind: BlockWeights})
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		at := Step{Role: p.Role, Ordinal: p.Ordinal, Pod: p.ID}
		of := func(k Kind) Step { at.Kind = k; return at }
		if !p.Deleting {
			add(of(DeletePod))
		}
		if p.running() && !p.Lost {
			add(of(FailPod))
			add(of(LoseNode))
		}
		if p.Phase == Ready && !p.Lost {
			add(of(Unready))
		}
	}
	for i := range s.Workloads {
		wl := &s.Workloads[i]
		at := Step{Role: wl.Role, Ordinal: wl.Ordinal, Workload: wl.ID}
		of := func(k Kind) Step { at.Kind = k; return at }
		if wl.Deleting {
			continue
		}
		if wl.Reserved && !wl.Evicted {
			add(of(Evict))
			if s.Left.Stolen == 0 {
				add(of(Preempt))
			}
		}
		add(of(DeleteWorkload))
	}
	return out
}

func (w *World) applyEvent(s *State, st Step) {
	if st.Kind >= Edit && s.Left.Events > 0 {
		s.Left.Events--
		s.Left.Of[st.Kind-Edit]--
	}
	r := &s.Spec.Roles[st.Role]
	switch st.Kind {
	case Edit, EditBroken:
		next := r.Version%brokenFrom + 1
		if st.Kind == EditBroken {
			next += brokenFrom
		}
		r.Version = next
		r.compiled()
	case Fix:
		r.Version -= brokenFrom
		r.compiled()
	case Outrun:
		r.Stale = true
	case Compile:
		r.Version = r.Version%brokenFrom + 1
		r.compiled()
	case Scale:
		if r.Replicas = st.N; !r.Stale {
			r.compiled()
		}
	case DeletePod:
		s.Pod(st.Pod).Deleting = true
	case FailPod:
		s.Pod(st.Pod).Phase = Failed
	case Unready:
		s.Pod(st.Pod).Phase = Starting
	case Evict, Preempt:
		w.evict(s, st)
	case DeleteWorkload:
		s.Group(st.Role, st.Ordinal).Deleting = true
	case LoseNode:
		p := s.Pod(st.Pod)
		p.Lost, p.Phase = true, Starting
	case NodeBack:
		s.Pod(st.Pod).Lost = false
	case NodeGone:
		p := s.Pod(st.Pod)
		p.Lost, p.Phase, p.Deleting = false, Failed, true
	case Park:
		wl := s.Group(st.Role, st.Ordinal)
		wl.Parked, wl.Reserved = true, false
	case Reactivate:
		s.Group(st.Role, st.Ordinal).Parked = false
	case ForeignLeaves:
		p := s.Pod(st.Pod)
		p.Deleting, p.Held, p.Phase = true, false, Failed
	case RoomBack:
		s.Capacity[s.Left.Pool] += s.Left.Stolen
		s.Left.Stolen, s.Left.Pool = 0, 0
	case LoseStore:
		s.Spec.StoreLost = true
	case StoreBack:
		s.Spec.StoreLost = false
	case BlockWeights:
		s.Spec.WeightsBlocked = true
	case WeightsBack:
		s.Spec.WeightsBlocked = false
	case DeleteDeployment:
		s.Spec.Deleting = true
		if !s.Spec.Finalizer {
			s.Spec.Gone = true
		}
	case ForeignPod:
		s.Pods = append(s.Pods, Pod{ID: s.newID(), Role: st.Role, Ordinal: st.Ordinal, Phase: Gated, Held: true, Foreign: true})
	}
}

// compiled: the template is that of the spec again.
func (r *RoleSpec) compiled() { r.Stale, r.Settled = false, r.Replicas }

// evict deletes the running Pods of a Workload. They keep Kueue's finalizer,
// and the conditions stay true until the last has stopped.
func (w *World) evict(s *State, st Step) {
	wl := s.Group(st.Role, st.Ordinal)
	wl.Evicted = true
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Role != st.Role || p.Ordinal != st.Ordinal || !p.running() || p.Deleting {
			continue
		}
		p.Deleting = true
		p.Preempted = w.Joint
	}
	if st.Kind == Preempt {
		role := w.Roles[st.Role]
		s.Left.Stolen, s.Left.Pool = role.Size*role.Cards, role.Pool
		s.Capacity[role.Pool] -= role.Size * role.Cards
	}
}

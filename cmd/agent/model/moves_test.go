// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// move is a step and where it leads.
type move struct {
	step Step
	to   key
}

// cellMove is a step of Kueue, a kubelet, a node or somebody from outside in
// one cell.
type cellMove struct {
	step Step
	to   uint32
	// room: it takes room from the pool, or gives it back.
	room bool
}

// cellMoves are the steps of a cell in given surroundings.
type cellMoves struct{ repair, nature, events []cellMove }

// groundMove is a step that concerns no cell and no pass but for the names of
// versions.
type groundMove struct {
	step    Step
	to      uint32
	renames int // a number of moves.renames; 0: none
}

// groundMoves are the steps of a ground.
type groundMoves struct{ repair, sync, events []groundMove }

// handMove is a step of a pass that reads and changes nothing else.
type handMove struct {
	step Step
	to   uint32
}

// moves finds the steps from states by their parts. A step is worked out by
// World.Apply once for the parts that it reads and changes, and looked up for
// every other state that has the same.
type moves struct {
	parts
	// ordinals are that many in each role.
	ordinals int16
	ofCell   [][]*cellMoves // by place; by cell and surroundings
	ofGround []*groundMoves
	ofHand   [][]handMove
	rooms    map[uint64]bool
	opens    map[key]bool
	stolen   map[[2]uint32]uint32
	renames  []renames
	passes   map[decisionKey]decision
	reads    map[decisionKey]decision
	writes   map[[2]uint32]result
	mirrors  []mirror
}

// renames is what becomes of the names of versions, and what that makes of
// hands and cells.
type renames struct {
	roles []renaming
	hands []uint32
	cells [][]uint32
}

// decisionKey is what a decision reads: for one that reads late what is in hand,
// else the cached spec; and the numbers of what it reads of the cells.
type decisionKey uint64

// decision is what the agent has in hand after one.
type decision struct {
	hand uint32
	none bool // nothing to do
	err  error
}

// result is where a write leads.
type result struct {
	to  key
	err error
}

func newMoves(w *World, ordinals int16, events Budget) *moves {
	m := &moves{
		parts: *newParts(w, ordinals, events), ordinals: ordinals,
		rooms: map[uint64]bool{}, opens: map[key]bool{}, stolen: map[[2]uint32]uint32{},
		passes: map[decisionKey]decision{}, reads: map[decisionKey]decision{}, writes: map[[2]uint32]result{},
		renames: make([]renames, 1),
	}
	m.ofCell = make([][]*cellMoves, len(m.places))
	m.mirrors = newMirrors(&m.parts)
	return m
}

// apply takes a step the slow way.
func (m *moves) apply(s *State, st Step) (key, error) {
	next, err := m.w.Apply(s, st)
	if err != nil {
		return 0, err
	}
	return m.split(next)
}

// What a step in a cell reads beside the cell.
const (
	hasRoom  = 1 << iota // for one more instance
	isOpen               // for the whole set
	isStolen             // room from the pool
	surroundings
)

func (m *moves) surroundings(k key, at int) int {
	g, l := &m.grounds.all[m.ground(k)], &m.cells[at].all[m.cell(k, at)]
	around := 0
	if g.stolen > 0 {
		around |= isStolen
	}
	if l.wants {
		id := uint64(g.declared)<<16 | uint64(at)<<8 | uint64(m.holders(k))
		room, ok := m.rooms[id]
		if !ok {
			room = m.w.room(m.join(k), m.places[at].role)
			m.rooms[id] = room
		}
		if room {
			around |= hasRoom
		}
	}
	if l.waits && m.w.Joint && len(m.w.Roles) > 1 {
		id := m.withHand(m.withGround(k, g.declared), 0)
		open, ok := m.opens[id]
		if !ok {
			open = m.w.open(m.join(k))
			m.opens[id] = open
		}
		if open {
			around |= isOpen
		}
	}
	return around
}

// inCell are the steps in one cell.
func (m *moves) inCell(k key, at int) (*cellMoves, error) {
	n := int(m.cell(k, at))*surroundings + m.surroundings(k, at)
	for n >= len(m.ofCell[at]) {
		m.ofCell[at] = append(m.ofCell[at], nil)
	}
	if known := m.ofCell[at][n]; known != nil {
		return known, nil
	}
	s := m.join(k)
	out := &cellMoves{}
	for _, kind := range []struct {
		steps []Step
		out   *[]cellMove
	}{
		{m.w.repairSteps(s, nil), &out.repair},
		{m.w.nature(s, nil), &out.nature},
		{m.w.Events(s, nil), &out.events},
	} {
		for _, st := range kind.steps {
			if m.at(st.Role, st.Ordinal) != at || !inCell(st) {
				continue
			}
			next, err := m.apply(s, st)
			if err != nil {
				return nil, err
			}
			*kind.out = append(*kind.out, cellMove{st, m.cell(next, at), st.Kind == Preempt})
		}
	}
	m.ofCell[at][n] = out
	return out, nil
}

// inCell reports whether a step of anyone but the agent concerns one cell.
func inCell(st Step) bool {
	return st.Kind < NodeBack || st.Pod != 0 || st.Workload != 0
}

// moveCell is where a step in a cell leads.
func (m *moves) moveCell(k key, at int, cm *cellMove) key {
	if cm.room {
		id := [2]uint32{m.ground(k), uint32(at)}
		to, ok := m.stolen[id]
		if !ok {
			s := m.join(k)
			m.w.applyEvent(s, cm.step)
			g := m.grounds.all[id[0]]
			g.capacity, g.stolen, g.pool = s.Capacity, s.Left.Stolen, s.Left.Pool
			to = m.groundNumber(g)
			m.stolen[id] = to
		}
		k = m.withGround(k, to)
	}
	return m.drop(m.withCell(k, at, cm.to), at)
}

// onGround are the steps on the ground.
func (m *moves) onGround(k key) (*groundMoves, error) {
	n := int(m.ground(k))
	for n >= len(m.ofGround) {
		m.ofGround = append(m.ofGround, nil)
	}
	if known := m.ofGround[n]; known != nil {
		return known, nil
	}
	s := m.join(k)
	out := &groundMoves{}
	for _, kind := range []struct {
		steps []Step
		out   *[]groundMove
	}{
		{m.w.repairSteps(s, nil), &out.repair},
		{m.w.syncSteps(s, nil), &out.sync},
		{m.w.Events(s, nil), &out.events},
	} {
		for _, st := range kind.steps {
			if inCell(st) {
				continue
			}
			next, err := m.w.Apply(s, st)
			if err != nil {
				return nil, err
			}
			to, err := m.split(next)
			if err != nil {
				return nil, err
			}
			*kind.out = append(*kind.out, groundMove{st, m.ground(to), m.renaming(next)})
		}
	}
	m.ofGround[n] = out
	return out, nil
}

// renaming is the number of how a state names versions that were named before.
func (m *moves) renaming(s *State) int {
	v := m.versions(s)
	same, roles := true, make([]renaming, len(m.w.Roles))
	for r := range roles {
		for i, name := range names {
			roles[r][i] = v.of(int16(r), name)
			same = same && roles[r][i] == name
		}
	}
	if same {
		return 0
	}
	for n := 1; n < len(m.renames); n++ {
		if slices.Equal(m.renames[n].roles, roles) {
			return n
		}
	}
	m.renames = append(m.renames, renames{roles: roles, cells: make([][]uint32, len(m.places))})
	return len(m.renames) - 1
}

// moveGround is where a step on the ground leads.
func (m *moves) moveGround(k key, gm *groundMove) key {
	k = m.withGround(k, gm.to)
	if gm.renames == 0 {
		return k
	}
	r := &m.renames[gm.renames]
	h := m.hand(k)
	if !known(&r.hands, h) {
		r.hands[h] = m.renameHand(h, r.roles)
	}
	k = m.withHand(k, r.hands[h])
	for at := range m.places {
		n := m.cell(k, at)
		if !known(&r.cells[at], n) {
			r.cells[at][n] = m.renameCell(at, n, r.roles)
		}
		k = m.withCell(k, at, r.cells[at][n])
	}
	return k
}

// known reports whether there is an n-th entry, and makes room for one.
func known(list *[]uint32, n uint32) bool {
	for int(n) >= len(*list) {
		*list = append(*list, ^uint32(0))
	}
	return (*list)[n] != ^uint32(0)
}

// inHand are the steps of a pass that neither read nor write.
func (m *moves) inHand(k key) ([]handMove, error) {
	n := int(m.hand(k))
	for n >= len(m.ofHand) {
		m.ofHand = append(m.ofHand, nil)
	}
	if m.ofHand[n] != nil || m.hands.all[n].agent.Stage == Idle {
		return m.ofHand[n], nil
	}
	s := m.join(k)
	for _, st := range m.w.agentSteps(s, nil) {
		if st.Kind != FailOne && st.Kind != Crash {
			continue
		}
		to, err := m.apply(s, st)
		if err != nil {
			return nil, err
		}
		m.ofHand[n] = append(m.ofHand[n], handMove{st, m.hand(to)})
	}
	return m.ofHand[n], nil
}

// decide is a pass that starts, one that reads for no need, or one that has read
// all, by the kind of step.
func (m *moves) decide(k key, kind Kind) decision {
	var id decisionKey
	known := m.passes
	for at := range m.places {
		c := &m.cells[at].all[m.cell(k, at)]
		if kind == ReadWorkloads {
			id = id<<readBits | decisionKey(c.truth)
		} else {
			id = id<<readBits | decisionKey(c.seen)
		}
	}
	switch id <<= agentBits + 1; kind {
	case ReadWorkloads:
		known = m.reads
		id |= decisionKey(m.hand(k))
	case Recheck:
		id |= 1
		fallthrough
	default:
		id |= decisionKey(m.grounds.all[m.ground(k)].cached << 1)
	}
	d, ok := known[id]
	if !ok {
		d = m.slowly(k, kind)
		known[id] = d
	}
	return d
}

func (m *moves) slowly(k key, kind Kind) decision {
	s := m.join(k)
	for _, st := range m.w.agentSteps(s, nil) {
		if st.Kind == kind {
			to, err := m.apply(s, st)
			return decision{hand: m.hand(to), err: err}
		}
	}
	return decision{none: true}
}

// write is where a write of a pass leads.
func (m *moves) write(k key, next nextWrite) result {
	h := m.hand(k)
	id := [2]uint32{h<<8 | uint32(next.n), m.ground(k) | 1<<31}
	if next.at >= 0 {
		id[1] = m.cell(k, next.at)
	}
	r, ok := m.writes[id]
	if !ok {
		r.to, r.err = m.apply(m.join(k), Step{Kind: WriteOne, N: next.n})
		m.writes[id] = r
	}
	to := m.withHand(k, m.hand(r.to))
	if next.at >= 0 {
		to = m.withCell(to, next.at, m.cell(r.to, next.at))
	} else {
		to = m.withGround(to, m.ground(r.to))
	}
	return result{to, r.err}
}

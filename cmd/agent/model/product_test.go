// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"strings"
)

// product goes through every state of a world with any number of events, or
// with so many: first all that no event leads to, then all that one leads to,
// and so on. A state counts when the fewest events have led to it, so what is
// left of them is no part of it. Writes that fail and crashes are no events: they
// may always happen.
//
// No order of steps is left out. States are fewer than in a plain search because
// those are one that nothing can tell apart: see parts, alike and mirror.
// TestProduct holds that against a plain search, and compare does so on the way.
type product struct {
	*moves
	// atMost is the number of events; zero: any.
	atMost int
	met    *keySet
	layers []int
	// closed: more events lead to no other state.
	closed      bool
	transitions int
	buf         []move
	path        []key
	ends        []end
	world       func() *World
	start       key
	traced      bool
	// check: the steps from one of so many states are held against those that are
	// found the plain way; zero: of none.
	check, visits int
}

// newProduct is a search of a world with so many ordinals.
func newProduct(world func() *World, ordinals int16, atMost int, kinds ...Kind) *product {
	events := Budget{Events: 200, Most: ordinals}
	for _, k := range kinds {
		events.Of[k-Edit] = 200
	}
	return &product{moves: newMoves(world(), ordinals, events), world: world, atMost: atMost}
}

// run explores from a state. An error tells the steps that lead to it.
func (x *product) run(s *State) error {
	var err error
	if x.start, err = x.split(s); err != nil {
		return err
	}
	x.start = x.canonical(x.start)
	x.met = newKeySet(x.traced)
	x.met.add(x.start, x.start)
	layer := []key{x.start}
	for events := 0; ; events++ {
		for i := 0; i < len(layer); i++ {
			for _, moves := range []moveFunc{x.within, x.inMirrors} {
				if layer, err = x.follow(layer[i], moves, layer); err != nil {
					return err
				}
			}
		}
		x.layers = append(x.layers, len(layer))
		if x.atMost > 0 && events == x.atMost {
			break
		}
		var next []key
		for _, k := range layer {
			if next, err = x.follow(k, x.outside, next); err != nil {
				return err
			}
		}
		if layer = next; len(layer) == 0 {
			x.closed = true
			break
		}
	}
	if x.overflow() {
		return fmt.Errorf("more parts than a key can tell apart")
	}
	return x.terminates()
}

// moveFunc appends moves from a state.
type moveFunc func(key, []move) ([]move, error)

// follow adds what is new among the moves from a state.
func (x *product) follow(k key, moves moveFunc, out []key) ([]key, error) {
	var err error
	if x.buf, err = moves(k, x.buf[:0]); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, x.trace(k))
	}
	x.transitions += len(x.buf)
	for i := range x.buf {
		if to := x.canonical(x.buf[i].to); x.met.add(to, k) {
			out = append(out, to)
		}
	}
	return out, nil
}

// within are the moves that no event is needed for.
func (x *product) within(k key, out []move) ([]move, error) {
	if x.visits++; x.check > 0 && x.visits%x.check == 0 {
		if err := x.compare(k); err != nil {
			return nil, err
		}
	}
	for at := range x.places {
		cm, err := x.inCell(k, at)
		if err != nil {
			return nil, err
		}
		for i := range cm.repair {
			out = append(out, move{cm.repair[i].step, x.moveCell(k, at, &cm.repair[i])})
		}
		for i := range cm.nature {
			out = append(out, move{cm.nature[i].step, x.moveCell(k, at, &cm.nature[i])})
		}
	}
	gm, err := x.onGround(k)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]groundMove{gm.repair, gm.sync} {
		for i := range list {
			out = append(out, move{list[i].step, x.moveGround(k, &list[i])})
		}
	}
	hm, err := x.inHand(k)
	if err != nil {
		return nil, err
	}
	for i := range hm {
		out = append(out, move{hm[i].step, x.withHand(k, hm[i].to)})
	}
	if out, err = x.decisions(k, out); err != nil {
		return nil, err
	}
	for _, next := range x.hands.all[x.hand(k)].next {
		r := x.write(k, next)
		if r.err != nil {
			return nil, r.err
		}
		out = append(out, move{Step{Kind: WriteOne, N: next.n}, r.to})
	}
	return out, nil
}

// turns are how the agent may come to a decision.
var turns = [...][]Kind{Idle: {Pass, Recheck}, Reading: {ReadWorkloads}, Writing: nil}

// decisions are what the agent may come to.
func (x *product) decisions(k key, out []move) ([]move, error) {
	for _, kind := range turns[x.stage(k)] {
		d := x.decide(k, kind)
		if d.err != nil {
			return nil, d.err
		}
		if !d.none {
			out = append(out, move{Step{Kind: kind}, x.withHand(k, d.hand)})
		}
	}
	return out, nil
}

// inMirrors are what the agent may come to in the mirrors of a state. Most often
// it is the same, but it goes through members in their order.
func (x *product) inMirrors(k key, out []move) ([]move, error) {
	if x.stage(k) == Writing {
		return out, nil
	}
	for i := range x.mirrors {
		mirrored, ok := x.mirror(k, i)
		if !ok || mirrored == k {
			continue
		}
		var err error
		if out, err = x.decisions(mirrored, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// outside are the events.
func (x *product) outside(k key, out []move) ([]move, error) {
	for at := range x.places {
		cm, err := x.inCell(k, at)
		if err != nil {
			return nil, err
		}
		for i := range cm.events {
			out = append(out, move{cm.events[i].step, x.moveCell(k, at, &cm.events[i])})
		}
	}
	cm, err := x.onGround(k)
	if err != nil {
		return nil, err
	}
	for i := range cm.events {
		out = append(out, move{cm.events[i].step, x.moveGround(k, &cm.events[i])})
	}
	return out, nil
}

// terminates follows a good scheduler from every state: it must come to rest as
// declared, whatever the order of members makes the agent decide.
func (x *product) terminates() error {
	x.met.fine, x.met.open = newBitmap(len(x.met.slots)), newBitmap(len(x.met.slots))
	for slot, k := range x.met.slots {
		if k == free || x.met.fine.has(slot) {
			continue
		}
		if err := x.comesToRest(slot); err != nil {
			return err
		}
	}
	return nil
}

// comesToRest follows the good scheduler from one state.
func (x *product) comesToRest(slot int) error {
	path, ends := x.path[:0], x.ends[:0]
	enter := func(slot int) error {
		k := x.met.slots[slot]
		from := len(path)
		var err error
		if path, err = x.good(k, path); err == nil && len(path) == from {
			err = x.w.judgeRest(x.join(k))
		}
		if err != nil {
			return fmt.Errorf("%w\n%s", err, x.trace(k))
		}
		x.met.open.set(slot)
		ends = append(ends, end{slot, from})
		return nil
	}
	if err := enter(slot); err != nil {
		return err
	}
	for len(ends) > 0 {
		top := ends[len(ends)-1]
		if len(path) == top.from {
			x.met.open.clear(top.slot)
			x.met.fine.set(top.slot)
			ends = ends[:len(ends)-1]
			continue
		}
		at, found := x.met.find(x.canonical(path[len(path)-1]))
		path = path[:len(path)-1]
		switch {
		case !found:
			return fmt.Errorf("a state that was not met\n%s", x.trace(x.met.slots[top.slot]))
		case x.met.open.has(at):
			return fmt.Errorf("%w\n%s", violated(termination, "the same steps repeat for ever"), x.trace(x.met.slots[at]))
		case !x.met.fine.has(at):
			if err := enter(at); err != nil {
				return err
			}
		}
	}
	x.path, x.ends = path, ends
	return nil
}

// end is a state that is being followed, by its slot, and from where on the
// states that it leads to lie on the path.
type end struct{ slot, from int }

// good appends what a cluster does that eventually serves everything: what is
// disturbed is mended, the cache catches up, Kueue and the kubelets do their
// work, and then the agent does its own. At rest nothing is left but a pass that
// writes nothing.
func (x *product) good(k key, out []key) ([]key, error) {
	var nature key
	busy := false
	for at := range x.places {
		cm, err := x.inCell(k, at)
		switch {
		case err != nil:
			return nil, err
		case len(cm.repair) > 0:
			return append(out, x.moveCell(k, at, &cm.repair[0])), nil
		case len(cm.nature) > 0 && !busy:
			nature, busy = x.moveCell(k, at, &cm.nature[0]), true
		}
	}
	gm, err := x.onGround(k)
	switch {
	case err != nil:
		return nil, err
	case len(gm.repair) > 0:
		return append(out, x.moveGround(k, &gm.repair[0])), nil
	case len(gm.sync) > 0:
		return append(out, x.moveGround(k, &gm.sync[0])), nil
	case busy:
		return append(out, nature), nil
	}
	if next := x.hands.all[x.hand(k)].next; len(next) > 0 {
		r := x.write(k, next[0])
		return append(out, r.to), r.err
	}
	out, err = x.goodPass(k, out)
	for i := range x.mirrors {
		if mirrored, ok := x.mirror(k, i); ok && mirrored != k && err == nil {
			out, err = x.goodPass(mirrored, out)
		}
	}
	return out, err
}

// goodPass appends what a pass, or the rest of one, leads to.
func (x *product) goodPass(k key, out []key) ([]key, error) {
	to := k
	for stage := x.stage(k); stage != Writing; {
		d := x.decide(to, turns[stage][0])
		if d.err != nil || d.none {
			return out, d.err
		}
		to = x.withHand(to, d.hand)
		if stage = x.stage(to); stage == Idle {
			break
		}
	}
	if to != k {
		out = append(out, to)
	}
	return out, nil
}

func (x *product) stage(k key) Stage { return x.hands.all[x.hand(k)].agent.Stage }

// compare holds the moves from a state against those of a plain search.
func (x *product) compare(k key) error {
	check := x.check
	x.check = 0
	defer func() { x.check = check }()
	fast, err := x.within(k, nil)
	if err == nil {
		fast, err = x.outside(k, fast)
	}
	if err != nil {
		return nil
	}
	s := x.join(k)
	slow := map[Step]key{}
	for _, st := range x.w.Events(s, x.w.Steps(s, nil)) {
		if slow[st], err = x.apply(s, st); err != nil {
			return err
		}
	}
	for _, m := range fast {
		to, ok := slow[m.step]
		if !ok || to != m.to {
			return fmt.Errorf("%v: leads to %x, and to %x (%v) by the parts", m.step, to, m.to, ok)
		}
		delete(slow, m.step)
	}
	for st := range slow {
		return fmt.Errorf("%v: not found by the parts", st)
	}
	return x.compareMirrors(k)
}

// compareMirrors holds the moves from a state against those of its mirrors.
func (x *product) compareMirrors(k key) error {
	all := func(k key) (map[key]bool, error) {
		var list []move
		for _, moves := range []moveFunc{x.within, x.inMirrors, x.outside} {
			var err error
			if list, err = moves(k, list); err != nil {
				return nil, err
			}
		}
		out := map[key]bool{}
		for _, m := range list {
			out[x.canonical(m.to)] = true
		}
		return out, nil
	}
	want, err := all(k)
	if err != nil {
		return err
	}
	for i := range x.mirrors {
		mirrored, ok := x.mirror(k, i)
		if !ok {
			continue
		}
		got, err := all(mirrored)
		if err != nil {
			return err
		}
		if !maps.Equal(want, got) {
			return fmt.Errorf("a state and its mirror differ\n%+v\n%+v", x.join(k), x.join(mirrored))
		}
	}
	return nil
}

// trace tells how a state is reached, which takes a second search.
func (x *product) trace(k key) string {
	if !x.traced {
		again := &product{moves: newMoves(x.world(), x.ordinals, x.events), world: x.world, atMost: x.atMost, traced: true}
		err := again.run(x.join(x.start))
		if err == nil {
			return "by steps that are not found again"
		}
		return strings.TrimSpace(err.Error()[strings.Index(err.Error(), "\n")+1:])
	}
	var path []key
	for at := k; at != x.start; {
		path = append(path, at)
		n, _ := x.met.find(at)
		at = x.met.from[n]
	}
	var b strings.Builder
	at := x.start
	for i := len(path) - 1; i >= 0; i-- {
		moves, err := x.within(at, nil)
		if err == nil {
			moves, err = x.outside(at, moves)
		}
		if err != nil {
			break
		}
		for _, m := range moves {
			if x.canonical(m.to) == path[i] {
				fmt.Fprintf(&b, "  %v\n", m.step)
				break
			}
		}
		at = path[i]
	}
	b.WriteString(x.w.describe(x.join(k)))
	return b.String()
}

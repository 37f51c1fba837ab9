// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

// keySet is a set of keys. It keeps them next to each other in memory, so that
// hundreds of millions fit.
type keySet struct {
	slots []key
	// fine marks keys from which the world is known to come to rest, open those
	// that are being followed.
	fine, open bitmap
	// from tells where each was met first; nil when nobody asks.
	from []key
	n    int
}

// free is no key: no cell has so high a number.
const free = ^key(0)

func newKeySet(traced bool) *keySet {
	s := &keySet{}
	s.grow(1<<16, traced)
	return s
}

func (s *keySet) grow(size int, traced bool) {
	old, from := s.slots, s.from
	s.slots = make([]key, size)
	for i := range s.slots {
		s.slots[i] = free
	}
	if traced {
		s.from = make([]key, size)
	}
	for i, k := range old {
		if k == free {
			continue
		}
		at, _ := s.find(k)
		s.slots[at] = k
		if traced {
			s.from[at] = from[i]
		}
	}
}

func (s *keySet) find(k key) (at int, found bool) {
	mask := len(s.slots) - 1
	h := uint64(k) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	for at = int(h>>20) & mask; ; at = (at + 1) & mask {
		switch s.slots[at] {
		case k:
			return at, true
		case free:
			return at, false
		}
	}
}

// add reports whether a key is new.
func (s *keySet) add(k, from key) bool {
	at, found := s.find(k)
	if found {
		return false
	}
	s.slots[at] = k
	if s.from != nil {
		s.from[at] = from
	}
	if s.n++; s.n*3 > len(s.slots)*2 {
		s.grow(2*len(s.slots), s.from != nil)
	}
	return true
}

// bitmap holds a mark for every slot.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(at int) bool { return b[at/64]&(1<<(at%64)) != 0 }

func (b bitmap) set(at int) { b[at/64] |= 1 << (at % 64) }

func (b bitmap) clear(at int) { b[at/64] &^= 1 << (at % 64) }

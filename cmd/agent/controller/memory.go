// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// memory is what one pass remembers for the next. Losing it costs no more than
// a repeated event.
type memory struct {
	uid types.UID
	// said are the keys of the notes of the last pass.
	said map[string]bool
	// namespaceTerminating: a create was refused for it, and it never ends.
	namespaceTerminating bool
}

// memories are those of all deployments. Only one pass over a deployment runs
// at a time.
type memories struct {
	mu     sync.Mutex
	byName map[types.NamespacedName]*memory
}

func (m *memories) of(name types.NamespacedName, uid types.UID) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.byName[name]; found != nil && found.uid == uid {
		return found
	}
	if m.byName == nil {
		m.byName = map[types.NamespacedName]*memory{}
	}
	m.byName[name] = &memory{uid: uid}
	return m.byName[name]
}

func (m *memories) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byName, name)
}

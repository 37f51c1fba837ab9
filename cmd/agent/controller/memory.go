// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/act"
	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/observe"
)

// memory is what one pass remembers for the next. Losing it costs no more than
// a repeated event.
type memory struct {
	uid types.UID
	// said are the keys of the notes of the last pass.
	said map[string]bool
	// since is when what is not told yet was first seen.
	since map[string]time.Time
	// namespaceTerminating: a create was refused for it, and it never ends.
	namespaceTerminating bool
	// failures are those of the creates that fail.
	failures map[instance]failure
	// written is the deployment as the last pass left it, overtaken the versions
	// before, which the cache may still show.
	written   *v1.ModelDeployment
	overtaken []string
	// deleted are the UIDs of Pods whose deletion the cache may not show yet.
	deleted map[string]bool
}

// upToDate returns what the last pass has written while the cache shows what was
// there before: what is decided and told from a status must not be from an
// older one.
func (m *memory) upToDate(cached *v1.ModelDeployment) *v1.ModelDeployment {
	if slices.Contains(m.overtaken, cached.ResourceVersion) {
		return m.written.DeepCopy()
	}
	m.written, m.overtaken = nil, nil
	return cached
}

func (m *memory) noteWrites(found, left *v1.ModelDeployment) {
	if found.ResourceVersion != left.ResourceVersion {
		m.written, m.overtaken = left, append(m.overtaken, found.ResourceVersion)
	}
}

// markDeleted shows the Pods that earlier passes have deleted as such while the
// cache does not: they need no second delete, and serve no more.
func (m *memory) markDeleted(v *observe.View, now time.Time) {
	lagging := map[string]bool{}
	for i := range v.Pods {
		p := &v.Pods[i]
		if uid := string(p.UID); m.deleted[uid] && p.DeletionTimestamp == nil {
			lagging[uid] = true
			p.DeletionTimestamp = &metav1.Time{Time: now}
			v.Observation.Pods[i].Deleting = true
		}
	}
	m.deleted = lagging
}

// noteDeletes remembers the Pods that a pass has deleted.
func (m *memory) noteDeletes(deleted map[string]bool) { maps.Copy(m.deleted, deleted) }

// instance is one replica of a role.
type instance struct {
	role    string
	ordinal int32
}

// failure of a create, so many times in a row. It is not tried again before.
type failure struct {
	times  int
	before time.Time
	// said is the API server's answer.
	said string
}

// holdBack takes the creates out of a plan that have failed again and again, and
// looks again when the first of them is due. What is made and deleted for
// nothing is seen, and would make the next pass at once: of an instance of
// several Pods, a ResourceQuota may refuse some.
func (m *memory) holdBack(plan *converge.Plan, now time.Time) {
	plan.Creates = slices.DeleteFunc(plan.Creates, func(c converge.Create) bool {
		wait := m.failures[instance{c.Role, c.Ordinal}].before.Sub(now)
		if wait > 0 && (plan.Requeue == 0 || wait < plan.Requeue) {
			plan.Requeue = wait
		}
		return wait > 0
	})
}

// noteCreates remembers what came of the creates of a plan. The first failure is
// followed by another try at once.
func (m *memory) noteCreates(tried []converge.Create, failed []act.FailedCreate, now time.Time) {
	for _, c := range tried {
		key := instance{c.Role, c.Ordinal}
		i := slices.IndexFunc(failed, func(f act.FailedCreate) bool { return f.Create == c })
		if i < 0 {
			delete(m.failures, key)
			continue
		}
		if m.failures == nil {
			m.failures = map[instance]failure{}
		}
		f := failure{times: m.failures[key].times + 1, said: failed[i].Said()}
		if f.times > 1 {
			f.before = now.Add(min(firstRetry<<min(f.times, 16), lastRetry))
		}
		m.failures[key] = f
	}
}

// refused is what the API server said of the replicas that it refuses, by role and
// ordinal. A plan that goes without them says so.
func (m *memory) refused(plan *converge.Plan) map[string]map[int32]string {
	said := map[string]map[int32]string{}
	for _, r := range plan.Roles {
		for key, f := range m.failures {
			if key.role != r.Name || f.said == "" || r.Waits[key.ordinal] != "" {
				continue
			}
			r.Waits[key.ordinal] = converge.WaitRefused
			if said[r.Name] == nil {
				said[r.Name] = map[int32]string{}
			}
			said[r.Name][key.ordinal] = f.said
		}
	}
	return said
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

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strconv"
	"time"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// Outcome is what a decision comes to.
type Outcome struct {
	NeedLive bool
	Writes   []Write
	// Requeue is when the agent looks again though nothing happens.
	Requeue time.Duration
}

// Decider decides from a snapshot.
type Decider func(w *World, s *Snapshot) Outcome

// By makes a Decider of a function over observations.
func By(decide func(*converge.Observation, time.Time) converge.Plan) Decider {
	return func(w *World, s *Snapshot) Outcome {
		plan := decide(w.Observe(s), w.Now.Add(w.Aged))
		return Outcome{NeedLive: plan.NeedLive, Writes: w.writes(s, plan), Requeue: plan.Requeue}
	}
}

// Observe turns a snapshot into what the agent's core reads.
func (w *World) Observe(s *Snapshot) *converge.Observation {
	obs := &converge.Observation{
		Created: w.Born, Deleting: s.Spec.Deleting, Finalizer: s.Spec.Finalizer,
		Weights: converge.Weights{Blocked: s.Spec.WeightsBlocked},
		Cache: converge.Cache{
			Declared: w.Store, Usable: !s.Spec.StoreLost, Resolved: !s.Spec.StoreLost, Seen: true,
			Binding: w.Store, Claimed: true,
		},
	}
	for i, r := range w.Roles {
		obs.Roles = append(obs.Roles, w.role(i, r, s.Spec.Roles[i]))
	}
	pods, workloads := w.observePods(s), w.observeWorkloads(s)
	if s.Live {
		obs.Live = &converge.Live{Pods: pods, Workloads: workloads}
	} else {
		obs.Pods, obs.Workloads = pods, workloads
	}
	return obs
}

func (w *World) role(i int, r Role, spec RoleSpec) converge.Role {
	template := converge.InSync
	if spec.Stale {
		template = converge.Stale
	}
	services := map[int32]bool{}
	if r.Size > 1 {
		for n := range spec.Replicas {
			services[int32(n)] = true
		}
	}
	return converge.Role{
		Name: r.Name, Replicas: int32(spec.Replicas), Size: int32(r.Size), Managed: r.Managed,
		Template: template, Settled: int32(spec.Settled), Services: services,
		Group: func(ordinal int32) string { return groupName(i, ordinal) },
		Hash: func(seat converge.Seat, uncached bool) string {
			return w.hash(i, spec.Version, uncached, seat)
		},
	}
}

func (w *World) hash(role int, version uint8, uncached bool, seat converge.Seat) string {
	if w.Hash != nil {
		return w.Hash(role, version, uncached, seat)
	}
	if uncached {
		return "uncached-" + strconv.Itoa(int(version))
	}
	return strconv.Itoa(int(version))
}

func groupName(role int, ordinal int32) string {
	return strconv.Itoa(role) + "/" + strconv.Itoa(int(ordinal))
}

func (w *World) observePods(s *Snapshot) (out []converge.Pod) {
	out = make([]converge.Pod, 0, len(s.Pods))
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Foreign && !s.Live {
			continue // the cache has only the deployment's own
		}
		seat := converge.Seat{Ordinal: int32(p.Ordinal), Member: int32(p.Member)}
		role := "removed"
		if int(p.Role) < len(w.Roles) {
			role = w.Roles[p.Role].Name
		}
		uid := podUID(p.ID)
		out = append(out, converge.Pod{
			Name: uid, UID: uid, Foreign: p.Foreign, Abandoned: p.Abandoned,
			Role: role, Ordinal: seat.Ordinal, Member: seat.Member, Group: groupName(int(p.Role), seat.Ordinal),
			Hash:     w.hash(int(p.Role), p.Version, p.Uncached, seat),
			Deleting: p.Deleting, Ended: p.Phase >= Succeeded, Ready: p.Phase == Ready && !p.Lost,
			Managed: true, Held: p.Held, Preempted: p.Preempted, NodeLost: p.Lost,
		})
	}
	return out
}

// observeWorkloads returns the Workloads that the cache, or a read past it, has
// for the agent.
func (w *World) observeWorkloads(s *Snapshot) (out []converge.Workload) {
	for i := range s.Workloads {
		wl := &s.Workloads[i]
		c := converge.Workload{
			Name: groupName(int(wl.Role), int32(wl.Ordinal)), UID: "w" + strconv.Itoa(int(wl.ID)),
			Created:  w.Born.Add(time.Duration(wl.Born) * time.Second),
			Deleting: wl.Deleting, Reserved: wl.Reserved, Admitted: wl.Admitted, Evicted: wl.Evicted,
		}
		ours := s.Live
		for _, id := range wl.Owners {
			c.Pods = append(c.Pods, podUID(id))
			for j := range s.Pods {
				ours = ours || s.Pods[j].ID == id && !s.Pods[j].Foreign
			}
		}
		if ours {
			out = append(out, c)
		}
	}
	return out
}

func podUID(id ID) string {
	if int(id) < len(podUIDs) {
		return podUIDs[id]
	}
	return fmt.Sprintf("p%04d", id)
}

// podUIDs are those that are asked for all the time.
var podUIDs = func() (out [128]string) {
	for id := range out {
		out[id] = fmt.Sprintf("p%04d", id)
	}
	return out
}()

// writes turns a plan into single writes.
func (w *World) writes(s *Snapshot, plan converge.Plan) (out []Write) {
	if plan.NeedLive {
		return nil
	}
	if plan.AddFinalizer {
		out = append(out, Write{Kind: AddFinalizer})
	}
	for _, d := range plan.DeletePods {
		out = append(out, Write{Kind: WriteDeletePod, ID: id(d.UID), Cause: d.Cause})
	}
	for _, d := range plan.DeleteWorkloads {
		out = append(out, Write{Kind: WriteDeleteWorkload, ID: id(d.UID), Cause: d.Cause})
	}
	for _, c := range plan.Creates {
		for i, r := range w.Roles {
			if r.Name != c.Role {
				continue
			}
			for m := range r.Size {
				out = append(out, Write{
					Kind: Create, Role: int16(i), Ordinal: int16(c.Ordinal), Member: m,
					Version: s.Spec.Roles[i].Version, Uncached: c.Uncached,
				})
			}
		}
	}
	if plan.Release {
		out = append(out, Write{Kind: Release})
	}
	return out
}

// id reads a UID of this model.
func id(uid string) ID {
	n, err := strconv.Atoi(uid[1:])
	if err != nil {
		panic("not a UID of this model: " + uid)
	}
	return ID(n)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import "slices"

// drop deletes Pods, and then the Workloads that own them, unless another Pod of
// the group stays.
func (p *pass) drop(cause Cause, pods ...*Pod) {
	dropped := map[string]bool{}
	for _, pod := range pods {
		if pod.Deleting || p.dropped[pod.UID] {
			continue
		}
		p.dropped[pod.UID], dropped[pod.UID] = true, true
		p.plan.DeletePods = append(p.plan.DeletePods, DeletePod{pod.Name, pod.UID, cause})
	}
	for _, w := range p.workloads {
		if slices.ContainsFunc(w.Pods, func(uid string) bool { return dropped[uid] }) {
			p.free(w, cause)
		}
	}
}

// sweep deletes the Workloads of Pods that are on their way out and that Kueue
// still holds: of a serving group nothing else releases them. A Pod that Kueue
// no longer holds leaves by itself, and a Workload composed for it is left to
// garbage collection.
func (p *pass) sweep() {
	for _, w := range p.workloads {
		held := slices.ContainsFunc(w.Pods, func(uid string) bool {
			pod := p.byUID[uid]
			return pod != nil && !pod.Foreign && pod.Deleting && pod.Held
		})
		if held {
			p.free(w, CauseStranded)
		}
	}
}

// free deletes a Workload, unless a Pod of its group is to stay. With the
// Workload Kueue deletes every Pod that carries the group's name, whether the
// Workload owns it or not, and foreign ones too, which a cache does not know:
// so this is never decided from the cache.
func (p *pass) free(w *Workload, cause Cause) {
	if p.freed[w.UID] || w.Deleting {
		return
	}
	for _, pod := range p.byUID {
		if pod.Group != w.Name && !slices.Contains(w.Pods, pod.UID) {
			continue
		}
		if !pod.Deleting && !p.dropped[pod.UID] {
			return // Kueue takes away what is too many
		}
		if pod.stuck() {
			return // the cards are not free
		}
	}
	if !p.live() {
		return
	}
	p.freed[w.UID] = true
	p.plan.DeleteWorkloads = append(p.plan.DeleteWorkloads, DeleteWorkload{w.Name, w.UID, cause})
}

// freeAbandoned deletes the Workloads that only hold Pods of an earlier
// deployment of the same name, which nothing else would ever release.
func (p *pass) freeAbandoned() {
	if p.obs.Live == nil {
		return
	}
	for _, w := range p.workloads {
		held := slices.ContainsFunc(w.Pods, func(uid string) bool {
			pod := p.byUID[uid]
			return pod != nil && pod.Abandoned && pod.Deleting && pod.Held
		})
		if held {
			p.free(w, CauseStranded)
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import "slices"

// drop deletes Pods and then the Workloads that own them and no Pod that stays.
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

// free deletes a Workload, unless one of its Pods is to stay. With the Workload
// Kueue deletes every Pod of the group, so none of them may be unknown.
func (p *pass) free(w *Workload, cause Cause) {
	if p.freed[w.UID] || w.Deleting {
		return
	}
	for _, uid := range w.Pods {
		pod := p.byUID[uid]
		switch {
		case pod == nil: // gone, foreign, or not yet in the cache
			if !p.live() {
				return
			}
		case !pod.Deleting && !p.dropped[uid]:
			return // Kueue takes away what is too many
		case pod.stuck():
			return // the cards are not free
		case pod.Foreign && !pod.Abandoned:
			return
		}
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

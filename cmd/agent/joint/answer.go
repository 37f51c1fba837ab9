// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package joint

import (
	"fmt"
	"slices"
	"time"
)

const (
	// Bound is how long a Workload may keep quota that it cannot use. Then it is
	// parked: it gives the quota back and waits for a person.
	Bound = 30 * time.Minute
	// Marker is part of the message of a Workload that is parked, and of no
	// other.
	Marker = "[parked]"

	// look is how often a Workload that waits is looked at though nothing has
	// happened, retry the same for one of which it is not known whose it is.
	look  = 30 * time.Second
	retry = 15 * time.Second
	// more makes sure that the bound is past, as Kubernetes notes times in whole
	// seconds.
	more = time.Second
)

// State is the state of an AdmissionCheck of a Workload.
type State string

// The states that are written. Retry would make the Workloads of a deployment
// take quota from each other, Rejected would end them.
const (
	Pending State = "Pending"
	Ready   State = "Ready"
)

// Workload is the Workload that is judged.
type Workload struct {
	Namespace, Name string
	// Reserved: quota was reserved, at ReservedAt.
	Reserved   bool
	ReservedAt time.Time
	Admitted   bool
	Evicted    bool
	Finished   bool
	// Inactive: somebody, or a park, has deactivated it.
	Inactive bool
	Deleting bool
	// Entries are its admission checks that are ours to answer.
	Entries []Entry
}

// Entry is one admission check of a Workload.
type Entry struct {
	State   State
	Message string
	// Since is when the state was last changed.
	Since time.Time
}

// Asks reports whether a Workload waits for an answer. An answer to one that was
// evicted or deactivated would count for its next reservation, unjudged.
func (w *Workload) Asks() bool {
	return len(w.Entries) > 0 && w.Reserved &&
		!w.Admitted && !w.Evicted && !w.Finished && !w.Inactive && !w.Deleting
}

// Answer is what to do about a Workload.
type Answer struct {
	// State and Message are those of all entries from now on.
	State   State
	Message string
	// Write: some entry differs. Reworded: all of them wait and will wait, only
	// for another reason or another number of replicas.
	Write, Reworded bool
	// Park: after the write, deactivate the Workload.
	Park bool
	// After is when to look again; zero: when something happens.
	After time.Duration
}

// Answer returns what to do about a Workload that asks.
func (v Verdict) Answer(w *Workload, now time.Time) Answer {
	a := Answer{State: Pending, Message: v.Message}
	switch {
	case v.Ready:
		a.State = Ready
	case !v.Settled:
		a.After = look
		if v == Unreadable {
			a.After = retry
		}
	default:
		left := Bound - now.Sub(w.waitsSince(now))
		if a.Park = left < 0; a.Park {
			a.Message = v.parked(w)
		} else {
			a.Message += ". What this Workload has been given stays reserved meanwhile"
			a.After = min(look, left+more)
		}
	}
	a.Write = slices.ContainsFunc(w.Entries, func(e Entry) bool { return e.State != a.State || e.Message != a.Message })
	a.Reworded = a.Write && !a.Park && a.State == Pending &&
		!slices.ContainsFunc(w.Entries, func(e Entry) bool { return e.State != Pending || e.Message == "" })
	return a
}

// waitsSince is since when a Workload holds quota and is told to wait.
func (w *Workload) waitsSince(now time.Time) time.Time {
	since := w.ReservedAt
	for _, e := range w.Entries {
		if e.State != Pending {
			return now
		}
		if e.Since.After(since) {
			since = e.Since
		}
	}
	return since
}

// parked is the message of a Workload that is parked.
func (v Verdict) parked(w *Workload) string {
	return fmt.Sprintf("%s After %s of waiting this Workload was deactivated and its quota given back: %s. "+
		"Applying the same manifests again does not change this. Either free capacity and reactivate every parked Workload, this one with "+
		"\"%s\", or delete the ModelDeployment and create it again", Marker, Bound, v.Message, Unpark(w.Namespace, w.Name))
}

// Unpark is the command that reactivates a Workload.
func Unpark(namespace, name string) string {
	return fmt.Sprintf(`kubectl patch workloads.kueue.x-k8s.io %s --namespace %s --type merge --patch '{"spec":{"active":true}}'`, name, namespace)
}

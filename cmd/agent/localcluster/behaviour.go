// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"strconv"
	"time"
)

// Annotations by which a Pod says how its simulated containers behave. They are
// read when something happens to the Pod, so changing them changes what comes
// next.
const (
	annotationReady  = "localcluster.gpustack.ai/ready"
	annotationStop   = "localcluster.gpustack.ai/stop"
	annotationExit   = "localcluster.gpustack.ai/exit"
	annotationRemove = "localcluster.gpustack.ai/remove"
)

// Never stands for a duration without an end.
const Never time.Duration = -1

// Behaviour is what the containers of a Pod do on a simulated node. The zero
// value is the default: Running with a Pod IP after 0.1 s and Ready 0.2 s later;
// when the Pod is deleted, they exit 0 after 1 s, and the Pod is removed 0.2 s
// after that, unless a finalizer holds it.
type Behaviour struct {
	// Ready is how long the containers take to become Ready once they run;
	// Never leaves them running and not Ready.
	Ready time.Duration
	// CrashLoop lets the containers fail again and again instead.
	CrashLoop bool
	// Stop is how long the containers take to end once the Pod is deleted,
	// whatever its grace period; Never is a Pod that is stuck.
	Stop time.Duration
	// ExitCode of the containers once the Pod is deleted: 0 makes the Pod
	// Succeeded, any other, as 143 of a SIGTERM that nobody handles, Failed. A Pod
	// that does not run yet, or whose containers crash, is Failed in any case.
	ExitCode int
	// Remove is the time between the end of the containers and the removal of the
	// Pod.
	Remove time.Duration
}

// Behaviours that tests ask for.
var (
	Normal     = Behaviour{}
	SlowReady  = Behaviour{Ready: 10 * time.Second}
	NeverReady = Behaviour{Ready: Never}
	CrashLoop  = Behaviour{CrashLoop: true}
	Killed     = Behaviour{ExitCode: 143}
	SlowStop   = Behaviour{Stop: 10 * time.Second}
	Stuck      = Behaviour{Stop: Never}
)

// Annotations are those of a Pod, or of its template, that behaves so.
func (b Behaviour) Annotations() map[string]string {
	a := map[string]string{}
	for key, d := range map[string]time.Duration{annotationReady: b.Ready, annotationStop: b.Stop, annotationRemove: b.Remove} {
		switch {
		case d < 0:
			a[key] = "never"
		case d > 0:
			a[key] = d.String()
		}
	}
	if b.CrashLoop {
		a[annotationReady] = "crash"
	}
	if b.ExitCode != 0 {
		a[annotationExit] = strconv.Itoa(b.ExitCode)
	}
	return a
}

// patch of the annotations that gives a Pod this behaviour and no other.
func (b Behaviour) patch() map[string]any {
	p := map[string]any{annotationReady: nil, annotationStop: nil, annotationExit: nil, annotationRemove: nil}
	for k, v := range b.Annotations() {
		p[k] = v
	}
	return p
}

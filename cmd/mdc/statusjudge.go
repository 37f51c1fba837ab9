// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/manifests"
)

// liveState is how a replica, or a Pod, stands.
type liveState string

const (
	stateReady      liveState = "Ready"
	stateLoading    liveState = "Loading"
	stateCrashing   liveState = "Crashing"
	statePending    liveState = "Pending"
	stateGated      liveState = "Gated"
	stateWaiting    liveState = "Waiting"
	stateParked     liveState = "Parked"
	stateInactive   liveState = "Inactive"
	stateIncomplete liveState = "Incomplete"
	statePreempted  liveState = "Preempted"
	stateDraining   liveState = "Draining"
	stateFailed     liveState = "Failed"
	stateMissing    liveState = "Missing"
)

// health is how good a state is.
type health int

const (
	healthUnknown health = iota
	healthy
	// progressing: it gets better by itself.
	progressing
	degraded
)

// liveStates are the states, from well to not at all.
var liveStates = []liveStateInfo{
	{stateReady, "every Pod is ready", healthy, 0},
	{stateLoading, "its Pods have Nodes, and the engine starts", progressing, 1},
	{stateCrashing, "a container ends again and again", degraded, 4},
	{statePending, "it may start, and no Node takes its Pods", progressing, 3},
	{stateGated, "waits for quota", progressing, 2},
	{stateWaiting, "holds quota and waits, mostly for the other roles to get theirs", progressing, 0},
	{stateParked, "gave its quota back as the other roles got none; a person must reactivate it", degraded, 0},
	{stateInactive, "somebody has deactivated its Workload", degraded, 0},
	{stateIncomplete, "some of its Pods are not there yet", progressing, 0},
	{statePreempted, "Kueue takes it away", degraded, 0},
	{stateDraining, "its Pods are being deleted", progressing, 0},
	{stateFailed, "a Pod has ended", degraded, 5},
	{stateMissing, "there is no Pod", progressing, 0},
}

type liveStateInfo struct {
	state  liveState
	means  string
	health health
	// severity orders the states of Pods that live: the worst member speaks for
	// its replica.
	severity int
}

func (s liveState) info() liveStateInfo {
	return liveStates[slices.IndexFunc(liveStates, func(i liveStateInfo) bool { return i.state == s })]
}

func describeStates() string {
	var b strings.Builder
	for _, s := range liveStates {
		fmt.Fprintf(&b, "  %-10s  %s\n", s.state, s.means)
	}
	return b.String()
}

// verdict is a state, why it is so, and what to do.
type verdict struct {
	state     liveState
	why, next string
}

// Conditions and notes of Kueue.
const (
	workloadQuotaReserved = "QuotaReserved"
	workloadAdmitted      = "Admitted"
	workloadEvicted       = "Evicted"
	workloadFinished      = "Finished"

	checkReady = "Ready"
)

// judgeReplica tells how a replica stands. knows tells whether Workloads could
// be read.
func judgeReplica(md *v1.ModelDeployment, role *v1.Role, one *liveReplica, knows bool) verdict {
	v := judgeDeclared(md, role, one, knows)
	if !one.declared && v.state != stateDraining {
		v.why = sentence("not declared any more", v.why)
	}
	return v
}

func judgeDeclared(md *v1.ModelDeployment, role *v1.Role, one *liveReplica, knows bool) verdict {
	var live, leaving []*livePod
	for _, p := range one.pods {
		if p.DeletionTimestamp == nil {
			live = append(live, p)
		} else {
			leaving = append(leaving, p)
		}
	}
	w := one.workload
	gone := len(live) == 0
	switch {
	case gone && slices.ContainsFunc(leaving, func(p *livePod) bool { return preemptedBecause(p) != "" }):
		return verdict{state: statePreempted, why: firstOf(leaving, preemptedBecause)}
	case w != nil && w.inactive() && w.DeletionTimestamp == nil:
		return judgeInactive(md, w)
	case gone && len(leaving) > 0:
		return verdict{state: stateDraining, why: drains(leaving)}
	case gone:
		return verdict{state: stateMissing}
	case complete(live, one.size) && !slices.ContainsFunc(live, func(p *livePod) bool { return judgePod(p).state != stateReady }):
		return verdict{state: stateReady}
	case slices.ContainsFunc(live, gated):
		if v, waits := judgeGated(role, live, one.size, w, knows); waits {
			return v
		}
	case w != nil && w.holds(workloadEvicted):
		return verdict{state: statePreempted, why: w.message(workloadEvicted)}
	}
	if !complete(live, one.size) {
		why := fmt.Sprintf("%d of %d Pods are there", len(live), one.size)
		if len(leaving) > 0 {
			why = sentence(why, drains(leaving))
		}
		return verdict{state: stateIncomplete, why: why}
	}
	// The worst of its members speaks for it.
	worst := verdict{state: stateReady}
	for _, p := range live {
		if v := judgePod(p); worst.state == stateReady || v.state.info().severity > worst.state.info().severity || v.state == worst.state && worst.why == "" {
			worst = v
		}
	}
	return worst
}

// complete reports whether every member is there.
func complete(live []*livePod, size int32) bool {
	seen := map[int32]bool{}
	for _, p := range live {
		if p.member < size {
			seen[p.member] = true
		}
	}
	return len(seen) == int(size)
}

// judgeInactive: the agent tells in the check that it was its own doing.
func judgeInactive(md *v1.ModelDeployment, w *workload) verdict {
	v := verdict{state: stateInactive, why: "somebody has deactivated its Workload " + w.Name, next: joint.Unpark(md.Namespace, w.Name)}
	for _, c := range w.Status.AdmissionChecks {
		if strings.Contains(c.Message, joint.Marker) {
			v.state, v.why = stateParked, "it gave its quota back, as the other roles got none for too long; make room, then reactivate it"
		}
	}
	return v
}

// judgeGated tells what a replica waits for that Kueue holds back.
func judgeGated(role *v1.Role, live []*livePod, size int32, w *workload, knows bool) (verdict, bool) {
	queue := fmt.Sprintf("waits for quota of ClusterQueue %s", role.InstanceType)
	switch {
	case !complete(live, size):
		return verdict{}, false
	case !knows:
		return verdict{state: stateGated, why: queue}, true
	case w == nil:
		return verdict{state: stateGated, why: "Kueue has no Workload for it yet"}, true
	case w.holds(workloadQuotaReserved) && !w.holds(workloadEvicted) && !w.holds(workloadAdmitted):
		var why []string
		v := verdict{state: stateWaiting}
		for _, c := range w.Status.AdmissionChecks {
			switch {
			case c.State == checkReady:
			case c.Message == "":
				why = append(why, fmt.Sprintf("holds quota; check %s has no answer yet", c.Name))
				v.next = "if it stays so, see that whoever answers the check runs: of " + manifests.CheckName + ", the agent"
			default:
				why = append(why, "holds quota; "+sentence("check "+c.Name, c.Message))
			}
		}
		if len(why) == 0 {
			why = append(why, "holds quota; Kueue has not admitted it yet")
		}
		v.why = strings.Join(why, "; ")
		return v, true
	case w.holds(workloadQuotaReserved) && !w.holds(workloadEvicted):
		return verdict{state: stateLoading, why: "Kueue has admitted it and lets its Pods go"}, true
	}
	said := ""
	if !w.holds(workloadQuotaReserved) {
		said = w.message(workloadQuotaReserved)
	}
	if said == "" && w.holds(workloadEvicted) {
		said = w.message(workloadEvicted)
	}
	return verdict{state: stateGated, why: sentence(queue, said)}, true
}

// judgePod tells how a Pod stands.
func judgePod(p *livePod) verdict {
	holds := func(condition corev1.PodConditionType) bool {
		c := podCondition(p, condition)
		return c != nil && c.Status == corev1.ConditionTrue
	}
	switch {
	case p.DeletionTimestamp != nil && preemptedBecause(p) != "":
		return verdict{state: statePreempted, why: preemptedBecause(p)}
	case p.DeletionTimestamp != nil:
		return verdict{state: stateDraining}
	case p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded:
		return verdict{
			state: stateFailed,
			why:   sentence("Pod "+p.Name+" has ended", sentence(p.Status.Reason, p.Status.Message)),
			next:  fmt.Sprintf("kubectl describe pod %s --namespace %s", p.Name, p.Namespace),
		}
	case holds(corev1.PodReady):
		return verdict{state: stateReady}
	case gated(p):
		return verdict{state: stateGated}
	case p.Spec.NodeName == "":
		why := "no Node has been chosen yet"
		c := podCondition(p, corev1.PodScheduled)
		// For a moment the scheduler still speaks of a gate that is open.
		opened := c != nil && c.Reason == corev1.PodReasonSchedulingGated && len(p.Spec.SchedulingGates) == 0
		if c != nil && c.Message != "" && !opened {
			why = c.Message
		}
		return verdict{state: statePending, why: why}
	}
	why, next := loads(p)
	if crashes(p) {
		return verdict{state: stateCrashing, why: why, next: next}
	}
	return verdict{state: stateLoading, why: why, next: next}
}

// crashes reports whether the kubelet waits before it starts a container again.
func crashes(p *livePod) bool {
	return slices.ContainsFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff"
	})
}

// loads tells what a Pod is at that is not ready.
func loads(p *livePod) (why, next string) {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		waiting := c.State.Waiting
		switch {
		case c.Ready || c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
			continue
		case waiting != nil:
			why = sentence("container "+c.Name, sentence(waiting.Reason, waiting.Message))
		case c.State.Running != nil:
			why = fmt.Sprintf("container %s runs and is not ready yet", c.Name)
		default:
			why = fmt.Sprintf("container %s has ended", c.Name)
		}
		if last := c.LastTerminationState.Terminated; last != nil {
			why += fmt.Sprintf("; it ended last with code %d", last.ExitCode)
			if last.Reason != "" && last.Reason != "Error" {
				why += " (" + last.Reason + ")"
			}
			next = fmt.Sprintf("kubectl logs %s --namespace %s --container %s --previous", p.Name, p.Namespace, c.Name)
		}
		if c.Name == replica.MainContainer || waiting != nil {
			return why, next
		}
	}
	if why != "" {
		return why, next
	}
	if len(p.Status.ContainerStatuses) > 0 { // all of them are ready
		return "its containers were ready and the Pod is not: Node " + p.Spec.NodeName + " may not answer", "kubectl get node " + p.Spec.NodeName
	}
	return "its containers are not started yet", ""
}

func podCondition(p *livePod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

func gated(p *livePod) bool {
	return slices.ContainsFunc(p.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == podconstants.SchedulingGateName })
}

// preemptedBecause is what Kueue notes on a Pod whose Workload it has evicted.
func preemptedBecause(p *livePod) string {
	c, cause := joint.PreemptedBy(&p.Pod)
	if c == nil {
		return ""
	}
	return cmp.Or(c.Message, cause)
}

// drains names Pods on their way out.
func drains(leaving []*livePod) string {
	var names []string
	for _, p := range leaving {
		name := p.Name
		if p.Spec.NodeName != "" {
			name += " on Node " + p.Spec.NodeName
		}
		names = append(names, name)
	}
	return "being deleted: " + strings.Join(names, ", ")
}

func restarts(p *livePod) (n int32) {
	for _, c := range p.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// firstOf is the first text that is not empty.
func firstOf[T any](items []T, text func(T) string) string {
	for _, item := range items {
		if t := text(item); t != "" {
			return t
		}
	}
	return ""
}

// sentence puts a colon between two texts if there are two.
func sentence(subject, said string) string {
	if subject == "" || said == "" {
		return subject + said
	}
	return subject + ": " + said
}

// judgeWorkload is how a Workload stands, in one word.
func judgeWorkload(w *workload) string {
	switch {
	case w.DeletionTimestamp != nil:
		return "Deleting"
	case w.holds(workloadFinished):
		return "Finished"
	case w.inactive():
		return "Inactive"
	case w.holds(workloadEvicted):
		return "Evicted"
	case w.holds(workloadAdmitted):
		return "Admitted"
	case w.holds(workloadQuotaReserved):
		return "Reserved"
	}
	return "Pending"
}

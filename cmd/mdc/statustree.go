// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Conditions that the agent reports and that sum up the others.
const (
	conditionStalled     = "Stalled"
	conditionReconciling = "Reconciling"
	conditionReady       = "Ready"
	conditionCompiled    = "Compiled"
	conditionRouterReady = "RouterReady"
)

// mood is how good a state is.
type mood int

const (
	plain mood = iota
	good
	patient
	bad
)

// treeNode is a line of the tree, with all that hangs on it.
type treeNode struct {
	name, state string
	mood        mood
	// said is what there is to tell, next what there is to do.
	said, next []string
	children   []*treeNode
}

func (n *treeNode) say(text string) {
	if text != "" {
		n.said = append(n.said, text)
	}
}

func (n *treeNode) advise(text string) {
	if text != "" {
		n.next = append(n.next, text)
	}
}

func statusTree(deployments []*liveDeployment) (out []*treeNode) {
	for _, d := range deployments {
		n := deploymentNode(d)
		for _, r := range d.roles {
			n.children = append(n.children, roleNode(r))
		}
		if router := d.md.Spec.Router; router != nil {
			n.children = append(n.children, routerNode(d.md))
		}
		for _, p := range d.strays {
			stray := podNode(p)
			stray.said = slices.Insert(stray.said, 0, "belongs to no replica")
			n.children = append(n.children, stray)
		}
		out = append(out, n)
	}
	return out
}

func deploymentNode(d *liveDeployment) *treeNode {
	md := d.md
	s := &md.Status
	n := &treeNode{name: md.Namespace + "/" + md.Name, state: string(s.Phase), mood: patient}
	if s.Phase == "" {
		n.state = "Unknown"
		n.say("no agent has reported on it")
		n.advise("see that the agent is installed and runs")
		return n
	}
	stalled := meta.FindStatusCondition(s.Conditions, conditionStalled)
	switch {
	case stalled != nil && stalled.Status == metav1.ConditionTrue:
		n.mood = bad
	case s.Phase == v1.PhaseReady:
		n.mood = good
	}
	n.say(sentence(s.RoleSummary, s.PhaseMessage))
	if s.ObservedGeneration < md.Generation {
		n.say(fmt.Sprintf("this is told of generation %d, and the spec is of generation %d", s.ObservedGeneration, md.Generation))
	}
	for _, sum := range []struct {
		condition string
		tells     metav1.ConditionStatus
	}{
		{conditionStalled, metav1.ConditionTrue},
		{conditionReconciling, metav1.ConditionTrue},
		{conditionReady, metav1.ConditionFalse},
		{conditionCompiled, metav1.ConditionFalse},
	} {
		c := meta.FindStatusCondition(s.Conditions, sum.condition)
		if c == nil || c.Status != sum.tells {
			continue
		}
		// They often say the same.
		if slices.ContainsFunc(n.said, func(text string) bool { return c.Message != "" && strings.Contains(text, c.Message) }) {
			continue
		}
		name := sum.condition
		if sum.tells == metav1.ConditionFalse {
			name = "not " + name
		}
		n.say(sentence(fmt.Sprintf("%s (%s)", name, c.Reason), c.Message))
	}
	n.advise(nextStep(d))
	if md.DeletionTimestamp == nil && s.Phase == v1.PhaseReady && s.Endpoint != "" {
		n.say(s.Endpoint)
	}
	return n
}

// nextSteps are what ends a state of the deployment as a whole.
var nextSteps = map[string]string{
	"NotCompiled":                `compile it with "mdc build" and apply what it prints`,
	"Stale":                      `compile it with "mdc build" and apply what it prints`,
	"ServiceMissing":             `compile it with "mdc build" and apply what it prints`,
	"TenantMismatch":             `compile it with the facts of this cluster ("mdc facts") and apply what "mdc build" prints`,
	"UnknownLateValue":           "run an agent of the version that compiled it, or compile it with that of the agent",
	"ImageUnresolvable":          "set the image of the role",
	"NoQueueInReservedNamespace": "deploy into a namespace that Kueue manages, or let it manage this one",
	"Parked":                     "make room for all replicas, then reactivate each that is Parked",
}

func nextStep(d *liveDeployment) string {
	for _, sum := range []struct {
		condition string
		tells     metav1.ConditionStatus
	}{
		{conditionStalled, metav1.ConditionTrue},
		{conditionCompiled, metav1.ConditionFalse},
	} {
		c := meta.FindStatusCondition(d.md.Status.Conditions, sum.condition)
		if c != nil && c.Status == sum.tells && nextSteps[c.Reason] != "" {
			return nextSteps[c.Reason]
		}
	}
	var queues []string
	for _, r := range d.roles {
		waits := slices.ContainsFunc(r.replicas, func(one *liveReplica) bool { return one.state == stateGated })
		if waits && !slices.Contains(queues, r.spec.InstanceType) {
			queues = append(queues, r.spec.InstanceType)
		}
	}
	if len(queues) == 0 {
		return ""
	}
	return "see what Kueue says of the replicas that wait; for quota, nothing: they start once there is some. What the queue has: kubectl describe clusterqueues.kueue.x-k8s.io " + strings.Join(queues, " ")
}

func roleNode(r *liveRole) *treeNode {
	ready := r.ready()
	n := &treeNode{name: r.spec.Name, state: fmt.Sprintf("%d of %d", ready, r.spec.Replicas), mood: patient}
	if ready == r.spec.Replicas {
		n.mood = good
	}
	said := string(r.spec.Kind) + " on " + r.spec.InstanceType
	if r.spec.Size > 1 {
		said += fmt.Sprintf(", %d Pods each", r.spec.Size)
	}
	n.say(said)
	for _, one := range r.replicas {
		n.children = append(n.children, replicaNode(one))
	}
	return n
}

func replicaNode(one *liveReplica) *treeNode {
	n := &treeNode{name: fmt.Sprintf("replica %d", one.ordinal), state: string(one.state), mood: moodOf(one.state)}
	n.say(one.why)
	n.advise(one.next)
	if one.state == stateReady && one.size == 1 {
		n.say(whereabouts(one.pods[len(one.pods)-1]))
		if len(one.pods) == 1 {
			return n
		}
	}
	for _, p := range one.pods {
		pod := podNode(p)
		// Once is enough.
		pod.said = slices.DeleteFunc(pod.said, func(text string) bool { return text == one.why })
		pod.next = slices.DeleteFunc(pod.next, func(text string) bool { return text == one.next })
		n.children = append(n.children, pod)
	}
	if w := one.workload; w != nil && one.state != stateReady {
		// Its name is long, and nobody knows it.
		name := w.Name
		if w.Spec.QueueName != "" {
			name += " in LocalQueue " + w.Spec.QueueName
		}
		n.children = append(n.children, &treeNode{name: "Workload", state: judgeWorkload(w), said: []string{name}})
	}
	return n
}

func podNode(p *livePod) *treeNode {
	v := judgePod(p)
	n := &treeNode{name: "Pod " + p.Name, state: string(v.state), mood: moodOf(v.state)}
	n.say(whereabouts(p))
	n.say(v.why)
	n.advise(v.next)
	return n
}

// whereabouts are the Node of a Pod and how often it was started again.
func whereabouts(p *livePod) string {
	var parts []string
	if p.Spec.NodeName != "" {
		parts = append(parts, "Node "+p.Spec.NodeName)
	}
	switch n := restarts(p); n {
	case 0:
	case 1:
		parts = append(parts, "1 restart")
	default:
		parts = append(parts, fmt.Sprintf("%d restarts", n))
	}
	return strings.Join(parts, ", ")
}

func routerNode(md *v1.ModelDeployment) *treeNode {
	n := &treeNode{name: "router", state: "Unknown", mood: patient}
	c := meta.FindStatusCondition(md.Status.Conditions, conditionRouterReady)
	switch {
	case c == nil:
		return n
	case c.Status == metav1.ConditionTrue:
		n.state, n.mood = "Ready", good
	default:
		n.state = c.Reason
		n.say(c.Message)
	}
	return n
}

func moodOf(s liveState) mood {
	switch s {
	case stateReady:
		return good
	case stateParked, stateInactive, statePreempted, stateFailed, stateMissing:
		return bad
	}
	return patient
}

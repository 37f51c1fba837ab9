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

	"gpustack.ai/mdc/cmd/agent/report"
)

// tellingCondition is a condition with the status in which it has something to tell.
type tellingCondition struct {
	condition string
	tells     metav1.ConditionStatus
}

// tellingConditions sum up the others.
var tellingConditions = []tellingCondition{
	{report.Stalled, metav1.ConditionTrue},
	{report.Reconciling, metav1.ConditionTrue},
	{report.Ready, metav1.ConditionFalse},
	{report.Compiled, metav1.ConditionFalse},
}

// telling are the conditions of a deployment that have something to tell.
func telling(md *v1.ModelDeployment) (out []*metav1.Condition) {
	for _, t := range tellingConditions {
		if c := meta.FindStatusCondition(md.Status.Conditions, t.condition); c != nil && c.Status == t.tells {
			out = append(out, c)
		}
	}
	return out
}

// treeNode is a line of the tree, with all that hangs on it.
type treeNode struct {
	name, state string
	health      health
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
		for _, p := range d.orphans {
			orphan := podNode(p)
			orphan.said = slices.Insert(orphan.said, 0, "belongs to no replica")
			n.children = append(n.children, orphan)
		}
		out = append(out, n)
	}
	return out
}

func deploymentNode(d *liveDeployment) *treeNode {
	md := d.md
	s := &md.Status
	n := &treeNode{name: md.Namespace + "/" + md.Name, state: string(s.Phase), health: progressing}
	if s.Phase == "" {
		n.state = "Unknown"
		n.say("no agent has reported on it")
		n.advise("see that the agent is installed and runs")
		return n
	}
	switch {
	case meta.IsStatusConditionTrue(s.Conditions, report.Stalled):
		n.health = degraded
	case s.Phase == v1.PhaseReady:
		n.health = healthy
	}
	n.say(sentence(s.RoleSummary, s.PhaseMessage))
	if s.ObservedGeneration < md.Generation {
		n.say(fmt.Sprintf("this is told of generation %d, and the spec is of generation %d", s.ObservedGeneration, md.Generation))
	}
	for _, c := range telling(md) {
		// They often say the same.
		if slices.ContainsFunc(n.said, func(text string) bool { return c.Message != "" && strings.Contains(text, c.Message) }) {
			continue
		}
		name := c.Type
		if c.Status == metav1.ConditionFalse {
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

// nextSteps are what ends a state of the deployment as a whole, by the reason.
var nextSteps = map[string]string{
	report.ReasonNotCompiled:                `compile it with "mdc build" and apply what it prints`,
	report.ReasonStale:                      `compile it with "mdc build" and apply what it prints`,
	report.ReasonServiceMissing:             `compile it with "mdc build" and apply what it prints`,
	report.ReasonTenantMismatch:             `compile it with the facts of this cluster ("mdc facts") and apply what "mdc build" prints`,
	report.ReasonUnknownLateValue:           "run an agent of the version that compiled it, or compile it with that of the agent",
	report.ReasonImageUnresolvable:          "set the image of the role",
	report.ReasonNoQueueInReservedNamespace: "deploy into a namespace that Kueue manages, or let it manage this one",
	report.ReasonParked:                     "make room for all replicas, then reactivate each that is Parked",
}

func nextStep(d *liveDeployment) string {
	for _, c := range telling(d.md) {
		if next := nextSteps[c.Reason]; next != "" {
			return next
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
	return "see what Kueue says of the replicas that wait; for quota, nothing: they start once there is some. Where there will be none, lower replicas. What the queue has: kubectl describe clusterqueues.kueue.x-k8s.io " + strings.Join(queues, " ")
}

func roleNode(r *liveRole) *treeNode {
	ready := r.ready()
	n := &treeNode{name: r.spec.Name, state: fmt.Sprintf("%d of %d", ready, r.spec.Replicas), health: progressing}
	if ready == r.spec.Replicas {
		n.health = healthy
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
	n := &treeNode{name: fmt.Sprintf("replica %d", one.ordinal), state: string(one.state), health: one.state.info().health}
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
	n := &treeNode{name: "Pod " + p.Name, state: string(v.state), health: v.state.info().health}
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
	n := &treeNode{name: "router", state: "Unknown", health: progressing}
	c := meta.FindStatusCondition(md.Status.Conditions, report.RouterReady)
	switch {
	case c == nil:
		return n
	case c.Status == metav1.ConditionTrue:
		n.state, n.health = "Ready", healthy
	default:
		n.state = c.Reason
		n.say(c.Message)
	}
	return n
}

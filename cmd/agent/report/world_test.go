// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// edit changes an input.
type edit func(*Input)

// role declares a role and what serves it: every replica is there, admitted and
// ready.
func role(name string, kind v1.RoleKind, replicas int32) edit {
	return func(in *Input) {
		in.Deployment.Spec.Roles = append(in.Deployment.Spec.Roles, v1.Role{Name: name, Kind: kind, Replicas: replicas, Size: 1, InstanceType: "pool-a"})
		in.Roles = append(in.Roles, Role{
			Name:    name,
			Service: func(n int32) string { return fmt.Sprintf("m-%s-r%d", name, n) },
			Pass:    converge.RoleReport{Name: name, Waits: map[int32]converge.Wait{}},
		})
		for n := range replicas {
			add(name, n, 0)(in)
		}
	}
}

func group(role string, n int32) string { return fmt.Sprintf("g-%s-%d", role, n) }

// add makes a Pod that is ready, and a Workload that is admitted.
func add(role string, n, member int32) edit {
	return func(in *Input) {
		p := Pod{Pod: converge.Pod{
			Name: fmt.Sprintf("m-%s-%d-%d", role, n, member), Role: role, Ordinal: n, Member: member, Group: group(role, n),
			Ready: true, Managed: true, Held: true,
		}, Mounted: true, EngineReady: true}
		p.UID = "uid-" + p.Name
		in.Pods = append(in.Pods, p)
		for i := range in.Workloads {
			if w := &in.Workloads[i]; w.Name == p.Group {
				w.Pods = append(w.Pods, p.UID)
				return
			}
		}
		in.Workloads = append(in.Workloads, Workload{Workload: converge.Workload{
			Name: p.Group, UID: "uid-" + p.Group, Pods: []string{p.UID}, Reserved: true, Admitted: true,
		}, Unpark: "unpark " + p.Group})
		if r := in.role(role); r != nil {
			r.Pass.Compared++
		}
	}
}

func (in *Input) role(name string) *Role {
	for i := range in.Roles {
		if in.Roles[i].Name == name {
			return &in.Roles[i]
		}
	}
	return nil
}

// input is a deployment with one role of two replicas that is as it should be,
// unless roles are given.
func input(edits ...edit) Input {
	md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "m", Generation: 3}}
	in := Input{Deployment: md, Now: noon, Endpoint: "http://m.team-a.svc:8000"}
	for _, e := range edits {
		e(&in)
	}
	return in
}

func servers(edits ...edit) Input {
	return input(append([]edit{role("server", v1.RoleServer, 2)}, edits...)...)
}

// pair is a prefill role with one replica and a decode role with two.
func pair(edits ...edit) Input {
	return input(append([]edit{role("prefill", v1.RolePrefill, 1), role("decode", v1.RoleDecode, 2)}, edits...)...)
}

func pods(role string, n int32, change func(*Pod)) edit {
	return func(in *Input) {
		for i := range in.Pods {
			if p := &in.Pods[i]; p.Role == role && (n < 0 || p.Ordinal == n) {
				change(p)
			}
		}
	}
}

func workloads(role string, n int32, change func(*Workload)) edit {
	return func(in *Input) {
		for i := range in.Workloads {
			if w := &in.Workloads[i]; n < 0 && strings.HasPrefix(w.Name, "g-"+role) || w.Name == group(role, n) {
				change(w)
			}
		}
	}
}

// gone removes the Pods of a replica, without its Workload if there is one.
func gone(role string, n int32) edit {
	return func(in *Input) {
		var kept []Pod
		for _, p := range in.Pods {
			if p.Role != role || p.Ordinal != n {
				kept = append(kept, p)
			}
		}
		in.Pods = kept
		unqueued(role, n)(in)
		in.role(role).Pass.Compared--
		in.role(role).Pass.Missing = append(in.role(role).Pass.Missing, n)
	}
}

func unqueued(role string, n int32) edit {
	return func(in *Input) {
		var kept []Workload
		for _, w := range in.Workloads {
			if w.Name != group(role, n) {
				kept = append(kept, w)
			}
		}
		in.Workloads = kept
	}
}

func leaving(role string, n int32) edit {
	return func(in *Input) {
		pods(role, n, func(p *Pod) { p.Deleting = true })(in)
		in.role(role).Pass.Compared--
	}
}

func preempted(role string, n int32) edit {
	return func(in *Input) {
		leaving(role, n)(in)
		pods(role, n, func(p *Pod) { p.Preempted = true })(in)
		unqueued(role, n)(in)
	}
}

func unready(role string, n int32) edit {
	return pods(role, n, func(p *Pod) { p.Ready, p.EngineReady = false, false })
}

func waitingForQuota(role string, n int32, message string) edit {
	return func(in *Input) {
		unready(role, n)(in)
		workloads(role, n, func(w *Workload) { w.Reserved, w.Admitted, w.Message = false, false, message })(in)
	}
}

func waitsFor(role string, n int32, w converge.Wait) edit {
	return func(in *Input) { in.role(role).Pass.Waits[n] = w }
}

func refused(role string, n int32, why string) edit {
	return func(in *Input) {
		r := in.role(role)
		if r.Refused == nil {
			r.Refused = map[int32]string{}
		}
		r.Refused[n] = why
	}
}

func outdated(role string, n int) edit { return func(in *Input) { in.role(role).Pass.Outdated = n } }

func hold(role string, h converge.Hold) edit { return func(in *Input) { in.role(role).Pass.Hold = h } }

func fault(role, reason, message string) edit {
	return func(in *Input) { in.role(role).Fault = Fault{reason, message} }
}

func stale(role string) edit { return func(in *Input) { in.role(role).Stale = true } }

func deleted(in *Input) {
	in.Deployment.DeletionTimestamp = &metav1.Time{Time: noon}
	in.Roles = nil
}

func routed(in *Input) {
	in.Deployment.Spec.Router = &v1.RouterSpec{Name: v1.RouterLLMD}
	in.Router = Router{Contract: &v1.RouterStatus{Name: v1.RouterLLMD, Endpoint: "http://m-router.team-a.svc:8081"}, Name: "m-router", Deployed: true, Ready: 1}
}

func cached(in *Input) {
	in.Deployment.Spec.KVCache = &v1.KVCacheSpec{}
	in.Cache = Cache{Name: "dram", Resolved: true, Binding: &Binding{
		Pool: "pool", Domain: v1.KVCacheDomain{Name: "team-a", BlockSize: 64, Dtype: "bfloat16"}, Phase: "Ready", QuotaGranted: true,
	}}
}

func delivered(how v1.Delivery) edit {
	return func(in *Input) {
		in.Weights = Weights{Artifact: "weights", Delivery: how, Model: &v1.ModelStatus{Artifact: "weights", Delivery: how}}
	}
}

func command(role string) edit {
	return func(in *Input) {
		for i := range in.Deployment.Spec.Roles {
			if r := &in.Deployment.Spec.Roles[i]; r.Name == role {
				r.Command = []string{"serve"}
			}
		}
	}
}

// stored puts a condition into the status that is stored.
func stored(condition string, status metav1.ConditionStatus, reason string) edit {
	return func(in *Input) {
		in.Deployment.Status.Conditions = append(in.Deployment.Status.Conditions, metav1.Condition{
			Type: condition, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour)),
		})
	}
}

func (e edit) and(others ...edit) edit {
	return func(in *Input) {
		e(in)
		for _, o := range others {
			o(in)
		}
	}
}

// said is "Status/Reason" of a condition, and its message.
func said(t *testing.T, s v1.ModelDeploymentStatus, condition string) (verdict, message string) {
	t.Helper()
	c, ok := find(s.Conditions, condition)
	if !ok {
		return "none", ""
	}
	if c.Reason == "" {
		t.Errorf("%s has no reason", condition)
	}
	return string(c.Status) + "/" + c.Reason, c.Message
}

func contains(t *testing.T, what, message string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(message, p) {
			t.Errorf("%s: %q lacks %q", what, message, p)
		}
	}
}

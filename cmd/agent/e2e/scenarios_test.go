// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestFirst: two replicas are created, and nothing is written to them after.
func TestFirst(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	w.rest()
	n := w.sent.take()
	if n["POST pods"] != 2 || n["PATCH pods"]+n["PUT pods"]+n["DELETE pods"]+n["DELETE workloads"] != 0 {
		t.Errorf("writes %v", n)
	}
}

// TestScale: up keeps who is there, down takes the highest.
func TestScale(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	before, at := w.uids(), w.rec.now()
	w.scale(4)
	w.settle(seats("server", 4)...)
	w.kept(before, seats("server", 2)...)
	w.equal("made", w.rec.made(at), []string{"server/2/0", "server/3/0"})
	at = w.rec.now()
	w.scale(2)
	w.settle(seats("server", 2)...)
	w.kept(before, seats("server", 2)...)
	w.equal("left", w.rec.left(at), []string{"server/3/0", "server/2/0"})
	w.rest()
	w.must(w.settled(seats("server", 2)...))
}

// TestRollout: one at a time, from the highest.
func TestRollout(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(3, old))
	w.settle(seats("server", 3)...)
	before, at := w.uids(), w.rec.now()
	w.apply(servers(3, edited))
	w.rolled(before, seats("server", 3)...)
	w.equal("left", w.rec.left(at), []string{"server/2/0", "server/1/0", "server/0/0"})
	w.equal("made", w.rec.made(at), []string{"server/2/0", "server/1/0", "server/0/0"})
	if n := w.rec.fewestReady("server", 1, at); n != 2 {
		t.Errorf("only %d were Ready", n)
	}
}

// TestScaleDownAndEdit: who is too many goes first, then the rest rolls.
func TestScaleDownAndEdit(t *testing.T) {
	w := newWorld(t)
	w.behaviour = localcluster.Killed
	w.apply(servers(4, old))
	w.settle(seats("server", 4)...)
	before, at := w.uids(), w.rec.now()
	w.apply(servers(2, edited))
	w.rolled(before, seats("server", 2)...)
	w.equal("left", w.rec.left(at), []string{"server/3/0", "server/2/0", "server/1/0", "server/0/0"})
	w.equal("made", w.rec.made(at), []string{"server/1/0", "server/0/0"})
	if n := w.rec.fewestReady("server", 1, at); n != 1 {
		t.Errorf("only %d were Ready", n)
	}
}

// TestScaleUpAndEdit: the new one comes first, then the others roll.
func TestScaleUpAndEdit(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	before, at := w.uids(), w.rec.now()
	w.behaviour.Ready = 3 * time.Second
	w.apply(servers(3, edited))
	w.rolled(before, seats("server", 3)...)
	w.equal("left", w.rec.left(at), []string{"server/1/0", "server/0/0"})
	w.equal("made", w.rec.made(at), []string{"server/2/0", "server/1/0", "server/0/0"})
	if n := w.rec.fewestReady("server", 1, at); n != 2 {
		t.Errorf("only %d were Ready", n)
	}
}

// TestFullPool: a rollout waits with one replica when the card of the other is
// not to be had again.
func TestFullPool(t *testing.T) {
	w := newWorld(t, cards(2))
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	before, at := w.uids(), w.rec.now()
	w.quota(1) // which takes nothing away from who has it
	w.apply(servers(2, edited))
	w.until("the replacement waits", func() error {
		return errors.Join(w.replaced(before, "server/1/0"), w.waiting("server/1/0"))
	})
	w.idle()
	w.kept(before, "server/0/0")
	w.must(w.waiting("server/1/0"))
	if !ready(w.pod("server/0/0")) {
		t.Error("the other does not serve")
	}
	w.quota(2)
	w.rolled(before, seats("server", 2)...)
	w.equal("left", w.rec.left(at), []string{"server/1/0", "server/0/0"})
	if n := w.rec.fewestReady("server", 1, at); n != 1 {
		t.Errorf("only %d were Ready", n)
	}
}

// TestNoQuota: replicas that hold none are replaced without waiting.
func TestNoQuota(t *testing.T) {
	w := newWorld(t, cards(0))
	w.apply(servers(2, old))
	w.until("two wait", func() error { return w.waiting(seats("server", 2)...) })
	w.rest()
	before, at := w.uids(), w.rec.now()
	w.apply(servers(2, edited))
	w.until("both are replaced", func() error {
		if err := w.count(2); err != nil {
			return err
		}
		return w.replaced(before, seats("server", 2)...)
	})
	w.equal("left", w.rec.left(at), []string{"server/1/0", "server/0/0"})
}

// disaggregated has a role for each half of the work.
func disaggregated(prefill, decode int, seed string) string {
	role := func(name, kind string, replicas int) string {
		return fmt.Sprintf(`{name: %s, kind: %s, replicas: %d, instanceType: NAME, resources: {accelerator: 1}, extraArgs: [%s]}`, name, kind, replicas, seed)
	}
	return `{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, kvTransfer: {protocol: TCP}, router: {name: llm-d-router}, roles: [` +
		role("prefill", "Prefill", prefill) + ", " + role("decode", "Decode", decode) + "]}"
}

// both are the seats of a disaggregated deployment.
func both(prefill, decode int) []string {
	return append(seats("prefill", prefill), seats("decode", decode)...)
}

// TestTwoRoles: one replica of each is turned over at a time.
func TestTwoRoles(t *testing.T) {
	w := newWorld(t)
	all := both(2, 2)
	w.apply(disaggregated(2, 2, old))
	w.settle(all...)
	before, at := w.uids(), w.rec.now()
	w.apply(disaggregated(2, 2, edited))
	w.rolled(before, all...)
	left := w.rec.left(at)
	first, second := slices.Sorted(slices.Values(left[:2])), slices.Sorted(slices.Values(left[2:]))
	w.equal("left first", first, []string{"decode/1/0", "prefill/1/0"})
	w.equal("left then", second, []string{"decode/0/0", "prefill/0/0"})
	for _, role := range []string{"prefill", "decode"} {
		if n := w.rec.fewestReady(role, 1, at); n != 1 {
			t.Errorf("only %d %s were Ready", n, role)
		}
	}
}

// TestDeletedByHand: a Pod that somebody deletes is replaced once.
func TestDeletedByHand(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	before, at := w.uids(), w.rec.now()
	for range 4 { // what is gone too early is not lost every time
		victim := w.uids()["server/1/0"]
		w.kill("server/1/0")
		w.rolled(map[string]string{"server/1/0": victim, "server/0/0": "another"}, seats("server", 2)...)
	}
	w.kept(before, "server/0/0")
	w.equal("made", w.rec.made(at), slices.Repeat([]string{"server/1/0"}, 4))
}

// TestEvicted: a Pod that a kubelet evicted is taken away and replaced.
func TestEvicted(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	before, at := w.uids(), w.rec.now()
	w.must(w.EndPod(w.ctx(), w.name, w.pod("server/1/0").Name, corev1.PodFailed, "Evicted", "The node was low on resource: memory."))
	w.rolled(map[string]string{"server/1/0": before["server/1/0"], "server/0/0": "another"}, seats("server", 2)...)
	w.kept(before, "server/0/0")
	w.equal("made", w.rec.made(at), []string{"server/1/0"})
}

// TestPreempted: what Kueue takes away comes back and waits.
func TestPreempted(t *testing.T) {
	t.Parallel()
	for n, name := range map[int]string{1: "in part", 2: "in all"} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			w := newWorld(t, cards(2), preempting)
			w.priority(1000)
			w.apply(servers(2, old))
			w.settle(seats("server", 2)...)
			before, at := w.uids(), w.rec.now()
			w.compete("rival", n, w.name)
			w.until("the rival runs", func() error { return w.runs("rival") })
			w.until("what was lost waits", func() error {
				waits := 0
				for _, p := range w.pods() {
					if p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) > 0 {
						waits++
					}
				}
				if waits != n {
					return fmt.Errorf("%d wait", waits)
				}
				return nil
			})
			w.end("rival")
			w.settle(seats("server", 2)...)
			if made := w.rec.made(at); len(made) != n {
				t.Errorf("made %q", made)
			}
			same := 0
			for seat, id := range w.uids() {
				if before[seat] == id {
					same++
				}
			}
			if same != 2-n {
				t.Errorf("%d are the same", same)
			}
		})
	}
}

// TestPreemptedHalf: of a deployment with two roles, Kueue takes one replica
// away. It comes back and waits, and the others serve on.
func TestPreemptedHalf(t *testing.T) {
	w := newWorld(t, cards(3), preempting)
	w.priority(1000)
	w.apply(disaggregated(1, 2, old))
	w.settle(both(1, 2)...)
	w.rest()
	before, at := w.uids(), w.rec.now()
	const lost = "decode/1/0"
	first := w.workload(lost)
	w.patch(first, `[{"op": "replace", "path": "/spec/priority", "value": -1}]`) // so that it goes first
	w.compete("rival", 1, w.name)
	w.until("Kueue ends the Pod", func() error {
		if target := w.rec.target(before[lost]); target != "WorkloadEvictedDueToPreempted" {
			return fmt.Errorf("its end is %q", target)
		}
		return nil
	})
	w.until("its Workload is swept", func() error {
		if slices.ContainsFunc(w.workloads(), func(wl kueue.Workload) bool { return wl.UID == first.UID }) {
			return errors.New("it reads")
		}
		return nil
	})
	w.until("the rival runs", func() error { return w.runs("rival") })
	w.until("what was lost waits", func() error {
		return errors.Join(w.replaced(before, lost), w.waiting(lost))
	})
	w.rest()
	w.must(w.waiting(lost))
	w.kept(before, both(1, 1)...)
	w.equal("left", w.rec.left(at), []string{lost})

	w.end("rival")
	w.settle(both(1, 2)...)
	w.kept(before, both(1, 1)...)
	w.equal("made", w.rec.made(at), []string{lost})
	for _, role := range []string{"prefill", "decode"} {
		if n := w.rec.fewestReady(role, 1, at); n != 1 {
			t.Errorf("only %d %s were Ready", n, role)
		}
	}
}

// TestNodeLost: a rollout passes around the replica on a dead node, which is
// replaced when the node is removed and not before.
func TestNodeLost(t *testing.T) {
	w := newWorld(t, cards(1), onNodes(5))
	w.apply(servers(3, old))
	w.settle(seats("server", 3)...)
	before := w.uids()
	lost := w.pod("server/2/0")
	passedBy := func() { // the others roll, and it stays
		t.Helper()
		before, at := w.uids(), w.rec.now()
		w.apply(servers(3, fmt.Sprintf("--seed, '%d'", at)))
		w.until("the others have rolled", func() error {
			for _, seat := range []string{"server/0/0", "server/1/0"} {
				for _, p := range w.pods() {
					if seatOf(&p) == seat && (!ready(&p) || string(p.UID) == before[seat]) {
						return fmt.Errorf("%s has not", seat)
					}
				}
			}
			return w.count(3)
		})
		w.kept(before, "server/2/0")
		w.equal("left", w.rec.left(at), []string{"server/1/0", "server/0/0"})
		if n := w.rec.fewestReady("server", 1, at); n != 1 {
			t.Errorf("only %d were Ready", n)
		}
	}
	w.must(w.StopNode(w.ctx(), lost.Spec.NodeName))
	w.rest()
	w.must(w.count(3))
	w.kept(before, seats("server", 3)...)

	passedBy()

	w.kill("server/2/0")
	w.idle()
	w.must(w.count(3))
	if n := len(w.workloads()); n != 3 {
		t.Errorf("%d Workloads", n)
	}
	w.tells("Ready=False/ReplicaUnavailable", "Ready~"+lost.Spec.NodeName)
	passedBy()
	w.idle()
	at := w.rec.now()
	w.must(w.RemoveNode(w.ctx(), lost.Spec.NodeName))
	w.rolled(before, seats("server", 3)...)
	w.equal("made", w.rec.made(at), []string{"server/2/0"})
}

// TestLostAnswer: a create whose answer is lost is not repeated.
func TestLostAnswer(t *testing.T) {
	w := newWorld(t)
	w.sent.loseNext()
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	w.equal("made", slices.Sorted(slices.Values(w.rec.made(0))), seats("server", 2))
}

// TestMisfits: a second Pod on a seat goes, and so does one without a seat.
func TestMisfits(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	before := w.uids()
	for i, change := range []func(*corev1.Pod){
		func(p *corev1.Pod) { p.Annotations[v1.AnnotationPodSpecHash] = "stale" },
		func(p *corev1.Pod) {
			delete(p.Labels, v1.LabelPodOrdinal)
			p.Labels[podconstants.GroupNameLabel] = "stray"
		},
	} {
		like := w.pod("server/0/0")
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: w.name, Name: fmt.Sprintf("misfit-%d", i),
				Labels: like.Labels, Annotations: like.Annotations, OwnerReferences: like.OwnerReferences,
			},
			Spec: like.Spec,
		}
		p.Spec.NodeName, p.Spec.SchedulingGates, p.Spec.NodeSelector = "", nil, nil
		change(p)
		w.must(w.Create(w.ctx(), p))
		w.until("it is gone", func() error {
			if err := w.runs(p.Name); !apierrors.IsNotFound(err) {
				return errors.New("it reads")
			}
			return nil
		})
		w.settle(seats("server", 2)...)
	}
	w.kept(before, seats("server", 2)...)
}

// pairs has instances of two Pods.
func pairs(replicas int, seed string) string {
	return fmt.Sprintf(`{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, roles: [{name: server, replicas: %d, size: 2, instanceType: NAME, resources: {accelerator: 1}, command: [serve], env: [{name: VERSION, value: %q}]}]}`, replicas, seed)
}

// members of the seats of pairs.
func members(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("server/%d/0", i), fmt.Sprintf("server/%d/1", i))
	}
	return out
}

// TestHalfCreated: an instance of which a part is refused is never filled up.
func TestHalfCreated(t *testing.T) {
	w := newWorld(t)
	limit := &corev1.ResourceQuota{ // the sentinel takes a part
		ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
	}
	w.must(w.Create(w.ctx(), limit))
	w.until("the limit holds", func() error {
		err := w.Get(w.ctx(), client.ObjectKeyFromObject(limit), limit)
		if err == nil && len(limit.Status.Hard) == 0 {
			err = errors.New("it does not")
		}
		return err
	})
	start := time.Now()
	w.apply(pairs(1, old))
	w.until("it was tried again and again", func() error {
		if n := len(w.rec.made(0)); n < 6 {
			return fmt.Errorf("%d Pods made", n)
		}
		return nil
	})
	// The second try comes at once, and then each waits twice as long as the last.
	if d := time.Since(start); d < (400+800+1600+3200)*time.Millisecond {
		t.Errorf("it was tried six times within %s", d)
	}
	w.tells("QuotaReserved~the API server refuses their Pods", "QuotaReserved~exceeded quota")
	w.until("an event", func() error { return w.event("FailedCreate", "exceeded quota") })
	w.patch(limit, `[{"op": "replace", "path": "/spec/hard/pods", "value": "100"}]`)
	w.settle(members(1)...)
	w.sent.forgive()
}

// TestMemberLost: with one member the whole instance goes, and no other.
func TestMemberLost(t *testing.T) {
	w := newWorld(t)
	w.apply(pairs(2, old))
	w.settle(members(2)...)
	before, at := w.uids(), w.rec.now()
	w.kill("server/0/1")
	w.rolled(map[string]string{"server/0/0": before["server/0/0"], "server/0/1": before["server/0/1"], "server/1/0": "", "server/1/1": ""}, members(2)...)
	w.kept(before, "server/1/0", "server/1/1")
	w.equal("made", slices.Sorted(slices.Values(w.rec.made(at))), members(1))

	before, at = w.uids(), w.rec.now()
	w.apply(pairs(2, edited))
	w.rolled(before, members(2)...)
	if n := w.rec.fewestReady("server", 2, at); n != 1 {
		t.Errorf("only %d were Ready", n)
	}
	if made := w.rec.made(at); len(made) != 4 {
		t.Errorf("made %q", made)
	}
}

// TestTeardown: everything goes, and then the deployment.
func TestTeardown(t *testing.T) {
	w := newWorld(t)
	w.apply(pairs(2, old))
	w.settle(members(2)...)
	at := w.rec.now()
	w.must(w.Client.Delete(w.ctx(), w.deployment()))
	w.until("the deployment is gone", func() error {
		if w.deployment() != nil {
			return errors.New("it reads")
		}
		if n := len(w.pods()); n > 0 {
			t.Errorf("it went before %d Pods", n)
		}
		return nil
	})
	w.until("no Workload is left", func() error {
		if n := len(w.workloads()); n > 0 {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	w.equal("made", w.rec.made(at), nil)
}

// TestRenderFailed: without a value that only the cluster knows, nothing is
// created, and everything else goes on.
func TestRenderFailed(t *testing.T) {
	w := newWorld(t, facts(lateFact))
	typ := func(version string) { w.applyFacts(strings.Replace(typeFact, "12.9", version, 1)) }
	w.applyFacts(lateFact)
	w.apply(servers(2, old))
	w.until("an event", func() error { return w.event("RenderFailed", "runtimeVersion") })
	w.must(w.count(0))
	typ("12.8")
	w.settle(seats("server", 2)...)
	w.image("cuda12.8")

	before := w.uids()
	w.applyFacts(lateFact)
	w.apply(servers(2, edited))
	w.idle()
	w.must(w.settled(seats("server", 2)...))
	w.kept(before, seats("server", 2)...)
	w.scale(1)
	w.settle(seats("server", 1)...)
	w.kill("server/0/0")
	w.until("nothing is left", func() error {
		if n := len(w.workloads()); n > 0 {
			return fmt.Errorf("%d Workloads are", n)
		}
		return w.count(0)
	})
	typ("12.9")
	w.settle(seats("server", 1)...)
	w.image("cuda12.9")
	before = w.uids()
	typ("12.8")
	w.rolled(before, seats("server", 1)...)
	w.image("cuda12.8")
}

// TestRuntimeVersionSkew: of the versions that the nodes tell, the lowest gives
// the image, and the user hears once that they differ.
func TestRuntimeVersionSkew(t *testing.T) {
	const full, major, minor = "nvidia.com/cuda.runtime-version.full", "nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor"
	w := newWorld(t, facts(lateFact), cards(2), onNodes(2),
		labelled(map[string]string{full: "12.9.41"}, map[string]string{major: "12", minor: "8"}))
	w.applyFacts(lateFact)
	w.apply(servers(3, old))
	w.settle(seats("server", 3)...)
	w.image("cuda12.8")
	w.until("an event", func() error { return w.event("RuntimeVersionSkew", "12.8, 12.9") })
	w.rest()
	w.once("RuntimeVersionSkew")

	before, at := w.uids(), w.rec.now()
	w.patch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.nodes[1]}}, `[{"op": "replace", "path": "/metadata/labels/nvidia.com~1cuda.runtime.minor", "value": "9"}]`)
	w.rolled(before, seats("server", 3)...)
	w.image("cuda12.9")
	w.equal("left", w.rec.left(at), []string{"server/2/0", "server/1/0", "server/0/0"})
	if n := w.rec.fewestReady("server", 1, at); n != 2 {
		t.Errorf("only %d were Ready", n)
	}
	w.rest()
	w.once("RuntimeVersionSkew")
	if err := w.event("RenderFailed", ""); err == nil {
		t.Error("an event says that it failed")
	}
}

const (
	bindingFact = `{apiVersion: worker.gpustack.ai/v1, kind: KVCachePoolBinding, metadata: {name: dram, namespace: NAME}, spec: {poolRef: {name: NAME}, domain: {name: team-a, blockSize: 64, dtype: bfloat16}}, status: {phase: Ready, conditions: [{type: QuotaGranted, status: "True"}]}}`
	poolFact    = `{apiVersion: worker.gpustack.ai/v1, kind: KVCachePool, metadata: {name: NAME}, spec: {backends: [NAME]}, status: {clientEndpoint: "10.0.0.7:50051"}}`
	backendFact = `{apiVersion: worker.gpustack.ai/v1, kind: KVCacheBackend, metadata: {name: NAME}, spec: {connection: {managed: {members: [{}]}}}}`

	artifactFact = `{apiVersion: worker.gpustack.ai/v1, kind: ModelArtifact, metadata: {name: weights, namespace: NAME}, spec: {source: {huggingFace: {repository: Qwen/Qwen3-8B, revision: main}}}, status: {conditions: [{type: Resolved, status: "True"}], resolved: {revision: a09a35458c702b33eeacc393d103063234e8bc28, manifestDigest: "sha256:8c1f0f3c9a1d0b6f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7", digestSource: Hub, sizeBytes: 15242702848}}}`
)

// with adds a part to the spec of servers.
func with(part, spec string) string { return strings.Replace(spec, "{", "{"+part+", ", 1) }

// TestStoreBlinks: while the store is away, who is attached stays and a newcomer
// starts without; it alone is replaced when the store is back.
func TestStoreBlinks(t *testing.T) {
	w := newWorld(t, facts(typeFact, bindingFact, poolFact, backendFact))
	t.Cleanup(func() {
		for _, o := range []client.Object{&v1.KVCachePool{}, &v1.KVCacheBackend{}} {
			o.SetName(w.name)
			_ = client.IgnoreNotFound(w.Client.Delete(context.Background(), o))
		}
	})
	cached := func(replicas int) string { return with("kvCache: {poolRef: {name: dram}}", servers(replicas, old)) }
	w.applyFacts(backendFact, poolFact, bindingFact)
	w.apply(cached(3))
	w.settle(seats("server", 3)...)
	w.until("the domain is noted", func() error {
		if w.deployment().Status.KVCache == nil {
			return errors.New("it is not")
		}
		return nil
	})
	before := w.uids()
	w.applyFacts(strings.Replace(bindingFact, "phase: Ready", "phase: Pending", 1))
	w.pass()
	w.scale(4)
	w.settle(seats("server", 4)...)
	w.idle()
	w.must(w.settled(seats("server", 4)...))
	w.kept(before, seats("server", 3)...)
	fourth, at := w.uids(), w.rec.now()
	w.applyFacts(bindingFact)
	w.until("the newcomer is replaced", func() error {
		if err := w.settled(seats("server", 4)...); err != nil {
			return err
		}
		return w.replaced(fourth, "server/3/0")
	})
	w.kept(before, seats("server", 3)...)
	w.equal("made", w.rec.made(at), []string{"server/3/0"})

	w.must(w.Client.Delete(w.ctx(), w.deployment()))
	w.until("the claim is given up", func() error {
		b := &v1.KVCachePoolBinding{}
		if err := w.Get(w.ctx(), client.ObjectKey{Namespace: w.name, Name: "dram"}, b); err != nil {
			return err
		}
		if len(b.Status.UsedBy) > 0 {
			return fmt.Errorf("it is %v", b.Status.UsedBy)
		}
		return nil
	})
}

// TestStoreNeverThere: a deployment waits two minutes for its store, and then
// starts without.
func TestStoreNeverThere(t *testing.T) {
	w := newWorld(t, facts(typeFact, bindingFact, poolFact, backendFact))
	w.apply(with("kvCache: {poolRef: {name: dram}}", servers(2, old)))
	made := w.deployment().CreationTimestamp
	w.settle(seats("server", 2)...)
	w.equal("made", w.rec.made(0), seats("server", 2))
	for _, p := range w.pods() {
		if d := p.CreationTimestamp.Sub(made.Time); d < 119*time.Second || d > 3*time.Minute {
			t.Errorf("%s was made after %s", p.Name, d)
		}
	}
}

// TestWeightsBlocked: without weights nothing is created and nothing is deleted.
func TestWeightsBlocked(t *testing.T) {
	w := newWorld(t, facts(typeFact, artifactFact))
	spec := func(replicas int, seed string) string {
		return strings.Replace(servers(replicas, seed), "{name: Qwen/Qwen3-8B}", "{name: Qwen/Qwen3-8B, artifactRef: {name: weights}}", 1)
	}
	w.applyFacts(artifactFact)
	w.apply(spec(2, old))
	w.settle(seats("server", 2)...)
	before := w.uids()
	w.applyFacts(strings.Replace(artifactFact, `"True"`, `"False"`, 1))
	w.pass()
	w.apply(spec(3, edited))
	w.idle()
	w.must(w.settled(seats("server", 2)...))
	w.kept(before, seats("server", 2)...)
	at := w.rec.now()
	w.applyFacts(artifactFact)
	w.rolled(before, seats("server", 3)...)
	if n := w.rec.fewestReady("server", 1, at); n != 2 {
		t.Errorf("only %d were Ready", n)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestFirst: two replicas are created, and nothing is written to them after.
func TestFirst(t *testing.T) {
	w := newWorld(t)
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	time.Sleep(3 * time.Second)
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
	w.stays(3*time.Second, "settled", func() error { return w.settled(seats("server", 2)...) })
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

// TestFullPool: a rollout waits with one replica when somebody else gets the
// card of the other.
func TestFullPool(t *testing.T) {
	if os.Getenv(soak) == "" {
		t.Skip("who gets a freed card first is up to Kueue, and the test needs the rival to; set " + soak + " to run it")
	}
	w := newWorld(t, cards(2))
	w.apply(servers(2, old))
	w.settle(seats("server", 2)...)
	w.compete("rival", 1, "")
	before, at := w.uids(), w.rec.now()
	w.apply(servers(2, edited))
	w.until("the rival runs", func() error { return w.runs("rival") })
	w.until("the replacement waits", func() error {
		now := w.uids()
		if id := now["server/1/0"]; id == "" || id == before["server/1/0"] {
			return errors.New("there is none")
		}
		return nil
	})
	w.stays(6*time.Second, "the other serves", func() error {
		if w.uids()["server/0/0"] != before["server/0/0"] {
			return errors.New("it is another")
		}
		return nil
	})
	if p := w.pod("server/1/0"); len(p.Spec.SchedulingGates) == 0 {
		t.Error("the replacement does not wait")
	}
	w.end("rival")
	w.rolled(before, seats("server", 2)...)
	if n := w.rec.fewestReady("server", 1, at); n != 1 {
		t.Errorf("only %d were Ready", n)
	}
}

// TestNoQuota: replicas that hold none are replaced without waiting.
func TestNoQuota(t *testing.T) {
	w := newWorld(t, cards(0))
	w.apply(servers(2, old))
	w.until("two wait", func() error { return w.count(2) })
	time.Sleep(time.Second)
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

// TestTwoRoles: one replica of each is turned over at a time.
func TestTwoRoles(t *testing.T) {
	w := newWorld(t)
	spec := func(seed string) string {
		return `{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, kvTransfer: {protocol: TCP}, router: {name: llm-d-router}, roles: [` +
			`{name: prefill, kind: Prefill, replicas: 2, instanceType: NAME, resources: {accelerator: 1}, extraArgs: [` + seed + `]}, ` +
			`{name: decode, kind: Decode, replicas: 2, instanceType: NAME, resources: {accelerator: 1}, extraArgs: [` + seed + `]}]}`
	}
	all := append(seats("decode", 2), seats("prefill", 2)...)
	w.apply(spec(old))
	w.settle(all...)
	before, at := w.uids(), w.rec.now()
	w.apply(spec(edited))
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
			w.must(w.Create(w.ctx(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Value: 1000}))
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

// TestNodeLost: a rollout passes around the replica on a dead node, which is
// replaced when the node is removed and not before.
func TestNodeLost(t *testing.T) {
	w := newWorld(t, cards(1), onNodes(5))
	w.apply(servers(3, old))
	w.settle(seats("server", 3)...)
	before := w.uids()
	lost := w.pod("server/2/0")
	w.must(w.StopNode(w.ctx(), lost.Spec.NodeName))
	w.stays(5*time.Second, "nothing happens", func() error { return w.count(3) })
	w.kept(before, seats("server", 3)...)

	at := w.rec.now()
	w.apply(servers(3, edited))
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

	at = w.rec.now()
	w.kill("server/2/0")
	workloads := len(w.workloads())
	w.stays(5*time.Second, "it stays", func() error {
		if n := len(w.workloads()); n != workloads {
			return fmt.Errorf("%d Workloads", n)
		}
		return w.count(3)
	})
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
	limit := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	}
	w.must(w.Create(w.ctx(), limit))
	w.until("the limit holds", func() error {
		err := w.Get(w.ctx(), client.ObjectKeyFromObject(limit), limit)
		if err == nil && len(limit.Status.Hard) == 0 {
			err = errors.New("it does not")
		}
		return err
	})
	w.apply(pairs(1, old))
	w.until("it was tried twice", func() error {
		if n := len(w.rec.made(0)); n < 2 {
			return fmt.Errorf("%d Pods made", n)
		}
		return nil
	})
	time.Sleep(10 * time.Second)
	if n := len(w.rec.made(0)); n > 12 {
		t.Errorf("it was tried %d times", n)
	}
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
	image := func(want string) {
		t.Helper()
		for _, p := range w.pods() {
			if got := p.Spec.Containers[0].Image; !strings.Contains(got, want) {
				t.Errorf("image %s", got)
			}
		}
	}
	image("cuda12.8")

	before := w.uids()
	w.applyFacts(lateFact)
	w.apply(servers(2, edited))
	w.stays(4*time.Second, "nothing rolls", func() error { return w.settled(seats("server", 2)...) })
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
	image("cuda12.9")
	typ("12.8")
	w.rolled(w.uids(), seats("server", 1)...)
	image("cuda12.8")
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
	time.Sleep(time.Second)
	w.scale(4)
	w.settle(seats("server", 4)...)
	w.stays(4*time.Second, "nothing rolls", func() error { return w.settled(seats("server", 4)...) })
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
	w.stays(100*time.Second, "it waits", func() error { return w.count(0) })
	w.settle(seats("server", 2)...)
	for _, p := range w.pods() {
		if d := p.CreationTimestamp.Sub(made.Time); d < 119*time.Second || d > 135*time.Second {
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
	time.Sleep(time.Second)
	w.apply(spec(3, edited))
	w.stays(6*time.Second, "nothing happens", func() error { return w.settled(seats("server", 2)...) })
	w.kept(before, seats("server", 2)...)
	at := w.rec.now()
	w.applyFacts(artifactFact)
	w.rolled(before, seats("server", 3)...)
	if n := w.rec.fewestReady("server", 1, at); n != 2 {
		t.Errorf("only %d were Ready", n)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/source"

	"gpustack.ai/mdc/cmd/agent/controller"
	"gpustack.ai/mdc/cmd/agent/localcluster"
	"gpustack.ai/mdc/cmd/agent/observe"
)

const (
	device = "nvidia.com/gpu"
	// queue is the name of the LocalQueue of every world.
	queue = "queue"
	// typeFact knows everything, lateFact leaves the runtime version to the
	// cluster. NAME stands for the world's.
	typeFact = `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: NAME}, spec: {acceleratorGroup: nvidia-a10g, acceleratable: true, os: linux, arch: amd64, unitResources: {cpu: "8", ram: 64Gi}, localStorage: 100Gi}, status: {entrance: queue, detail: {manufacturer: nvidia, runtimeVersion: "12.9"}}}`
	lateFact = `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: NAME}, spec: {acceleratorGroup: nvidia-a10g, acceleratable: true, os: linux, arch: amd64, unitResources: {cpu: "8", ram: 64Gi}, localStorage: 100Gi}, status: {entrance: queue, detail: {manufacturer: nvidia}}}`
)

// servers is a deployment with one role.
func servers(replicas int, extra string) string {
	return fmt.Sprintf(`{model: {name: Qwen/Qwen3-8B}, engine: {name: vLLM, version: "0.29.0"}, roles: [{name: server, replicas: %d, instanceType: NAME, resources: {accelerator: 1}, extraArgs: [%s]}]}`, replicas, extra)
}

// old and edited are two versions of a deployment.
const old, edited = "--seed, '1'", "--seed, '2'"

// world is a namespace with a pool, nodes and an agent of its own.
type world struct {
	*testing.T
	*localcluster.Cluster
	client.Client
	name  string
	rec   *recorder
	facts []string
	sent  *traffic
	// passes and cache are those of the agent in this process.
	passes  *passes
	cache   client.Reader
	touched int
	pool    localcluster.Pool
	clock   clock
	// behaviour is what the Pods of the next apply do.
	behaviour localcluster.Behaviour
	nodes     []string
	// log is the file of agents that are programs.
	log string
}

// option changes a world before it starts.
type option func(*world, *setup)

type setup struct {
	cards   int
	nodes   int
	pool    localcluster.Pool
	labels  []map[string]string
	noAgent bool
}

func cards(n int) option       { return func(_ *world, s *setup) { s.cards = n } }
func onNodes(n int) option     { return func(_ *world, s *setup) { s.nodes = n } }
func facts(f ...string) option { return func(w *world, _ *setup) { w.facts = f } }

// labelled gives the nodes labels, in order.
func labelled(l ...map[string]string) option {
	return func(_ *world, s *setup) { s.labels = l }
}
func withoutAgent(_ *world, s *setup) { s.noAgent = true }
func preempting(_ *world, s *setup)   { s.pool.Preemption = true }

func newWorld(t *testing.T, options ...option) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a whole cluster")
	}
	t.Parallel()
	c := shared.Get(t)
	w := &world{T: t, Cluster: c, name: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())), facts: []string{typeFact}, sent: &traffic{}, passes: &passes{}}
	s := &setup{cards: 16, nodes: 1}
	for _, o := range options {
		o(w, s)
	}
	var err error
	w.Client, err = client.New(c.Config, client.Options{Scheme: newScheme(t)})
	w.must(err)
	config, err := setUpAccount(c)
	w.must(err)

	ctx := w.ctx()
	labels := map[string]string{"pool": w.name}
	for i := range s.nodes {
		name := fmt.Sprintf("%s-%d", w.name, i)
		of := maps.Clone(labels)
		if i < len(s.labels) {
			maps.Copy(of, s.labels[i])
		}
		w.must(c.AddNode(ctx, localcluster.Node{Name: name, Labels: of, Devices: map[corev1.ResourceName]int{device: s.cards}}))
		w.nodes = append(w.nodes, name)
	}
	w.must(c.AddNamespace(ctx, w.name))
	s.pool.InstanceType, s.pool.Device, s.pool.Cards, s.pool.NodeLabels = w.name, device, s.cards*s.nodes, labels
	w.pool = s.pool
	w.must(c.SetPool(ctx, w.pool))
	w.must(c.AddQueue(ctx, w.name, queue, w.name))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "m"}}
		err := client.IgnoreNotFound(w.Patch(ctx, md, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		err = errors.Join(err, c.RemoveNamespace(ctx, w.name), c.RemovePool(ctx, w.name))
		for _, n := range w.nodes {
			err = errors.Join(err, c.RemoveNode(ctx, n))
		}
		if err != nil {
			t.Log(err)
		}
	})
	w.rec = record(t, c, w.name)
	if !s.noAgent {
		w.startAgent(config)
	}
	return w
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, kueue.AddToScheme, v1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// startAgent starts an agent in this process for the world's namespace.
func (w *world) startAgent(cfg *rest.Config) {
	w.Helper()
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = 100, 200
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { w.sent.next = next; return w.sent })
	ctx, cancel := context.WithCancel(context.Background())
	yes := true
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     newScheme(w.T),
		Logger:     logr.New(passLog{passes: w.passes}),
		Cache:      observe.CacheOptions([]string{w.name}),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &yes},
	})
	w.must(err)
	w.cache = mgr.GetCache()
	counters, err := controller.NewMetrics(prometheus.NewRegistry())
	w.must(err)
	labels, err := observe.ParseRuntimeLabels(observe.DefaultRuntimeLabels)
	w.must(err)
	w.must(controller.Setup(ctx, mgr, controller.Options{RuntimeLabels: labels, Metrics: counters, Now: w.clock.now}))
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	w.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
		if denied := w.sent.forbidden(); len(denied) > 0 {
			w.Errorf("the agent was denied %q", denied)
		}
	})
}

// traffic counts what the agent writes.
type traffic struct {
	next http.RoundTripper
	mu   sync.Mutex
	// writes are those that were done, as "VERB path".
	writes, denied []string
	// written counts all that were tried.
	written int
	// leases counts requests about the lease of the leader.
	leases int
	// lose drops the answer to the next create of a Pod.
	lose bool
	// fuse is the number of writes until something burns, before that write or
	// after it.
	fuse  int
	after bool
	burn  func()
}

func (t *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	burn, after := t.note(r)
	if burn != nil && !after {
		burn()
		return nil, errBurnt
	}
	res, err := t.next.RoundTrip(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		return res, err
	}
	switch {
	case res.StatusCode == http.StatusForbidden:
		t.denied = append(t.denied, what(r))
	case res.StatusCode < http.StatusMultipleChoices && writes(r):
		t.writes = append(t.writes, what(r))
	}
	lost := t.lose && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods")
	if lost {
		t.lose = false
	}
	if burn != nil {
		burn()
	}
	if lost || burn != nil {
		res.Body.Close()
		return nil, errBurnt
	}
	return res, nil
}

var errBurnt = errors.New("the answer was lost")

func what(r *http.Request) string { return r.Method + " " + r.URL.Path }

// writes reports whether a request changes anything of the agent's deployments:
// the check is that of all agents, which all activate it.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && !slices.ContainsFunc([]string{"/leases/", "/events/", "/admissionchecks/"}, func(part string) bool {
		return strings.Contains(r.URL.Path+"/", part)
	})
}

// note counts a request and returns what burns at it.
func (t *traffic) note(r *http.Request) (burn func(), after bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if strings.Contains(r.URL.Path, "/leases") {
		t.leases++
	}
	if !writes(r) {
		return nil, false
	}
	t.written++
	if t.fuse--; t.fuse == 0 {
		return t.burn, t.after
	}
	return nil, false
}

// burnAt does something before or after a write to come, which is the next, the
// one after it or another.
func (t *traffic) burnAt(write int, after bool, burn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fuse, t.after, t.burn = write, after, burn
}

func (t *traffic) forbidden() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.denied)
}

// take returns the writes since the last time: those of Pods and Workloads by
// verb and kind, and others.
func (t *traffic) take() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := map[string]int{}
	for _, w := range t.writes {
		verb, path, _ := strings.Cut(w, " ")
		switch {
		case strings.Contains(path, "/pods"):
			n[verb+" pods"]++
		case strings.Contains(path, "/workloads"):
			n[verb+" workloads"]++
		case strings.HasSuffix(path, "/status"):
			n["status"]++
		default:
			n["other"]++
		}
	}
	t.writes = nil
	return n
}

func (t *traffic) total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

func (t *traffic) elections() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leases
}

func (t *traffic) loseNext() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lose = true
}

// ctx is for one step.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.T.Context(), 4*time.Minute)
	w.T.Cleanup(cancel)
	return ctx
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// until waits.
func (w *world) until(what string, ask func() error) {
	w.Helper()
	w.must(localcluster.Eventually(w.ctx(), what, func(context.Context) error { return ask() }))
}

// compile compiles the deployment m from a spec.
func (w *world) compile(spec string) []*unstructured.Unstructured {
	w.Helper()
	md := "{apiVersion: worker.gpustack.ai/v1, kind: ModelDeployment, metadata: {name: m, namespace: NAME}, spec: " + spec + "}"
	fs := filesys.MakeFsInMemory()
	text := func(parts ...string) string {
		return strings.ReplaceAll(strings.Join(parts, "\n---\n"), "NAME", w.name)
	}
	w.must(fs.WriteFile("facts.yaml", []byte(text(w.facts...))))
	w.must(fs.WriteFile("in.yaml", []byte(text(md))))
	set, err := source.Loader{FS: fs}.Load("in.yaml")
	w.must(err)
	known, err := source.Loader{FS: fs}.Load("facts.yaml")
	w.must(err)
	out, findings := compiler.Compile(compiler.Input{Objects: set.Objects, Facts: known.Objects, Version: "e2e"})
	if findings = slices.Concat(set.Findings, known.Findings, findings); findings.HasErrors() {
		w.Fatal(findings)
	}
	var b bytes.Buffer
	w.must(emit.YAML(&b, out.Objects))
	objects, err := localcluster.Parse(b.Bytes())
	w.must(err)
	for _, o := range objects {
		if o.GetKind() == "Deployment" { // a router on a node of another world would be stuck when that goes
			w.must(unstructured.SetNestedStringMap(o.Object, map[string]string{"pool": w.name}, "spec", "template", "spec", "nodeSelector"))
		}
		if o.GetKind() != "PodTemplate" {
			continue
		}
		at := []string{"template", "metadata", "annotations"}
		annotations, _, err := unstructured.NestedStringMap(o.Object, at...)
		w.must(err)
		if annotations == nil {
			annotations = map[string]string{}
		}
		maps.Copy(annotations, w.behaviour.Annotations())
		w.must(unstructured.SetNestedStringMap(o.Object, annotations, at...))
	}
	return objects
}

// apply compiles a deployment and brings the cluster all that was compiled.
func (w *world) apply(spec string) {
	w.Helper()
	w.must(w.Cluster.Apply(w.ctx(), w.compile(spec)...))
}

// applyFacts brings the cluster objects.
func (w *world) applyFacts(objects ...string) {
	w.Helper()
	w.must(w.ApplyYAML(w.ctx(), []byte(strings.ReplaceAll(strings.Join(objects, "\n---\n"), "NAME", w.name))))
}

// scale changes the number of replicas of the first role and nothing else.
func (w *world) scale(replicas int) {
	w.Helper()
	w.patch(&v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "m"}},
		fmt.Sprintf(`[{"op": "replace", "path": "/spec/roles/0/replicas", "value": %d}]`, replicas))
}

// patch applies a JSON patch.
func (w *world) patch(o client.Object, patch string) {
	w.Helper()
	w.must(w.Patch(w.ctx(), o, client.RawPatch(types.JSONPatchType, []byte(patch))))
}

func (w *world) deployment() *v1.ModelDeployment {
	w.Helper()
	md := &v1.ModelDeployment{}
	err := w.Get(w.ctx(), client.ObjectKey{Namespace: w.name, Name: "m"}, md)
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.must(err)
	return md
}

// pods are those of deployments.
func (w *world) pods() []corev1.Pod {
	w.Helper()
	var list corev1.PodList
	w.must(w.List(w.ctx(), &list, client.InNamespace(w.name), client.HasLabels{v1.LabelMemberIndex}))
	return list.Items
}

func (w *world) workloads() []kueue.Workload {
	w.Helper()
	var list kueue.WorkloadList
	w.must(w.List(w.ctx(), &list, client.InNamespace(w.name)))
	return slices.DeleteFunc(list.Items, func(wl kueue.Workload) bool { return wl.Name == sentinel })
}

// workload is the one of the Pod on a seat.
func (w *world) workload(seat string) *kueue.Workload {
	w.Helper()
	group := w.pod(seat).Labels[podconstants.GroupNameLabel]
	for _, wl := range w.workloads() {
		if wl.Name == group {
			return &wl
		}
	}
	w.Fatalf("there is no Workload of %s", seat)
	return nil
}

// waiting is nil when there is a Pod on each of the seats, and its Workload waits
// for quota.
func (w *world) waiting(seats ...string) error {
	found := map[string]string{}
	for _, p := range w.pods() {
		if p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) > 0 {
			found[seatOf(&p)] = p.Labels[podconstants.GroupNameLabel]
		}
	}
	workloads := w.workloads()
	for _, seat := range seats {
		if !slices.ContainsFunc(workloads, func(wl kueue.Workload) bool {
			return wl.Name == found[seat] && slices.ContainsFunc(wl.Status.Conditions, func(c metav1.Condition) bool {
				return c.Type == kueue.WorkloadQuotaReserved && c.Status == metav1.ConditionFalse
			})
		}) {
			return fmt.Errorf("%s does not wait", seat)
		}
	}
	return nil
}

// quota changes the number of cards of the pool and waits until Kueue reckons
// with it.
func (w *world) quota(cards int) {
	w.Helper()
	w.pool.Cards = cards
	w.must(w.SetPool(w.ctx(), w.pool))
	w.until("Kueue knows the quota", func() error {
		q := &kueue.ClusterQueue{}
		if err := w.Get(w.ctx(), client.ObjectKey{Name: w.name}, q); err != nil {
			return err
		}
		if c := meta.FindStatusCondition(q.Status.Conditions, kueue.ClusterQueueActive); c == nil || c.ObservedGeneration != q.Generation {
			return errors.New("it does not")
		}
		return nil
	})
}

// image makes sure of a part of the image of every Pod.
func (w *world) image(want string) {
	w.Helper()
	for _, p := range w.pods() {
		if got := p.Spec.Containers[0].Image; !strings.Contains(got, want) {
			w.Errorf("image %s", got)
		}
	}
}

// pod is the one of a seat.
func (w *world) pod(seat string) *corev1.Pod {
	w.Helper()
	for _, p := range w.pods() {
		if seatOf(&p) == seat && p.DeletionTimestamp == nil {
			return &p
		}
	}
	w.Fatalf("there is no Pod on %s", seat)
	return nil
}

func seatOf(p *corev1.Pod) string {
	return p.Labels[v1.LabelComponent] + "/" + p.Labels[v1.LabelPodOrdinal] + "/" + p.Labels[v1.LabelMemberIndex]
}

func ready(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// uids of the Pods by seat.
func (w *world) uids() map[string]string {
	m := map[string]string{}
	for _, p := range w.pods() {
		m[seatOf(&p)] = string(p.UID)
	}
	return m
}

// settled is nil when there is exactly one Ready Pod on each of the seats, all
// with the fingerprints of now, and one admitted Workload for each group.
func (w *world) settled(seats ...string) error {
	var found []string
	groups := map[string]bool{}
	for _, p := range w.pods() {
		if !ready(&p) {
			return fmt.Errorf("%s (%s) is not Ready: %s, deleted %v", seatOf(&p), p.Name, p.Status.Phase, p.DeletionTimestamp)
		}
		found = append(found, seatOf(&p))
		groups[p.Labels[podconstants.GroupNameLabel]] = true
	}
	slices.Sort(found)
	seats = slices.Clone(seats)
	slices.Sort(seats)
	if !slices.Equal(found, seats) {
		return fmt.Errorf("Pods %v, want %v", found, seats)
	}
	workloads := w.workloads()
	for _, wl := range workloads {
		if !groups[wl.Name] || !slices.ContainsFunc(wl.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == kueue.WorkloadAdmitted && c.Status == metav1.ConditionTrue
		}) {
			return fmt.Errorf("Workload %s is not admitted or has no Pod", wl.Name)
		}
	}
	if len(workloads) != len(groups) {
		return fmt.Errorf("%d Workloads of %d groups", len(workloads), len(groups))
	}
	return nil
}

// settle waits until it is settled.
func (w *world) settle(seats ...string) {
	w.Helper()
	w.until(fmt.Sprintf("%v are settled", seats), func() error { return w.settled(seats...) })
}

// rolled waits until it is settled with no Pod that was there before.
func (w *world) rolled(before map[string]string, seats ...string) {
	w.Helper()
	w.until(fmt.Sprintf("%v have rolled", seats), func() error {
		if err := w.settled(seats...); err != nil {
			return err
		}
		return w.replaced(before, seats...)
	})
}

func (w *world) replaced(before map[string]string, seats ...string) error {
	now := w.uids()
	for _, s := range seats {
		if now[s] == "" || now[s] == before[s] {
			return fmt.Errorf("%s has no other Pod than before", s)
		}
	}
	return nil
}

// kept makes sure that seats have the Pods they had.
func (w *world) kept(before map[string]string, seats ...string) {
	w.Helper()
	now := w.uids()
	for _, s := range seats {
		if now[s] != before[s] {
			w.Errorf("%s has another Pod", s)
		}
	}
}

// seats of a role of size 1.
func seats(role string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s/%d/0", role, i))
	}
	return out
}

func (w *world) equal(what string, got, want []string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (w *world) kill(seat string) {
	w.Helper()
	w.must(w.Client.Delete(w.ctx(), w.pod(seat)))
}

// count is nil when there are so many Pods.
func (w *world) count(n int) error {
	if found := len(w.pods()); found != n {
		return fmt.Errorf("%d Pods", found)
	}
	return nil
}

// priority makes a PriorityClass of the world's name, by which Kueue alone takes
// anything away from others: the scheduler would take more.
func (w *world) priority(value int32) {
	w.Helper()
	never := corev1.PreemptNever
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Value: value, PreemptionPolicy: &never}
	w.must(w.Create(w.ctx(), class))
	w.Cleanup(func() {
		if err := w.Client.Delete(context.Background(), class); err != nil {
			w.Log(err)
		}
	})
}

// compete creates a Pod that wants cards of the world's pool.
func (w *world) compete(name string, cards int, priority string) {
	w.Helper()
	want := corev1.ResourceList{device: *resource.NewQuantity(int64(cards), resource.DecimalSI)}
	w.must(w.Create(w.ctx(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: name, Labels: map[string]string{v1.LabelQueueName: queue}},
		Spec: corev1.PodSpec{
			PriorityClassName: priority,
			Containers:        []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: want, Limits: want}}},
		},
	}))
}

func (w *world) runs(name string) error {
	p := &corev1.Pod{}
	if err := w.Get(w.ctx(), client.ObjectKey{Namespace: w.name, Name: name}, p); err != nil {
		return err
	}
	if !ready(p) {
		return errors.New("it is not Ready")
	}
	return nil
}

// end deletes a Pod that competes, and waits until nothing is left of it.
func (w *world) end(name string) {
	w.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: name}}
	w.must(w.Client.Delete(w.ctx(), p))
	w.until(name+" is gone", func() error {
		if err := w.runs(name); !apierrors.IsNotFound(err) {
			return errors.New("it reads")
		}
		for _, wl := range w.workloads() {
			if strings.HasPrefix(wl.Name, "pod-"+name) {
				return errors.New("its Workload reads")
			}
		}
		return nil
	})
}

// event is nil when there is an event about the deployment whose text has a
// part.
func (w *world) event(reason, part string) error {
	w.Helper()
	for _, e := range w.events(reason) {
		if strings.Contains(e.Note, part) {
			return nil
		}
	}
	return fmt.Errorf("no event %s", reason)
}

// events are those for a reason.
func (w *world) events(reason string) []eventsv1.Event {
	w.Helper()
	var list eventsv1.EventList
	w.must(w.List(w.ctx(), &list, client.InNamespace(w.name)))
	return slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason != reason })
}

// once makes sure that there is one event for a reason, and that it was not
// repeated.
func (w *world) once(reason string) {
	w.Helper()
	if all := w.events(reason); len(all) != 1 || all[0].Series != nil {
		w.Errorf("events %s: %v", reason, all)
	}
}

// forgive forgets what was denied.
func (t *traffic) forgive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.denied = nil
}

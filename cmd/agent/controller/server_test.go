// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
	"gpustack.ai/mdc/cmd/agent/observe"
	"gpustack.ai/mdc/cmd/agent/probe"
)

// patience is how long a test waits for something that takes no time.
const patience = 2 * time.Minute

// shared is one API server for all tests.
var shared = localcluster.Shared{APIServer: true}

// installed installs all kinds on it, once.
var installed struct {
	once sync.Once
	err  error
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(shared.Run(m))
}

// installCRDs installs Kueue's CustomResourceDefinitions and those of this
// project that are chosen.
func installCRDs(c *localcluster.Cluster, chosen func(name string) bool) error {
	ctx := context.Background()
	if err := c.InstallKueueAPI(ctx); err != nil {
		return err
	}
	return c.ApplyYAML(ctx, ownCRDs(chosen))
}

func ownCRDs(chosen func(name string) bool) []byte {
	var texts [][]byte
	for name, text := range v1.CRDs() {
		if chosen(name) {
			texts = append(texts, text)
		}
	}
	return bytes.Join(texts, []byte("\n---\n"))
}

// world is a namespace of its own on the shared server, and an agent that works
// in it alone.
type world struct {
	*testing.T
	client.Client // as administrator, past any cache
	namespace     string
	server        *rest.Config
	traffic       *traffic
	r             *Reconciler
	// election: the agent waits for a lease in the namespace.
	election bool
	// asker asks engines for the agent.
	asker probe.Asker
}

var spaces atomic.Int32

// newWorld returns a world whose agent only acts when a test tells it to.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t)
	mgr := w.manager(w.config())
	if err := observe.AddIndexes(t.Context(), mgr.GetFieldIndexer()); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{
		&v1.InstanceType{}, &v1.KVCachePoolBinding{}, &v1.KVCachePool{}, &v1.KVCacheBackend{}, &v1.ModelArtifact{},
		&kueue.LocalQueue{}, &kueue.ClusterQueue{}, &kueue.ResourceFlavor{}, &kueue.AdmissionCheck{}, &corev1.Node{}, &appsv1.Deployment{}, serviceMetadata(),
	} {
		if _, err := mgr.GetCache().GetInformer(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.r = newReconciler(mgr, w.options(), &served{})
	w.start(mgr)
	return w
}

// newRunningWorld returns a world whose agent acts by itself.
func newRunningWorld(t *testing.T, configure ...func(*world, *rest.Config)) *world {
	t.Helper()
	w := emptyWorld(t)
	w.run(configure...)
	return w
}

// run lets an agent act by itself.
func (w *world) run(configure ...func(*world, *rest.Config)) {
	w.Helper()
	cfg := w.config()
	for _, f := range configure {
		f(w, cfg)
	}
	mgr := w.manager(cfg)
	if err := Setup(w.Context(), mgr, w.options()); err != nil {
		w.Fatal(err)
	}
	w.start(mgr)
	<-mgr.Elected()
}

func emptyWorld(t *testing.T) *world {
	t.Helper()
	c := shared.Get(t)
	installed.once.Do(func() { installed.err = installCRDs(c, func(string) bool { return true }) })
	if installed.err != nil {
		t.Fatal(installed.err)
	}
	return worldOn(t, c.Config)
}

func worldOn(t *testing.T, cfg *rest.Config) *world {
	t.Helper()
	var err error
	w := &world{T: t, server: cfg, namespace: fmt.Sprintf("space-%d", spaces.Add(1)), traffic: &traffic{}}
	if w.Client, err = client.New(cfg, client.Options{Scheme: testScheme(t)}); err != nil {
		t.Fatal(err)
	}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	return w
}

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, kueue.AddToScheme, v1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// config reaches the server through the world's traffic.
func (w *world) config() *rest.Config {
	cfg := rest.CopyConfig(w.server)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { w.traffic.next = next; return w.traffic })
	return cfg
}

func (w *world) manager(cfg *rest.Config) manager.Manager {
	w.Helper()
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		Scheme:     testScheme(w.T),
		Cache:      observe.CacheOptions([]string{w.namespace}),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},

		LeaderElection: w.election, LeaderElectionID: "mdc-agent", LeaderElectionNamespace: w.namespace, LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		w.Fatal(err)
	}
	return mgr
}

func (w *world) options() Options {
	w.Helper()
	labels, err := observe.ParseRuntimeLabels(observe.DefaultRuntimeLabels)
	if err != nil {
		w.Fatal(err)
	}
	m, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		w.Fatal(err)
	}
	return Options{RuntimeLabels: labels, Metrics: m, Asker: w.asker, lookEvery: 100 * time.Millisecond}
}

func (w *world) start(mgr manager.Manager) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	w.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		w.Fatal("the cache did not fill")
	}
}

func (w *world) create(objects ...client.Object) {
	w.Helper()
	for _, o := range objects {
		if err := w.Create(w.Context(), o); err != nil {
			w.Fatalf("%T %s: %v", o, o.GetName(), err)
		}
	}
}

// pass makes one pass once the cache shows what the server has.
func (w *world) pass(name string) (reconcile.Result, error) {
	w.Helper()
	w.settle()
	return w.r.Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: w.namespace, Name: name}})
}

// passes makes passes that must succeed.
func (w *world) passes(name string, n int) {
	w.Helper()
	for range n {
		if _, err := w.pass(name); err != nil {
			w.Fatal(err)
		}
	}
}

// settle waits until the cache shows the versions that the server has.
func (w *world) settle() {
	w.Helper()
	for _, list := range []func() client.ObjectList{
		func() client.ObjectList { return &v1.ModelDeploymentList{} },
		func() client.ObjectList { return &corev1.PodList{} },
		func() client.ObjectList { return &corev1.PodTemplateList{} },
		func() client.ObjectList { return &kueue.WorkloadList{} },
		func() client.ObjectList { return &kueue.LocalQueueList{} },
		func() client.ObjectList { return &v1.KVCachePoolBindingList{} },
		func() client.ObjectList { return &appsv1.DeploymentList{} },
		func() client.ObjectList { return serviceMetadataList() },
	} {
		w.until(fmt.Sprintf("%T in the cache", list()), func() bool {
			return w.versions(w.Client, list()) == w.versions(w.r.Cache, list())
		})
	}
}

func (w *world) versions(from client.Reader, list client.ObjectList) string {
	w.Helper()
	opts := []client.ListOption{client.InNamespace(w.namespace)}
	if _, pods := list.(*corev1.PodList); pods {
		opts = append(opts, client.MatchingLabels{v1.LabelName: v1.NameModelDeployment})
	}
	if err := from.List(w.Context(), list, opts...); err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, o := range items(w.T, list) {
		out = append(out, o.GetName()+"@"+o.GetResourceVersion())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// until waits for something.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("never: %s", what)
		}
	}
}

func (w *world) pods() []corev1.Pod {
	w.Helper()
	var list corev1.PodList
	if err := w.List(w.Context(), &list, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	return list.Items
}

func (w *world) deployment(name string) *v1.ModelDeployment {
	w.Helper()
	md := &v1.ModelDeployment{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, md); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		w.Fatal(err)
	}
	return md
}

func (w *world) events(reason string) (messages []string) {
	w.Helper()
	var list corev1.EventList
	if err := w.List(w.Context(), &list, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	for _, e := range list.Items {
		if e.Reason == reason && e.InvolvedObject.Kind == v1.KindModelDeployment {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// soak is how often TestKilled kills an agent; the environment variable of this
// name says more.
const (
	soak  = "MDC_SOAK"
	kills = 5
)

// fleet is a kind of deployment, of which there may be any number of replicas.
type fleet struct {
	spec  func(replicas int, seed string) string
	seats func(replicas int) []string
	// roles that have so many replicas each, and size the Pods of one.
	roles []string
	size  int
}

var fleets = map[string]fleet{
	"servers": {servers, func(n int) []string { return seats("server", n) }, []string{"server"}, 1},
	"pairs":   {pairs, members, []string{"server"}, 2},
	"disaggregated": {
		func(n int, seed string) string { return disaggregated(n, n, seed) },
		func(n int) []string { return both(n, n) }, []string{"prefill", "decode"}, 1,
	},
}

// TestKilled kills the agent at any moment of rollouts and scales, before and
// after any of its writes: another one always goes on to what is declared, and
// nothing is lost on the way.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, f := range fleets {
		t.Run(name, func(t *testing.T) { testKilled(t, f) })
	}
}

func testKilled(t *testing.T, f fleet) {
	w := newWorld(t, withoutAgent)
	left := kills
	if s := os.Getenv(soak); s != "" {
		n, err := strconv.Atoi(s)
		w.must(err)
		left = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	p := startProgram(w)

	behaviours := []localcluster.Behaviour{localcluster.Normal, localcluster.Killed, {Stop: 3 * time.Second}, {Ready: 2 * time.Second}}
	replicas, version, writes := 3, 0, 0
	w.behaviour = behaviours[0]
	w.apply(f.spec(replicas, "--seed, '0'"))
	w.settle(f.seats(replicas)...)
	for stage := 0; left > 0; stage++ {
		before, at := w.uids(), w.rec.now()
		was, edit := replicas, random.IntN(4) > 0
		if !edit || random.IntN(2) == 0 {
			replicas = 1 + random.IntN(4)
		}
		if edit {
			version++
			w.behaviour = behaviours[random.IntN(len(behaviours))]
		}
		what := fmt.Sprintf("stage %d: %d to %d replicas, edit %v, %+v", stage, was, replicas, edit, w.behaviour)
		w.apply(f.spec(replicas, fmt.Sprintf("--seed, '%d'", version)))
		done := func() error {
			if err := w.settled(f.seats(replicas)...); err != nil || !edit {
				return err
			}
			return w.replaced(before, f.seats(min(was, replicas))...)
		}
		killed := 0
		for done() != nil && left > 0 {
			p.sent.burnAt(1+random.IntN(4), random.IntN(2) == 0, p.kill)
			select {
			case <-p.ended:
				writes++
			case <-time.After(time.Duration(50+random.IntN(6000)) * time.Millisecond):
				p.kill()
			}
			p = startProgram(w)
			left--
			killed++
		}
		w.until(what, done)
		if !edit {
			w.kept(before, f.seats(min(was, replicas))...)
		}
		least := min(was, replicas)
		if edit && replicas <= was {
			least--
		}
		for _, role := range f.roles {
			if n := w.rec.fewestReady(role, f.size, at); n < least {
				t.Errorf("%s: only %d %s were Ready", what, n, role)
			}
		}
		made := replicas
		if !edit {
			made = max(0, replicas-was)
		}
		// An agent that was killed between the members of an instance leaves a
		// part of it, which is never filled up.
		m, parts := w.rec.made(at), w.rec.wasted(at)
		if len(m)-len(parts) != made*f.size*len(f.roles) || len(parts) > killed*(f.size-1) {
			t.Errorf("%s, killed %d times: made %q, of which %q in vain", what, killed, m, parts)
		}
		t.Log(what)
	}
	t.Logf("%d times at a write", writes)
}

// program is an agent that can be killed.
type program struct {
	cmd *exec.Cmd
	// sent is what it wrote.
	sent *traffic
	// ended is closed when it has.
	ended chan struct{}
}

var binary struct {
	once sync.Once
	file string
	err  error
}

// build builds the agent.
func build(w *world) string {
	w.Helper()
	binary.once.Do(func() {
		binary.file = filepath.Join(w.Dir, "agent")
		out, err := exec.CommandContext(w.ctx(), "go", "build", "-o", binary.file, "gpustack.ai/mdc/cmd/agent").CombinedOutput()
		if err != nil {
			binary.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	w.must(binary.err)
	return binary.file
}

// startProgram starts an agent that is alone.
func startProgram(w *world) *program {
	w.Helper()
	return start(w, "--leader-elect=false")
}

// startCandidate starts an agent that works only while it leads.
func startCandidate(w *world) *program {
	w.Helper()
	return start(w, "--leader-election-namespace="+agentNamespace)
}

// start starts an agent that reaches the API server through a proxy.
func start(w *world, args ...string) *program {
	w.Helper()
	cfg, err := setUpAccount(w.Cluster)
	w.must(err)
	transport, err := rest.TransportFor(cfg)
	w.must(err)
	server, err := url.Parse(cfg.Host)
	w.must(err)
	p := &program{sent: &traffic{next: transport}, ended: make(chan struct{})}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(server) },
		Transport:     p.sent,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
	})
	kubeconfig := filepath.Join(w.TempDir(), "kubeconfig")
	w.must(os.WriteFile(kubeconfig, fmt.Appendf(nil, "{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}", proxy.URL), 0o600))
	if w.log == "" {
		w.log = filepath.Join(w.Dir, "agent-"+w.name+".log")
		w.Cleanup(func() {
			if said, err := os.ReadFile(w.log); w.Failed() {
				w.Logf("the agents said %v:\n%s", err, said)
			}
		})
	}
	said, err := os.OpenFile(w.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	w.must(err)
	defer said.Close()
	p.cmd = exec.Command(build(w), append(args,
		"--kubeconfig="+kubeconfig, "--namespaces="+w.name,
		"--metrics-bind-address=0", "--health-probe-bind-address=0")...)
	p.cmd.Stderr = said
	w.must(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
		proxy.Close()
	}()
	w.Cleanup(func() {
		p.kill()
		if denied := p.sent.forbidden(); len(denied) > 0 {
			w.Errorf("the agent was denied %q", denied)
		}
	})
	return p
}

// kill ends it without a warning.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// TestLeaderKilled: of two agents one works; when it is killed in a rollout, the
// other goes on with it.
func TestLeaderKilled(t *testing.T) {
	w := newWorld(t, withoutAgent)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: agentNamespace, Name: "mdc-agent"}}
	w.must(client.IgnoreNotFound(w.Client.Delete(w.ctx(), lease))) // of a run before
	holder := func() string {
		lease := lease.DeepCopy()
		w.must(client.IgnoreNotFound(w.Get(w.ctx(), client.ObjectKeyFromObject(lease), lease)))
		if lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	waits := func(p *program) {
		t.Helper()
		w.until("it waits", func() error {
			if p.sent.elections() == 0 {
				return errors.New("it has not asked who leads")
			}
			return nil
		})
	}
	silent := func(p *program) {
		t.Helper()
		if n := p.sent.take(); len(n) > 0 {
			t.Errorf("the one that waits wrote %v", n)
		}
	}

	first := startCandidate(w)
	w.until("it leads", func() error {
		if holder() == "" {
			return errors.New("nobody does")
		}
		return nil
	})
	leader := holder()
	second := startCandidate(w)
	w.apply(servers(3, old))
	w.settle(seats("server", 3)...)
	waits(second)

	before, at := w.uids(), w.rec.now()
	w.behaviour.Ready = 2 * time.Second
	w.apply(servers(3, edited))
	w.until("the rollout has begun", func() error {
		if len(w.rec.made(at)) == 0 {
			return errors.New("it has not")
		}
		return nil
	})
	first.kill()
	silent(second)
	killed := w.rec.now()
	w.rolled(before, seats("server", 3)...)
	if now := holder(); now == leader {
		t.Errorf("%s still leads", now)
	}
	w.equal("left", w.rec.left(at), []string{"server/2/0", "server/1/0", "server/0/0"})
	w.equal("made", w.rec.made(at), []string{"server/2/0", "server/1/0", "server/0/0"})
	if n := w.rec.fewestReady("server", 1, at); n != 2 {
		t.Errorf("only %d were Ready", n)
	}
	n := second.sent.take()
	left, made := len(w.rec.left(killed)), len(w.rec.made(killed))
	// A request of the first may have been under way.
	if left == 0 || n["DELETE pods"] > left || n["POST pods"] > made || n["DELETE pods"]+n["POST pods"] < left+made-1 {
		t.Errorf("the second wrote %v, and %d Pods left and %d were made", n, left, made)
	}

	third := startCandidate(w) // the first comes back
	waits(third)
	w.scale(4)
	w.settle(seats("server", 4)...)
	silent(third)
}

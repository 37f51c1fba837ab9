// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// soak is how often TestKilled kills an agent; the environment variable of this
// name says more.
const (
	soak  = "MDC_SOAK"
	kills = 3
)

// TestKilled kills the agent at any moment of rollouts and scales: another one
// always goes on to what is declared, and nothing is lost on the way.
func TestKilled(t *testing.T) {
	t.Parallel()
	t.Run("servers", func(t *testing.T) { testKilled(t, servers, func(n int) []string { return seats("server", n) }, 1) })
	t.Run("pairs", func(t *testing.T) { testKilled(t, pairs, members, 2) })
}

func testKilled(t *testing.T, spec func(int, string) string, seats func(int) []string, size int) {
	w := newWorld(t, withoutAgent)
	left := kills
	if s := os.Getenv(soak); s != "" {
		n, err := strconv.Atoi(s)
		w.must(err)
		left = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // nothing secret
	p := startProgram(w)

	behaviours := []localcluster.Behaviour{localcluster.Normal, localcluster.Killed, {Stop: 3 * time.Second}, {Ready: 2 * time.Second}}
	replicas, version := 3, 0
	w.behaviour = behaviours[0]
	w.apply(spec(replicas, "--seed, '0'"))
	w.settle(seats(replicas)...)
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
		w.apply(spec(replicas, fmt.Sprintf("--seed, '%d'", version)))
		done := func() error {
			if err := w.settled(seats(replicas)...); err != nil || !edit {
				return err
			}
			return w.replaced(before, seats(min(was, replicas))...)
		}
		for done() != nil && left > 0 {
			time.Sleep(time.Duration(50+random.IntN(4000)) * time.Millisecond)
			p.kill()
			p = startProgram(w)
			left--
		}
		w.until(what, done)
		if !edit {
			w.kept(before, seats(min(was, replicas))...)
		}
		least := min(was, replicas)
		if edit && replicas <= was {
			least--
		}
		if n := w.rec.fewestReady("server", size, at); n < least {
			t.Errorf("%s: only %d were Ready", what, n)
		}
		made := replicas
		if !edit {
			made = max(0, replicas-was)
		}
		if m := w.rec.made(at); len(m) != made*size {
			t.Errorf("%s: made %q", what, m)
		}
		t.Log(what)
	}
}

// program is an agent that can be killed.
type program struct {
	w   *world
	cmd *exec.Cmd
}

func startProgram(w *world) *program {
	w.Helper()
	_, kubeconfig, err := setUpAccount(w.Cluster)
	w.must(err)
	binary := filepath.Join(w.Dir, "agent-"+w.name)
	if _, err := os.Stat(binary); err != nil {
		out, err := exec.CommandContext(w.ctx(), "go", "build", "-o", binary, "gpustack.ai/mdc/cmd/agent").CombinedOutput()
		if err != nil {
			w.Fatalf("%v: %s", err, out)
		}
	}
	log, err := os.OpenFile(binary+".log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	w.must(err)
	defer log.Close()
	p := &program{w, exec.Command(binary,
		"--kubeconfig="+kubeconfig, "--namespaces="+w.name, "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address=0")}
	p.cmd.Stderr = log
	w.must(p.cmd.Start())
	w.Cleanup(p.kill)
	return p
}

// kill ends it without a warning.
func (p *program) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv makes the test binary a program that starts a cluster and then waits.
const childEnv = "MDC_TEST_LOCALCLUSTER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
	}
	os.Exit(shared.Run(m))
}

func child() {
	find, start := Tools, Start
	if os.Getenv(childEnv) == "all" {
		find, start = AllTools, StartAll
	}
	bin, err := find()
	if err != nil {
		panic(err)
	}
	c, err := start(context.Background(), bin)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Dir)
	for _, p := range c.processes.all {
		fmt.Println(p.pid)
	}
	fmt.Println("up")
	_, _ = io.Copy(io.Discard, os.Stdin)
	panic("told to")
}

// needTools skips without the programs.
func needTools(t *testing.T) string {
	t.Helper()
	bin, err := Tools()
	if err != nil {
		t.Skip(err)
	}
	return bin
}

func TestStop(t *testing.T) {
	c, err := Start(t.Context(), needTools(t))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, p := range c.processes.all {
		pids = append(pids, p.pid)
	}
	if len(pids) != 2 {
		t.Errorf("%d programs", len(pids))
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	gone(t, c.Dir, pids)
}

// TestStartFails: a program that ends at once is reported with its last words.
func TestStartFails(t *testing.T) {
	const (
		fails = "#!/bin/sh\necho no ${0##*/} today\nexit 1\n"
		runs  = "#!/bin/sh\nexec sleep 600\n"
	)
	for name, test := range map[string]struct{ etcd, server, want string }{
		"etcd":   {fails, runs, "etcd ended before the cluster was ready:\nno etcd today"},
		"server": {runs, fails, "kube-apiserver ended before the cluster was ready:\nno kube-apiserver today"},
	} {
		t.Run(name, func(t *testing.T) {
			bin, temp := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", temp)
			for program, script := range map[string]string{"etcd": test.etcd, "kube-apiserver": test.server} {
				if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Start(t.Context(), bin); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestDeath: however this process ends, so do the programs, and no file is left.
func TestDeath(t *testing.T) {
	needTools(t)
	panics := func(_ *exec.Cmd, in io.Closer) error { return in.Close() }
	interrupt := func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(syscall.SIGINT) }
	kill := func(c *exec.Cmd, _ io.Closer) error { return c.Process.Kill() }
	for name, test := range map[string]struct {
		what     string
		programs int
		end      func(*exec.Cmd, io.Closer) error
	}{
		"panic":     {"server", 2, panics},
		"interrupt": {"server", 2, interrupt},
		"kill":      {"server", 2, kill},
		"whole":     {"all", 6, interrupt},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := AllTools(); err != nil && test.what == "all" {
				t.Skip(err)
			}
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childEnv+"="+test.what)
			in, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Process.Kill() })
			var dir string
			var pids []int
			for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "up"; {
				var pid int
				if _, err := fmt.Sscan(lines.Text(), &pid); err == nil {
					pids = append(pids, pid)
				} else {
					dir = lines.Text()
				}
			}
			if dir == "" || len(pids) != test.programs {
				t.Fatalf("started %q, %v", dir, pids)
			}
			if err := test.end(c, in); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err == nil {
				t.Error("it ended without a fault")
			}
			gone(t, dir, pids)
		})
	}
}

// gone waits until neither the processes nor the directory are there.
func gone(t *testing.T, dir string, pids []int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		left := ""
		for _, pid := range pids {
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !zombie(pid) {
				left += fmt.Sprintf(" process %d", pid)
			}
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			left += " " + dir
		}
		switch {
		case left == "":
			return
		case time.Now().After(deadline):
			t.Errorf("left behind:%s", left)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// zombie reports whether an orphan has ended and only waits for the init of a
// container to notice.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

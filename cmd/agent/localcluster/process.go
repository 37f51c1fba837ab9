// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// errPortTaken: somebody else took a port between its choice and its use.
var errPortTaken = errors.New("a port was taken by another program")

// watcher outlives this process, if only for a moment. Its input ends when this
// process does, be it by a panic, an interrupt or a kill, and it then ends what
// is left and removes the directory. It is told the process groups to end.
const watcher = `
groups=
while read -r what group; do
	case $what in
	started) groups="$groups $group " ;;
	ended) groups=$(printf %s "$groups" | sed "s/ $group / /") ;;
	esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
rm -rf -- "$1"
`

// processes are the programs of one cluster.
type processes struct {
	dir     string
	watcher *exec.Cmd
	// tell is written to by several goroutines.
	mu   sync.Mutex
	tell io.WriteCloser
	all  []*process
}

// process is a program, the leader of a process group of its own: what a
// terminal sends to the foreground group does not reach it.
type process struct {
	name, log string
	pid       int
	done      chan struct{}
}

// watch guards a directory and the programs to be run in it.
func watch(dir string) (*processes, error) {
	w := exec.Command("/bin/sh", "-c", watcher, "mdc-cluster-watcher", dir)
	w.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tell, err := w.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, err
	}
	return &processes{dir: dir, watcher: w, tell: tell}, nil
}

func (p *processes) report(what string, pid int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := fmt.Fprintf(p.tell, "%s %d\n", what, pid)
	return err
}

// run starts a program whose output goes to a file.
func (p *processes) run(path string, args ...string) (*process, error) {
	name := filepath.Base(path)
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := exec.Command(path, args...)
	c.Dir = p.dir
	c.Stdout, c.Stderr = log, log
	// Nothing of the user's environment is to change how the programs behave.
	c.Env = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + p.dir, "KUBECONFIG=" + filepath.Join(p.dir, kubeconfigName)}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	proc := &process{name: name, log: log.Name(), pid: c.Process.Pid, done: make(chan struct{})}
	p.all = append(p.all, proc)
	err = p.report("started", proc.pid)
	go func() {
		_ = c.Wait() // how it ended is in its log
		// Its number is free from here on, and must not be killed any more.
		_ = p.report("ended", proc.pid)
		close(proc.done)
	}()
	return proc, err
}

// stop ends the programs, newest first, and removes the directory. There is
// nothing to save, so they are not asked.
func (p *processes) stop() error {
	for i := len(p.all) - 1; i >= 0; i-- {
		proc := p.all[i]
		if !proc.ended() {
			_ = syscall.Kill(-proc.pid, syscall.SIGKILL) // it may just have ended
		}
		<-proc.done
	}
	p.all = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.tell.Close(), p.watcher.Wait())
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// failure has the last lines of the log.
func (p *process) failure(what string) error {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Errorf("%s %s: %w", p.name, what, err)
	}
	log := string(b)
	lines := strings.Split(strings.TrimSpace(log), "\n")
	err = fmt.Errorf("%s %s:\n%s", p.name, what, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	if strings.Contains(log, "address already in use") {
		err = errors.Join(errPortTaken, err)
	}
	return err
}

// freePorts returns ports that nobody listens on, all different.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

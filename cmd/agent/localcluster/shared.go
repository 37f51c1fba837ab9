// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Shared is a cluster that the tests of a package share. It starts when the first
// of them asks for it:
//
//	var shared localcluster.Shared
//
//	func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }
//
//	func TestSomething(t *testing.T) { c := shared.Get(t) ... }
//
// Tests keep apart by namespaces, pools and nodes of their own.
type Shared struct {
	// APIServer: it is an API server and nothing else.
	APIServer bool

	once    sync.Once
	cluster *Cluster
	err     error
}

// TB is what Get needs of a test.
type TB interface {
	Helper()
	Skip(...any)
	Fatal(...any)
}

// Get returns the cluster. The test is skipped if its programs were not built.
func (s *Shared) Get(t TB) *Cluster {
	t.Helper()
	tools, start := AllTools, StartAll
	if s.APIServer {
		tools, start = Tools, Start
	}
	bin, err := tools()
	if err != nil {
		t.Skip(err)
	}
	s.once.Do(func() { s.cluster, s.err = start(context.Background(), bin) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}

// Run runs the tests and then stops the cluster, if it was started. It returns
// the exit code.
func (s *Shared) Run(m interface{ Run() int }) int {
	code := m.Run()
	s.once.Do(func() { s.err = errors.New("the tests are over") })
	if s.cluster == nil {
		return code
	}
	if err := s.cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

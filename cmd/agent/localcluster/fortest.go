// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// T is what ForTest needs of a test.
type T interface {
	TB
	Context() context.Context
	Error(...any)
	Cleanup(func())
}

// ForTest starts an API server for one test. The test is skipped if its programs
// were not built.
func ForTest(t T) *Cluster {
	t.Helper()
	bin, err := Tools()
	if err != nil {
		t.Skip(err)
	}
	c, err := Start(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// FreeAddresses returns addresses of this machine that nobody listens on, all
// different.
func FreeAddresses(t TB, n int) (addresses []string) {
	t.Helper()
	ports, err := freePorts(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range ports {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return addresses
}

// kueueKinds are those that the agent reads.
var kueueKinds = []string{"workloads", "localqueues", "clusterqueues", "resourceflavors", "admissionchecks"}

// InstallKueueAPI installs the kinds of Kueue that the agent reads, and no Kueue.
// They are those of the module, so that a test within it must ask.
func (c *Cluster) InstallKueueAPI(ctx context.Context) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		return fmt.Errorf("find Kueue's module: %w", err)
	}
	var texts [][]byte
	for _, kind := range kueueKinds {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config/components/crd/bases/kueue.x-k8s.io_"+kind+".yaml"))
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	return c.ApplyYAML(ctx, bytes.Join(texts, []byte("\n---\n")))
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Command build builds the programs of a local cluster that are not built yet,
// and prints where they are.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"gpustack.ai/mdc/cmd/agent/localcluster/tools"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run() error {
	pins, err := tools.Pins()
	if err != nil {
		return err
	}
	dir, err := tools.Dir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// A second run waits for the first, and then finds its work done.
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	for _, t := range tools.All {
		if t.Built(dir) {
			fmt.Printf("%s: already built\n", t.Name)
			continue
		}
		start := time.Now()
		fmt.Printf("%s: building\n", t.Name)
		if err := build(t, filepath.Join(pins, t.Pin), dir); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		fmt.Printf("%s: built in %s\n", t.Name, time.Since(start).Round(time.Second))
	}
	fmt.Println(dir)
	return nil
}

// build goes through a file of another name, so that an interrupted build leaves
// nothing that looks finished.
func build(t tools.Tool, module, dir string) error {
	partial := filepath.Join(dir, "."+t.Name)
	flags, err := ldflags(t, module)
	if err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-ldflags", flags, "-o", partial}
	if len(t.Edits) > 0 {
		scratch, err := os.MkdirTemp("", "mdc-cluster-build-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		overlay, err := edited(t, module, scratch)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", overlay, ".")
	} else {
		args = append(args, t.Package)
	}
	c := command(module, args...)
	c.Stdout = os.Stdout
	if err := c.Run(); err != nil {
		return err
	}
	if err := writeManifests(t, module, dir); err != nil {
		return err
	}
	return os.Rename(partial, filepath.Join(dir, t.Name))
}

// ldflags stamps the version of Kubernetes: clients parse it, and the default
// is none.
func ldflags(t tools.Tool, module string) (string, error) {
	flags := "-s -w"
	if t.Stamp == "" {
		return flags, nil
	}
	version, err := list(module, "-m", "-f", "{{.Version}}", t.Stamp)
	if err != nil {
		return "", err
	}
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 3 {
		return "", fmt.Errorf("%s has the version %q", t.Stamp, version)
	}
	const variable = " -X k8s.io/component-base/version."
	return flags + variable + "gitVersion=" + version + variable + "gitMajor=" + parts[0] + variable + "gitMinor=" + parts[1], nil
}

// list asks the go command about the pinned module.
func list(module string, args ...string) (string, error) {
	out, err := command(module, append([]string{"list"}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

func command(module string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = module
	c.Stderr = os.Stderr
	// Static programs need no C compiler, and no workspace or flag of the user
	// may change what is pinned.
	c.Env = append(os.Environ(), "PWD="+module, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -mod=readonly", "GOWORK=off", "GOOS=", "GOARCH=")
	return c
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tools says what programs a local cluster is made of, which module
// pins each of them, and where the built ones are.
package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// DirEnv names a directory with built tools, which then is used instead of the
// cache.
const DirEnv = "MDC_CLUSTER_TOOLS"

// Tool is one program.
type Tool struct {
	// Name of the executable.
	Name string
	// Pin is the directory of the module that pins it, below testdata/cluster.
	Pin string
	// Package is what to build within that module.
	Package string
	// Stamp names the module whose version the program reports as that of the
	// cluster; empty if it needs to report none.
	Stamp string
	// Edits are made to the main file before it is built.
	Edits []Edit
	// Manifests are what the program needs in the cluster.
	Manifests []Manifest
}

// Edit replaces a text that occurs once in the main file of a program. It is
// for what a program lets nobody configure.
type Edit struct{ Old, New string }

// Manifest is a file of the tools directory, built from a kustomization of the
// module that has the tool's package.
type Manifest struct{ Name, Kustomization string }

// Names of the manifests.
const (
	KueueCRDs     = "kueue-crds.yaml"
	KueueWebhooks = "kueue-webhooks.yaml"
	NodeStages    = "kwok-node-stages.yaml"
)

// All are the programs, in the order they are built.
var All = []Tool{
	{Name: "etcd", Pin: "etcd", Package: "."},
	{Name: "kube-apiserver", Pin: "kubernetes", Package: "k8s.io/kubernetes/cmd/kube-apiserver", Stamp: "k8s.io/kubernetes"},
	{Name: "kube-controller-manager", Pin: "kubernetes", Package: "k8s.io/kubernetes/cmd/kube-controller-manager", Stamp: "k8s.io/kubernetes"},
	{Name: "kube-scheduler", Pin: "kubernetes", Package: "k8s.io/kubernetes/cmd/kube-scheduler", Stamp: "k8s.io/kubernetes"},
	{
		Name: "kwok", Pin: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok",
		Manifests: []Manifest{{NodeStages, "kustomize/stage/node/fast"}},
	},
	{
		Name: "kueue", Pin: "kueue", Package: "sigs.k8s.io/kueue/cmd/kueue",
		// Nobody but root may write there, and two clusters would share it.
		Edits: []Edit{{`"/etc/kueue/metrics/certs"`, `cfg.Webhook.CertDir`}},
		Manifests: []Manifest{
			{KueueCRDs, "config/components/crd"},
			{KueueWebhooks, "config/components/webhook"},
		},
	},
}

// APIServer are the programs of an API server without anything around it.
var APIServer = All[:2]

// Pins is the directory of the pinning modules: testdata/cluster of the module
// that holds the working directory.
func Pins() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		pins := filepath.Join(dir, "testdata", "cluster")
		if _, err := os.Stat(filepath.Join(pins, All[0].Pin, "go.mod")); err == nil {
			return pins, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no testdata/cluster above the working directory")
		}
		dir = parent
	}
}

// Dir is where the tools are built to and found: the directory that DirEnv
// names, or one in the user's cache whose name changes with the pins.
func Dir() (string, error) {
	if dir := os.Getenv(DirEnv); dir != "" {
		return filepath.Abs(dir)
	}
	pins, err := Pins()
	if err != nil {
		return "", err
	}
	sum, err := digest(pins)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "mdc-cluster", sum), nil
}

func digest(pins string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOOS, runtime.GOARCH)
	for _, t := range All {
		fmt.Fprintf(h, "%+v\n", t)
		root := filepath.Join(pins, t.Pin)
		// The walk is in lexical order.
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			fmt.Fprintf(h, "%s %x\n", filepath.ToSlash(name), sha256.Sum256(b))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// Find returns the directory with the wanted tools. Its error says how to build
// them.
func Find(wanted []Tool) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", fmt.Errorf("no tools of a local cluster: %w; build them with \"make cluster-tools\", or name a directory with them in %s", err, DirEnv)
	}
	var missing []string
	for _, t := range wanted {
		if !t.Built(dir) {
			missing = append(missing, t.Name)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("%s not found in %s: run \"make cluster-tools\", which takes about ten minutes, once", strings.Join(missing, ", "), dir)
	}
	return dir, nil
}

// Built reports whether the tool is in a directory, with its manifests.
func (t Tool) Built(dir string) bool {
	for _, m := range t.Manifests {
		if info, err := os.Stat(filepath.Join(dir, m.Name)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	info, err := os.Stat(filepath.Join(dir, t.Name))
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

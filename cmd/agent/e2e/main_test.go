// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"gpustack.ai/mdc/compiler/emit"

	"gpustack.ai/mdc/cmd/agent/localcluster"
	"gpustack.ai/mdc/cmd/agent/manifests"
)

var shared localcluster.Shared

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // the tests mostly wait
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
	}
	os.Exit(shared.Run(m))
}

const (
	agentNamespace = manifests.Namespace
	agentName      = manifests.Name
)

// account is the agent's, with what it may do and nothing else.
var account struct {
	once   sync.Once
	err    error
	config *rest.Config
}

func setUpAccount(c *localcluster.Cluster) (*rest.Config, error) {
	account.once.Do(func() {
		ctx := context.Background()
		account.err = func() error {
			objects, err := manifests.Rights(agentNamespace)
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := emit.YAML(&text, objects); err != nil {
				return err
			}
			if err := c.ApplyYAML(ctx, text.Bytes()); err != nil {
				return err
			}
			account.config, err = c.As(ctx, agentNamespace, agentName)
			return err
		}()
	})
	return account.config, account.err
}

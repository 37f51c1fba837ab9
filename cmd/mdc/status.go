// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// asking is what the flags of the command say.
type asking struct {
	cluster   clusterFlags
	namespace string
	all       bool
	watch     bool
	format    string
	names     []string
}

func newStatus(a *app) *cobra.Command {
	q := &asking{}
	c := &cobra.Command{
		Use:   "status [NAME...]",
		Short: "Tell how deployments stand in a cluster",
		Long: `Read deployments from a cluster with their Pods and Kueue Workloads, and print
them as a tree of roles, replicas and Pods: what is ready, what waits and for
what, and what to do where a person is needed.

A replica is in one of these states:

` + describeStates() + `
JSON is what the cluster has, joined: the deployment, and by role and ordinal the
Pods and the Workload. With --watch it is one document after each change.`,
		Example: `  mdc status
  mdc status qwen-chat -n team-a --watch
  mdc status -A -o json | jq '.deployments[].roles[].replicas[] | select(.state != "Ready")'`,
		ValidArgsFunction: func(c *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			return q.complete(c.Context(), given), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, names []string) error {
			q.names = names
			return a.status(c.Context(), q)
		},
	}
	c.Flags().StringVarP(&q.namespace, "namespace", "n", "", "namespace of the deployments; default: that of the context")
	c.Flags().BoolVarP(&q.all, "all-namespaces", "A", false, "deployments of all namespaces")
	c.Flags().BoolVarP(&q.watch, "watch", "w", false, "go on, and print again whatever changes")
	c.MarkFlagsMutuallyExclusive("namespace", "all-namespaces")
	q.cluster.add(c)
	formatFlag(c, &q.format, "text", "json")
	return c
}

// contextNamespace is the namespace of the context of the kubeconfig.
func (f *clusterFlags) contextNamespace() (string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.context}
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).Namespace()
	return namespace, err
}

// connect returns what is asked for, not read yet.
func (q *asking) connect() (*scene, error) {
	if q.all && len(q.names) > 0 {
		return nil, fmt.Errorf("status: a name is one of a namespace: give --namespace in place of --all-namespaces")
	}
	client, err := q.cluster.client()
	if err != nil {
		return nil, err
	}
	namespace := q.namespace
	if namespace == "" && !q.all {
		if namespace, err = q.cluster.contextNamespace(); err != nil {
			return nil, err
		}
	}
	return newScene(client, namespace, q.names), nil
}

func (a *app) status(ctx context.Context, q *asking) error {
	s, err := q.connect()
	if err != nil {
		return err
	}
	if q.watch {
		// An interruption is how a watch ends, and no failure.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
	}
	if err := s.read(ctx); err != nil {
		if q.watch && ctx.Err() != nil {
			return nil
		}
		return err
	}
	out := &screen{w: a.stdout, format: q.format}
	if f, ok := a.stdout.(*os.File); ok {
		out.terminal = f
	}
	first, err := s.join()
	if err != nil {
		return err
	}
	if err := s.allThere(first); err != nil {
		return err
	}
	if !q.watch || !out.redraws() {
		for _, note := range s.lacks() {
			fmt.Fprintln(a.stderr, "mdc:", note)
		}
	}
	if !q.watch {
		if len(first) == 0 && q.format == "text" {
			fmt.Fprintf(a.stderr, "mdc: there is no ModelDeployment in %s\n", s.place())
			return nil
		}
		text, err := out.render(first)
		if err != nil {
			return err
		}
		_, err = io.WriteString(a.stdout, text)
		return err
	}
	return s.follow(ctx, out)
}

// complete offers the names of deployments; a cluster that cannot be read has
// none.
func (q *asking) complete(ctx context.Context, given []string) (names []string) {
	s, err := q.connect()
	if err != nil || q.all {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	list, err := s.deployments.resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	for i := range list.Items {
		if name := list.Items[i].GetName(); !slices.Contains(given, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// screen is where a status is shown.
type screen struct {
	w      io.Writer
	format string
	// terminal is set when w is a file, which may be a terminal.
	terminal *os.File
}

// size is that of the terminal; zero when there is none.
func (s *screen) size() (width, height int) {
	if s.terminal == nil {
		return 0, 0
	}
	width, height, err := term.GetSize(int(s.terminal.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// redraws: what is shown is painted over by what follows.
func (s *screen) redraws() bool {
	width, height := s.size()
	return s.format == "text" && width > 0 && height > 0
}

func (s *screen) render(deployments []*liveDeployment) (string, error) {
	if s.format == "json" {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err := e.Encode(statusDocument(deployments))
		return b.String(), err
	}
	width, _ := s.size()
	return drawTree(statusTree(deployments), width, width > 0 && os.Getenv("NO_COLOR") == ""), nil
}

// show prints what follows on what was shown before.
func (s *screen) show(text string, first bool) error {
	width, height := s.size()
	switch {
	case s.format == "text" && width > 0 && height > 0:
		const home, clear = "\x1b[H", "\x1b[2J"
		text = home + clear + fit(text, width, height)
	case s.format == "text" && !first:
		text = "\n" + text
	}
	_, err := io.WriteString(s.w, text)
	return err
}

// fit cuts a text at the last line of a terminal, so that its begin stays in
// sight.
func fit(text string, width, height int) string {
	lines := strings.SplitAfter(text, "\n")
	rows := 0
	for i, line := range lines {
		rows += max(1, (columns(line)+width-1)/width)
		if rows > height-2 && i < len(lines)-2 {
			return strings.Join(lines[:i], "") + fmt.Sprintf("... and %d more lines", len(lines)-1-i)
		}
	}
	return text
}

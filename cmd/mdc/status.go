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

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// statusOptions are the flags and arguments of the command.
type statusOptions struct {
	cluster   clusterFlags
	namespace string
	all       bool
	watch     bool
	format    string
	names     []string
}

func newStatus(a *app) *cobra.Command {
	o := &statusOptions{}
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
			return o.complete(c.Context(), given), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, names []string) error {
			o.names = names
			return a.status(c.Context(), o)
		},
	}
	c.Flags().StringVarP(&o.namespace, "namespace", "n", "", "namespace of the deployments; default: that of the context")
	c.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "deployments of all namespaces")
	c.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on, and print again whatever changes")
	c.MarkFlagsMutuallyExclusive("namespace", "all-namespaces")
	o.cluster.add(c)
	must(c.RegisterFlagCompletionFunc("namespace", o.cluster.completeNamespaces))
	formatFlag(c, &o.format, "text", "json")
	return c
}

// connect returns what is asked for, not read yet.
func (o *statusOptions) connect() (*clusterReader, error) {
	if o.all && len(o.names) > 0 {
		return nil, fmt.Errorf("status: a name is one of a namespace: give --namespace in place of --all-namespaces")
	}
	client, err := o.cluster.client()
	if err != nil {
		return nil, err
	}
	namespace := o.namespace
	if namespace == "" && !o.all {
		if namespace, err = o.cluster.namespace(); err != nil {
			return nil, err
		}
	}
	return newClusterReader(client, namespace, o.names), nil
}

func (a *app) status(ctx context.Context, o *statusOptions) error {
	r, err := o.connect()
	if err != nil {
		return err
	}
	if o.watch {
		// An interruption is how a watch ends, and no failure.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
	}
	if err := r.read(ctx); err != nil {
		if o.watch && ctx.Err() != nil {
			return nil
		}
		return err
	}
	out := &screen{w: a.stdout, format: o.format}
	if f, ok := a.stdout.(*os.File); ok {
		out.terminal = f
	}
	first, err := r.join()
	if err != nil {
		return err
	}
	if err := r.allThere(first); err != nil {
		return err
	}
	if !o.watch || !out.redraws() {
		for _, note := range r.lacks() {
			fmt.Fprintln(a.stderr, "mdc:", note)
		}
	}
	if !o.watch {
		if len(first) == 0 && o.format == "text" {
			fmt.Fprintf(a.stderr, "mdc: there is no ModelDeployment in %s\n", r.place())
			return nil
		}
		text, err := out.render(first)
		if err != nil {
			return err
		}
		_, err = io.WriteString(a.stdout, text)
		return err
	}
	return r.follow(ctx, out)
}

// complete offers the names of deployments that are not given yet.
func (o *statusOptions) complete(ctx context.Context, given []string) []string {
	r, err := o.connect()
	if err != nil || o.all {
		return nil
	}
	return slices.DeleteFunc(namesOf(ctx, r.deployments.resource), func(name string) bool { return slices.Contains(given, name) })
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

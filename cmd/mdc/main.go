// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Command mdc compiles ModelDeployments into the manifests that a GitOps host
// applies.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Exit codes of every command.
const (
	exitFindings = 1
	exitUsage    = 2
)

// errFindings ends a command whose findings have been printed.
var errFindings = errors.New("findings")

func main() { os.Exit(run()) }

func run() int {
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	root := newRoot(&app{
		fs:     filesys.MakeFsOnDisk(),
		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
		color:  terminal && os.Getenv("NO_COLOR") == "",
		hints:  terminal,
	}, programName(os.Args[0]))
	switch err := root.Execute(); {
	case err == nil:
		return 0
	case errors.Is(err, errFindings):
		return exitFindings
	default:
		fmt.Fprintln(os.Stderr, "mdc:", err)
		return exitUsage
	}
}

// programName is how the program was called: kubectl runs a plugin by the name
// kubectl-mdc, and help should then show what the user types.
func programName(arg0 string) string {
	if strings.HasPrefix(filepath.Base(arg0), "kubectl-mdc") {
		return "kubectl mdc"
	}
	return "mdc"
}

func newRoot(a *app, name string) *cobra.Command {
	root := &cobra.Command{
		Use:   "mdc",
		Short: "Compile ModelDeployments into manifests for Argo CD or Flux",
		Long: `mdc compiles ModelDeployments (worker.gpustack.ai/v1) and the facts they depend
on into PodTemplates and Services that a GitOps host applies.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	if name != root.Name() {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.SetOut(a.stderr) // help is not a result
		help(c, args)
	})
	root.AddCommand(
		newBuild(a),
		newPlan(a),
		newPods(a),
		newFacts(a),
		newFn(a),
		newGraph(a),
		newInstall(a),
		newExplain(a),
		newSchema(a),
		newSimulate(a),
		newStatus(a),
		newValidate(a),
		newVersion(a),
	)
	refuseUnknownTopics(root)
	return root
}

// refuseUnknownTopics makes usage errors of what cobra answers by help and exit
// code 0: "mdc help nope" and "mdc completion nope".
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, topic []string) error {
				_, _, err := root.Find(topic)
				return err
			}
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

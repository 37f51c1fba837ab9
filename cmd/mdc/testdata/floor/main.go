// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Command floor imports the libraries that mdc is built on and does nothing: it
// is what a start of mdc is measured against.
package main

import (
	_ "github.com/spf13/cobra"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/tools/clientcmd"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
	_ "sigs.k8s.io/kustomize/api/krusty"
	_ "sigs.k8s.io/kustomize/kyaml/fn/framework"
	_ "sigs.k8s.io/kustomize/kyaml/yaml"
)

func main() {}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// clusterFlags tell which cluster to read, as those of kubectl.
type clusterFlags struct{ kubeconfig, context string }

func (f *clusterFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file; default: $KUBECONFIG, then ~/.kube/config")
	c.Flags().StringVar(&f.context, "context", "", "context of the kubeconfig; default: the current one")
	must(c.MarkFlagFilename("kubeconfig"))
}

func (f *clusterFlags) config() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: f.context})
}

func (f *clusterFlags) client() (dynamic.Interface, error) {
	config, err := f.config().ClientConfig()
	if err != nil {
		return nil, err
	}
	config.UserAgent = "mdc/" + version()
	config.QPS, config.Burst = 50, 100 // one read for each fact
	return dynamic.NewForConfig(config)
}

// namespace is that of the context.
func (f *clusterFlags) namespace() (string, error) {
	namespace, _, err := f.config().Namespace()
	return namespace, err
}

// completionTimeout is how long the one who presses the key waits.
const completionTimeout = 2 * time.Second

// namesOf lists the names of objects to complete from. What cannot be read has
// none: it is not the time to complain.
func namesOf(ctx context.Context, resource dynamic.ResourceInterface) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	slices.Sort(names)
	return names
}

// completeNamespaces offers the namespaces of the cluster.
func (f *clusterFlags) completeNamespaces(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	client, err := f.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return namesOf(c.Context(), client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces"))), cobra.ShellCompDirectiveNoFileComp
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigName is the file of the directory that reaches the API server as
// administrator.
const kubeconfigName = "kubeconfig"

// tokenLifetime is that of a cluster and its certificates.
const tokenLifetime = 24 * time.Hour

// As is a configuration with a token of a ServiceAccount, so that what the
// account may not do fails.
func (c *Cluster) As(ctx context.Context, namespace, account string) (*rest.Config, error) {
	seconds := int64(tokenLifetime.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := c.Client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(c.Config)
	config.QPS = c.Config.QPS
	config.BearerToken = answer.Status.Token
	return config, nil
}

// KubeconfigAs is As for a program: a file, which goes with the cluster.
func (c *Cluster) KubeconfigAs(ctx context.Context, namespace, account string) (string, error) {
	config, err := c.As(ctx, namespace, account)
	if err != nil {
		return "", err
	}
	return writeKubeconfig(filepath.Join(c.Dir, kubeconfigName+"-"+namespace+"-"+account), config)
}

func writeKubeconfig(file string, config *rest.Config) (string, error) {
	const name = "local"
	k := api.NewConfig()
	k.Clusters[name] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos[name] = &api.AuthInfo{Token: config.BearerToken}
	k.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	return file, clientcmd.WriteToFile(*k, file)
}

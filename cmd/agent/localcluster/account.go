// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// granted waits until the accounts that a binding names may do a part of every
// rule of its role: the API server learns of either a moment after it is stored.
func (c *Cluster) granted(ctx context.Context, o *unstructured.Unstructured) error {
	var binding rbacv1.RoleBinding // a ClusterRoleBinding has the same fields
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &binding); err != nil {
		return err
	}
	return Eventually(ctx, o.GetKind()+" "+o.GetName()+" is known", func(ctx context.Context) error {
		rules, err := c.rules(ctx, binding.Namespace, binding.RoleRef)
		if err != nil {
			return err
		}
		for _, subject := range binding.Subjects {
			if subject.Kind != rbacv1.ServiceAccountKind {
				continue
			}
			for _, rule := range rules {
				if err := c.mayDo(ctx, subject, binding.Namespace, rule); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (c *Cluster) rules(ctx context.Context, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "ClusterRole" {
		role, err := c.Client.RbacV1().ClusterRoles().Get(ctx, ref.Name, metav1.GetOptions{})
		return role.Rules, err
	}
	role, err := c.Client.RbacV1().Roles(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	return role.Rules, err
}

// mayDo is nil if the account may do the first of what the rule lists.
func (c *Cluster) mayDo(ctx context.Context, account rbacv1.Subject, namespace string, rule rbacv1.PolicyRule) error {
	if len(rule.Resources) == 0 {
		return nil
	}
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	what := authorizationv1.ResourceAttributes{
		Namespace: namespace, Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Verb: rule.Verbs[0],
	}
	if len(rule.ResourceNames) > 0 {
		what.Name = rule.ResourceNames[0]
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + account.Namespace + ":" + account.Name, ResourceAttributes: &what,
	}}
	review, err := c.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err == nil && !review.Status.Allowed {
		err = fmt.Errorf("%s %s may not %s %s: %s", account.Namespace, account.Name, what.Verb, rule.Resources[0], review.Status.Reason)
	}
	return err
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

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// TestUsers: Kubernetes' roles for users know PodTemplates and our kinds.
func TestUsers(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a whole cluster")
	}
	t.Parallel()
	c := shared.Get(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const namespace = "users"
	must(c.AddNamespace(ctx, namespace))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.RemoveNamespace(ctx, namespace); err != nil {
			t.Log(err)
		}
	})
	_, err := setUpAccount(c)
	must(err)
	for _, role := range []string{"view", "edit", "admin"} {
		_, err := c.Client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: role}},
		}, metav1.CreateOptions{})
		must(err)
	}
	const ours = "worker.gpustack.ai"
	for _, q := range []struct {
		verb, group, resource string
		// roles whose users may; the others may not.
		roles string
	}{
		{"list", "", "podtemplates", "view edit admin"},
		{"watch", ours, "modeldeployments", "view edit admin"},
		{"get", ours, "kvcachepoolbindings", "view edit admin"},
		{"create", "", "podtemplates", "edit admin"},
		{"patch", ours, "modeldeployments", "edit admin"},
		{"delete", ours, "modelartifacts", "edit admin"},
		{"patch", ours, "modeldeployments/status", ""},
		{"create", ours, "kvcachepoolbindings", ""},
	} {
		for _, role := range []string{"view", "edit", "admin"} {
			want := strings.Contains(q.roles, role)
			must(localcluster.Eventually(ctx, fmt.Sprintf("%s may %s %s: %v", role, q.verb, q.resource, want), func(ctx context.Context) error {
				resource, sub, _ := strings.Cut(q.resource, "/")
				review, err := c.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
					Spec: authorizationv1.SubjectAccessReviewSpec{User: role, ResourceAttributes: &authorizationv1.ResourceAttributes{
						Namespace: namespace, Verb: q.verb, Group: q.group, Resource: resource, Subresource: sub,
					}},
				}, metav1.CreateOptions{})
				if err == nil && review.Status.Allowed != want {
					err = fmt.Errorf("%s", review.Status.Reason)
				}
				return err
			}))
		}
	}
}

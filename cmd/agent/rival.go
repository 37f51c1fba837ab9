// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// refuseOther refuses to run beside an operator that serves the API itself: two
// controllers of one kind would delete each other's Pods. Where the API is one
// of a CustomResourceDefinition, its APIService names no Service.
func refuseOther(ctx context.Context, cfg *rest.Config) error {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	name := v1.GroupVersion.Version + "." + v1.GroupVersion.Group
	s, err := client.Resource(apiServices).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find out who serves %s: %w", v1.GroupVersion, err)
	}
	service, found, err := unstructured.NestedMap(s.Object, "spec", "service")
	if err != nil || !found || len(service) == 0 {
		return err
	}
	return fmt.Errorf("%s is served by Service %v/%v (APIService %s): another operator, which has its own controller of ModelDeployments, is at work in this cluster, and the two would fight over the Pods; remove one of them",
		v1.GroupVersion, service["namespace"], service["name"], name)
}

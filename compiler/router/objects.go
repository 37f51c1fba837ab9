// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// Object is an object of the API.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects returns the objects of the router of a deployment, none without
// spec.router. All have the name [Name], and no two the same kind.
func Objects(in Input) []Object {
	if in.spec() == nil {
		return nil
	}
	out := []Object{in.serviceAccount(), in.role(), in.roleBinding()}
	data := in.data()
	if data != nil {
		out = append(out, in.configMap(data))
	}
	return append(out, in.service(), in.deployment(data))
}

// metadata is that of every object. The Pods have the labels alone, without
// managed-by.
func (in Input) metadata() metav1.ObjectMeta {
	labels := in.labels()
	labels[v1.LabelManagedBy] = v1.ManagedBy
	return metav1.ObjectMeta{
		Name:        in.name(),
		Namespace:   in.Deployment.Namespace,
		Labels:      labels,
		Annotations: map[string]string{v1.AnnotationDeployment: in.Deployment.Name},
	}
}

func (in Input) serviceAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: in.metadata(),
	}
}

// role is all that a router may do: find the Pods of its own namespace.
func (in Input) role() *rbacv1.Role {
	return &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: in.metadata(),
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{corev1.GroupName},
			Resources: []string{"pods"},
			Verbs:     []string{"get", "list", "watch"},
		}},
	}
}

func (in Input) roleBinding() *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: in.metadata(),
		Subjects: []rbacv1.Subject{{
			Kind:      rbacv1.ServiceAccountKind,
			Name:      in.name(),
			Namespace: in.Deployment.Namespace,
		}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: in.name()},
	}
}

func (in Input) configMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: in.metadata(),
		Data:       data,
	}
}

func (in Input) service() *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: in.metadata(),
		Spec: corev1.ServiceSpec{
			Selector: in.labels(),
			Ports:    []corev1.ServicePort{{Name: apiPortName, Port: Port, TargetPort: intstr.FromInt32(Port)}},
		},
	}
}

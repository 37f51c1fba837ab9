// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/replica"
)

// leaderIndex is the member that serves the API of an instance.
const leaderIndex = "0"

// ServicePort returns the port that callers use and the one where the role's
// container answers.
func (r *Role) ServicePort() (service corev1.ContainerPort, serving int32) {
	p, _ := r.ports() // a refused port has been reported by the template
	return p.service, p.serving
}

// Endpoint is the address of the role's Service.
func (r *Role) Endpoint() string {
	return r.address(v1.TemplateName(r.Deployment.Name, r.spec().Name))
}

// DeploymentEndpoint is the address of the deployment's Service, in front of this
// role, which is the first.
func (r *Role) DeploymentEndpoint() string { return r.address(r.Deployment.Name) }

// address is the URL of a Service that fronts the role.
func (r *Role) address(service string) string {
	port, _ := r.ServicePort()
	return fmt.Sprintf("%s://%s.%s.svc:%d", strings.ToLower(string(r.scheme())), service, r.Deployment.Namespace, port.ContainerPort)
}

// Services returns the Services of a deployment, given all its roles in order:
// one for the deployment, which fronts the first role, one for each role, and
// above size 1 a headless one for each instance, through which its members
// address each other before any of them is ready.
func Services(roles []*Role) []*corev1.Service {
	first := roles[0]
	out := []*corev1.Service{first.leaderService(first.Deployment.Name)}
	for _, r := range roles {
		s := r.leaderService(v1.TemplateName(r.Deployment.Name, r.spec().Name))
		if r.Publishes() {
			for _, p := range engine.EventPorts() {
				s.Spec.Ports = append(s.Spec.Ports, servicePort(p, p.ContainerPort))
			}
		}
		out = append(out, s)
		if r.size() == 1 {
			continue
		}
		for n := range max(r.spec().Replicas, 1) {
			out = append(out, r.instanceService(n))
		}
	}
	return out
}

func (r *Role) leaderService(name string) *corev1.Service {
	s := r.service(name)
	s.Spec.Selector[v1.LabelMemberIndex] = leaderIndex
	return s
}

func (r *Role) instanceService(ordinal int32) *corev1.Service {
	s := r.service(replica.InstanceName(r.Deployment.Name, r.spec().Name, ordinal))
	s.Spec.Selector[v1.LabelPodOrdinal] = strconv.Itoa(int(ordinal))
	s.Spec.ClusterIP = corev1.ClusterIPNone
	s.Spec.PublishNotReadyAddresses = true
	return s
}

func (r *Role) service(name string) *corev1.Service {
	md := r.Deployment
	port, serving := r.ServicePort()
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   md.Namespace,
			Labels:      generatedLabels(md.Name, r.spec().Name),
			Annotations: map[string]string{v1.AnnotationDeployment: md.Name},
		},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: identity(md.Name, r.spec().Name),
			Ports:    []corev1.ServicePort{servicePort(port, serving)},
		},
	}
}

func servicePort(p corev1.ContainerPort, target int32) corev1.ServicePort {
	return corev1.ServicePort{Name: p.Name, Protocol: p.Protocol, Port: p.ContainerPort, TargetPort: intstr.FromInt32(target)}
}

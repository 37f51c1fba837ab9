// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// AnnotationConfigHash stands on the Pods of a router with a ConfigMap, so that
// another configuration replaces them.
const AnnotationConfigHash = "modeldeployment.gpustack.ai/router-config-hash"

const (
	apiPortName = "http"

	configVolume = "config"
	configDir    = "/config"
)

func (in Input) deployment(data map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: in.metadata(),
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(ptr.Deref(in.spec().Replicas, 1)),
			Selector: &metav1.LabelSelector{MatchLabels: in.labels()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: in.labels(), Annotations: podAnnotations(data)},
				Spec:       in.podSpec(),
			},
		},
	}
}

func podAnnotations(data map[string]string) map[string]string {
	a := map[string]string{
		v1.AnnotationScrape:        "true",
		v1.AnnotationMetricsPath:   "/metrics",
		v1.AnnotationMetricsPort:   strconv.Itoa(int(metricsPort)),
		v1.AnnotationMetricsScheme: "http",
	}
	if data != nil {
		a[AnnotationConfigHash] = ConfigHash(data)
	}
	return a
}

func (in Input) podSpec() corev1.PodSpec {
	p := programs[in.spec().Name]
	main := in.container(in.image())
	main.Command = []string{p.command}
	main.Args = slices.Concat(p.args(in), in.spec().ExtraArgs)

	spec := p.pod(in, main)
	spec.ServiceAccountName = in.name()
	for _, s := range in.spec().ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: s.Name})
	}
	return spec
}

// plainPod is a program that serves requests itself.
func plainPod(_ Input, main corev1.Container) corev1.PodSpec {
	main.Name = "router"
	main.Ports = []corev1.ContainerPort{
		{Name: apiPortName, ContainerPort: Port},
		{Name: "metrics", ContainerPort: metricsPort},
	}
	main.ReadinessProbe = listening(Port)
	return corev1.PodSpec{Containers: []corev1.Container{main}}
}

// pickerPod is the endpoint picker behind an Envoy, which carries the requests
// and asks the picker where each goes.
func pickerPod(in Input, picker corev1.Container) corev1.PodSpec {
	mounts := []corev1.VolumeMount{{Name: configVolume, MountPath: configDir, ReadOnly: true}}

	envoy := in.container(in.ProxyImage)
	envoy.Name = "envoy"
	envoy.Args = []string{"-c", configDir + "/" + keyEnvoy}
	envoy.Ports = []corev1.ContainerPort{{Name: apiPortName, ContainerPort: Port}}
	envoy.ReadinessProbe = listening(Port)
	envoy.VolumeMounts = mounts

	picker.Name = "epp"
	picker.Env = []corev1.EnvVar{
		in.envFromConfig("ENDPOINT_SELECTOR", keySelector),
		in.envFromConfig("ENDPOINT_TARGET_PORTS", keyTargetPorts),
		envFromField("NAMESPACE", "metadata.namespace"),
		envFromField("POD_NAME", "metadata.name"),
	}
	picker.Ports = []corev1.ContainerPort{
		{Name: "grpc", ContainerPort: pickerPort},
		{Name: "grpc-health", ContainerPort: pickerHealthPort},
		{Name: "metrics", ContainerPort: metricsPort},
	}
	picker.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		GRPC: &corev1.GRPCAction{Port: pickerHealthPort},
	}}
	picker.VolumeMounts = mounts

	return corev1.PodSpec{
		Containers: []corev1.Container{envoy, picker},
		Volumes: []corev1.Volume{{
			Name: configVolume,
			VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: in.name()},
			}},
		}},
	}
}

func listening(port int32) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)},
	}}
}

func (in Input) envFromConfig(name, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: in.name()},
		Key:                  key,
		Optional:             ptr.To(false),
	}}}
}

func envFromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: path},
	}}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/observe"
	"gpustack.ai/mdc/cmd/agent/probe"
	"gpustack.ai/mdc/cmd/agent/report"
)

// status returns the status of a deployment after a pass.
func (r *Reconciler) status(v *observe.View, o observe.Outcome) v1.ModelDeploymentStatus {
	o.Stores = r.Prober.Told(client.ObjectKeyFromObject(v.Deployment), engines(v))
	return report.Build(v.Report(o, r.Now()))
}

// engines are those that can be asked about the store: of vLLM, which alone
// tells, the leaders that are ready.
func engines(v *observe.View) (out []probe.Target) {
	md := v.Deployment
	if md.Spec.KVCache == nil || md.Spec.Engine.Name != v1.EngineVLLM || v.Observation.Deleting {
		return nil
	}
	for i := range v.Pods {
		p := &v.Pods[i]
		port, err := strconv.ParseUint(p.Annotations[v1.AnnotationMetricsPort], 10, 16)
		if err != nil || p.DeletionTimestamp != nil || p.Labels[v1.LabelMemberIndex] != "0" || p.Status.PodIP == "" || !isReady(p) {
			continue
		}
		u := url.URL{
			Scheme: cmp.Or(p.Annotations[v1.AnnotationMetricsScheme], "http"),
			Host:   net.JoinHostPort(p.Status.PodIP, strconv.FormatUint(port, 10)),
			Path:   cmp.Or(p.Annotations[v1.AnnotationMetricsPath], "/metrics"),
		}
		out = append(out, probe.Target{UID: p.UID, URL: u.String()})
	}
	slices.SortFunc(out, func(a, b probe.Target) int { return cmp.Compare(a.UID, b.UID) })
	return out
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

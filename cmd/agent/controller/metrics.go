// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// Metrics count what the agent does to the cluster. Nil counts nothing.
type Metrics struct {
	created          prometheus.Counter
	deleted          *prometheus.CounterVec
	deletedWorkloads *prometheus.CounterVec
	parked           prometheus.Counter
}

// NewMetrics registers the metrics.
func NewMetrics(to prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		created: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mdc_agent_pods_created_total", Help: "Pods created.",
		}),
		deleted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mdc_agent_pods_deleted_total", Help: "Pods deleted, by cause.",
		}, []string{"cause"}),
		deletedWorkloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mdc_agent_workloads_deleted_total", Help: "Kueue Workloads deleted, by cause.",
		}, []string{"cause"}),
		parked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mdc_agent_workloads_parked_total", Help: "Kueue Workloads deactivated because the rest of their deployment got no quota.",
		}),
	}
	for _, c := range []prometheus.Collector{m.created, m.deleted, m.deletedWorkloads, m.parked} {
		if err := to.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// PodCreated counts a Pod.
func (m *Metrics) PodCreated() {
	if m != nil {
		m.created.Inc()
	}
}

// PodDeleted counts a Pod.
func (m *Metrics) PodDeleted(c converge.Cause) {
	if m != nil {
		m.deleted.WithLabelValues(label(c)).Inc()
	}
}

// WorkloadDeleted counts a Workload.
func (m *Metrics) WorkloadDeleted(c converge.Cause) {
	if m != nil {
		m.deletedWorkloads.WithLabelValues(label(c)).Inc()
	}
}

// WorkloadParked counts a Workload.
func (m *Metrics) WorkloadParked() {
	if m != nil {
		m.parked.Inc()
	}
}

func label(c converge.Cause) string { return strings.ReplaceAll(string(c), " ", "_") }

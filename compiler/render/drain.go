// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	_ "embed"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gpustack.ai/mdc/compiler/engine"
)

// defaultGrace is the termination grace of a managed role, in seconds.
const defaultGrace = 30

// drainReserve is how long before the end of the grace the drain gives up, so
// that the engine has time to exit. In seconds.
const drainReserve = 5

// drainProgram runs in the image of the engine, before the engine is told to
// stop. Its text is part of the Pod's fingerprint: a change of it turns every
// replica over.
//
//go:embed drain.py
var drainProgram string

// drain keeps a departing Pod serving until it holds no request.
func (r *Role) drain(grace int64, port int32) *corev1.Lifecycle {
	var gauges []string
	for _, g := range engine.BusyGauges[r.engine()] {
		gauges = append(gauges, fmt.Sprintf("%q", g))
	}
	program := strings.NewReplacer(
		"@URL@", fmt.Sprintf("%s://127.0.0.1:%d/metrics", strings.ToLower(string(r.scheme())), port),
		"@GAUGES@", strings.Join(gauges, ", "),
		"@SECONDS@", fmt.Sprint(grace-drainReserve),
	).Replace(drainProgram)
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{
		Command: []string{"python3", "-c", program},
	}}}
}

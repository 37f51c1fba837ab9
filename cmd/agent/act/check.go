// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	apply "sigs.k8s.io/kueue/client-go/applyconfiguration/kueue/v1beta2"

	"gpustack.ai/mdc/cmd/agent/joint"
)

// Answer writes the answer to a Workload's admission checks, and parks the
// Workload if that is the answer. It fails with a conflict when the Workload has
// changed since it was read.
func (a *Actor) Answer(ctx context.Context, w *kueue.Workload, checks map[kueue.AdmissionCheckReference]bool, answer joint.Answer, now time.Time) error {
	version := w.ResourceVersion
	if answer.Write {
		written := apply.Workload(w.Name, w.Namespace).WithResourceVersion(version).WithStatus(status(w, checks, answer, now))
		if err := a.Client.Status().Apply(ctx, written, client.ForceOwnership, client.FieldOwner(FieldManager)); err != nil {
			return fmt.Errorf("answer the admission check of Workload %s/%s: %w", w.Namespace, w.Name, err)
		}
		version = *written.ResourceVersion
	}
	if !answer.Park {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": w.UID, "resourceVersion": version},
		"spec":     map[string]any{"active": false},
	})
	if err == nil {
		parked := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
		err = a.Client.Patch(ctx, parked, client.RawPatch(types.MergePatchType, patch))
	}
	if err != nil {
		return fmt.Errorf("park Workload %s/%s: %w", w.Namespace, w.Name, err)
	}
	a.Counted.WorkloadParked()
	return nil
}

// status has every entry that is ours, whole: one that is left out is not taken
// back, since Kueue owns it too.
func status(w *kueue.Workload, checks map[kueue.AdmissionCheckReference]bool, answer joint.Answer, now time.Time) *apply.WorkloadStatusApplyConfiguration {
	s := apply.WorkloadStatus()
	for _, e := range w.Status.AdmissionChecks {
		if !checks[e.Name] {
			continue
		}
		since := e.LastTransitionTime
		if joint.State(e.State) != answer.State {
			since = metav1.NewTime(now)
		}
		s.WithAdmissionChecks(apply.AdmissionCheckState().
			WithName(e.Name).
			WithState(kueue.CheckState(answer.State)).
			WithMessage(answer.Message).
			WithLastTransitionTime(since))
	}
	return s
}

// Activate tells Kueue that somebody answers an AdmissionCheck: until then its
// queues admit nothing.
func (a *Actor) Activate(ctx context.Context, c *kueue.AdmissionCheck, now time.Time) error {
	if meta.IsStatusConditionTrue(c.Status.Conditions, kueue.AdmissionCheckActive) {
		return nil
	}
	err := a.Client.Status().Apply(ctx, apply.AdmissionCheck(c.Name).WithStatus(
		apply.AdmissionCheckStatus().WithConditions(applymeta.Condition().
			WithType(kueue.AdmissionCheckActive).
			WithStatus(metav1.ConditionTrue).
			WithReason("Ready").
			WithMessage("The agent of mdc answers this check").
			WithObservedGeneration(c.Generation).
			WithLastTransitionTime(metav1.NewTime(now)))), client.ForceOwnership, client.FieldOwner(FieldManager))
	if err != nil {
		return fmt.Errorf("activate AdmissionCheck %s: %w", c.Name, err)
	}
	return nil
}

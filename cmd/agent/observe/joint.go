// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/joint"
)

// CheckController is the controllerName of the AdmissionChecks that the agent
// answers.
const CheckController = "modeldeployment.gpustack.ai/joint-admission"

// ReadSet returns what the admission of a deployment depends on: its Pods, its
// Workloads, and of its roles what is declared.
func (r *Reader) ReadSet(ctx context.Context, md *v1.ModelDeployment) (*View, error) {
	v := &View{Deployment: md}
	v.Observation.Deleting = md.DeletionTimestamp != nil
	for i := range md.Spec.Roles {
		v.Observation.Roles = append(v.Observation.Roles, declared(md, &md.Spec.Roles[i]))
	}
	return v, r.readPods(ctx, v)
}

// Checks are the names of the AdmissionChecks that are the agent's to answer.
func (r *Reader) Checks(ctx context.Context) (map[kueue.AdmissionCheckReference]bool, error) {
	var list kueue.AdmissionCheckList
	if err := r.Cache.List(ctx, &list); err != nil {
		return nil, err
	}
	names := map[kueue.AdmissionCheckReference]bool{}
	for _, c := range list.Items {
		if c.Spec.ControllerName == CheckController {
			names[kueue.AdmissionCheckReference(c.Name)] = true
		}
	}
	return names, nil
}

// Judged is what the answer to a Workload depends on. checks are the agent's.
func Judged(w *kueue.Workload, checks map[kueue.AdmissionCheckReference]bool) *joint.Workload {
	holds := func(condition string) bool { return meta.IsStatusConditionTrue(w.Status.Conditions, condition) }
	out := &joint.Workload{
		Namespace: w.Namespace, Name: w.Name,
		Reserved: holds(kueue.WorkloadQuotaReserved),
		Admitted: holds(kueue.WorkloadAdmitted),
		Evicted:  holds(kueue.WorkloadEvicted),
		Finished: holds(kueue.WorkloadFinished),
		Inactive: !ptr.Deref(w.Spec.Active, true),
		Deleting: w.DeletionTimestamp != nil,
	}
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		out.ReservedAt = c.LastTransitionTime.Time
	}
	for _, e := range w.Status.AdmissionChecks {
		if checks[e.Name] {
			out.Entries = append(out.Entries, joint.Entry{State: joint.State(e.State), Message: e.Message, Since: e.LastTransitionTime.Time})
		}
	}
	return out
}

// Ownership is whose a Workload is.
type Ownership struct {
	// Deployment is the ModelDeployment behind its Pods; nil when there is none
	// or it was not found.
	Deployment *v1.ModelDeployment
	// Unreadable: a Pod, or the deployment that it names, was not found, and
	// nothing else tells whose it is.
	Unreadable bool
}

// OwnerOf follows a Workload past the cache to the deployment whose Pods own it.
// The first Pod that leads anywhere decides.
func (r *Reader) OwnerOf(ctx context.Context, w *kueue.Workload) (o Ownership, err error) {
	for _, ref := range OwnerPods(w) {
		pod := &metav1.PartialObjectMetadata{}
		pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: ref.Name}, pod)
		if client.IgnoreNotFound(err) != nil {
			return Ownership{}, err
		}
		if err != nil || pod.UID != ref.UID {
			o.Unreadable = true
			continue
		}
		controller := Controller(pod)
		if controller == nil {
			return Ownership{}, nil
		}
		md := &v1.ModelDeployment{}
		err = r.Live.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: controller.Name}, md)
		switch {
		case err == nil && md.UID == controller.UID:
			return Ownership{Deployment: md}, nil
		case err == nil || apierrors.IsNotFound(err):
			o.Unreadable = true
		default:
			return Ownership{}, err
		}
	}
	return o, nil
}

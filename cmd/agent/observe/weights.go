// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/render"

	"gpustack.ai/mdc/cmd/agent/report"
)

// Why weights do not arrive.
const (
	ReasonArtifactNotFound        = "ArtifactNotFound"
	ReasonArtifactNotResolved     = "ArtifactNotResolved"
	ReasonClaimNotBound           = "ClaimNotBound"
	ReasonAccessModeConflict      = "AccessModeConflict"
	ReasonNodeDeliveryUnavailable = "NodeDeliveryUnavailable"
	ReasonFilterNeedsNodeDelivery = "FilterNeedsNodeDelivery"
	ReasonAnchorNeedsNodeDelivery = "AnchorNeedsNodeDelivery"
)

const (
	conditionResolved = "Resolved"
	noProvisioner     = "kubernetes.io/no-provisioner"
)

// readWeights finds out whether Pods made now would get their weights.
func (r *Reader) readWeights(ctx context.Context, v *View) (err error) {
	ref := v.Deployment.Spec.Model.ArtifactRef
	if ref == nil {
		return nil
	}
	v.Weights, err = r.weightsFault(ctx, v, ref.Name)
	v.Observation.Weights.Blocked = v.Weights.Reason != ""
	return err
}

func (r *Reader) weightsFault(ctx context.Context, v *View, name string) (report.Fault, error) {
	a, err := get[v1.ModelArtifact](ctx, r, client.ObjectKey{Namespace: v.Deployment.Namespace, Name: name})
	v.artifact = a
	if a == nil {
		return report.Fault{Reason: ReasonArtifactNotFound, Message: fmt.Sprintf("ModelArtifact %q does not exist", name)}, err
	}
	if message := unresolved(a); message != "" {
		return report.Fault{Reason: ReasonArtifactNotResolved, Message: message}, nil
	}
	for _, role := range v.Roles {
		if role.full == nil {
			continue
		}
		if message := otherRevision(a, &role.full.Template); message != "" {
			return report.Fault{Reason: ReasonArtifactNotResolved, Message: message}, nil
		}
		if usesModelDriver(&role.full.Template) {
			driver, err := get[storagev1.CSIDriver](ctx, r, client.ObjectKey{Name: render.ModelDriver})
			if driver == nil {
				return report.Fault{Reason: ReasonNodeDeliveryUnavailable, Message: fmt.Sprintf("CSIDriver %q does not exist", render.ModelDriver)}, err
			}
		}
	}
	if claim := a.Spec.Source.PersistentVolumeClaim; claim != nil {
		return r.claimFault(ctx, v, claim.ClaimName)
	}
	return undeliverable(a, delivery(a, v.Roles)), nil
}

// delivery is how an artifact reaches the roles as they were compiled.
func delivery(a *v1.ModelArtifact, roles []*Role) v1.Delivery {
	switch {
	case a.Spec.Source.PersistentVolumeClaim != nil:
		return v1.DeliveryPVC
	case a.Spec.Source.Image != nil:
		return v1.DeliveryImage
	case slices.ContainsFunc(roles, func(r *Role) bool { return r.full != nil && usesModelDriver(&r.full.Template) }):
		return v1.DeliveryNode
	}
	return v1.DeliveryEngine
}

// undeliverable says what of an artifact an engine that downloads for itself
// would ignore.
func undeliverable(a *v1.ModelArtifact, how v1.Delivery) report.Fault {
	if how != v1.DeliveryEngine {
		return report.Fault{}
	}
	const remedy = "compile with the Setting model-artifact-delivery-mode set to Node"
	switch {
	case len(a.Spec.AllowPatterns)+len(a.Spec.IgnorePatterns) > 0:
		return report.Fault{Reason: ReasonFilterNeedsNodeDelivery, Message: fmt.Sprintf("ModelArtifact %q filters files, and an engine that downloads for itself takes them all; %s", a.Name, remedy)}
	case a.Spec.ExpectedDigest != "", a.Status.Resolved != nil && a.Status.Resolved.DigestSource == "Expected":
		return report.Fault{Reason: ReasonAnchorNeedsNodeDelivery, Message: fmt.Sprintf("ModelArtifact %q expects a digest, and an engine that downloads for itself verifies none; %s", a.Name, remedy)}
	}
	return report.Fault{}
}

// unresolved says why the source of an artifact is not known to be there.
func unresolved(a *v1.ModelArtifact) string {
	for _, c := range a.Status.Conditions {
		switch {
		case c.Type != conditionResolved:
		case c.Status == metav1.ConditionTrue:
			return ""
		default:
			return fmt.Sprintf("ModelArtifact %q is not resolved: %s: %s", a.Name, c.Reason, c.Message)
		}
	}
	return fmt.Sprintf("ModelArtifact %q is not resolved yet", a.Name)
}

// otherRevision says how the artifact resolves to something else than what a
// template was compiled with.
func otherRevision(a *v1.ModelArtifact, t *corev1.PodTemplateSpec) string {
	r := a.Status.Resolved
	if r == nil || a.Spec.Source.PersistentVolumeClaim != nil || a.Spec.Source.Image != nil {
		return ""
	}
	const message = "ModelArtifact %q resolves to %s, and the deployment was compiled with %s; refresh it among the facts and compile again"
	for _, vol := range t.Spec.Volumes {
		if csi := vol.CSI; csi != nil && csi.Driver == render.ModelDriver {
			if compiled := csi.VolumeAttributes[render.AttributeDigest]; compiled != r.ManifestDigest {
				return fmt.Sprintf(message, a.Name, r.ManifestDigest, compiled)
			}
			return ""
		}
	}
	if c := mainContainer(t); c != nil {
		if i := slices.Index(c.Command, argv.FlagRevision); i >= 0 && i+1 < len(c.Command) && c.Command[i+1] != r.Revision {
			return fmt.Sprintf(message, a.Name, r.Revision, c.Command[i+1])
		}
	}
	return ""
}

func usesModelDriver(t *corev1.PodTemplateSpec) bool {
	return slices.ContainsFunc(t.Spec.Volumes, func(v corev1.Volume) bool { return v.CSI != nil && v.CSI.Driver == render.ModelDriver })
}

// claimFault judges a claim that holds the weights.
func (r *Reader) claimFault(ctx context.Context, v *View, name string) (report.Fault, error) {
	claim, err := get[corev1.PersistentVolumeClaim](ctx, r, client.ObjectKey{Namespace: v.Deployment.Namespace, Name: name})
	if claim == nil {
		return report.Fault{Reason: ReasonClaimNotBound, Message: fmt.Sprintf("PersistentVolumeClaim %q does not exist", name)}, err
	}
	pods := int32(0)
	for _, role := range v.Roles {
		pods += role.Spec.Replicas * size(role.Spec)
	}
	shared := slices.ContainsFunc(claim.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m == corev1.ReadOnlyMany || m == corev1.ReadWriteMany
	})
	if pods > 1 && !shared {
		return report.Fault{Reason: ReasonAccessModeConflict, Message: fmt.Sprintf("PersistentVolumeClaim %q is for one node (%v) and %d Pods mount it; use one with ReadOnlyMany or ReadWriteMany", name, claim.Spec.AccessModes, pods)}, nil
	}
	if claim.Status.Phase == corev1.ClaimBound {
		v.volume = claim.Spec.VolumeName
		return report.Fault{}, nil
	}
	if claim.Status.Phase == corev1.ClaimPending && claim.Spec.StorageClassName != nil {
		class, err := get[storagev1.StorageClass](ctx, r, client.ObjectKey{Name: *claim.Spec.StorageClassName})
		if err != nil {
			return report.Fault{}, err
		}
		if class != nil && class.Provisioner != noProvisioner && class.VolumeBindingMode != nil &&
			*class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer {
			return report.Fault{}, nil // the first Pod brings it about
		}
	}
	return report.Fault{Reason: ReasonClaimNotBound, Message: fmt.Sprintf("PersistentVolumeClaim %q is %s", name, claim.Status.Phase)}, nil
}

// volumeAffinity is where a volume can be mounted; nil is anywhere.
func (r *Reader) volumeAffinity(ctx context.Context, name string) (*corev1.NodeSelector, error) {
	if name == "" {
		return nil, nil
	}
	var volume corev1.PersistentVolume
	if err := r.Live.Get(ctx, client.ObjectKey{Name: name}, &volume); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if volume.Spec.NodeAffinity == nil {
		return nil, nil
	}
	return volume.Spec.NodeAffinity.Required, nil
}

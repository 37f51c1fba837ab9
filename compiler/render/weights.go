// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
)

// Weights is where the weights of a deployment come from, when a ModelArtifact
// delivers them.
type Weights struct {
	Delivery v1.Delivery
	// Artifact is the name and UID of the ModelArtifact.
	Artifact, UID string
	Source        v1.ArtifactSource
	Resolved      v1.ResolvedArtifact
	// Hub is where the engine downloads from, HTTPSProxy and NoProxy how; all
	// only under Delivery Engine.
	Hub, HTTPSProxy, NoProxy string
}

const (
	modelVolume = "gpustack-model"
	modelDir    = "/var/lib/gpustack/model"
	cacheVolume = "gpustack-model-cache"
	cacheDir    = "/var/lib/gpustack/model-cache"

	// tokenKey is the key of the hub's token in its Secret.
	tokenKey = "token"
)

// ModelDriver is the CSI driver that mounts weights from the node's own store,
// and AttributeDigest the attribute of its volumes that says which.
const (
	ModelDriver     = "model.csi.gpustack.ai"
	AttributeDigest = "manifestDigest"
)

// hub is what the two model hubs call the same things.
type hub struct {
	cache, endpoint, token string
	// enable makes the engine use this hub and not its default one.
	enable map[v1.EngineName]string
	// host: the endpoint is given without its scheme.
	host bool
}

var (
	huggingFace = hub{cache: "HF_HOME", endpoint: "HF_ENDPOINT", token: "HF_TOKEN"}
	modelScope  = hub{
		cache: "MODELSCOPE_CACHE", endpoint: "MODELSCOPE_DOMAIN", token: "MODELSCOPE_API_TOKEN", host: true,
		enable: map[v1.EngineName]string{v1.EngineVLLM: "VLLM_USE_MODELSCOPE", v1.EngineSGLang: "SGLANG_USE_MODELSCOPE"},
	}
)

// hubSource returns the hub the weights come from; nil when they do not.
func (w *Weights) hubSource() (hub, *v1.HubSource) {
	if w.Source.ModelScope != nil {
		return modelScope, w.Source.ModelScope
	}
	return huggingFace, w.Source.HuggingFace
}

// model is what the engine is told to serve, and the commit of it.
func (r *Role) model() (model, revision string) {
	w := r.Weights
	switch {
	case w == nil:
		return r.Deployment.Spec.Model.Name, ""
	case w.Delivery == v1.DeliveryEngine:
		_, source := w.hubSource()
		return source.Repository, w.Resolved.Revision
	default:
		return modelDir, ""
	}
}

// weights returns what the delivery of the weights adds to the container. A
// role that is taken over gets the mount alone: mdc does not start its engine.
func (r *Role) weights() (c engine.Connector) {
	w := r.Weights
	if w == nil {
		return c
	}
	if w.Delivery != v1.DeliveryEngine {
		mount := corev1.VolumeMount{Name: modelVolume, MountPath: modelDir, ReadOnly: true}
		if claim := w.Source.PersistentVolumeClaim; claim != nil {
			mount.SubPath = claim.Path
		}
		c.Mounts = []corev1.VolumeMount{mount}
		c.Volumes = []corev1.Volume{{Name: modelVolume, VolumeSource: w.volume()}}
		return c
	}
	if !r.managed() {
		return c
	}
	size := w.cacheSize()
	c.Volumes = []corev1.Volume{{Name: cacheVolume, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size},
	}}}
	c.Mounts = []corev1.VolumeMount{{Name: cacheVolume, MountPath: cacheDir}}
	c.Env, c.DefaultedEnv = w.hubEnv(r.engine())
	return c
}

// volume is the source of delivered weights.
func (w *Weights) volume() corev1.VolumeSource {
	switch {
	case w.Source.PersistentVolumeClaim != nil:
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: w.Source.PersistentVolumeClaim.ClaimName, ReadOnly: true,
		}}
	case w.Source.Image != nil:
		return corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: w.Source.Image.Reference}}
	}
	csi := &corev1.CSIVolumeSource{
		Driver:   ModelDriver,
		ReadOnly: ptr.To(true),
		VolumeAttributes: map[string]string{
			"artifact":      w.Artifact,
			"artifactUID":   w.UID,
			AttributeDigest: w.Resolved.ManifestDigest,
		},
	}
	if _, source := w.hubSource(); source != nil && source.SecretRef != nil {
		csi.NodePublishSecretRef = &corev1.LocalObjectReference{Name: source.SecretRef.Name}
	}
	return corev1.VolumeSource{CSI: csi}
}

// cacheSize is the size of the weights and a tenth more, at least a GiB more:
// a hub client keeps partial files beside the finished ones.
func (w *Weights) cacheSize() resource.Quantity {
	size := w.Resolved.SizeBytes
	return *resource.NewQuantity(size+max(size/10, gib), resource.BinarySI)
}

// hubEnv configures the engine's own hub client.
func (w *Weights) hubEnv(name v1.EngineName) (owned, defaulted []corev1.EnvVar) {
	h, source := w.hubSource()
	endpoint := w.Hub
	if u, err := url.Parse(endpoint); h.host && err == nil && u.Host != "" {
		endpoint = u.Host
	}
	owned = []corev1.EnvVar{{Name: h.cache, Value: cacheDir}, {Name: h.endpoint, Value: endpoint}}
	if source.SecretRef != nil {
		owned = append(owned, corev1.EnvVar{Name: h.token, ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: source.SecretRef.Name}, Key: tokenKey,
			},
		}})
	}
	if enable := h.enable[name]; enable != "" {
		owned = append(owned, corev1.EnvVar{Name: enable, Value: "true"})
	}
	for _, e := range []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: w.HTTPSProxy}, {Name: "NO_PROXY", Value: w.NoProxy}} {
		if e.Value != "" {
			defaulted = append(defaulted, e)
		}
	}
	return owned, defaulted
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/render"
	"gpustack.ai/mdc/compiler/source"
)

// weights resolves the ModelArtifact of a deployment; nil when it has none.
// Nothing of it may come later: the command line, the volumes and the identity
// of cached blocks depend on it.
func (c *compilation) weights(md *v1.ModelDeployment, o *source.Object) (*render.Weights, diag.List) {
	ref := md.Spec.Model.ArtifactRef
	if ref == nil {
		return nil, nil
	}
	refuse := func(message, remedy string) (*render.Weights, diag.List) {
		return nil, diag.List{o.Finding(diag.Error, "artifact-unresolved", "spec.model.artifactRef.name", message, remedy)}
	}
	fact, ok := c.facts.Artifact(md.Namespace, ref.Name)
	if !ok {
		return refuse(fmt.Sprintf("ModelArtifact %q in namespace %q is not among the facts, and how the weights arrive depends on it", ref.Name, md.Namespace),
			fmt.Sprintf("add the ModelArtifact to the input or to --facts (mdc facts, or kubectl get modelartifact %s -n %s -o yaml)", ref.Name, md.Namespace))
	}
	a := fact.Value
	w := &render.Weights{Artifact: a.Name, UID: string(a.UID), Source: a.Spec.Source}
	hubEndpoint := facts.SettingName("")
	switch s := a.Spec.Source; {
	case s.PersistentVolumeClaim != nil:
		w.Delivery = v1.DeliveryPVC
	case s.Image != nil:
		w.Delivery = v1.DeliveryImage
	case s.HuggingFace != nil, s.ModelScope != nil:
		hubEndpoint = facts.SettingHuggingFaceEndpoint
		if s.ModelScope != nil {
			hubEndpoint = facts.SettingModelScopeEndpoint
		}
		w.Delivery = v1.Delivery(c.facts.Setting(facts.SettingDeliveryMode))
	default:
		return refuse(fmt.Sprintf("ModelArtifact %q states no source that mdc knows", ref.Name), "correct spec.source of the ModelArtifact")
	}
	if r := a.Status.Resolved; r != nil {
		w.Resolved = *r
	}
	const refresh = "wait until its source is resolved and refresh the ModelArtifact among the facts (mdc facts)"
	switch w.Delivery {
	case v1.DeliveryEngine:
		w.Hub = c.facts.Setting(hubEndpoint)
		w.HTTPSProxy, w.NoProxy = c.facts.Setting(facts.SettingHTTPSProxy), c.facts.Setting(facts.SettingNoProxy)
		switch {
		case len(a.Spec.AllowPatterns)+len(a.Spec.IgnorePatterns) > 0:
			return refuse(fmt.Sprintf("ModelArtifact %q filters files, and an engine that downloads for itself takes them all", ref.Name),
				"set the Setting "+string(facts.SettingDeliveryMode)+" to Node, or remove the patterns")
		case a.Spec.ExpectedDigest != "", w.Resolved.DigestSource == "Expected":
			return refuse(fmt.Sprintf("ModelArtifact %q expects a digest, and an engine that downloads for itself does not verify one", ref.Name),
				"set the Setting "+string(facts.SettingDeliveryMode)+" to Node, or remove spec.expectedDigest")
		case w.Resolved.Revision == "" || w.Resolved.SizeBytes <= 0:
			return refuse(fmt.Sprintf("status.resolved of ModelArtifact %q has no revision or no size yet", ref.Name), refresh)
		}
	case v1.DeliveryNode:
		if w.Resolved.ManifestDigest == "" || w.UID == "" {
			return refuse(fmt.Sprintf("ModelArtifact %q has no metadata.uid or no status.resolved.manifestDigest yet", ref.Name), refresh)
		}
	case v1.DeliveryPVC, v1.DeliveryImage:
	default:
		return refuse(fmt.Sprintf("the Setting %s is %q", facts.SettingDeliveryMode, w.Delivery), "set it to Engine or Node")
	}
	if md.Spec.KVCache != nil && weightIdentity(w) == "" {
		remedy := refresh
		if w.Delivery == v1.DeliveryImage {
			remedy = "pin spec.source.image.reference of the ModelArtifact by its sha256 digest"
		}
		return refuse(fmt.Sprintf("ModelArtifact %q does not tell which weights it holds, and cached blocks of other weights must not be read", ref.Name), remedy)
	}
	return w, nil
}

// weightIdentity keeps apart the cached blocks of different weights. Empty means
// that the weights are not known yet.
func weightIdentity(w *render.Weights) string {
	digest := w.Resolved.ManifestDigest
	switch {
	case w.Source.PersistentVolumeClaim != nil:
		if w.UID == "" {
			return ""
		}
		sum := sha256.Sum256([]byte(w.UID))
		return "m-" + hex.EncodeToString(sum[:])[:identityLength]
	case w.Source.Image != nil:
		_, digest, _ = strings.Cut(w.Source.Image.Reference, "@")
	}
	digits, ok := strings.CutPrefix(digest, "sha256:")
	if !ok || len(digits) < identityLength {
		return ""
	}
	// vLLM separates the parts of a block's key by signs that are no digits.
	if _, err := hex.DecodeString(digits[:identityLength]); err != nil {
		return ""
	}
	return "m-" + digits[:identityLength]
}

// identityLength is how many hex digits tell weights apart.
const identityLength = 32

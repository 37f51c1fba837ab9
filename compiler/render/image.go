// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/replica"
)

// runnerRepository is where the images of the engines are published.
const runnerRepository = "gpustack/runner"

const stateImage = "set image on the role"

// image returns the image of the role: the stated one, or one synthesized from
// the engine and the hardware. late is set when the runtime version is not
// known yet and a token stands for it.
func (r *Role) image() (image string, late bool, findings diag.List) {
	if stated := r.spec().Image; stated != "" {
		return stated, false, nil
	}
	role, typ := r.spec().Name, r.Type.Name
	refuse := func(rule, message, remedy string) {
		findings = append(findings, r.refuse(rule, "instanceType",
			fmt.Sprintf("role %q states no image and none can be synthesized: %s", role, message), remedy))
	}
	version := r.Deployment.Spec.Engine.Version
	if version == "" {
		findings = append(findings, diag.Finding{
			Rule: "image-version", Severity: diag.Error, Field: "spec.engine.version",
			Message: fmt.Sprintf("role %q states no image and none can be synthesized: the engine has no version, and without one this never resolves", role),
			Remedy:  "set spec.engine.version, or image on the role",
		})
	}
	manufacturer := facts.Manufacturer(r.Type)
	m := makers[manufacturer]
	variant := ""
	switch {
	case !r.Type.Spec.Acceleratable:
		refuse("image-maker",
			fmt.Sprintf("InstanceType %q has no accelerators, and there is no runner image for CPUs; this never resolves", typ), stateImage)
	case manufacturer == "":
		refuse("image-maker-unknown",
			fmt.Sprintf("the manufacturer of InstanceType %q has not been observed; it resolves once status.detail.manufacturer is among the facts", typ),
			"refresh the InstanceType among the facts, or "+stateImage)
	case m.backend == "":
		refuse("image-maker",
			fmt.Sprintf("there is no runner image for the manufacturer %q of InstanceType %q; this never resolves", manufacturer, typ), stateImage)
	case manufacturer == facts.ManufacturerAscend:
		family := r.Type.Status.Detail.Family
		if variant = ascendVariants[family]; variant == "" {
			message := fmt.Sprintf("there is no runner image for the Ascend family %q of InstanceType %q; this never resolves", family, typ)
			remedy := stateImage
			if family == "" {
				message = fmt.Sprintf("the Ascend family of InstanceType %q has not been observed; it resolves once status.detail.family is among the facts", typ)
				remedy = "refresh the InstanceType among the facts, or " + stateImage
			}
			refuse("image-variant", message, remedy)
		}
	}
	if findings != nil {
		return "", false, findings
	}

	runtime := r.Type.Status.Detail.RuntimeVersion
	if runtime == "" {
		runtime, late = replica.LateRuntimeVersion.Token(), true
	}
	segments := []string{m.backend + runtime, variant, strings.ToLower(string(r.engine())) + version}
	segments = slices.DeleteFunc(segments, func(s string) bool { return s == "" })
	return runnerRepository + ":" + strings.Join(segments, "-"), late, nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strconv"
	"strings"

	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// slugRequired is the rule of fields that are missing.
const slugRequired = "schema-required"

// kindSlugs names the rules that do not depend on the field.
var kindSlugs = map[source.ViolationKind]string{
	source.Unknown:      source.RuleUnknown,
	source.DuplicateKey: source.RuleYAML,
	source.Type:         source.RuleType,
	source.Required:     slugRequired,
}

// fieldSlugs names the rule of each field's bounds, by its path without
// indexes.
var fieldSlugs = map[string]string{
	"spec.model.name":          "schema-model-name",
	"spec.engine.name":         "schema-engine-name",
	"spec.engine.version":      "schema-engine-version",
	"spec.kvCache.connector":   "schema-connector",
	"spec.kvTransfer.protocol": "schema-kvtransfer-protocol",

	"spec.roles[]":                               "schema-role-dup",
	"spec.roles[].name":                          "schema-role-name",
	"spec.roles[].kind":                          "schema-role-kind",
	"spec.roles[].replicas":                      "schema-replicas",
	"spec.roles[].size":                          "schema-size",
	"spec.roles[].instanceType":                  "schema-instance-type",
	"spec.roles[].image":                         "schema-image",
	"spec.roles[].imagePullSecrets":              "schema-image",
	"spec.roles[].imagePullPolicy":               "schema-pull-policy",
	"spec.roles[].ports[]":                       "schema-port",
	"spec.roles[].ports[].port":                  "schema-port",
	"spec.roles[].ports[].protocol":              "schema-port",
	"spec.roles[].env[]":                         "schema-env-dup",
	"spec.roles[].additionalVolumes[].mountPath": "schema-volume",
	"spec.roles[].additionalVolumes[].subPath":   "schema-volume",
	"spec.roles[].terminationGracePeriodSeconds": "schema-grace",
	"spec.roles[].topology.requiredLevel":        "topology-syntax",

	"spec.roles[].resources.acceleratorSlicedMemoryPercentage": "schema-slice",
	"spec.roles[].resources.acceleratorSlicedCoresPercentage":  "schema-slice",
	"spec.roles[].resources.acceleratorPartitionedProfile":     "schema-profile",

	"spec.router.name":                          "schema-router-name",
	"spec.router.replicas":                      "schema-router-replicas",
	"spec.router.image":                         "schema-image",
	"spec.router.imagePullSecrets":              "schema-image",
	"spec.router.imagePullPolicy":               "schema-pull-policy",
	"spec.router.requestTimeoutSeconds":         "schema-router-timeout",
	"spec.router.disaggregationThresholdTokens": "schema-router-threshold",
}

// slugOf names the rule that a violation of the schema belongs to.
func slugOf(v source.Violation) string {
	if slug, ok := kindSlugs[v.Kind]; ok {
		return slug
	}
	if v.Shape == "spec.roles" {
		if v.Kind == source.MinItems {
			return "schema-roles-min"
		}
		return "role-count"
	}
	if slug, ok := fieldSlugs[v.Shape]; ok {
		return slug
	}
	return "schema-bounds"
}

// Schema judges a ModelDeployment, as it was written, against the structural
// schema of its CustomResourceDefinition: unknown fields, wrong types, missing
// fields, bounds.
func Schema(o *source.Object) (out diag.List) {
	for _, v := range source.ModelDeploymentSchema().Validate(o) {
		f := v.Finding(o, slugOf(v))
		switch {
		case f.Rule == "role-count":
			if n, err := strconv.Atoi(v.Value); err == nil {
				f.Message, f.Remedy = tooManyRoles(n).Message, tooManyRoles(n).Remedy
			}
		case v.Kind == source.MinLength && v.Value == "":
			f.Message += "; it needs at least " + v.Bound + " character"
		}
		if f.Remedy == "" && len(v.Allowed) > 0 {
			f.Remedy = "write " + strings.Join(v.Allowed, " or ")
		}
		out = append(out, f)
	}
	return out
}

// Readable reports whether an object with these findings of its schema can be
// read: bounds may be broken, but every value has its type.
func Readable(l diag.List) bool {
	return !slices.ContainsFunc(l, func(f diag.Finding) bool {
		return f.Rule == source.RuleType || f.Rule == source.RuleYAML
	})
}

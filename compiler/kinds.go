// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// misnamed refuses an object that was meant to be a ModelDeployment and is none
// by its kind or version: passed through, it would be applied and never served.
func misnamed(o *source.Object) diag.List {
	if IsModelDeployment(o) || !strings.Contains(o.Group(), "gpustack") {
		return nil
	}
	meant, ok := source.Suggest(o.Kind, []string{v1.KindModelDeployment})
	if !ok {
		return nil
	}
	field, remedy := "kind", fmt.Sprintf("did you mean %q?", meant)
	if o.Kind == meant {
		field, remedy = "apiVersion", fmt.Sprintf("write apiVersion: %s", v1.GroupVersion)
	}
	return diag.List{o.Finding(diag.Error, "schema-kind", field,
		fmt.Sprintf("%s of %s is not a kind that mdc compiles, and nothing would serve it", o.Kind, o.APIVersion), remedy)}
}

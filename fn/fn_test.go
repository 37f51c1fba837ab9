// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package fn_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"gpustack.ai/mdc/compiler/source"
	"gpustack.ai/mdc/fn"
)

// TestTooLarge returns the items of a list that is too large to compile.
func TestTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MB")
	}
	head := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: large\n  data:\n    a: "
	in := io.MultiReader(strings.NewReader(head), strings.NewReader(strings.Repeat("x", source.MaxInput)), strings.NewReader("\n"))
	var out bytes.Buffer
	p := &fn.Processor{}
	if err := p.Run(in, &out); err != nil {
		t.Fatal(err)
	}
	if !p.Findings.HasErrors() || p.Findings[0].Rule != source.RuleTooLarge {
		t.Errorf("findings %v", p.Findings)
	}
	if !strings.HasPrefix(out.String(), head) || !strings.HasSuffix(out.String(), "rule: input-too-large\n") {
		t.Error("the items are not returned with the finding as a result")
	}
}

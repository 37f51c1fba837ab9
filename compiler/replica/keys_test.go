// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// TestKueueKeys holds the keys that are spelled out here against those of
// Kueue. Most are read from its source, because the packages that export them
// depend on a client.
func TestKueueKeys(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatalf("finding the source of Kueue: %v", err)
	}
	root := strings.TrimSpace(string(out))
	for _, tc := range []struct{ file, name, got string }{
		{"pkg/controller/constants/constants.go", "QueueLabel", v1.LabelQueueName},
		{"apis/kueue/v1beta2/topology_types.go", "PodSetRequiredTopologyAnnotation", v1.AnnotationRequiredTopology},
		{"apis/kueue/v1beta2/topology_types.go", "PodGroupPodIndexLabelAnnotation", v1.AnnotationPodIndexLabel},
	} {
		if want := stringConstant(t, filepath.Join(root, tc.file), tc.name); tc.got != want {
			t.Errorf("%s is %q, Kueue has %q", tc.name, tc.got, want)
		}
	}
	for want, got := range map[string]string{
		"kueue.x-k8s.io/pod-group-name":        podconstants.GroupNameLabel,
		"kueue.x-k8s.io/pod-group-total-count": podconstants.GroupTotalCountAnnotation,
		"kueue.x-k8s.io/role-hash":             podconstants.RoleHashAnnotation,
		"kueue.x-k8s.io/pod-group-serving":     podconstants.GroupServingAnnotationKey,
		"true":                                 podconstants.GroupServingAnnotationValue,
	} {
		if got != want {
			t.Errorf("Kueue has %q, want %q", got, want)
		}
	}
}

// stringConstant returns the value of a constant of a Go file.
func stringConstant(t *testing.T, file, name string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	value := ""
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != name || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			value, err = strconv.Unquote(lit.Value)
		}
		return true
	})
	if value == "" || err != nil {
		t.Fatalf("%s: no constant %s", file, name)
	}
	return value
}

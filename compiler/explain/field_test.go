// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gpustack.ai/mdc/compiler/explain"
)

func TestFindField(t *testing.T) {
	for path, want := range map[string]string{
		"modeldeployment":                   "ModelDeployment  Object",
		"ModelDeployments.spec":             "ModelDeployment spec Object",
		"md.spec.roles.size":                "ModelDeployment spec.roles.size integer",
		"MD.spec.roles[].size":              "ModelDeployment spec.roles.size integer",
		"spec.roles[0].extraArgs[1]":        "ModelDeployment spec.roles.extraArgs []string",
		"md.spec.roles.resources.interface": "ModelDeployment spec.roles.resources.interface Quantity",
		"instancetype.spec.unitResources":   "InstanceType spec.unitResources Object",
		"kvcachepoolbinding.spec.domain":    "KVCachePoolBinding spec.domain Object",
		"compile.spec.settings":             "Compile spec.settings map[string]string",
	} {
		f, err := explain.FindField(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := f.Kind.Name + " " + f.Path + " " + f.Type(); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestFindFieldUnknown(t *testing.T) {
	for path, want := range map[string]string{
		"md.spec.rolles":         `unknown field "rolles" of modeldeployment.spec; did you mean "roles"?`,
		"md.spec.roles.size.x":   `unknown field "x" of modeldeployment.spec.roles.size`,
		"md.":                    "",
		"md..spec":               `unknown field "" of modeldeployment`,
		"modeldeploymnt.spec":    `unknown rule or kind "modeldeploymnt"; did you mean "modeldeployment"?`,
		"ownd-arg":               `unknown rule or kind "ownd-arg"; did you mean "owned-arg"?`,
		strings.Repeat("x", 999): `unknown rule or kind "` + strings.Repeat("x", 999) + `"`,
	} {
		_, err := explain.FindField(path)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		var unknown *explain.UnknownError
		if !errors.As(err, &unknown) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

// TestEveryFieldPrints walks through all fields of all kinds.
func TestEveryFieldPrints(t *testing.T) {
	kinds, err := explain.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	var walk func(f explain.Field)
	walk = func(f explain.Field) {
		count++
		var b strings.Builder
		if err := f.Print(&b, false); err != nil {
			t.Fatal(err)
		}
		path := f.Kind.Name + "." + f.Path
		if f.Type() == "" || f.Path == "" && !strings.Contains(b.String(), "KIND:     "+f.Kind.Name) {
			t.Errorf("%s: %q", path, b.String())
		}
		for line := range strings.SplitSeq(b.String(), "\n") {
			if len(line) > 80 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: long line %q", path, line)
			}
		}
		for _, c := range f.Children() {
			walk(c)
		}
	}
	for _, k := range kinds {
		f, err := explain.FindField(k.Name)
		if err != nil {
			t.Fatal(err)
		}
		walk(f)
	}
	if count < 200 {
		t.Errorf("only %d fields", count)
	}
}

func TestComplete(t *testing.T) {
	for typed, want := range map[string][]string{
		"owned-":                  {"owned-arg", "owned-env"},
		"kvcachepoolb":            {"kvcachepoolbinding."},
		"md.spec.r":               {"md.spec.roles.", "md.spec.router."},
		"md.spec.roles[].resou":   {"md.spec.roles[].resources."},
		"md.spec.roles.repl":      {"md.spec.roles.replicas"},
		"modeldeployment.spec.zz": nil,
		"nothing.spec.":           nil,
	} {
		if got := explain.Complete(typed); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", typed, got, want)
		}
	}
	if got := explain.Complete(""); !slices.Contains(got, "capacity") || !slices.Contains(got, "instancetype.") {
		t.Errorf("everything is %q", got)
	}
}

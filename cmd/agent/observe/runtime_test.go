// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"testing"
)

func TestVersions(t *testing.T) {
	for name, tc := range map[string]struct{ texts, want []string }{
		"none":                     {nil, nil},
		"one":                      {[]string{"12.9"}, []string{"12.9"}},
		"numeric, not lexical":     {[]string{"12.9", "9.0", "12.10"}, []string{"9.0", "12.9", "12.10"}},
		"no minor part is zero":    {[]string{"9", "8.9"}, []string{"8.9", "9"}},
		"the dotted spelling":      {[]string{"9", "9.0"}, []string{"9.0"}},
		"in any order":             {[]string{"9.0", "9"}, []string{"9.0"}},
		"one of two dotted":        {[]string{"9.00", "9", "9.0"}, []string{"9.0"}},
		"repeated":                 {[]string{"12.9", "12.9"}, []string{"12.9"}},
		"junk":                     {[]string{"N/A", "12.x", "v12.9", "abc.1", "12.9.1", "12.", ".9", "", ".", " 12.9", "12.9 ", "+12.9", "12.-1", "1e3", "0x9.1", "1_2.9"}, nil},
		"junk beside a version":    {[]string{"N/A", "12.8", "12.9.1"}, []string{"12.8"}},
		"too great to be a number": {[]string{"99999999999999999999.1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Versions(tc.texts); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestRuntimeLabels(t *testing.T) {
	labels, err := ParseRuntimeLabels(DefaultRuntimeLabels)
	if err != nil {
		t.Fatal(err)
	}
	const full, major, minor = "nvidia.com/cuda.runtime-version.full", "nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor"
	for name, tc := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"none":                   {nil, ""},
		"full":                   {map[string]string{full: "12.9"}, "12.9"},
		"cut":                    {map[string]string{full: "12.9.1"}, "12.9"},
		"one part":               {map[string]string{full: "12"}, "12"},
		"joined":                 {map[string]string{major: "12", minor: "8"}, "12.8"},
		"the first beats it":     {map[string]string{full: "12.9", major: "12", minor: "8"}, "12.9"},
		"junk does not":          {map[string]string{full: "N-A", major: "12", minor: "8"}, "12.8"},
		"a part is missing":      {map[string]string{major: "12"}, ""},
		"a part is empty":        {map[string]string{major: "12", minor: ""}, ""},
		"labels of another kind": {map[string]string{"nvidia.com/cuda.driver.major": "12"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := labels.of(tc.labels); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	if l, err := ParseRuntimeLabels(" a , b+c ,"); err != nil || len(l) != 2 || !slices.Equal(l[1], []string{"b", "c"}) {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := ParseRuntimeLabels("a+"); err == nil {
		t.Error("an empty key is taken")
	}
}

func TestChooseQueue(t *testing.T) {
	for name, tc := range map[string]struct {
		candidates, used []string
		want             string
	}{
		"none":                     {nil, []string{"a"}, ""},
		"first by name":            {[]string{"b", "a"}, nil, "a"},
		"the one in use":           {[]string{"a", "b"}, []string{"b"}, "b"},
		"the one in use is gone":   {[]string{"a", "b"}, []string{"c"}, "a"},
		"first of those in use":    {[]string{"c", "a", "b"}, []string{"c", "b"}, "b"},
		"Pods that name no queue":  {[]string{"b", "a"}, []string{""}, "a"},
		"one, whatever is in use":  {[]string{"a"}, []string{"b"}, "a"},
		"in use more than one way": {[]string{"a", "b"}, []string{"b", "b", ""}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := chooseQueue(tc.candidates, tc.used); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

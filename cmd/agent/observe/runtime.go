// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// version is a runtime version of the form "12.9" or "9".
type version struct {
	major, minor uint64
	text         string
}

// parseVersion reads a version; what is not one, such as "N/A", "v12.9" or
// "12.9.1", is not observed at all.
func parseVersion(text string) (version, bool) {
	head, tail, dotted := strings.Cut(text, ".")
	v := version{text: text}
	var err error
	if v.major, err = strconv.ParseUint(head, 10, 32); err != nil {
		return version{}, false
	}
	if dotted {
		if v.minor, err = strconv.ParseUint(tail, 10, 32); err != nil {
			return version{}, false
		}
	}
	return v, true
}

func compareVersions(a, b version) int {
	return cmp.Or(cmp.Compare(a.major, b.major), cmp.Compare(a.minor, b.minor))
}

// Versions returns the distinct versions among some texts, lowest first. Of
// several spellings of one version a dotted one is kept.
func Versions(texts []string) []string {
	var found []version
	for _, t := range texts {
		if v, ok := parseVersion(t); ok {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b version) int {
		// A dotted spelling is longer than one that is not; beyond that the
		// order only has to be the same every time.
		return cmp.Or(compareVersions(a, b), cmp.Compare(undotted(a), undotted(b)), cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.text, b.text))
	})
	found = slices.CompactFunc(found, func(a, b version) bool { return compareVersions(a, b) == 0 })
	var out []string
	for _, v := range found {
		out = append(out, v.text)
	}
	return out
}

func undotted(v version) int {
	if strings.Contains(v.text, ".") {
		return 0
	}
	return 1
}

// RuntimeLabels are the Node labels that tell a runtime version, best first.
// Each entry is the keys whose values, joined by dots, are the version.
type RuntimeLabels [][]string

// DefaultRuntimeLabels are those of NVIDIA's GPU feature discovery.
const DefaultRuntimeLabels = "nvidia.com/cuda.runtime-version.full,nvidia.com/cuda.runtime.major+nvidia.com/cuda.runtime.minor"

// ParseRuntimeLabels reads entries separated by commas, each one key or several
// joined by "+".
func ParseRuntimeLabels(text string) (RuntimeLabels, error) {
	var out RuntimeLabels
	for _, entry := range strings.Split(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		keys := strings.Split(entry, "+")
		if slices.Contains(keys, "") {
			return nil, fmt.Errorf("%q: a label key is empty", entry)
		}
		out = append(out, keys)
	}
	return out, nil
}

// of returns the version that a Node's labels tell, cut to two parts; empty
// when none does.
func (l RuntimeLabels) of(labels map[string]string) string {
	for _, keys := range l {
		var parts []string
		for _, k := range keys {
			if v := labels[k]; v != "" {
				parts = append(parts, v)
			}
		}
		if len(parts) < len(keys) {
			continue
		}
		parts = strings.Split(strings.Join(parts, "."), ".")
		text := strings.Join(parts[:min(2, len(parts))], ".")
		if _, ok := parseVersion(text); ok {
			return text
		}
	}
	return ""
}

// Told returns what the labels of a Node say, so that a watch can tell whether
// a change matters.
func (l RuntimeLabels) Told(n *corev1.Node) string { return l.of(n.Labels) }

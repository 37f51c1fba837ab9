// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkColdStart compares the start of mdc with a program that imports the
// same libraries and does nothing.
func BenchmarkColdStart(b *testing.B) {
	for name, run := range map[string]struct {
		pkg  string
		args []string
	}{
		"floor":   {pkg: "./testdata/floor"},
		"version": {pkg: ".", args: []string{"version"}},
	} {
		b.Run(name, func(b *testing.B) {
			binary := filepath.Join(b.TempDir(), name)
			if out, err := exec.Command("go", "build", "-o", binary, run.pkg).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			for b.Loop() {
				if err := exec.Command(binary, run.args...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

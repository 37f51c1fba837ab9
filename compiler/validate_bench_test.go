// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/source"
)

// BenchmarkValidate compares a validation with what it must cost less than, a
// build of the same input, and with its floor, which only reads and decodes.
// The runs alternate and the fastest of each counts, so that the ratios hold on
// a machine that does other work too.
func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{1, 1_000} {
		b.Run(fmt.Sprintf("deployments=%d", n), func(b *testing.B) {
			disk := benchInput(b, n)
			validate, build, floor := fastest(math.MaxInt64), fastest(math.MaxInt64), fastest(math.MaxInt64)
			for runs := 0; b.Loop(); runs++ {
				validate.time(func() {
					if findings := compiler.Validate(compiler.Input{Objects: load(b, disk)}, nil); findings.HasErrors() {
						b.Fatal(findings)
					}
				})
				b.StopTimer()
				if runs < 10 { // many times slower
					build.time(func() { encode(b, io.Discard, compileObjects(b, load(b, disk))) })
				}
				floor.time(func() { decodeDeployments(b, load(b, disk)) })
				b.StartTimer()
			}
			b.ReportMetric(float64(validate)/float64(n), "min-ns/deployment")
			b.ReportMetric(float64(validate)/float64(build), "of-build")
			b.ReportMetric(float64(validate)/float64(floor), "of-floor")
		})
	}
}

// fastest is the shortest of several runs.
type fastest time.Duration

func (f *fastest) time(run func()) {
	start := time.Now()
	run()
	*f = min(*f, fastest(time.Since(start)))
}

func decodeDeployments(b *testing.B, objects []*source.Object) {
	for _, o := range objects {
		if !compiler.IsModelDeployment(o) {
			continue
		}
		if findings := source.Decode(o, &v1.ModelDeployment{}); findings.HasErrors() {
			b.Fatal(findings)
		}
	}
}

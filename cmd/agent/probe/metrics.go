// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"io"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"gpustack.ai/mdc/cmd/agent/report"
)

// storeFamilies begin the names of vLLM's metrics of its store. They appear with
// the first operation.
const storeFamilies = "vllm:mooncake_store_operation_"

const (
	labelStatus = "status"
	statusOK    = "ok"
)

// Read concludes from an engine's metrics, in the text format. Only successes
// are counted as such: that an operation has failed in part, or that one has not
// been tried, says nothing of the others.
func Read(r io.Reader) (report.Evidence, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return report.Unreadable, err
	}
	evidence := report.Unreadable
	for name, f := range families {
		if !strings.HasPrefix(name, storeFamilies) {
			continue
		}
		for _, m := range f.GetMetric() {
			switch {
			case value(m) <= 0:
			case status(m) == statusOK:
				return report.Active, nil
			default:
				evidence = report.Failing
			}
		}
	}
	return evidence, nil
}

func value(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.GetCounter().GetValue()
	case m.Histogram != nil:
		return float64(m.GetHistogram().GetSampleCount())
	case m.Summary != nil:
		return float64(m.GetSummary().GetSampleCount())
	case m.Gauge != nil:
		return m.GetGauge().GetValue()
	}
	return m.GetUntyped().GetValue()
}

func status(m *dto.Metric) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == labelStatus {
			return l.GetValue()
		}
	}
	return ""
}

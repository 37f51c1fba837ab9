// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestSVG: two charts have one axis and one legend, and numbers that would
// overlap share a mark.
func TestSVG(t *testing.T) {
	minutes := func(n int) Duration { return Duration(time.Duration(n) * time.Minute) }
	results := playedAll(t, Input{
		Deployments: []Deployment{{Compiled: vllm(t, "x", "short", 1)}, {Compiled: vllm(t, "x", "long", 1)}},
		Scenario: &Scenario{Running: true, Events: []Event{
			{At: minutes(1), Deployment: "short", Scale: &Scale{"server", 2}},
			{At: minutes(100), Deployment: "long", DeletePod: &Seat{Role: "server"}},
			{At: minutes(101), Deployment: "long", Scale: &Scale{"server", 3}},
			{At: minutes(101), Deployment: "long", Scale: &Scale{"server", 2}},
		}},
	})
	var b bytes.Buffer
	if err := SVG(&b, results); err != nil {
		t.Fatal(err)
	}
	texts := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := token.(xml.CharData); ok {
			texts[strings.TrimSpace(string(c))]++
		}
	}
	for text, want := range map[string]int{
		"gated": 1, "starting": 1, "ready": 1, "draining": 1,
		"1h40m": 2, "1–3": 1, "1": 1, "x/short": 1, "3 · 1h41m0s · scale server to 2": 1,
	} {
		if texts[text] != want {
			t.Errorf("%q stands %d times, want %d", text, texts[text], want)
		}
	}
	if strings.Contains(b.String(), "NaN") {
		t.Error("a place is no number")
	}
}

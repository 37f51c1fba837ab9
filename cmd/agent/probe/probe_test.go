// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"gpustack.ai/mdc/cmd/agent/report"
)

const (
	ok = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0"} 3
# TYPE vllm:mooncake_store_operation_total counter
vllm:mooncake_store_operation_total{operation="save_put",status="error"} 4
vllm:mooncake_store_operation_total{operation="load_get",status="ok"} 1
`
	failing = `# TYPE vllm:mooncake_store_operation_total counter
vllm:mooncake_store_operation_total{operation="save_put",status="error"} 4
vllm:mooncake_store_operation_total{operation="load_get",status="ok"} 0
`
	partly = `# TYPE vllm:mooncake_store_operation_time_seconds histogram
vllm:mooncake_store_operation_time_seconds_bucket{status="partial_failure",le="+Inf"} 2
vllm:mooncake_store_operation_time_seconds_sum{status="partial_failure"} 0.5
vllm:mooncake_store_operation_time_seconds_count{status="partial_failure"} 2
`
	timed = `# TYPE vllm:mooncake_store_operation_time_seconds histogram
vllm:mooncake_store_operation_time_seconds_bucket{status="ok",le="+Inf"} 2
vllm:mooncake_store_operation_time_seconds_sum{status="ok"} 0.5
vllm:mooncake_store_operation_time_seconds_count{status="ok"} 2
`
	untried = `# TYPE vllm:mooncake_store_operation_total counter
vllm:mooncake_store_operation_total{operation="save_put",status="error"} 0
`
	other = `# TYPE sglang:token_usage gauge
sglang:token_usage 0.5
`
)

func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want report.Evidence
	}{
		"ok": {ok, report.Active}, "failing": {failing, report.Failing}, "partly": {partly, report.Failing}, "histogram": {timed, report.Active},
		"untried": {untried, report.Unreadable}, "other engine": {other, report.Unreadable}, "nothing": {"", report.Unreadable},
	} {
		if got, err := Read(strings.NewReader(tc.text)); got != tc.want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := Read(strings.NewReader("<html>")); err == nil {
		t.Error("no error")
	}
}

func TestHTTP(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, ok) })
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })
	mux.Handle("/elsewhere", http.RedirectHandler("/metrics", http.StatusFound))
	plain, secure := httptest.NewServer(mux), httptest.NewTLSServer(mux)
	defer plain.Close()
	defer secure.Close()
	h := NewHTTP()
	h.client.Timeout = time.Minute // no server here is slow, but the machine may be
	for url, want := range map[string]report.Evidence{
		plain.URL + "/metrics":   report.Active,
		secure.URL + "/metrics":  report.Active,
		plain.URL + "/elsewhere": report.Unreadable,
		plain.URL + "/absent":    report.Unreadable,
		plain.URL + "/page":      report.Unreadable,
		"http://127.0.0.1:1/":    report.Unreadable,
		"::":                     report.Unreadable,
	} {
		if got := h.Ask(t.Context(), url); got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
}

// asker answers as it is told, and notes whom it is asked about.
type asker struct {
	mu     sync.Mutex
	answer map[string]report.Evidence
	asked  map[string]int
}

func (a *asker) Ask(_ context.Context, url string) report.Evidence {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[url]++
	return a.answer[url]
}

func (a *asker) set(url string, e report.Evidence) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer[url] = e
}

func (a *asker) count(url string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[url]
}

var deploymentName = types.NamespacedName{Namespace: "team-a", Name: "m"}

func targets(n int) (out []Target) {
	for i := range n {
		out = append(out, Target{UID: types.UID(fmt.Sprint(i)), URL: fmt.Sprint("u", i)})
	}
	return out
}

// TestProber: what engines tell comes to be known without anybody waiting, and is
// told once.
func TestProber(t *testing.T) {
	a := &asker{answer: map[string]report.Evidence{"u0": report.Failing}, asked: map[string]int{}}
	p := New(a)
	p.Every = 20 * time.Millisecond
	if got := p.Told(deploymentName, targets(1)); len(got) != 1 || got["0"] != report.Unasked {
		t.Errorf("told %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Start(ctx) }()
	changes := func() {
		t.Helper()
		select {
		case e := <-p.Changed():
			if e.Object.GetNamespace() != "team-a" || e.Object.GetName() != "m" {
				t.Errorf("object %v", e.Object)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("nothing has changed")
		}
	}
	changes()
	if got := p.Told(deploymentName, targets(1)); got["0"] != report.Failing {
		t.Errorf("told %v", got)
	}
	a.set("u0", report.Active)
	changes()
	a.set("u0", report.Unreadable) // is no news
	for asked := a.count("u0"); a.count("u0") < asked+3; time.Sleep(time.Millisecond) {
	}
	select {
	case <-p.Changed():
		t.Error("told again")
	default:
	}
	if got := p.Told(deploymentName, targets(1)); got["0"] != report.Active {
		t.Errorf("told %v", got)
	}
	if got := p.Told(deploymentName, nil); got != nil || len(p.round(time.Now().Add(time.Hour))) != 0 {
		t.Errorf("told %v", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := (*Prober)(nil).Told(deploymentName, targets(1)); got != nil {
		t.Errorf("of nobody: %v", got)
	}
}

// TestRounds: a deployment is not asked again soon, and not all of many engines
// at once.
func TestRounds(t *testing.T) {
	p, now := New(nil), time.Now()
	p.Told(deploymentName, targets(20))
	if got := p.round(now)[deploymentName]; len(got) != inRound || got[0].URL != "u0" {
		t.Errorf("first %v", got)
	}
	p.Told(deploymentName, targets(21))
	if got := p.round(now.Add(every - 1)); len(got) != 0 {
		t.Errorf("too soon: %v", got)
	}
	if got := p.round(now.Add(every))[deploymentName]; len(got) != inRound || got[0].URL != "u16" || got[5].URL != "u0" {
		t.Errorf("second %v", got)
	}
	// A target that is gone takes along what it told.
	p.learn(deploymentName, map[types.UID]report.Evidence{"0": report.Active, "20": report.Active})
	if got := p.Told(deploymentName, targets(2)); len(got) != 2 || got["0"] != report.Active || got["1"] != report.Unasked {
		t.Errorf("told %v", got)
	}
	if news := p.learn(deploymentName, map[types.UID]report.Evidence{"1": report.Unreadable}); !news {
		t.Error("that it was asked is no news")
	}
	p.round(now.Add(2 * every)) // with fewer than there were
}

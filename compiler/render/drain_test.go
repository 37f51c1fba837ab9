// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// drainTest runs the hook of one role against a server.
type drainTest struct {
	edits []edit
	// grace of the Pod, in seconds; 0 is 60, which no test is to use up.
	grace int64
	// replies are the bodies of the reads in turn, the last one again and again.
	replies []string
	// handler serves instead of replies.
	handler http.HandlerFunc
	// tls serves HTTPS with a certificate nobody vouches for.
	tls bool
	// refuse closes the port.
	refuse bool
	// reads is how many are wanted; 0 is any number.
	reads int64
	// at least and at most so long, in seconds; start-up of Python comes on top.
	least, most float64

	got struct {
		program  string
		reads    atomic.Int64
		lasted   time.Duration
		exitCode int
		output   string
	}
}

// startUp is what a busy machine may take to start Python, and still less than
// what a program takes that does not see that the engine is idle.
const startUp = 40 * time.Second

func TestDrain(t *testing.T) {
	if testing.Short() {
		t.Skip("the drain program waits for seconds")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the drain program is not run")
	}
	const (
		idle = "vllm:num_requests_running 0.0\nvllm:num_requests_waiting 0.0\n"
		busy = "vllm:num_requests_running 1.0\nvllm:num_requests_waiting 0.0\n"
	)
	sgl := []edit{sglang}
	tls := []edit{extraArgs("--ssl-keyfile=k", "--ssl-certfile=c")}
	slow := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	tests := map[string]*drainTest{
		"idle":                         {replies: []string{idle}, reads: 2, least: 6, most: 7},
		"idle, other metrics busy":     {replies: []string{"# HELP vllm:num_requests_running 3\nvllm:num_requests_running_total 3\nvllm:x 1\n\nprocess_open_fds 7\n" + idle}, reads: 2, least: 6, most: 7},
		"idle, no gauges":              {replies: []string{""}, reads: 2, least: 6, most: 7},
		"idle, labels with braces":     {replies: []string{"vllm:num_requests_running{model_name=\"a} 5\",e=\"{b c}\"} 0.0\nvllm:num_requests_waiting{m=\"}\"} 0 1700000000000\n"}, reads: 2, least: 6, most: 7},
		"idle, exponents":              {replies: []string{"vllm:num_requests_running{e=\"0\"} 0e+00\n"}, reads: 2, least: 6, most: 7},
		"idle over TLS":                {edits: tls, tls: true, replies: []string{idle}, reads: 2, least: 6, most: 7},
		"idle SGLang":                  {edits: sgl, replies: []string{"sglang:num_running_reqs 0\nvllm:num_requests_running 4\n"}, reads: 2, least: 6, most: 7},
		"busy once":                    {replies: []string{busy, idle}, reads: 3, least: 7, most: 8},
		"one idle read is not enough":  {replies: []string{idle, busy, idle}, reads: 4, least: 8, most: 9},
		"busy to the end":              {grace: 15, replies: []string{busy}, least: 10, most: 12},
		"waiting to the end":           {grace: 15, replies: []string{"vllm:num_requests_running 0\nvllm:num_requests_waiting{e=\"0\"} 2\n"}, least: 10, most: 12},
		"one of several engines":       {grace: 15, replies: []string{"vllm:num_requests_running{e=\"0\"} 0\nvllm:num_requests_running{e=\"1\"} 1\n"}, least: 10, most: 12},
		"label with a brace, busy":     {grace: 15, replies: []string{"vllm:num_requests_running{m=\"} 0\"} 1\n"}, least: 10, most: 12},
		"unparsable samples are busy":  {grace: 15, replies: []string{"vllm:num_requests_running{e=\"0\"} many\n"}, least: 10, most: 12},
		"samples without value":        {grace: 15, replies: []string{"vllm:num_requests_running{e=\"0\"}\n"}, least: 10, most: 12},
		"transfers of SGLang are busy": {edits: sgl, grace: 15, replies: []string{"sglang:num_running_reqs 0\nsglang:num_decode_transfer_queue_reqs 1\n"}, least: 10, most: 12},
		"no answer is busy":            {grace: 15, handler: slow, least: 10, most: 12},
		"refused":                      {refuse: true, least: 5, most: 6},
		"error":                        {handler: status(500), reads: 1, least: 5, most: 6},
		"not found":                    {handler: status(404), reads: 1, least: 5, most: 6},
		"TLS failure":                  {edits: tls, replies: []string{idle}, least: 5, most: 6},
	}
	// A program counts an answer that is late as none, so that few run at once.
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for _, tc := range tests {
		program := tc.run(t, python)
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			program()
		})
	}
	wg.Wait()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got.exitCode != 0 || tc.got.output != "" {
				t.Errorf("exit code %d, output %q of\n%s", tc.got.exitCode, tc.got.output, tc.got.program)
			}
			least, most := time.Duration(tc.least*float64(time.Second)), time.Duration(tc.most*float64(time.Second))
			if tc.got.lasted < least || tc.got.lasted > most+startUp {
				t.Errorf("lasted %v, want %v to %v", tc.got.lasted, least, most)
			}
			if got := tc.got.reads.Load(); tc.reads > 0 && got != tc.reads {
				t.Errorf("%d reads, want %d", got, tc.reads)
			}
		})
	}
}

// run prepares the server now and returns what runs the program against it.
func (d *drainTest) run(t *testing.T, python string) func() {
	handler := d.handler
	if handler == nil {
		handler = func(w http.ResponseWriter, r *http.Request) {
			n := min(int(d.got.reads.Load()), len(d.replies))
			fmt.Fprint(w, d.replies[n-1])
		}
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		d.got.reads.Add(1)
		handler(w, r)
	}))
	if d.tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseInt(u.Port(), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	if d.refuse {
		server.Close()
	} else {
		t.Cleanup(server.Close)
	}
	if d.grace == 0 {
		d.grace = 60
	}
	edits := append([]edit{
		ports(v1.RolePort{Port: int32(number), Protocol: "TCP"}),
		spec(func(s *v1.Role) { s.TerminationGracePeriodSeconds = ptr.To(d.grace) }),
	}, d.edits...)
	hook := mainContainer(t, edits...).Lifecycle.PreStop.Exec.Command
	if len(hook) != 3 || hook[0] != "python3" || hook[1] != "-c" {
		t.Fatalf("hook %q", hook)
	}
	d.got.program = hook[2]
	return func() {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, python, hook[1:]...)
		// A proxy of the image must not be asked for the loopback address.
		cmd.Env = append(os.Environ(), "http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1", "no_proxy=")
		start := time.Now()
		output, err := cmd.CombinedOutput()
		d.got.lasted = time.Since(start)
		d.got.output = string(output)
		d.got.exitCode = cmd.ProcessState.ExitCode()
		if err != nil && d.got.output == "" {
			d.got.output = err.Error()
		}
	}
}

// TestDrainProgram keeps the program free of what is filled in and the same for
// the same role: its text is part of every fingerprint.
func TestDrainProgram(t *testing.T) {
	program := func(edits ...edit) string {
		return mainContainer(t, edits...).Lifecycle.PreStop.Exec.Command[2]
	}
	plain := program()
	if strings.Contains(plain, "@") {
		t.Errorf("not filled in:\n%s", plain)
	}
	mentions(t, plain, `url = "http://127.0.0.1:8000/metrics"`, "deadline = start + 25\n", `{"vllm:num_requests_running", "vllm:num_requests_waiting"}`)
	if plain != program(size(2), env("A", "1"), cache()) {
		t.Error("the program depends on more than engine, address and grace")
	}
	mentions(t, program(sglang, spec(func(s *v1.Role) { s.TerminationGracePeriodSeconds = ptr.To[int64](3600) })),
		"deadline = start + 3595\n", `"sglang:num_running_reqs"`, `"sglang:num_queue_reqs"`, `"sglang:num_prefill_bootstrap_queue_reqs"`,
		`"sglang:num_prefill_inflight_queue_reqs"`, `"sglang:num_decode_prealloc_queue_reqs"`, `"sglang:num_decode_transfer_queue_reqs"`)
}

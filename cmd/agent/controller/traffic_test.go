// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controller

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// traffic counts what the agent sends.
type traffic struct {
	next http.RoundTripper
	mu   sync.Mutex
	// reads and writes are "VERB resource", watches and events left out; accepted
	// are the writes that were not refused.
	reads, writes, accepted []string
	// denied are the requests that were forbidden.
	denied []string
	// lose drops the answer to the next create of a Pod.
	lose bool
}

var errLost = errors.New("the answer was lost")

func (t *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + r.URL.Path
	write := r.Method != http.MethodGet
	counted := r.URL.Query().Get("watch") == "" && !strings.Contains(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "/leases/")
	res, err := t.next.RoundTrip(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case counted && write:
		t.writes = append(t.writes, what)
		if err == nil && res.StatusCode < http.StatusMultipleChoices {
			t.accepted = append(t.accepted, what)
		}
	case counted:
		t.reads = append(t.reads, what)
	}
	if err == nil && res.StatusCode == http.StatusForbidden {
		t.denied = append(t.denied, what)
	}
	if err == nil && t.lose && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods") {
		t.lose = false
		res.Body.Close()
		return nil, errLost
	}
	return res, err
}

// take returns what was sent since the last time.
func (t *traffic) take() (reads, writes []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	reads, writes = t.reads, t.writes
	t.reads, t.writes, t.accepted = nil, nil, nil
	return reads, writes
}

// succeeded returns the accepted writes since the last take.
func (t *traffic) succeeded() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.accepted
}

func (t *traffic) forbidden() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.denied
}

func items(t *testing.T, list client.ObjectList) (out []client.Object) {
	t.Helper()
	objects, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		out = append(out, o.(client.Object))
	}
	return out
}

func serviceMetadata() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	return m
}

func serviceMetadataList() *metav1.PartialObjectMetadataList {
	m := &metav1.PartialObjectMetadataList{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceList"))
	return m
}

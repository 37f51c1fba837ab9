// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestRefuseOther(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		want   []string // parts of the refusal; nil: none
	}{
		"not served":            {404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`, nil},
		"by a CRD":              {200, `{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.worker.gpustack.ai"},"spec":{"group":"worker.gpustack.ai","version":"v1"}}`, nil},
		"by an operator":        {200, `{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.worker.gpustack.ai"},"spec":{"service":{"namespace":"gpustack-system","name":"gpustack-operator"}}}`, []string{"gpustack-system/gpustack-operator", "v1.worker.gpustack.ai", "fight"}},
		"it may not be looked":  {403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"may not","code":403}`, []string{"may not"}},
		"the server is at odds": {500, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"broken","code":500}`, []string{"who serves"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/apis/apiregistration.k8s.io/v1/apiservices/v1.worker.gpustack.ai" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			}))
			defer s.Close()
			err := refuseOther(t.Context(), &rest.Config{Host: s.URL})
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("error %v", err)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %v lacks %q", err, part)
				}
			}
		})
	}
}

func TestParse(t *testing.T) {
	s, err := parse([]string{"--namespaces=a, b", "--leader-elect=false", "--runtime-version-labels=x+y", "--metrics-bind-address=0"})
	if err != nil || strings.Join(s.namespaces, ",") != "a,b" || s.election || s.metrics != "0" || len(s.runtimeLabels) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := parse(nil); err != nil || s.namespaces != nil || !s.election || len(s.runtimeLabels) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, args := range [][]string{{"x"}, {"--runtime-version-labels=a+"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if _, err := newScheme(); err != nil {
		t.Error(err)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestSaid: a refusal is the same at every try, whatever name a Pod was given,
// and a lost answer is none.
func TestSaid(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "m-server-x7k2p", errors.New("exceeded quota"))
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"refused":     {fmt.Errorf("create role %q: %w", "server", forbidden), "pods is forbidden: exceeded quota"},
		"no details":  {&apierrors.StatusError{}, ""},
		"lost answer": {errors.New("EOF"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (FailedCreate{Err: tc.err}).Said(); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

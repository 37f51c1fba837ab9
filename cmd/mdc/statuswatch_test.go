// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// server is one kind of an API server.
type server struct {
	dynamic.ResourceInterface
	mu    sync.Mutex
	names []string
	down  error
	// current is the watch that is open, from the version since.
	current      *watch.FakeWatcher
	since        string
	lists, opens int
}

func named(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "Pod"}}
	o.SetName(name)
	o.SetUID(types.UID(name))
	o.SetResourceVersion("of " + name)
	return o
}

func (s *server) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	if s.down != nil {
		return nil, s.down
	}
	list := &unstructured.UnstructuredList{}
	list.SetResourceVersion("of the list")
	for _, name := range s.names {
		list.Items = append(list.Items, *named(name))
	}
	return list, nil
}

func (s *server) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opens++
	if s.down != nil {
		return nil, s.down
	}
	s.since, s.current = o.ResourceVersion, watch.NewFake()
	return s.current, nil
}

// IsWatchListSemanticsUnSupported: it lists before it watches.
func (s *server) IsWatchListSemanticsUnSupported() bool { return true }

// becomes changes what the server answers from now on.
func (s *server) becomes(down error, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.names = down, names
}

// tries is how often the server was asked.
func (s *server) tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists + s.opens
}

// TestFollow: whatever happens to a watch, what is shown becomes what is there.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &server{names: []string{"a"}}
		c := &resourceCache{kind: "Pod", resource: api}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := c.read(ctx); err != nil {
			t.Fatal(err)
		}
		changes, before := 0, 0
		go c.follow(ctx, func() { changes++ })
		check := func(what, want string, since string, told bool) {
			t.Helper()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			var names []string
			for _, o := range c.list() {
				names = append(names, o.GetName())
			}
			if got := strings.Join(names, ""); got != want || api.since != since || (changes > before) != told {
				t.Errorf("%s: %q since %q, %d changes told; want %q, %q, %v", what, got, api.since, changes-before, want, since, told)
			}
			before = changes
		}
		check("it begins", "a", "of the list", true)
		api.current.Add(named("b"))
		check("one comes", "ab", "of the list", true)
		api.current.Delete(named("a"))
		check("one goes", "b", "of the list", true)
		api.current.Action(watch.Bookmark, named("a bookmark"))
		check("nothing happens", "b", "of the list", false)

		time.Sleep(time.Minute)
		lists := api.lists
		api.current.Stop()
		check("the server ends the watch", "b", "of a bookmark", false)
		if api.lists != lists {
			t.Errorf("listed %d times more", api.lists-lists)
		}

		api.becomes(nil, "c")
		api.current.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired})
		check("the version is too old", "c", "of the list", true)

		api.becomes(apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil))
		api.current.Stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if c.failure() == nil {
			t.Error("that the server is down is not told")
		}
		tried := api.tries()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if tries := api.tries() - tried; tries < 10 || tries > 40 {
			t.Errorf("tried %d times in 10 minutes", tries)
		}
		api.becomes(nil, "d")
		time.Sleep(time.Minute)
		synctest.Wait()
		if c.failure() != nil {
			t.Errorf("the server is back: %v", c.failure())
		}
		check("the server is back", "d", "of the list", true)
		cancel()
		api.current.Stop()
	})
}

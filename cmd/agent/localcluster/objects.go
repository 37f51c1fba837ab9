// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
)

// fieldManager of what is applied where Cluster names none.
const fieldManager = "localcluster"

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// kinds knows the resource of every kind that the server has.
type kinds struct {
	mu sync.Mutex
	*restmapper.DeferredDiscoveryRESTMapper
}

func (c *Cluster) connect() (err error) {
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	if c.Dynamic, err = dynamic.NewForConfig(c.Config); err != nil {
		return err
	}
	c.kinds.DeferredDiscoveryRESTMapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Client.Discovery()))
	return nil
}

// resource is where an object of this kind lives.
func (c *Cluster) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	c.kinds.mu.Lock()
	defer c.kinds.mu.Unlock()
	m, err := c.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		c.kinds.Reset() // it may have been installed since
		m, err = c.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	if m.Scope.Name() == meta.RESTScopeNameRoot {
		return c.Dynamic.Resource(m.Resource), nil
	}
	return c.Dynamic.Resource(m.Resource).Namespace(o.GetNamespace()), nil
}

// Apply applies objects as they are, and then the status of those which have
// one: it stands for the controllers that would write it.
// CustomResourceDefinitions are served and what roles give to accounts is granted
// when it returns.
func (c *Cluster) Apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		if err := c.apply(ctx, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	for _, o := range objects {
		var err error
		switch o.GroupVersionKind().GroupKind() {
		case schema.GroupKind{Group: crdResource.Group, Kind: "CustomResourceDefinition"}:
			err = c.Served(ctx, o.GetName())
		case schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding"}, schema.GroupKind{Group: rbacv1.GroupName, Kind: "RoleBinding"}:
			err = c.granted(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) apply(ctx context.Context, o *unstructured.Unstructured) error {
	r, err := c.resource(o)
	if err != nil {
		return err
	}
	options := metav1.ApplyOptions{FieldManager: cmp.Or(c.FieldManager, fieldManager), Force: true}
	if _, err := r.Apply(ctx, o.GetName(), o, options); err != nil {
		return err
	}
	if status, found, err := unstructured.NestedMap(o.Object, "status"); err != nil || !found || len(status) == 0 {
		return err
	}
	_, err = r.ApplyStatus(ctx, o.GetName(), o, options)
	return err
}

// ApplyYAML is Apply of a stream of documents.
func (c *Cluster) ApplyYAML(ctx context.Context, text []byte) error {
	objects, err := Parse(text)
	if err != nil {
		return err
	}
	return c.Apply(ctx, objects...)
}

// Served waits until the API server serves the kind of a
// CustomResourceDefinition, in all its versions. It tells of it in the discovery
// and has a handler for it only some time after the definition is Established.
func (c *Cluster) Served(ctx context.Context, name string) error {
	return Eventually(ctx, "CustomResourceDefinition "+name+" is served", func(ctx context.Context) error {
		o, err := c.Dynamic.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := conditionTrue(o, "Established"); err != nil {
			return err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
			return err
		}
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			kind := &unstructured.Unstructured{}
			kind.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind})
			r, err := c.resource(kind)
			if err != nil {
				return err
			}
			if !version.Storage {
				continue // one handler serves all versions
			}
			if _, err := r.List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
				return err
			}
		}
		return nil
	})
}

// conditionTrue is nil if the object has the condition with status True.
func conditionTrue(o *unstructured.Unstructured, kind string) error {
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			if c["status"] == "True" {
				return nil
			}
			return fmt.Errorf("condition %s is %v: %v: %v", kind, c["status"], c["reason"], c["message"])
		}
	}
	return fmt.Errorf("no condition %s", kind)
}

// Parse reads a stream of YAML documents.
func Parse(text []byte) (objects []*unstructured.Unstructured, err error) {
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := d.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}

// Eventually asks until the answer is nil, or the context ends; its error then
// holds the last answer.
func Eventually(ctx context.Context, what string, ask func(context.Context) error) error {
	last := errors.New("never asked")
	for {
		if err := ask(ctx); err == nil {
			return nil
		} else if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w; last: %w", what, ctx.Err(), last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

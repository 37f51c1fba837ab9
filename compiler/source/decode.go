// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// Decode fills a Go value, a pointer to a struct, from the object. Fields that
// the value does not have are left out; a field of the wrong type is a finding
// and is left at its zero value, so that the rest can still be judged.
func Decode(o *Object, into any) diag.List {
	d := decoding{object: o}
	root := o.Node.YNode()
	pruned, _ := d.prune(root, value(root), reflect.TypeOf(into).Elem(), nil)
	fields, _ := pruned.(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into); err != nil {
		d.findings = append(d.findings, o.Finding(diag.Error, RuleType, "",
			fmt.Sprintf("the object cannot be read as a %s: %v", o.Kind, err), ""))
	}
	return d.findings
}

type decoding struct {
	object   *Object
	findings diag.List
}

// prune drops the parts of a value that do not fit the type, reporting each.
func (d *decoding) prune(n *yaml.Node, v any, t reflect.Type, at *trail) (any, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v == nil || t.Kind() == reflect.Interface {
		return v, true
	}
	if readsItself(t) {
		return v, d.convert(n, v, t, at)
	}
	switch t.Kind() {
	case reflect.Struct:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, d.wrong(n, at, "a mapping")
		}
		d.pruneStruct(n, m, t, at)
		return m, true
	case reflect.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, d.wrong(n, at, "a mapping")
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if pruned, ok := d.prune(n.Content[i+1], m[key], t.Elem(), &trail{parent: at, key: key, inMap: true}); ok {
				m[key] = pruned
			} else {
				delete(m, key)
			}
		}
		return m, true
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			if t.Elem().Kind() == reflect.Uint8 {
				return v, d.convert(n, v, t, at)
			}
			return nil, d.wrong(n, at, "a list")
		}
		for i := range list {
			pruned, ok := d.prune(n.Content[i], list[i], t.Elem(), &trail{parent: at, index: i, item: true})
			if !ok {
				pruned = nil
			}
			list[i] = pruned
		}
		return list, true
	}
	return v, d.convert(n, v, t, at)
}

func (d *decoding) pruneStruct(n *yaml.Node, m map[string]any, t reflect.Type, at *trail) {
	for _, f := range fieldsOf(t) {
		if f.name == "" {
			d.pruneStruct(n, m, f.typ, at)
			continue
		}
		v, ok := m[f.name]
		if !ok {
			continue
		}
		if pruned, ok := d.prune(lookup(n, f.name), v, f.typ, &trail{parent: at, key: f.name}); ok {
			m[f.name] = pruned
		} else {
			delete(m, f.name)
		}
	}
}

// structField is a field of a struct as it is called in JSON; one without a
// name is embedded.
type structField struct {
	name string
	typ  reflect.Type
}

// fieldsOf returns the fields of a struct that are read.
var fieldsOf = memoized(func(t reflect.Type) (out []structField) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || name == "" && !f.Anonymous {
			continue
		}
		out = append(out, structField{name, f.Type})
	}
	return out
})

// readsItself reports whether a type has a way of its own of being read.
var readsItself = memoized(func(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(jsonUnmarshaler)
})

// holderOf returns a struct with one field of a type, which is what the
// converter takes.
var holderOf = memoized(func(t reflect.Type) reflect.Type {
	return reflect.StructOf([]reflect.StructField{{Name: "V", Type: t, Tag: `json:"v"`}})
})

// memoized remembers what a function says of a type: there are few types and
// many values.
func memoized[T any](of func(reflect.Type) T) func(reflect.Type) T {
	var known sync.Map
	return func(t reflect.Type) T {
		if v, ok := known.Load(t); ok {
			return v.(T)
		}
		v := of(t)
		known.Store(t, v)
		return v
	}
}

// convert tries a leaf. Whole numbers are checked here, as the converter lets
// them overflow; those that are left as floats are larger than any integer.
func (d *decoding) convert(n *yaml.Node, v any, t reflect.Type, at *trail) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, ok := v.(int64)
		if !ok {
			return d.wrong(n, at, wantInteger)
		}
		if reflect.Zero(t).OverflowInt(i) {
			return d.overflow(n, at, t.Bits())
		}
	}
	if text, ok := v.(string); ok && t == quantityType {
		if _, err := ParseQuantity(text); err != nil {
			return d.wrong(n, at, wantQuantity)
		}
		return true
	}
	if !fits(v, t) {
		holder := reflect.New(holderOf(t))
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"v": v}, holder.Interface()); err != nil {
			return d.wrong(n, at, expectation(t))
		}
	}
	return true
}

// fits reports whether a value is plainly of a type, as nearly all are, so that
// it need not be tried.
func fits(v any, t reflect.Type) bool {
	if readsItself(t) {
		return false
	}
	switch v.(type) {
	case string:
		return t.Kind() == reflect.String
	case bool:
		return t.Kind() == reflect.Bool
	case int64:
		return t.Kind() == reflect.Int32 || t.Kind() == reflect.Int64
	}
	return false
}

func (d *decoding) overflow(n *yaml.Node, at *trail, bits int) bool {
	return d.violation(overflowViolation(n, at, bits))
}

func (d *decoding) wrong(n *yaml.Node, at *trail, want string) bool {
	return d.violation(typeViolation(n, at, want))
}

func (d *decoding) violation(v Violation) bool {
	if len(d.findings) < mostViolations {
		d.findings = append(d.findings, v.Finding(d.object, RuleType))
	}
	return false
}

var quantityType = reflect.TypeFor[resource.Quantity]()

var jsonUnmarshaler = reflect.TypeFor[interface{ UnmarshalJSON([]byte) error }]()

func expectation(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return wantString
	case reflect.Bool:
		return wantBoolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return wantInteger
	case reflect.Float32, reflect.Float64:
		return wantNumber
	}
	switch t.Name() {
	case "":
		return "base64"
	case "Quantity":
		return wantQuantity
	case "Time", "MicroTime":
		return "a time as in 2006-01-02T15:04:05Z"
	}
	return "a " + t.Name()
}

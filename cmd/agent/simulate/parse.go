// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// longest is the longest time of a scenario.
const longest = 365 * 24 * time.Hour

// Parse reads a scenario. The error tells everything that is wrong in the file
// itself, and where.
func Parse(file string, text []byte) (*Scenario, error) {
	r := &reader{places: &places{file: file, nodes: map[string]*yaml.Node{}}}
	root, err := document(text)
	if err != nil {
		return nil, Problems{r.places.problem("", "%s", err)}
	}
	s := &Scenario{places: r.places}
	r.read(root, reflect.ValueOf(s).Elem(), "")
	if len(r.problems) == 0 {
		r.judge(s)
	}
	return s, r.problems.err()
}

// document is the root of the only document of a file.
func document(text []byte) (*yaml.Node, error) {
	var first, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	switch err := d.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty; begin with deployments: [PATH]")
	case err != nil:
		return nil, fmt.Errorf("not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("a scenario is one YAML document, and there are more")
	}
	if first.Kind == yaml.DocumentNode && len(first.Content) == 1 {
		return first.Content[0], nil
	}
	return &first, nil
}

// reader reads YAML into a scenario and remembers where things stand.
type reader struct {
	places   *places
	problems Problems
}

func (r *reader) problem(field, format string, args ...any) {
	r.problems = append(r.problems, r.places.problem(field, format, args...))
}

var durationType = reflect.TypeFor[Duration]()

// read reads a node; null counts as absent.
func (r *reader) read(n *yaml.Node, v reflect.Value, field string) {
	r.places.nodes[field] = n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == yaml.NodeTagNull {
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		r.readStruct(n, v, field)
	case reflect.Map:
		r.readMap(n, v, field)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			r.problem(field, "must be a list")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			r.read(item, v.Index(i), fmt.Sprintf("%s[%d]", field, i))
		}
	default:
		if n.Kind != yaml.ScalarNode {
			r.problem(field, "must be a single value")
			return
		}
		r.readScalar(n, v, field)
	}
}

// pairs calls do with the keys and values of a mapping.
func (r *reader) pairs(n *yaml.Node, field string, do func(key *yaml.Node, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.problem(field, "must be a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			r.problem(field, "%s stands twice", key.Value)
			continue
		}
		seen[key.Value] = true
		do(key, n.Content[i+1])
	}
}

func (r *reader) readStruct(n *yaml.Node, v reflect.Value, field string) {
	index := map[string]int{}
	var names []string
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name != "" {
			index[name] = i
			names = append(names, name)
		}
	}
	r.pairs(n, field, func(key, value *yaml.Node) {
		inner := key.Value
		if field != "" {
			inner = field + "." + key.Value
		}
		if i, ok := index[key.Value]; ok {
			r.read(value, v.Field(i), inner)
			return
		}
		r.places.nodes[inner] = key
		r.problem(inner, "unknown field %q; %s", key.Value, instead(key.Value, names))
	})
}

func (r *reader) readMap(n *yaml.Node, v reflect.Value, field string) {
	v.Set(reflect.MakeMap(v.Type()))
	r.pairs(n, field, func(key, value *yaml.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		r.read(value, item, field+"["+key.Value+"]")
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
	})
}

func (r *reader) readScalar(n *yaml.Node, v reflect.Value, field string) {
	if v.Type() == durationType {
		d, err := time.ParseDuration(n.Value)
		switch {
		case err != nil:
			r.problem(field, "%q is not a time such as 90s or 1h30m, of a year at most", n.Value)
		case d < 0:
			r.problem(field, "%s is negative; times count from the start", n.Value)
		case d > longest:
			r.problem(field, "%s is too long; a simulation lasts at most %s", n.Value, longest)
		}
		v.SetInt(int64(d))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		b, err := strconv.ParseBool(n.Value)
		if err != nil || n.ShortTag() != yaml.NodeTagBool {
			r.problem(field, "%q is not true or false", n.Value)
		}
		v.SetBool(b)
	default:
		i, err := strconv.ParseInt(n.Value, 10, v.Type().Bits())
		if errors.Is(err, strconv.ErrRange) {
			r.problem(field, "%s is out of range", n.Value)
		} else if err != nil {
			r.problem(field, "%q is not a whole number", n.Value)
		}
		v.SetInt(i)
	}
}

// judge finds what is wrong whatever the deployments are.
func (r *reader) judge(s *Scenario) {
	if len(s.Deployments) == 0 {
		r.problem("deployments", "name at least one file or directory")
	}
	for list, paths := range map[string][]string{"deployments": s.Deployments, "facts": s.Facts} {
		if i := slices.Index(paths, ""); i >= 0 {
			r.problem(fmt.Sprintf("%s[%d]", list, i), "is empty; name a file or directory")
		}
	}
	if s.Until != nil && *s.Until == 0 {
		r.problem("until", "must be more than 0s; leave it out for a day after the last event")
	}
	r.cards("capacity", s.Capacity)
	for i := range s.Events {
		r.event(&s.Events[i], fmt.Sprintf("events[%d]", i), s.Until)
	}
}

const (
	mostCards    = 1_000_000
	mostReplicas = 1024
	mostMembers  = 64
)

func (r *reader) cards(field string, of map[string]Cards) {
	for name, n := range of {
		r.within(fmt.Sprintf("%s[%s]", field, name), int(n), 0, mostCards)
	}
}

func (r *reader) within(field string, n, least, most int) {
	if n < least || n > most {
		r.problem(field, "%d is not between %d and %d", n, least, most)
	}
}

// complete reports whether a mapping has all of some fields.
func (r *reader) complete(field string, names ...string) bool {
	ok := true
	for _, name := range names {
		if _, there := r.places.nodes[field+"."+name]; !there {
			r.problem(field, "has no %s", name)
			ok = false
		}
	}
	return ok
}

func (r *reader) event(e *Event, field string, until *Duration) {
	if _, ok := r.places.nodes[field+".at"]; !ok {
		r.problem(field, "has no at; say when it happens, as in at: 10m")
	}
	if until != nil && e.At > *until {
		r.problem(field+".at", "%s is after the end, %s; raise until", time.Duration(e.At), time.Duration(*until))
	}
	switch f := e.fields(); len(f) {
	case 0:
		r.problem(field, "says nothing that happens; give %s", choice())
		return
	case 1:
	default:
		r.problem(field, "has %s, and an event is only one of them; make an event of each, at the same time", strings.Join(f, " and "))
		return
	}
	if e.Deployment != "" && e.common() {
		r.problem(field+".deployment", "%s is about no deployment in particular; leave deployment out", e.fields()[0])
	}
	if e.Capacity != nil && len(e.Capacity) == 0 {
		r.problem(field+".capacity", "name an InstanceType and its cards, as in {l40s: 8}")
	}
	r.cards(field+".capacity", e.Capacity)
	if e.Scale != nil && r.complete(field+".scale", "role", "replicas") {
		r.within(field+".scale.replicas", int(e.Scale.Replicas), 1, mostReplicas)
	}
	for _, a := range e.actions() {
		r.complete(field+"."+a.field, "role")
		r.within(field+"."+a.field+".ordinal", int(a.seat.Ordinal), 0, mostReplicas-1)
		r.within(field+"."+a.field+".member", int(a.seat.Member), 0, mostMembers-1)
		if a.whole() && a.seat.Member != 0 {
			r.problem(field+"."+a.field+".member", "Kueue treats a replica as a whole; leave member out")
		}
	}
}

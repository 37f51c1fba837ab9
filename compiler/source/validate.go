// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Validate compares an object with the schema. The status is left out: an API
// server ignores it in what a user writes. Violations come in the order of the
// document; those of missing fields follow the fields that are there.
func (s *Schema) Validate(o *Object) []Violation {
	v := &validation{schema: s}
	root := o.Node.YNode()
	v.out = append(v.out, duplicates(root, nil)...)
	v.out = append(v.out, identityViolations(o)...)
	v.metadata(lookup(root, "metadata"))
	v.fields(root, s, nil)
	v.required(root, s, nil)
	return atMost(v.out)
}

type validation struct {
	schema *Schema
	out    []Violation
}

// full reports whether there is more than anybody wants to know.
func (v *validation) full() bool { return len(v.out) > mostViolations }

func (v *validation) add(kind ViolationKind, at *trail, n *yaml.Node, violation Violation) {
	violation.Kind, violation.Field, violation.Shape = kind, at.String(), at.shape()
	if n != nil {
		violation.node = n
		if n.Kind == yaml.ScalarNode && violation.Value == "" {
			violation.Value = shorten(n.Value)
		}
	}
	v.out = append(v.out, violation)
}

// metadataFields are the fields that every object has in metadata, which no
// schema lists.
var metadataFields = sync.OnceValue(func() *Schema {
	s := &Schema{}
	for _, f := range fieldsOf(reflect.TypeFor[metav1.ObjectMeta]()) {
		s.names = append(s.names, f.name)
	}
	slices.Sort(s.names)
	return s
})

func (v *validation) metadata(n *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	s, at := metadataFields(), &trail{key: "metadata"}
	for i := 0; i+1 < len(n.Content) && !v.full(); i += 2 {
		if key := n.Content[i]; !slices.Contains(s.names, key.Value) {
			v.unknown(key, s, &trail{parent: at, key: key.Value})
		}
	}
}

// fields checks every field of a mapping.
func (v *validation) fields(n *yaml.Node, s *Schema, at *trail) {
	for i := 0; i+1 < len(n.Content) && !v.full(); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field := &trail{parent: at, key: key.Value}
		prop, ok := s.properties[key.Value]
		switch {
		case at == nil && slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key.Value):
		case !ok && s.additional != nil:
			field.inMap = true
			v.value(value, s.additional, field)
		case !ok && !s.anyKey:
			v.unknown(key, s, field)
		case ok && isNull(value) && !prop.nullable:
			// An API server drops it, so that it counts as absent.
		case ok:
			v.value(value, prop, field)
		}
	}
}

func (v *validation) required(n *yaml.Node, s *Schema, at *trail) {
	for _, name := range s.required {
		if value := lookup(n, name); value != nil && !(isNull(value) && !s.isNullable(name)) {
			continue
		}
		if prop := s.properties[name]; prop != nil && prop.defaulted != nil {
			continue
		}
		field := &trail{parent: at, key: name}
		v.add(Required, field, nil, Violation{
			Message: field.String() + " is required",
			Remedy:  "add " + name + " to " + orObject(at.String()),
		})
	}
}

func (s *Schema) isNullable(name string) bool {
	prop := s.properties[name]
	return prop != nil && prop.nullable
}

// fewPlaces is how many blocks may have a field for it to say where a misplaced
// one belongs. A name is a field of nearly all of them.
const fewPlaces = 2

func (v *validation) unknown(key *yaml.Node, s *Schema, at *trail) {
	violation := Violation{
		Message: fmt.Sprintf("unknown field %s in %s", quote(key.Value), orObject(at.parent.String())),
		Allowed: s.names,
	}
	places := v.schema.places[key.Value]
	switch meant, ok := Suggest(key.Value, s.names); {
	case ok:
		violation.Remedy = fmt.Sprintf("did you mean %q?", meant)
	case len(places) > 0 && len(places) <= fewPlaces:
		violation.Remedy = fmt.Sprintf("%s is a field of %s", key.Value, strings.Join(places, ", "))
	case len(s.names) == 0:
		violation.Remedy = "remove it"
	default:
		const few = 6
		names := s.names
		if len(names) > few {
			names = nearest(shorten(key.Value), names)[:few]
		}
		violation.Remedy = "remove it; possible here: " + strings.Join(names, ", ")
	}
	v.add(Unknown, at, key, violation)
}

// value checks a value that is there.
func (v *validation) value(n *yaml.Node, s *Schema, at *trail) {
	if isNull(n) && s.nullable {
		return
	}
	wrong := func(want string) { v.out = append(v.out, typeViolation(n, at, want)) }
	switch {
	case s.intOrString:
		v.quantity(n, at)
	case s.typ == "object":
		if n.Kind != yaml.MappingNode {
			wrong(wantMapping)
			return
		}
		v.fields(n, s, at)
		v.required(n, s, at)
	case s.typ == "array":
		if n.Kind != yaml.SequenceNode {
			wrong(wantList)
			return
		}
		v.list(n, s, at)
	case s.typ == "string":
		text, ok := value(n).(string)
		if !ok {
			wrong(wantString)
			return
		}
		v.text(n, text, s, at)
	case s.typ == "boolean":
		if _, ok := value(n).(bool); !ok {
			wrong(wantBoolean)
		}
	case s.typ == "integer":
		i, ok := value(n).(int64)
		switch f, isFloat := value(n).(float64); {
		case ok && s.format == "int32" && i != int64(int32(i)):
			v.out = append(v.out, overflowViolation(n, at, 32))
		case isFloat && (f >= 1<<53 || f <= -1<<53):
			v.out = append(v.out, overflowViolation(n, at, 64))
		case !ok:
			wrong(wantInteger)
		default:
			v.number(n, float64(i), s, at)
		}
	case s.typ == "number":
		switch x := value(n).(type) {
		case int64:
			v.number(n, float64(x), s, at)
		case float64:
			v.number(n, x, s, at)
		default:
			wrong(wantNumber)
		}
	}
}

func (v *validation) quantity(n *yaml.Node, at *trail) {
	text := ""
	switch x := value(n).(type) {
	case string:
		text = x
	case int64:
		text = strconv.FormatInt(x, 10)
	case float64:
		// An API server wants quotes around it, but no count is a fraction with
		// them either: that is what there is to say.
		text = strconv.FormatFloat(x, 'f', -1, 64)
	}
	if _, err := ParseQuantity(text); err == nil {
		return
	}
	v.out = append(v.out, typeViolation(n, at, wantQuantity))
}

// ParseQuantity reads a quantity. That of apimachinery builds the number that an
// exponent asks for, however large, so that it is only asked about what people
// write.
func ParseQuantity(text string) (resource.Quantity, error) {
	const longest, exponent = 64, 3 // characters
	if len(text) > longest {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	if i := strings.LastIndexAny(text, "eE"); i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > exponent {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(text)
}

func (v *validation) text(n *yaml.Node, text string, s *Schema, at *trail) {
	length := int64(utf8.RuneCountInString(text))
	if len(s.enum) > 0 && !slices.Contains(s.enum, text) {
		remedy := ""
		if meant, ok := Suggest(text, s.enum); ok {
			remedy = fmt.Sprintf("did you mean %q?", meant)
		}
		v.add(Enum, at, n, Violation{
			Allowed: s.enum,
			Message: fmt.Sprintf("%s is %s; it must be %s", at, quote(text), oneOf(s.enum)),
			Remedy:  remedy,
		})
	}
	switch {
	case s.minLength != nil && length < *s.minLength:
		message, remedy := fmt.Sprintf("%s has %s; it needs at least %d", at, count(length, "character"), *s.minLength), ""
		if length == 0 {
			message, remedy = fmt.Sprintf("%s is empty", at), "write a value, or remove the key if the field is not needed"
		}
		v.add(MinLength, at, n, Violation{Bound: textOf(*s.minLength), Message: message, Remedy: remedy})
	case s.maxLength != nil && length > *s.maxLength:
		v.add(MaxLength, at, n, Violation{
			Bound:   textOf(*s.maxLength),
			Message: fmt.Sprintf("%s has %s; at most %d are allowed", at, count(length, "character"), *s.maxLength),
			Remedy:  "shorten it",
		})
	case s.pattern != nil && !s.pattern.MatchString(text):
		v.add(Pattern, at, n, Violation{
			Bound:   s.pattern.String(),
			Message: fmt.Sprintf("%s is %s, which does not match %s", at, quote(text), s.pattern),
			Remedy:  patternRemedies[s.pattern.String()],
		})
	}
}

// patternRemedies says in words what the patterns of our schemas want.
var patternRemedies = map[string]string{
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`: "use lower case letters, digits and hyphens, with a letter or digit at both ends",
	`^(/[^/]+)+$`:                     "write an absolute path, without a slash at the end and without an empty element",
	`^[^/].*$`:                        "write a relative path",
}

func (v *validation) number(n *yaml.Node, x float64, s *Schema, at *trail) {
	if s.minimum != nil && x < *s.minimum {
		v.add(Minimum, at, n, Violation{
			Bound:   textOf(*s.minimum),
			Message: fmt.Sprintf("%s is %s; it must be at least %s", at, shorten(n.Value), textOf(*s.minimum)),
			Remedy:  bounds(s),
		})
	}
	if s.maximum != nil && x > *s.maximum {
		v.add(Maximum, at, n, Violation{
			Bound:   textOf(*s.maximum),
			Message: fmt.Sprintf("%s is %s; it must be at most %s", at, shorten(n.Value), textOf(*s.maximum)),
			Remedy:  bounds(s),
		})
	}
}

func bounds(s *Schema) string {
	switch {
	case s.minimum != nil && s.maximum != nil:
		return fmt.Sprintf("write a number from %s to %s", textOf(*s.minimum), textOf(*s.maximum))
	case s.minimum != nil:
		return "write a number of at least " + textOf(*s.minimum)
	}
	return "write a number of at most " + textOf(*s.maximum)
}

func (v *validation) list(n *yaml.Node, s *Schema, at *trail) {
	length := int64(len(n.Content))
	if s.minItems != nil && length < *s.minItems {
		v.add(MinItems, at, n, Violation{
			Value:   textOf(length),
			Bound:   textOf(*s.minItems),
			Message: fmt.Sprintf("%s has %s; it needs at least %d", at, count(length, "item"), *s.minItems),
			Remedy:  "add an item",
		})
	}
	if s.maxItems != nil && length > *s.maxItems {
		v.add(MaxItems, at, n, Violation{
			Value:   textOf(length),
			Bound:   textOf(*s.maxItems),
			Message: fmt.Sprintf("%s has %s; at most %d are allowed", at, count(length, "item"), *s.maxItems),
			Remedy:  "remove items",
		})
	}
	if s.items == nil {
		return
	}
	first := map[string]int{}
	for i, item := range n.Content {
		if v.full() {
			return
		}
		field := &trail{parent: at, index: i, item: true, secret: i > 0 && isSecretFlag(n.Content[i-1])}
		if key, ok := itemKey(item, s); ok {
			if j, seen := first[key.id]; seen {
				v.add(DuplicateItem, field, item, Violation{
					Value:   key.text,
					Message: fmt.Sprintf("%s has the same %s as %s[%d]: %s", field, strings.Join(s.listMapKeys, " and "), at, j, key.text),
					Remedy:  "give each item its own " + strings.Join(s.listMapKeys, " and ") + ", or remove one",
				})
			} else {
				first[key.id] = i
			}
		}
		v.value(item, s.items, field)
	}
}

// listKey is what identifies an item of a keyed list: id for comparing and
// text for people.
type listKey struct{ id, text string }

func itemKey(item *yaml.Node, s *Schema) (listKey, bool) {
	if len(s.listMapKeys) == 0 || item.Kind != yaml.MappingNode {
		return listKey{}, false
	}
	var ids, texts []string
	for _, k := range s.listMapKeys {
		var v any
		if n := lookup(item, k); n != nil && !isNull(n) {
			v = value(n)
		} else if prop := s.items.properties[k]; prop != nil {
			v = prop.defaulted
		}
		if v == nil {
			return listKey{}, false
		}
		ids = append(ids, fmt.Sprintf("%T %v", v, v))
		texts = append(texts, shorten(fmt.Sprint(v)))
	}
	return listKey{strings.Join(ids, "\x00"), strings.Join(texts, " ")}, true
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "one of " + strings.Join(values, ", ")
}

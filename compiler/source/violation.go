// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// ViolationKind is what a field did to break the schema.
type ViolationKind string

// The kinds of violations.
const (
	// Unknown is a field that the schema does not have; rule RuleUnknown.
	Unknown ViolationKind = "Unknown"
	// DuplicateKey is a key that stands twice in one mapping; rule RuleYAML.
	DuplicateKey ViolationKind = "DuplicateKey"
	// Type is a value of the wrong type, or a number that does not fit; rule
	// RuleType.
	Type ViolationKind = "Type"
	// Required is a field that is missing; the path is that of the field.
	Required ViolationKind = "Required"
	// Enum is a value that is not one of those allowed.
	Enum ViolationKind = "Enum"
	// Minimum is a number that is too small.
	Minimum ViolationKind = "Minimum"
	// Maximum is a number that is too large.
	Maximum ViolationKind = "Maximum"
	// MinLength is a string that is too short, in code points.
	MinLength ViolationKind = "MinLength"
	// MaxLength is a string that is too long, in code points.
	MaxLength ViolationKind = "MaxLength"
	// Pattern is a string that does not match.
	Pattern ViolationKind = "Pattern"
	// MinItems is a list that is too short.
	MinItems ViolationKind = "MinItems"
	// MaxItems is a list that is too long.
	MaxItems ViolationKind = "MaxItems"
	// DuplicateItem is an item of a keyed list whose key stood before; the path
	// is that of the item.
	DuplicateItem ViolationKind = "DuplicateItem"
)

// Violation is one way in which an object breaks the schema.
type Violation struct {
	Kind ViolationKind
	// Field is the full path, for example "spec.roles[0].ports[1].port".
	Field string
	// Shape is Field without indexes, "spec.roles[].ports[].port". It is what a
	// rule is looked up by.
	Shape string
	// Value is what was found, shortened; empty when nothing was.
	Value string
	// Bound is the bound that was broken, or the pattern.
	Bound string
	// Allowed are the values, or the fields, that are possible.
	Allowed []string
	// Message says what is wrong, Remedy what to do.
	Message, Remedy string

	node *yaml.Node // where it is, when that is not the value of Field
}

// Rule returns the rule of the kinds that have the same one whatever the field
// is, and an empty string for the others.
func (v Violation) Rule() string {
	switch v.Kind {
	case Unknown:
		return RuleUnknown
	case DuplicateKey:
		return RuleYAML
	case Type:
		return RuleType
	}
	return ""
}

// Finding makes an error of the violation.
func (v Violation) Finding(o *Object, rule string) diag.Finding {
	var at diag.Position
	if v.node != nil && o.doc != nil && o.origin == nil {
		at = o.doc.node(v.node)
	} else {
		at = o.Position(v.Field)
	}
	return o.findingAt(at, diag.Error, rule, v.Field, v.Message, v.Remedy)
}

// mostViolations is how many violations of one object are reported. Nobody
// reads more, and a large file may hold millions.
const mostViolations = 1000

// atMost cuts a list of violations and says so in the last.
func atMost(l []Violation) []Violation {
	if len(l) <= mostViolations {
		return l
	}
	l = l[:mostViolations]
	l[mostViolations-1].Message += "; there are more, which are not listed"
	return l
}

const (
	wantString   = "a string"
	wantBoolean  = "true or false"
	wantInteger  = "a whole number"
	wantNumber   = "a number"
	wantMapping  = "a mapping"
	wantList     = "a list"
	wantQuantity = "a quantity such as 2 or \"500m\""
)

// typeViolation is a value that is not what was wanted. The remedy knows the
// usual reason: quotes that are missing, or too many.
func typeViolation(n *yaml.Node, at *trail, want string) Violation {
	v := Violation{
		Kind:    Type,
		Field:   at.String(),
		Shape:   at.shape(),
		Message: fmt.Sprintf("%s must be %s, not %s", orObject(at.String()), want, describe(n)),
		node:    n,
	}
	if n.Kind != yaml.ScalarNode {
		return v
	}
	if (at != nil && at.secret || isSecret(n, v.Shape, want)) && !isNull(n) {
		v.Message = fmt.Sprintf("%s must be %s, not a single value", v.Field, want)
		if want == wantString {
			v.Message = fmt.Sprintf("%s must be %s, and Kubernetes reads what stands there as a boolean or a number", v.Field, want)
			v.Remedy = "put it in quotes"
		}
		return v
	}
	v.Value = shorten(n.Value)
	switch {
	case want == wantString && isPlain(n) && !isNull(n):
		if n.Tag == yaml.NodeTagString || n.Tag == "!!timestamp" {
			v.Message = fmt.Sprintf("%s must be %s, and Kubernetes reads a plain %s as a boolean or a number",
				orObject(v.Field), want, shorten(n.Value))
		}
		v.Remedy = "put it in quotes: \"" + shorten(n.Value) + "\""
	case want == wantInteger && decimal(n.Value), want == wantNumber && decimal(n.Value),
		want == wantBoolean && (n.Value == "true" || n.Value == "false"):
		v.Remedy = "leave out the quotes: " + shorten(n.Value)
	}
	return v
}

// isSecret reports whether a value may be a secret, which stands in no message:
// anything of an environment, and text that should have been a list of
// arguments. A number among arguments is a port or a size far more often.
func isSecret(n *yaml.Node, shape, want string) bool {
	for _, field := range []string{"env", "extraArgs", "command"} {
		at := strings.Index(shape, "."+field)
		if at < 0 {
			continue
		}
		rest := shape[at+1+len(field):]
		if rest == "" || rest[0] == '[' || rest[0] == '.' {
			return field == "env" && !strings.HasSuffix(rest, ".name") || want != wantString && n.Tag == yaml.NodeTagString
		}
	}
	return false
}

// isSecretFlag reports whether what follows a list item may be a secret.
func isSecretFlag(item *yaml.Node) bool {
	return item.Kind == yaml.ScalarNode && strings.HasPrefix(item.Value, "-") && !strings.Contains(item.Value, "=") && diag.IsSecretName(item.Value)
}

// overflowViolation is a whole number that does not fit.
func overflowViolation(n *yaml.Node, at *trail, bits int) Violation {
	return Violation{
		Kind:    Type,
		Field:   at.String(),
		Shape:   at.shape(),
		Value:   shorten(n.Value),
		Message: fmt.Sprintf("%s is %s, which does not fit in %d bits", at, shorten(n.Value), bits),
		Remedy:  "write a smaller number",
		node:    n,
	}
}

func decimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && len(s) < 19 && strings.Trim(s, "0123456789") == ""
}

func orObject(field string) string {
	if field == "" {
		return "the object"
	}
	return field
}

// identityViolations checks the fields that every object has.
func identityViolations(o *Object) []Violation {
	var out []Violation
	root := o.Node.YNode()
	text := func(n *yaml.Node, at *trail) {
		if n == nil || isNull(n) {
			return
		}
		if _, ok := value(n).(string); !ok {
			out = append(out, typeViolation(n, at, wantString))
		}
	}
	mapping := func(n *yaml.Node, at *trail) bool {
		if n == nil || isNull(n) {
			return false
		}
		if n.Kind != yaml.MappingNode {
			out = append(out, typeViolation(n, at, wantMapping))
		}
		return n.Kind == yaml.MappingNode
	}
	text(lookup(root, "apiVersion"), &trail{key: "apiVersion"})
	text(lookup(root, "kind"), &trail{key: "kind"})
	metadata, at := lookup(root, "metadata"), &trail{key: "metadata"}
	if !mapping(metadata, at) {
		return out
	}
	for _, key := range []string{"name", "namespace"} {
		text(lookup(metadata, key), &trail{parent: at, key: key})
	}
	for _, key := range []string{"labels", "annotations"} {
		section, at := lookup(metadata, key), &trail{parent: at, key: key}
		if !mapping(section, at) {
			continue
		}
		for i := 0; i+1 < len(section.Content) && len(out) <= mostViolations; i += 2 {
			text(section.Content[i+1], &trail{parent: at, key: section.Content[i].Value, inMap: true})
		}
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// New returns a generated object ready to be printed.
func New(o interface {
	metav1.Object
	runtime.Object
}, deployment string) Object {
	apiVersion, kind := o.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return Object{
		APIVersion: apiVersion,
		Kind:       kind,
		Namespace:  o.GetNamespace(),
		Name:       o.GetName(),
		Deployment: deployment,
		generated:  o,
	}
}

// Tree returns the object as YAML. The fields of a generated object are in the
// order of the API, and it has no status: that is the cluster's to write.
func (o *Object) Tree() (*yaml.Node, error) {
	if o.Node != nil {
		return o.Node, nil
	}
	n, err := Node(o.generated)
	if err != nil {
		return nil, err
	}
	dropKey(n, "status")
	apiVersionFirst(n)
	return n, nil
}

// Node converts a value to YAML through its JSON form, keeping the order of its
// fields.
func Node(v any) (*yaml.Node, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	return readValue(d)
}

func readValue(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: yaml.NodeTagMap}
		if t == '[' {
			n = &yaml.Node{Kind: yaml.SequenceNode, Tag: yaml.NodeTagSeq}
		}
		for d.More() {
			child, err := readValue(d)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		if t == '{' {
			n.Content = withoutBlanks(n.Content)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err := d.Token() // the closing delimiter
		return n, err
	case string:
		return stringNode(t), nil
	case json.Number:
		tag := yaml.NodeTagInt
		if _, err := strconv.ParseInt(t.String(), 10, 64); err != nil {
			tag = yaml.NodeTagFloat
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: t.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagBool, Value: strconv.FormatBool(t)}, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagNull, Value: "null"}, nil
	default:
		return nil, fmt.Errorf("unexpected JSON token %v", t)
	}
}

// blanks are fields that the structs of the API print even when they say
// nothing.
var blanks = map[string]bool{"resources": true, "status": true, "strategy": true}

// withoutBlanks drops from the keys and values of a mapping what says nothing.
func withoutBlanks(pairs []*yaml.Node) []*yaml.Node {
	kept := pairs[:0]
	for i := 0; i+1 < len(pairs); i += 2 {
		k, v := pairs[i], pairs[i+1]
		empty := v.Kind == yaml.MappingNode && len(v.Content) == 0
		if v.Tag != yaml.NodeTagNull && !(empty && blanks[k.Value]) {
			kept = append(kept, k, v)
		}
	}
	return kept
}

// stringNode quotes what a YAML 1.1 parser such as kubectl's would not read as
// the same string.
func stringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagString, Value: s}
	// A plain empty scalar is a null to whoever does not look at its tag.
	if s == "" || s == mergeKey || unfitForBlock(s) || mayBeNonString(s) && (yaml.IsYaml1_1NonString(n) || base60.MatchString(s)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// mergeKey is not read as a string, neither as a key nor as a value.
const mergeKey = "<<"

// base60 is what some parsers of YAML 1.1 read as a number of minutes or
// seconds.
var base60 = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)

// unfitForBlock reports whether a text of several lines would change, or not be
// read at all, if it were printed as one block.
func unfitForBlock(s string) bool {
	return strings.Contains(s, "\n") && strings.ContainsAny(s[:1], " \t\n")
}

// mayBeNonString is a cheap test that everything passes which YAML 1.1 reads as
// a number, a boolean, a null, a date or a special value, so that few strings
// need the parser. The words among these have at most five letters.
func mayBeNonString(s string) bool {
	if s == "" || strings.IndexByte("0123456789+-.~=<", s[0]) >= 0 {
		return true
	}
	return len(s) <= len("false") && strings.IndexByte("yYnNtTfFoO", s[0]) >= 0
}

// apiVersionFirst swaps the first two keys, which the API's structs declare the
// other way round from how people write them.
func apiVersionFirst(n *yaml.Node) {
	c := n.Content
	if len(c) >= 4 && c[0].Value == "kind" && c[2].Value == "apiVersion" {
		c[0], c[1], c[2], c[3] = c[2], c[3], c[0], c[1]
	}
}

func dropKey(n *yaml.Node, key string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = append(n.Content[:i], n.Content[i+2:]...)
			return
		}
	}
}

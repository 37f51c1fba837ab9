// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	yaml1 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Value converts a node, whose aliases are expanded, to what an API server gets
// of it.
func Value(n *yaml.Node) any { return value(n) }

// value converts a node to what an API server gets of it: maps, lists, strings,
// int64, float64, booleans and nil.
func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if _, ok := out[n.Content[i].Value]; !ok {
				out[n.Content[i].Value] = value(n.Content[i+1])
			}
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = value(c)
		}
		return out
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil
}

// scalar reads a scalar. Where YAML 1.1, which kubectl speaks, and YAML 1.2
// differ, 1.1 decides: the output of a compile is read by the former.
func scalar(n *yaml.Node) any {
	if !isPlain(n) {
		return n.Value
	}
	switch n.Tag {
	case yaml.NodeTagNull:
		return nil
	case yaml.NodeTagInt:
		if i, err := strconv.ParseInt(n.Value, 10, 64); err == nil && strconv.FormatInt(i, 10) == n.Value {
			return i
		}
	case yaml.NodeTagBool:
		switch n.Value {
		case "true":
			return true
		case "false":
			return false
		}
	case yaml.NodeTagFloat:
	case "!!binary":
		if b, err := base64.StdEncoding.DecodeString(n.Value); err == nil {
			return string(b)
		}
		return n.Value
	default:
		if !readsAsOther(n.Value) {
			return n.Value
		}
	}
	var v any
	if err := yaml1.Unmarshal([]byte(n.Value), &v); err != nil {
		return n.Value
	}
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		return float64(v)
	case float64:
		// JSON has one kind of number: 1.0 is written as 1.
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		return v
	case int64, bool, nil:
		return v
	}
	return n.Value
}

// isPlain reports whether a scalar was written without quotes and without the
// tag of a string.
func isPlain(n *yaml.Node) bool {
	quoted := yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&quoted != 0 {
		return n.Tag == yaml.NodeTagNull || n.Tag == yaml.NodeTagInt || n.Tag == yaml.NodeTagFloat || n.Tag == yaml.NodeTagBool
	}
	return n.Style&yaml.TaggedStyle == 0 || n.Tag != yaml.NodeTagString
}

// shorten cuts a value for a message.
func shorten(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func quote(s string) string { return strconv.Quote(shorten(s)) }

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package impact

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"

	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/replica"
)

// differences are the fields that make two Pods of a seat differ.
func differences(old, now *corev1.Pod) ([]Change, error) {
	a, err := replica.Content(old)
	if err != nil {
		return nil, err
	}
	b, err := replica.Content(now)
	if err != nil {
		return nil, err
	}
	var out []Change
	compare("", a, b, &out)
	return out, nil
}

// keys tell the elements of a list of objects apart, best first.
var keys = []string{"name", "mountPath", "containerPort", "key", "topologyKey"}

// compare appends what differs below a path. Lists of objects with a key are
// compared element by element, others as a whole, and command lines by argument.
func compare(path string, old, now any, out *[]Change) {
	switch {
	case reflect.DeepEqual(old, now):
		return
	case isObject(old) && isObject(now):
		a, b := object(old), object(now)
		names := map[string]bool{}
		for _, m := range []map[string]any{a, b} {
			for name := range m {
				names[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			compare(join(path, name), a[name], b[name], out)
		}
		return
	}
	if a, b, ok := commandLines(path, old, now); ok {
		*out = append(*out, arguments(path, a, b)...)
		return
	}
	if key, ok := keyOf(old, now); ok {
		a, b := elements(old, key), elements(now, key)
		for _, name := range slices.Sorted(maps.Keys(mergedKeys(a, b))) {
			at := path + "[" + name + "]"
			if a[name] == nil || b[name] == nil {
				*out = append(*out, Change{Path: at, Old: brief(at, a[name]), New: brief(at, b[name])})
				continue
			}
			compare(at, a[name], b[name], out)
		}
		if reflect.DeepEqual(a, b) { // only the order differs
			*out = append(*out, Change{Path: path, Old: order(old, key), New: order(now, key)})
		}
		return
	}
	*out = append(*out, Change{Path: path, Old: show(path, old), New: show(path, now)})
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok || v == nil
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func mergedKeys(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// join adds a name to a path; one that is no plain word stands in brackets.
func join(path, name string) string {
	if strings.ContainsAny(name, "./[]") {
		return path + "[" + name + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// keyOf is the key by which all elements of two lists of objects are told apart.
func keyOf(old, now any) (string, bool) {
	for _, key := range keys {
		if hasKey(old, key) && hasKey(now, key) {
			return key, true
		}
	}
	return "", false
}

func hasKey(v any, key string) bool {
	list, ok := v.([]any)
	if v == nil {
		return true
	}
	seen := map[string]bool{}
	for _, e := range list {
		m, is := e.(map[string]any)
		if !is || m[key] == nil || seen[fmt.Sprint(m[key])] {
			return false
		}
		seen[fmt.Sprint(m[key])] = true
	}
	return ok
}

func elements(v any, key string) map[string]any {
	out := map[string]any{}
	list, _ := v.([]any)
	for _, e := range list {
		out[fmt.Sprint(e.(map[string]any)[key])] = e
	}
	return out
}

// order lists the keys of a list.
func order(v any, key string) string {
	var names []string
	list, _ := v.([]any)
	for _, e := range list {
		names = append(names, fmt.Sprint(e.(map[string]any)[key]))
	}
	return strings.Join(names, ", ")
}

// commandLines are the command lines of both sides, if the path leads to one.
func commandLines(path string, old, now any) (a, b []string, ok bool) {
	if !strings.HasSuffix(path, ".command") && !strings.HasSuffix(path, ".args") {
		return nil, nil, false
	}
	a, first := strs(old)
	b, second := strs(now)
	return a, b, first && second
}

func strs(v any) (out []string, ok bool) {
	list, is := v.([]any)
	if !is && v != nil {
		return nil, false
	}
	for _, e := range list {
		s, is := e.(string)
		if !is {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// arguments are the changes of a command line: each a run of arguments, with the
// flag that the first of them is a value of.
func arguments(path string, old, now []string) (out []Change) {
	for _, op := range difflib.NewMatcher(old, now).GetOpCodes() {
		if op.Tag == 'e' {
			continue
		}
		i, j := op.I1, op.J1
		if i > 0 && j > 0 && isFlag(old[i-1]) && (starts(old, i) || starts(now, j)) {
			i, j = i-1, j-1
		}
		out = append(out, Change{Path: path, Old: line(old[i:op.I2]), New: line(now[j:op.J2])})
	}
	return out
}

func isFlag(s string) bool { return strings.HasPrefix(s, "-") && !strings.Contains(s, "=") }

// starts reports whether an argument is there and no flag.
func starts(args []string, i int) bool { return i < len(args) && !strings.HasPrefix(args[i], "-") }

// line is a run of arguments as one would type it.
func line(args []string) string {
	var out []string
	for i := 0; i < len(args); i++ {
		text := quote(args[i])
		// A flag and its value are told apart from what follows: a secret hides no
		// more than itself.
		if isFlag(args[i]) && starts(args, i+1) {
			i++
			text += " " + quote(args[i])
		}
		out = append(out, diag.Mask(text))
	}
	return strings.Join(out, " ")
}

func quote(arg string) string {
	if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$`{}[]*?;&|<>()#") {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// brief tells what an element is that only one side has: a variable by its value,
// a container by its image.
func brief(path string, element any) string {
	m, ok := element.(map[string]any)
	if !ok {
		return ""
	}
	for _, field := range []string{"value", "image", "mountPath"} {
		if v, ok := m[field].(string); ok {
			return show(path, v)
		}
	}
	return show(path, m)
}

// plainEnv begin the names of variables that tune engines and their libraries. The
// value of any other may be a secret.
var plainEnv = []string{
	"ASCEND_", "CUDA_", "GLOO_", "GPUSTACK_", "HCCL_", "LMCACHE_", "MC_", "MOONCAKE_", "NCCL_", "NVIDIA_", "OMP_",
	"PYTORCH_", "RAY_", "SGLANG_", "TORCH_", "UCX_", "VLLM_",
}

// hidden stands for a value that may be a secret.
const hidden = "***"

// show spells a value. That of a variable is hidden unless its name tells that it
// is no secret.
func show(path string, v any) string {
	text, ok := v.(string)
	if v == nil {
		return ""
	}
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return diag.Mask(string(b))
	}
	_, name, found := strings.Cut(path, ".env[")
	if !found {
		return text
	}
	name, _, _ = strings.Cut(name, "]")
	if !slices.ContainsFunc(plainEnv, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return hidden
	}
	prefix := name + ": "
	return strings.TrimPrefix(diag.Mask(prefix+text), prefix)
}

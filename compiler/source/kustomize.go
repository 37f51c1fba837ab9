// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// kustomizeLock guards the OpenAPI schema, which kustomize keeps globally.
var kustomizeLock sync.Mutex

const annotationOrigin = "config.kubernetes.io/origin"

// kustomize builds a directory and adds what comes out.
func (r *reading) kustomize(dir string) error {
	abs, err := filesys.ConfirmDir(r.FS, dir)
	if err != nil {
		return err
	}
	t := &tree{
		r:         r,
		visited:   map[string]bool{},
		documents: map[string][]*document{},
		overlay:   overlay{FileSystem: r.FS, files: map[string][]byte{}},
	}
	before := len(r.set.Findings)
	if err := t.enter(dir, abs.String(), false); err != nil {
		return err
	}
	if r.set.Findings[before:].HasErrors() {
		return nil // kustomize would say the same again, or reach for the network
	}
	name := path.Join(dir, filepath.Base(kustomizationOf(r.FS, abs.String())))
	built, err := t.run(abs)
	if err != nil {
		message := strings.ReplaceAll(err.Error(), abs.String(), dir)
		report{findings: &r.set.Findings}.addAt(diag.Position{File: name}, RuleKustomizeBuild, "",
			"kustomize cannot build the directory: "+strings.TrimSpace(message), "")
		return nil
	}
	for i, res := range built.Resources() {
		o := &Object{Node: yaml.NewRNode(res.YNode()), File: name, Index: i}
		rep := report{file: name, findings: &r.set.Findings}
		if !normalise(o.Node.YNode(), &r.budget, rep) {
			continue
		}
		t.locate(o, directory{abs, dir}, res.GetName())
		previous := o.PreviousName
		if !t.wantsOrigin {
			removeAnnotation(o.Node.YNode(), annotationOrigin)
		}
		if !o.admit(rep) {
			continue
		}
		if o.PreviousName == "" {
			o.PreviousName = previous
		}
		r.set.Objects = append(r.set.Objects, o)
	}
	r.set.Objects = append(r.set.Objects, t.local...)
	return nil
}

func (t *tree) run(abs filesys.ConfirmedDir) (built resmap.ResMap, err error) {
	kustomizeLock.Lock()
	defer kustomizeLock.Unlock()
	// Kustomize does not check everything before it uses it, for example the
	// target of a replacement.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize crashed: %v", p)
		}
	}()
	// The path is absolute, so that kustomize does not take the directory for
	// the address of a repository.
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(&t.overlay, abs.String())
}

func hasItem(list *yaml.Node, value string) bool {
	return list != nil && slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Value == value })
}

// locate finds the document that an object was built from.
func (t *tree) locate(o *Object, dir directory, name string) {
	var origin struct{ Path, ConfiguredIn string }
	if err := yaml.Unmarshal([]byte(o.Annotation(annotationOrigin)), &origin); err != nil {
		return
	}
	switch {
	case origin.Path != "":
		var at string
		o.File, at = dir.file(origin.Path)
		id, err := t.r.identity(at)
		if err != nil {
			return
		}
		if o.doc, o.origin = originOf(t.documents[id], o.Node.YNode(), name); o.origin != nil {
			if previous := nameOf(o.origin); previous != name {
				o.PreviousName = previous
			}
		}
	case origin.ConfiguredIn != "":
		o.File, _ = dir.file(origin.ConfiguredIn)
	}
}

// originOf picks, of the objects of a file, the one of the same type whose name
// is that of the object or a part of it, as prefixes and suffixes are added.
func originOf(docs []*document, object *yaml.Node, name string) (*document, *yaml.Node) {
	type candidate struct {
		doc  *document
		node *yaml.Node
	}
	var found []candidate
	for _, d := range docs {
		for _, n := range flatten(d.root) {
			if sameType(n, object) && strings.Contains(name, nameOf(n)) {
				found = append(found, candidate{d, n})
			}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	best := slices.MaxFunc(found, func(a, b candidate) int { return len(nameOf(a.node)) - len(nameOf(b.node)) })
	same := 0
	for _, c := range found {
		if nameOf(c.node) == nameOf(best.node) {
			same++
		}
	}
	if same > 1 {
		return nil, nil
	}
	return best.doc, best.node
}

func flatten(n *yaml.Node) []*yaml.Node {
	items, ok := listItems(n)
	if !ok {
		return []*yaml.Node{n}
	}
	var out []*yaml.Node
	for _, item := range items {
		out = append(out, flatten(item)...)
	}
	return out
}

func sameType(a, b *yaml.Node) bool {
	return stringOf(lookup(a, "kind")) == stringOf(lookup(b, "kind")) &&
		stringOf(lookup(a, "apiVersion")) == stringOf(lookup(b, "apiVersion"))
}

func nameOf(n *yaml.Node) string { return stringOf(lookup(lookup(n, "metadata"), "name")) }

// removeAnnotation removes an annotation, and the annotations when it was the
// last one.
func removeAnnotation(root *yaml.Node, key string) {
	metadata := lookup(root, "metadata")
	annotations := lookup(metadata, "annotations")
	removeKey(annotations, key)
	if annotations != nil && annotations.Kind == yaml.MappingNode && len(annotations.Content) == 0 {
		removeKey(metadata, "annotations")
	}
}

func removeKey(n *yaml.Node, key string) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}

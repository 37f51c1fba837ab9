// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio/filters"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// originAnnotations is the build metadata that makes kustomize say where each
// object comes from.
const originAnnotations = "originAnnotations"

// tree is what a kustomization reaches on the local disk. It is read before
// kustomize reads it, to find what kustomize would fetch from the network, the
// entries that are mdc itself, and the text that positions point into.
type tree struct {
	r         *reading
	visited   map[string]bool        // directories by identity
	documents map[string][]*document // of the files that were parsed, by identity
	overlay   overlay

	// local are the objects of resource files that kustomize does not build.
	local []*Object

	// wantsOrigin is whether the user asked for origin annotations.
	wantsOrigin bool
}

// directory is a place of the tree: where it is, and what the user calls it.
type directory struct {
	abs  filesys.ConfirmedDir
	name string
}

func (d directory) file(entry string) (name, at string) {
	if filepath.IsAbs(entry) {
		return filepath.ToSlash(entry), entry
	}
	return path.Join(d.name, filepath.ToSlash(entry)), d.abs.Join(entry)
}

// enter reads the kustomization of a directory and what it refers to. In a
// directory of functions the resources are functions too.
func (t *tree) enter(name, at string, functions bool) error {
	abs, err := filesys.ConfirmDir(t.r.FS, at)
	if err != nil || t.visited[abs.String()] {
		return nil // kustomize says it better
	}
	t.visited[abs.String()] = true
	dir := directory{abs, name}
	file := kustomizationOf(t.r.FS, abs.String())
	if file == "" {
		return nil
	}
	docs, err := t.load(path.Join(name, filepath.Base(file)), file)
	if err != nil || len(docs) != 1 || docs[0].root.Kind != yaml.MappingNode {
		return err
	}
	v := &visit{tree: t, dir: dir, doc: docs[0], functions: functions, emptied: map[*yaml.Node]bool{}}
	if len(t.visited) == 1 {
		v.changed = true // the first one is built, and is asked for origins
		t.wantsOrigin = hasItem(lookup(v.doc.root, "buildMetadata"), originAnnotations)
	}
	if err := v.fields(); err != nil || !v.changed {
		return err
	}
	return t.replace(file, v.doc.root)
}

// replace shows kustomize another kustomization. The build metadata keeps one
// from which everything was taken from being refused as empty; only that of the
// directory being built counts.
func (t *tree) replace(file string, root *yaml.Node) error {
	metadata := lookup(root, "buildMetadata")
	if metadata == nil || metadata.Kind != yaml.SequenceNode {
		metadata = &yaml.Node{Kind: yaml.SequenceNode}
		root.Content = append(root.Content, yaml.NewStringRNode("buildMetadata").YNode(), metadata)
	}
	if !hasItem(metadata, originAnnotations) {
		metadata.Content = append(metadata.Content, yaml.NewStringRNode(originAnnotations).YNode())
	}
	data, err := yaml.Marshal(root)
	if err != nil {
		return err
	}
	id, err := t.r.identity(file)
	t.overlay.files[id] = data
	return err
}

// load parses a file once. Documents that must not be expanded are left out,
// and a finding keeps the build from running.
func (t *tree) load(name, at string) ([]*document, error) {
	id, err := t.r.identity(at)
	if err != nil || t.r.FS.IsDir(at) {
		return nil, nil // kustomize says it better
	}
	if docs, ok := t.documents[id]; ok {
		return docs, nil
	}
	t.documents[id] = nil
	text, err := t.r.open(name, at)
	if err != nil || text == nil {
		return nil, err
	}
	var docs []*document
	for _, d := range parse(text, &t.r.set.Findings) {
		if normalise(d.root, &t.r.budget, report{file: name, doc: d, findings: &t.r.set.Findings}) {
			docs = append(docs, d)
			for _, n := range flatten(d.root) {
				o := &Object{Node: yaml.NewRNode(n), File: name, doc: d}
				t.r.set.Findings = append(t.r.set.Findings, o.identify()...)
			}
		}
	}
	t.documents[id] = docs
	return docs, nil
}

// visit walks the fields of one kustomization.
type visit struct {
	*tree
	dir       directory
	doc       *document
	functions bool
	changed   bool
	emptied   map[*yaml.Node]bool
}

func (v *visit) fields() error {
	root := v.doc.root
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i].Value, root.Content[i+1]
		var err error
		switch key {
		case "resources", "bases":
			if v.functions {
				err = v.functionList(value)
			} else {
				err = v.each(value, v.resource)
			}
		case "generators", "transformers", "validators":
			err = v.functionList(value)
		case "components":
			err = v.each(value, v.component)
		case "crds", "configurations", "patchesStrategicMerge":
			err = v.each(value, v.manifest)
		case "patches", "patchesJson6902", "replacements":
			err = v.each(value, func(n *yaml.Node) error { return v.manifest(lookup(n, "path")) })
		case "configMapGenerator", "secretGenerator", "openapi":
			v.data(value, v.doc.node)
		}
		if err != nil {
			return err
		}
	}
	v.dropEmpty()
	return nil
}

func (v *visit) each(list *yaml.Node, do func(*yaml.Node) error) error {
	if list.Kind != yaml.SequenceNode {
		return nil
	}
	for _, n := range list.Content {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}

// resource is a file, or a directory to enter.
func (v *visit) resource(n *yaml.Node) error { return v.reference(n, false) }

func (v *visit) reference(n *yaml.Node, functions bool) error {
	entry := stringOf(n)
	if entry == "" || v.refuse(n, isRepository(entry)) {
		return nil
	}
	name, at := v.dir.file(entry)
	if v.r.FS.IsDir(at) {
		return v.enter(name, at, functions)
	}
	docs, err := v.load(name, at)
	if !functions {
		v.keepLocal(name, docs)
	}
	return err
}

// keepLocal keeps the objects of a resource file that are configuration of
// tools: kustomize leaves them out of what it builds, and they may be facts.
func (v *visit) keepLocal(name string, docs []*document) {
	for _, d := range docs {
		for i, n := range flatten(d.root) {
			o := &Object{Node: yaml.NewRNode(n), File: name, Index: i, doc: d}
			known := slices.ContainsFunc(v.local, func(l *Object) bool { return l.Node.YNode() == n })
			if !known && o.Annotation(filters.LocalConfigAnnotation) == "true" && !o.identify().HasErrors() {
				v.local = append(v.local, o)
			}
		}
	}
}

func (v *visit) component(n *yaml.Node) error {
	entry := stringOf(n)
	if entry == "" || v.refuse(n, isRepository(entry)) {
		return nil
	}
	name, at := v.dir.file(entry)
	return v.enter(name, at, false)
}

// manifest is a file of YAML; patches may also stand inline.
func (v *visit) manifest(n *yaml.Node) error {
	if n == nil {
		return nil
	}
	entry := stringOf(n)
	if entry == "" || isInline(entry) || v.refuse(n, isURL(entry)) {
		return nil
	}
	_, err := v.load(v.dir.file(entry))
	return err
}

// data are files whose contents do not matter here: only where they are read
// from does. Places come from at, as the nodes may be those of another document.
func (v *visit) data(n *yaml.Node, at func(*yaml.Node) diag.Position) {
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			v.data(c, at)
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch n.Content[i].Value {
		case "path", "paths", "files", "envs", "env":
			v.dataFiles(n.Content[i+1], at)
		default:
			v.data(n.Content[i+1], at)
		}
	}
}

func (v *visit) dataFiles(n *yaml.Node, at func(*yaml.Node) diag.Position) {
	for _, c := range n.Content {
		v.dataFiles(c, at)
	}
	entry := stringOf(n)
	if _, file, ok := strings.Cut(entry, "="); ok && !isURL(entry) {
		entry = file
	}
	if isURL(entry) {
		v.remote(at(n), n.Value)
	}
}

// refuse reports an entry that would be fetched from the network.
func (v *visit) refuse(n *yaml.Node, remote bool) bool {
	if remote {
		v.remote(v.doc.node(n), n.Value)
	}
	return remote
}

func (v *visit) remote(p diag.Position, what string) {
	report{findings: &v.r.set.Findings}.addAt(p, RuleKustomizeRemote, "",
		fmt.Sprintf("the kustomization refers to %s, and a compile reads nothing from the network", quote(what)),
		"run `kustomize localize` and commit the copy, or vendor it")
}

// functionList takes mdc out of a list of functions.
func (v *visit) functionList(list *yaml.Node) error {
	if list.Kind != yaml.SequenceNode {
		return nil
	}
	var kept []*yaml.Node
	for _, n := range list.Content {
		keep, err := v.function(n)
		if err != nil {
			return err
		}
		if keep != nil {
			kept = append(kept, keep)
		}
		v.changed = v.changed || keep != n
	}
	v.emptied[list] = len(kept) < len(list.Content)
	list.Content = kept
	return nil
}

// function returns what is to be kept of an entry: the entry, the rest of its
// documents inline, or nothing.
func (v *visit) function(n *yaml.Node) (*yaml.Node, error) {
	entry := stringOf(n)
	file := path.Join(v.dir.name, path.Base(v.doc.text.file))
	var docs []*document
	switch {
	case entry == "":
		return n, nil
	case isInline(entry):
		docs = v.inline(file, entry)
	case v.refuse(n, isRepository(entry)):
		return n, nil
	default:
		name, at := v.dir.file(entry)
		if v.r.FS.IsDir(at) {
			return n, v.enter(name, at, true)
		}
		var err error
		if docs, err = v.load(name, at); err != nil {
			return nil, err
		}
		file = name
	}
	var rest []string
	for _, d := range docs {
		if isOwnFunction(d.root) {
			o := &Object{Node: yaml.NewRNode(d.root), File: file, Index: len(v.r.set.Skipped)}
			if !isInline(entry) {
				o.doc = d
			}
			o.identify() // its findings are known since it was read
			v.r.set.Skipped = append(v.r.set.Skipped, o)
			continue
		}
		at := d.node
		if isInline(entry) {
			at = func(*yaml.Node) diag.Position { return v.doc.node(n) }
		}
		v.data(d.root, at)
		s, err := yaml.NewRNode(d.root).String()
		if err != nil {
			return nil, err
		}
		rest = append(rest, s)
	}
	switch len(rest) {
	case len(docs):
		return n, nil
	case 0:
		return nil, nil
	}
	return yaml.NewStringRNode(strings.Join(rest, "---\n")).YNode(), nil
}

// inline parses documents that stand in the kustomization itself. Findings
// about them have no line of their own.
func (v *visit) inline(file, entry string) []*document {
	var findings diag.List
	docs := parse(&text{file: file, data: []byte(entry)}, &findings)
	usable := docs[:0]
	for _, d := range docs {
		if normalise(d.root, &v.r.budget, report{file: file, findings: &findings}) {
			usable = append(usable, d)
		}
	}
	for _, f := range findings {
		f.Line, f.Column = 0, 0
		v.r.set.Findings = append(v.r.set.Findings, f)
	}
	return usable
}

func isInline(entry string) bool {
	return strings.ContainsAny(entry, "\n{") || strings.Contains(entry, ": ")
}

// dropEmpty removes the lists of functions of which nothing was kept.
func (v *visit) dropEmpty() {
	root := v.doc.root
	var kept []*yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		if value := root.Content[i+1]; value.Kind == yaml.SequenceNode && len(value.Content) == 0 && v.emptied[value] {
			continue
		}
		kept = append(kept, root.Content[i], root.Content[i+1])
	}
	root.Content = kept
}

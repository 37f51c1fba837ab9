// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler/diag"
)

// OutputManifest is the file that marks a directory as output of mdc. A walk
// does not read such a directory: what it holds comes from its neighbours.
const OutputManifest = ".mdc-files"

// Loader reads paths of a file system.
type Loader struct {
	// FS is where every path is read. Relative paths are its business.
	FS filesys.FileSystem

	// Stdin is read for the path "-".
	Stdin io.Reader

	// Exclude are directories and files that are never read, for example the
	// directory that output is written to.
	Exclude []string
}

// Load reads files, directories, kustomizations and standard input ("-"). A file
// that is given twice is read once. The error is about a path that cannot be
// read; what is wrong inside of a file is a finding of the set.
func (l Loader) Load(paths ...string) (*Set, error) {
	r := &reading{
		Loader:   l,
		set:      &Set{texts: map[string]*text{}},
		budget:   MaxExpansion,
		seen:     map[string]*input{},
		excluded: map[string]bool{},
	}
	for _, p := range l.Exclude {
		if id, err := r.identity(p); err == nil {
			r.excluded[id] = true
		}
	}
	for _, p := range paths {
		if err := r.collect(p); err != nil {
			return nil, err
		}
	}
	for _, in := range r.inputs {
		if err := r.read(in); err != nil {
			return nil, err
		}
		if r.tooLarge {
			break
		}
	}
	return r.set, nil
}

// input is one thing to read.
type input struct {
	name      string // as positions call it
	kustomize bool
	// explicit inputs were named by the user; other files were met in a
	// directory and may hold something that is no Kubernetes object.
	explicit bool
}

// reading is the state of one Load.
type reading struct {
	Loader
	set      *Set
	inputs   []*input
	seen     map[string]*input // by identity
	excluded map[string]bool
	budget   int // nodes that aliases may still add
	bytes    int
	tooLarge bool
}

// identity is the same for two spellings of one path.
func (r *reading) identity(p string) (string, error) {
	dir, file, err := r.FS.CleanedAbs(p)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir.String(), file), nil
}

// collect finds out what a path is, without reading files.
func (r *reading) collect(p string) error {
	if p == stdinPath {
		return r.add(&input{name: stdinPath, explicit: true}, stdinPath)
	}
	if !r.FS.Exists(p) {
		return fmt.Errorf("%s: no such file or directory", p)
	}
	id, err := r.identity(p)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	name := filepath.ToSlash(filepath.Clean(p))
	switch {
	case !r.FS.IsDir(p):
		return r.add(&input{name: name, explicit: true}, id)
	case kustomizationOf(r.FS, name) != "":
		return r.add(&input{name: name, kustomize: true, explicit: true}, id)
	}
	return r.walk(name, id)
}

func (r *reading) add(in *input, id string) error {
	if r.excluded[id] {
		return nil
	}
	if known, ok := r.seen[id]; ok {
		known.explicit = known.explicit || in.explicit
		return nil
	}
	r.seen[id] = in
	r.inputs = append(r.inputs, in)
	return nil
}

// walk collects the files of a directory, in sorted order. It begins where the
// directory really is: a walk does not follow links.
func (r *reading) walk(dir, at string) error {
	var names []string
	root := ""
	err := r.FS.Walk(at, func(p string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if root == "" {
			root = p
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name := path.Join(dir, filepath.ToSlash(rel))
		if info.IsDir() {
			id, err := r.identity(name)
			if isHidden(name) || r.FS.Exists(path.Join(name, OutputManifest)) || err == nil && r.excluded[id] {
				return filepath.SkipDir
			}
			return nil
		}
		// Opening a pipe would wait for whoever writes to it.
		if isManifest(name) && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) == 0 {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	slices.Sort(names)
	for _, name := range names {
		id, err := r.identity(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := r.add(&input{name: name}, id); err != nil {
			return err
		}
	}
	return nil
}

func isHidden(name string) bool {
	return strings.HasPrefix(path.Base(name), ".")
}

func isManifest(name string) bool {
	base := path.Base(name)
	if isHidden(name) || base == "Kptfile" || slices.Contains(konfig.RecognizedKustomizationFileNames(), base) {
		return false
	}
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(base))
}

// kustomizationOf returns the path of the kustomization file of a directory,
// empty when it has none.
func kustomizationOf(fsys filesys.FileSystem, dir string) string {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		if p := filepath.Join(dir, base); fsys.Exists(p) && !fsys.IsDir(p) {
			return p
		}
	}
	return ""
}

func (r *reading) read(in *input) error {
	if in.kustomize {
		return r.kustomize(in.name)
	}
	t, err := r.open(in.name, in.name)
	if err != nil || t == nil {
		return err
	}
	index := 0
	for _, d := range parse(t, &r.set.Findings) {
		r.objects(d, d.root, in, &index)
	}
	return nil
}

// open reads the file at a path and keeps its text under the name; nil when the
// input became too large.
func (r *reading) open(name, at string) (*text, error) {
	data, err := r.contents(at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", displayName(name), err)
	}
	if r.bytes += len(data); r.bytes > MaxInput {
		r.tooLarge = true
		report{file: name, findings: &r.set.Findings}.addAt(diag.Position{File: displayName(name)}, RuleTooLarge, "",
			fmt.Sprintf("the input is larger than %d MB; this file and those after it were not read", MaxInput>>20),
			"give fewer files, or run once per directory")
		return nil, nil
	}
	t := &text{file: name, data: data}
	r.set.texts[displayName(name)] = t
	return t, nil
}

// contents reads no more than what is needed to see that it is too much.
func (r *reading) contents(at string) ([]byte, error) {
	limit := int64(MaxInput - r.bytes + 1)
	if at == stdinPath {
		if r.Stdin == nil {
			return nil, errors.New("there is no standard input")
		}
		return io.ReadAll(io.LimitReader(r.Stdin, limit))
	}
	f, err := r.FS.Open(at)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	return data, errors.Join(err, f.Close())
}

// objects adds what a document holds: an object, or the items of a list.
func (r *reading) objects(d *document, root *yaml.Node, in *input, index *int) {
	rep := report{file: in.name, doc: d, findings: &r.set.Findings}
	if root.Kind != yaml.MappingNode {
		if !in.explicit && isJSONPatch(root) {
			return
		}
		rep.add(root, "the document is not an object but "+describe(root), "write apiVersion, kind and metadata, or remove the document")
		return
	}
	if !in.explicit && lookup(root, "apiVersion") == nil && lookup(root, "kind") == nil {
		return
	}
	if !normalise(root, &r.budget, rep) {
		return
	}
	if strings.HasSuffix(in.name, ".json") || in.name == stdinPath && looksLikeJSON(d.body) {
		blockStyle(root)
	}
	r.object(d, root, in, index)
}

// object adds an object, or the items of a list, which are normalised already.
func (r *reading) object(d *document, root *yaml.Node, in *input, index *int) {
	rep := report{file: in.name, doc: d, findings: &r.set.Findings}
	if items, ok := listItems(root); ok {
		for _, i := range duplicateKeys(root) {
			v := duplicateKey(root.Content[i], &trail{key: root.Content[i].Value})
			rep.addField(root.Content[i], v.Field, v.Message, v.Remedy)
		}
		for _, item := range items {
			if item.Kind != yaml.MappingNode {
				rep.add(item, "the item of the list is not an object but "+describe(item), "remove the item")
				continue
			}
			typeItem(root, item)
			r.object(d, item, in, index)
		}
		return
	}
	o := &Object{Node: yaml.NewRNode(root), File: in.name, Index: *index, doc: d}
	if o.admit(rep) {
		*index++
		r.set.Objects = append(r.set.Objects, o)
	}
}

// isJSONPatch recognises the patches that lie beside manifests.
func isJSONPatch(n *yaml.Node) bool {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return false
	}
	for _, c := range n.Content {
		if lookup(c, "op") == nil || lookup(c, "path") == nil {
			return false
		}
	}
	return true
}

// listItems returns the items of a v1 List, a typed list or a ResourceList.
func listItems(n *yaml.Node) ([]*yaml.Node, bool) {
	kind := stringOf(lookup(n, "kind"))
	items := lookup(n, "items")
	isList := kind == "List" && stringOf(lookup(n, "apiVersion")) == "v1" ||
		kind == "ResourceList" && strings.HasPrefix(stringOf(lookup(n, "apiVersion")), "config.kubernetes.io/")
	switch {
	case items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(kind, "List"):
		return items.Content, true
	case isList && (items == nil || isNull(items)):
		return nil, true
	}
	return nil, false
}

// typeItem gives an item of a typed list the type that the list implies, as an
// API server leaves it out there.
func typeItem(list, item *yaml.Node) {
	kind := strings.TrimSuffix(stringOf(lookup(list, "kind")), "List")
	if kind == "" || kind == "Resource" || lookup(item, "kind") != nil || lookup(item, "apiVersion") != nil {
		return
	}
	item.Content = append([]*yaml.Node{
		yaml.NewStringRNode("apiVersion").YNode(), yaml.NewStringRNode(stringOf(lookup(list, "apiVersion"))).YNode(),
		yaml.NewStringRNode("kind").YNode(), yaml.NewStringRNode(kind).YNode(),
	}, item.Content...)
}

// describe names what a node is, for messages.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.Tag {
	case yaml.NodeTagNull:
		return "null"
	case yaml.NodeTagBool:
		return "the boolean " + shorten(n.Value)
	case yaml.NodeTagInt, yaml.NodeTagFloat:
		return "the number " + shorten(n.Value)
	}
	return "the string " + quote(n.Value)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fn is mdc as a KRM function: a ResourceList in, the same items and
// what was generated for the ModelDeployments among them out.
//
// The protocol is the Configuration Functions Specification of kustomize and
// kpt. A host deletes what a function does not return, so every item is
// returned, facts included; only the output of an earlier run is replaced.
package fn

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// Processor compiles the ModelDeployments of a ResourceList. Namespace, Facts
// and WarningsAsErrors are what the caller's flags say; a functionConfig adds to
// them.
type Processor struct {
	// Version of the compiler, noted on the templates.
	Version string
	// Namespace of objects that state none.
	Namespace string
	// Facts are read and not returned; FactFindings are what reading them found.
	Facts        []*source.Object
	FactFindings diag.List
	// WarningsAsErrors refuses what would otherwise be a warning.
	WarningsAsErrors bool
	// LoadFacts reads the files and directories that a ConfigMap names under
	// "facts"; nil refuses the key.
	LoadFacts func(paths []string) ([]*source.Object, diag.List, error)

	// Findings are those of the last run.
	Findings diag.List
}

// errNoResourceList is for input that no host of functions would send.
var errNoResourceList = errors.New("the input is not a ResourceList of config.kubernetes.io/v1; to compile a stream of manifests use mdc build -")

var _ framework.ResourceListProcessor = &Processor{}

// Run reads a ResourceList and writes one. A ResourceList is written even when
// findings are errors: then its items are unchanged and the findings are its
// results. err is for input that is no ResourceList and for I/O.
func (p *Processor) Run(r io.Reader, w io.Writer) error {
	input := &counter{Reader: r}
	rw := &kio.ByteReadWriter{Reader: input, Writer: w, KeepReaderAnnotations: true}
	err := framework.Execute(framework.ResourceListProcessorFunc(func(rl *framework.ResourceList) error {
		if isBare(rl.Items) {
			rw.WrappingKind, rw.WrappingAPIVersion = kio.ResourceListKind, rl.Items[0].GetApiVersion()
			rl.Items = nil
		}
		if rw.WrappingKind != kio.ResourceListKind {
			return errNoResourceList
		}
		if input.read > source.MaxInput {
			return p.finish(rl, nil, diag.List{{
				Rule: source.RuleTooLarge, Severity: diag.Error,
				Message: fmt.Sprintf("the input is larger than %d MB", source.MaxInput>>20),
				Remedy:  "run once per directory",
			}})
		}
		return p.Process(rl)
	}), rw)
	var results framework.Results
	if errors.As(err, &results) {
		return nil
	}
	return err
}

// counter counts what was read.
type counter struct {
	io.Reader
	read int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.read += n
	return n, err
}

// isBare recognises a ResourceList that has neither items nor a functionConfig,
// which is taken for an item itself.
func isBare(items []*yaml.RNode) bool {
	return len(items) == 1 && items[0].GetKind() == kio.ResourceListKind && strings.HasPrefix(items[0].GetApiVersion(), "config.kubernetes.io/")
}

// Process compiles the items of a ResourceList in place. It returns the results
// as the error when any is of severity error.
func (p *Processor) Process(rl *framework.ResourceList) error {
	items, findings, err := p.process(rl)
	if err != nil {
		return err
	}
	return p.finish(rl, items, findings)
}

// finish puts findings into the results, and the items into the list unless a
// finding is an error.
func (p *Processor) finish(rl *framework.ResourceList, items []*yaml.RNode, findings diag.List) error {
	if p.WarningsAsErrors {
		findings = findings.Escalate()
	}
	p.Findings = findings.Sorted()
	rl.Results = results(p.Findings)
	if p.Findings.HasErrors() {
		return rl.Results
	}
	rl.Items = items
	return nil
}

func (p *Processor) process(rl *framework.ResourceList) ([]*yaml.RNode, diag.List, error) {
	functionConfig, nodes := copies(rl.FunctionConfig, rl.Items)
	config, findings := p.configure(functionConfig)
	// What the items lack may be what a broken configuration would have given.
	misconfigured := findings.HasErrors()
	findings = append(findings, p.FactFindings...)
	set := source.FromNodes(nodes)
	findings = append(findings, set.Findings...)
	if misconfigured {
		return nil, findings, nil
	}
	objects := set.Objects
	if config.deployment != nil {
		var more diag.List
		objects, more = mergeDeployment(objects, config.deployment, config.namespace)
		findings = append(findings, more...)
	}
	out, more := compiler.Compile(compiler.Input{
		Objects:   objects,
		Facts:     config.facts,
		Namespace: config.namespace,
		Settings:  config.settings,
		Version:   p.Version,
	})
	findings = append(findings, more...)
	if out == nil {
		return nil, findings, nil
	}
	items, err := merge(objects, out)
	return items, findings, err
}

// copies keeps the items as they came in, so that they can be returned
// unchanged.
func copies(config *yaml.RNode, items []*yaml.RNode) (*yaml.RNode, []*yaml.RNode) {
	c := copier{}
	if !config.IsNil() {
		config = yaml.NewRNode(c.copy(config.YNode()))
	}
	out := make([]*yaml.RNode, len(items))
	for i, n := range items {
		out[i] = yaml.NewRNode(c.copy(n.YNode()))
	}
	// An alias may stand in another item than its anchor.
	for _, alias := range c.aliases {
		if anchor := c.anchors[alias.Alias]; anchor != nil {
			alias.Alias = anchor
		}
	}
	return config, out
}

// copier copies trees so that aliases among them stand for copies too.
type copier struct {
	anchors map[*yaml.Node]*yaml.Node
	aliases []*yaml.Node
}

func (c *copier) copy(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	out := *n
	if n.Alias != nil {
		c.aliases = append(c.aliases, &out)
	}
	if n.Anchor != "" {
		if c.anchors == nil {
			c.anchors = map[*yaml.Node]*yaml.Node{}
		}
		c.anchors[n] = &out
	}
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		out.Content[i] = c.copy(child)
	}
	return &out
}

// results puts findings into the form of the protocol.
func results(findings diag.List) framework.Results {
	var out framework.Results
	for _, f := range findings {
		r := &framework.Result{
			Message:  f.Message,
			Severity: framework.Error,
			Tags:     map[string]string{"rule": f.Rule},
		}
		if f.Severity == diag.Warning {
			r.Severity = framework.Warning
		}
		if f.Remedy != "" {
			r.Message += "; to fix: " + f.Remedy
			r.Tags["remedy"] = f.Remedy
		}
		if f.Name != "" {
			r.ResourceRef = &yaml.ResourceIdentifier{
				TypeMeta: yaml.TypeMeta{APIVersion: f.APIVersion, Kind: f.Kind},
				NameMeta: yaml.NameMeta{Name: f.Name, Namespace: f.Namespace},
			}
		}
		if f.Field != "" {
			r.Field = &framework.Field{Path: f.Field}
		}
		if f.File != "" {
			r.File = &framework.File{Path: f.File}
		}
		out = append(out, r)
	}
	return out
}

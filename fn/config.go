// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package fn

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"gpustack.ai/mdc/compiler"
	configv1 "gpustack.ai/mdc/compiler/api/config/v1"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

// RuleFunctionConfig is the rule of findings about the functionConfig itself.
const RuleFunctionConfig = "function-config"

// config is what flags and functionConfig say together.
type config struct {
	namespace string
	facts     []*source.Object
	settings  map[string]string
	// deployment is a ModelDeployment given as the functionConfig.
	deployment *source.Object
}

// configure reads the functionConfig, which may be absent.
func (p *Processor) configure(n *yaml.RNode) (config, diag.List) {
	c := config{namespace: p.Namespace, facts: p.Facts}
	if n.IsNilOrEmpty() {
		return c, nil
	}
	set := source.FromNodes([]*yaml.RNode{n})
	if len(set.Objects) == 0 {
		return c, set.Findings
	}
	o := set.Objects[0]
	findings := set.Findings
	switch {
	case compiler.IsModelDeployment(o):
		c.deployment = o
	case o.APIVersion == "v1" && o.Kind == "ConfigMap":
		findings = append(findings, p.fromConfigMap(&c, o)...)
	case o.APIVersion == configv1.GroupVersion.String() && o.Kind == configv1.KindCompile:
		findings = append(findings, p.fromCompile(&c, o)...)
	default:
		findings = append(findings, o.Finding(diag.Error, RuleFunctionConfig, "kind",
			fmt.Sprintf("a functionConfig of kind %s (%s) is not known", o.Kind, o.APIVersion),
			"use a ModelDeployment, a ConfigMap whose keys are flags, or Compile of "+configv1.GroupVersion.String()))
	}
	return c, findings
}

// configMapKeys are the flags that a ConfigMap may hold.
var configMapKeys = map[string]func(*Processor, *config, string) error{
	"namespace": func(_ *Processor, c *config, value string) error {
		if problems := validation.IsDNS1123Label(value); len(problems) > 0 {
			return errors.New(problems[0])
		}
		c.namespace = value
		return nil
	},
	"warnings-as-errors": func(p *Processor, _ *config, value string) error {
		b, err := strconv.ParseBool(value)
		p.WarningsAsErrors = p.WarningsAsErrors || b
		return err
	},
	"facts": func(p *Processor, c *config, value string) error {
		if p.LoadFacts == nil {
			return fmt.Errorf("files cannot be read here; use kind %s", configv1.KindCompile)
		}
		split := func(r rune) bool { return r == ',' || r == '\n' || r == ' ' }
		objects, findings, err := p.LoadFacts(strings.FieldsFunc(value, split))
		c.facts = slices.Concat(c.facts, objects)
		p.FactFindings = append(p.FactFindings, findings...)
		return err
	},
}

func (p *Processor) fromConfigMap(c *config, o *source.Object) (findings diag.List) {
	var cm corev1.ConfigMap
	if findings = source.Decode(o, &cm); findings.HasErrors() {
		return findings
	}
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		refuse := func(message, remedy string) {
			findings = append(findings, o.Finding(diag.Error, RuleFunctionConfig, "data."+key, message, remedy))
		}
		set, ok := configMapKeys[key]
		if !ok {
			refuse(fmt.Sprintf("%q is not a flag of mdc fn", key),
				"use "+strings.Join(slices.Sorted(maps.Keys(configMapKeys)), ", "))
			continue
		}
		if err := set(p, c, cm.Data[key]); err != nil {
			refuse(fmt.Sprintf("the value of %s cannot be used: %v", key, err), "correct the value")
		}
	}
	return findings
}

// compileSchema is the structure of a Compile.
var compileSchema = sync.OnceValue(func() *source.Schema {
	s, err := source.ParseSchema(v1.CRDs()[configv1.GroupVersion.Group+"_compiles.yaml"])
	if err != nil {
		panic(err) // embedded at build time
	}
	return s
})

func (p *Processor) fromCompile(c *config, o *source.Object) diag.List {
	var cfg configv1.Compile
	var findings diag.List
	for _, v := range compileSchema().Validate(o) {
		findings = append(findings, v.Finding(o, cmp.Or(v.Rule(), RuleFunctionConfig)))
	}
	if findings.HasErrors() {
		return findings
	}
	if findings = source.Decode(o, &cfg); findings.HasErrors() {
		return findings
	}
	if cfg.Spec.Namespace != "" {
		c.namespace = cfg.Spec.Namespace
	}
	p.WarningsAsErrors = p.WarningsAsErrors || cfg.Spec.WarningsAsErrors
	c.settings = cfg.Spec.Settings
	for _, name := range slices.Sorted(maps.Keys(c.settings)) {
		if message, remedy := facts.JudgeSetting(facts.SettingName(name), c.settings[name]); message != "" {
			findings = append(findings, o.Finding(diag.Error, facts.RuleSettingValue, "spec.settings."+name, message, "write "+remedy))
		}
	}
	nodes, err := o.Node.Pipe(yaml.Lookup("spec", "facts"))
	if err != nil || nodes == nil {
		return findings
	}
	elements, err := nodes.Elements()
	if err != nil {
		return findings
	}
	set := source.FromNodes(elements)
	c.facts = slices.Concat(c.facts, set.Objects)
	return append(findings, set.Findings...)
}

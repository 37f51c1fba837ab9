// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compiler turns ModelDeployments and the facts they depend on into the
// manifests that a GitOps host applies.
//
// A compile is pure: it reads no clock, environment, network or directory, and
// the same input gives the same bytes whatever its order.
package compiler

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/check"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/emit"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/render"
	"gpustack.ai/mdc/compiler/router"
	"gpustack.ai/mdc/compiler/source"
)

// Input is what a compile reads.
type Input struct {
	// Objects are compiled, read as facts, or passed through.
	Objects []*source.Object
	// Facts are read and never emitted.
	Facts []*source.Object
	// Namespace is that of objects which state none.
	Namespace string
	// Settings override Settings among the facts, by name.
	Settings map[string]string
	// Version of the compiler, noted on the templates.
	Version string
}

// Output is the outcome of a compile.
type Output struct {
	// Objects are to be applied, in the order of the output.
	Objects []emit.Object
	// Deployments are the compiled deployments, by namespace and name.
	Deployments []Deployment
}

// Deployment is one compiled ModelDeployment.
type Deployment struct {
	// Object is where the deployment was read from.
	Object *source.Object
	// ModelDeployment has every default written in.
	ModelDeployment *v1.ModelDeployment
	// Roles are what its roles were rendered from, in their order.
	Roles     []*render.Role
	Templates []*corev1.PodTemplate
	Services  []*corev1.Service
	// Router is the objects of the request router; empty without one.
	Router []router.Object
}

// Compile compiles every ModelDeployment of the input. The output is nil when
// any finding is an error; all findings of the run are returned together.
func Compile(in Input) (*Output, diag.List) {
	c := &compilation{in: in}
	c.classify()
	var findings diag.List
	c.facts, findings = facts.New(slices.Concat(in.Facts, in.Objects), in.Namespace, in.Settings)
	c.findings = append(c.findings, findings...)
	c.names = newObjectNames(in.Facts, in.Objects)
	for _, o := range c.sources {
		c.compile(o)
	}
	c.collect()
	c.findings = c.findings.Sorted()
	if c.findings.HasErrors() {
		return nil, c.findings
	}
	return &Output{Objects: c.objects, Deployments: c.deployments}, c.findings
}

// compilation is the state of one run.
type compilation struct {
	in    Input
	facts *facts.Index
	names *objectNames
	// sources are the ModelDeployments, passed the objects emitted unchanged.
	sources, passed []*source.Object
	deployments     []Deployment
	objects         []emit.Object
	findings        diag.List
}

// compile judges and renders one deployment.
func (c *compilation) compile(o *source.Object) {
	s := subject(o, c.in.Namespace, c.facts, false)
	s.Rendering = true
	md, o := s.New, s.Object
	var findings diag.List
	if md != nil {
		findings = c.followRenames(md, o)
	}
	findings = append(findings, check.Judge(s)...)
	if o.Namespace == "" {
		findings = append(findings, o.Finding(diag.Error, "namespace-required", "metadata.namespace",
			"the ModelDeployment states no namespace, and a compile must not depend on the default of whoever applies it",
			"set metadata.namespace, or give --namespace"))
	}
	if md == nil || o.Namespace == "" || s.Structure.HasErrors() {
		c.findings = append(c.findings, findings...)
		return
	}
	findings = append(findings, c.invalid(md, o)...)
	cache, more := c.cache(md, o)
	findings = append(findings, more...)
	weights, more := c.weights(md, o)
	findings = append(findings, more...)
	if cache != nil && weights != nil {
		cache.Prefix = weightIdentity(weights)
	}
	roles := c.roles(md, cache, weights)
	d := Deployment{Object: o, ModelDeployment: md, Roles: roles}
	for _, r := range roles {
		templates, more := r.Templates()
		findings = append(findings, place(o, more)...)
		d.Templates = append(d.Templates, templates...)
	}
	findings = oncePerDeployment(findings)
	c.findings = append(c.findings, findings...)
	if findings.HasErrors() {
		return
	}
	d.Services = render.Services(roles)
	d.Router = router.Objects(c.router(md, roles))
	c.deployments = append(c.deployments, d)
}

// oncePerDeployment keeps the first of the findings that every role would repeat.
// A missing engine version is also a rule of admission; the compile's own
// finding says more. Of a port that the engine opens itself, and of a part of a
// card that nobody has observed, the rules say more.
func oncePerDeployment(findings diag.List) diag.List {
	seen := map[string]bool{}
	found := func(rules ...string) bool {
		return slices.ContainsFunc(findings, func(f diag.Finding) bool { return slices.Contains(rules, f.Rule) })
	}
	unversioned, reserved := found("image-version"), found("reserved-port", "reserved-listen-port")
	unobserved := slices.ContainsFunc(findings, func(f diag.Finding) bool {
		return f.Rule == "type-not-ready" && strings.HasSuffix(f.Field, ".instanceType")
	})
	return slices.DeleteFunc(findings, func(f diag.Finding) bool {
		switch f.Rule {
		case "engine-version":
			return unversioned
		case "engine-port":
			return reserved && strings.HasSuffix(f.Field, ".ports")
		case "type-not-ready":
			return strings.HasSuffix(f.Field, "].resources") && unobserved
		case "image-version", "transport-unsupported", "pair-width":
			again := seen[f.Rule+f.Field]
			seen[f.Rule+f.Field] = true
			return again
		}
		return false
	})
}

// roles returns the roles whose InstanceType is known; a rule refuses the
// others.
func (c *compilation) roles(md *v1.ModelDeployment, cache *render.Cache, weights *render.Weights) (out []*render.Role) {
	for i, r := range md.Spec.Roles {
		t, ok := c.facts.InstanceType(r.InstanceType)
		if !ok {
			continue
		}
		out = append(out, &render.Role{
			Deployment:      md,
			Index:           i,
			Type:            t.Value,
			Cache:           cache,
			Weights:         weights,
			Overcommit:      c.facts.Enabled(facts.SettingResourcesOvercommit),
			SidecarImage:    c.facts.Image(facts.SettingRoutingSidecarImage),
			ReuseTimeWait:   c.facts.Enabled(facts.SettingTCPTimeWaitReuse),
			HasRuntimeClass: c.facts.RuntimeClass,
			CompilerVersion: c.in.Version,
		})
	}
	return out
}

// router is what the request router of a deployment is rendered from.
func (c *compilation) router(md *v1.ModelDeployment, roles []*render.Role) router.Input {
	in := router.Input{
		Deployment: md,
		Image:      c.facts.Image(facts.SettingRouterImage),
		ProxyImage: c.facts.Image(facts.SettingRouterProxyImage),
	}
	for i, r := range roles {
		_, port := r.ServicePort()
		in.Roles = append(in.Roles, router.Role{
			Name: md.Spec.Roles[i].Name, Kind: md.Spec.Roles[i].Kind,
			Endpoint: r.Endpoint(), Port: port, Publishes: r.Publishes(),
		})
	}
	return in
}

// place gives findings about a deployment their object and position.
func place(o *source.Object, findings diag.List) diag.List {
	for i, f := range findings {
		findings[i] = o.Finding(f.Severity, f.Rule, f.Field, f.Message, f.Remedy)
	}
	return findings
}

// must is for edits of objects whose shape the schema has already confirmed.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

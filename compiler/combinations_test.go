// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
	"gpustack.ai/mdc/compiler/engine"
)

// dimension is one independent choice about a shape.
type dimension []func(*shape)

// dimensions of a deployment. What only some of them allow is refused, and
// counted.
var dimensions = []dimension{
	{func(*shape) {}, func(s *shape) { s.engine = sglang }},
	{func(*shape) {}, func(s *shape) { s.maker = "ascend" }, func(s *shape) { s.maker = "amd" }},
	{func(*shape) {}, func(s *shape) { s.kind = prefill }, func(s *shape) { s.kind = decode }, func(s *shape) { s.kind, s.alone = decode, true }},
	{func(*shape) {}, func(s *shape) { s.router = llmd }, func(s *shape) {
		s.router = map[v1.EngineName]string{"": vllmRouter, sglang: gateway}[s.engine]
	}},
	{func(*shape) {}, func(s *shape) {
		if s.store = "TCP"; s.maker == "ascend" && s.engine == "" {
			s.store = "CANN"
		}
	}},
	{func(*shape) {}, func(s *shape) { s.transfer = "RDMA" }},
	{func(*shape) {}, func(s *shape) { s.artifact = claimSource }, func(s *shape) { s.artifact = hubSecret }},
	{func(*shape) {}, func(*shape) {}, func(s *shape) { s.command = []string{"run", "--port", "9000"} }, func(s *shape) { s.peerCmd = []string{"run"} }},
	{func(*shape) {}, func(s *shape) { s.extra, s.peer = []string{"--port=9100"}, []string{"--port=9100"} }, func(s *shape) { s.extra = []string{"--host", "::1"} }},
	{func(*shape) {}, func(s *shape) { s.ports = []int{8000, 8200} }},
	{func(*shape) {}, func(s *shape) { s.env = []string{"MC_TE_METRIC=0", "A=", "MC_FORCE_TCP=1"} }},
}

// TestCombinations looks at Pods of all kinds of deployments for what must hold
// of any: one value for one name, nothing mounted, called or probed that is not
// there.
func TestCombinations(t *testing.T) {
	total := 1
	for _, d := range dimensions {
		total *= len(d)
	}
	const (
		tries = 700
		// stride has no factor with the total, so it meets every choice beside
		// every other.
		stride = 7919
	)
	compiled := 0
	for n := range tries {
		var s shape
		at := n * stride % total
		for rest, i := at, 0; i < len(dimensions); i++ {
			d := dimensions[i]
			d[rest%len(d)](&s)
			rest /= len(d)
		}
		out, findings := s.compile(t)
		if out == nil {
			for _, rule := range errorsOf(findings) {
				if !slices.Contains([]string{"router-same-port", "listen-port"}, rule) {
					t.Errorf("%d: %v in\n%s", at, findings, s.deployment())
				}
			}
			continue
		}
		compiled++
		for _, problem := range problems(out) {
			t.Errorf("%d: %s in\n%s", at, problem, s.deployment())
		}
	}
	if compiled < tries/2 {
		t.Errorf("only %d of %d compile", compiled, tries)
	}
}

// problems are what no API server and no engine would put up with.
func problems(out *compiler.Output) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	d := out.Deployments[0]
	open := map[string]sets.Set[int32]{} // by role
	for _, p := range d.Templates {
		spec := p.Template.Spec
		main := spec.Containers[0]
		once := func(what string, names ...string) {
			seen := sets.New[string]()
			for _, n := range names {
				if seen.Has(n) {
					say("%s: %s %s twice", p.Name, what, n)
				}
				seen.Insert(n)
			}
		}
		var env, paths, ports, names, volumes []string
		opened := sets.New[int32]()
		for _, e := range main.Env {
			env = append(env, e.Name)
		}
		for _, v := range spec.Volumes {
			volumes = append(volumes, v.Name)
		}
		for _, m := range main.VolumeMounts {
			paths = append(paths, m.MountPath)
			if !slices.Contains(volumes, m.Name) {
				say("%s: no volume %s", p.Name, m.Name)
			}
		}
		for _, c := range append(slices.Clone(spec.InitContainers), main) {
			for _, port := range c.Ports {
				ports = append(ports, fmt.Sprintf("%d/%s", port.ContainerPort, port.Protocol))
				names = append(names, port.Name)
				opened.Insert(port.ContainerPort)
			}
		}
		once("variable", env...)
		once("volume", volumes...)
		once("mount", paths...)
		once("port", ports...)
		once("port", names...)
		open[p.Template.Labels[v1.LabelComponent]] = opened
		if main.ReadinessProbe != nil && !opened.Has(main.ReadinessProbe.HTTPGet.Port.IntVal) {
			say("%s: probed on %s", p.Name, main.ReadinessProbe.HTTPGet.Port.String())
		}
		for name, limit := range main.Resources.Limits {
			if request := main.Resources.Requests[name]; name != corev1.ResourceEphemeralStorage && request.Cmp(limit) != 0 {
				say("%s: requests %s of %s, not %s", p.Name, request.String(), name, limit.String())
			}
		}
		if main.Lifecycle == nil {
			continue // a command line of the user
		}
		name := argv.Engine(d.ModelDeployment.Spec.Engine.Name)
		hosts, listening := 0, 0
		for i := range main.Command {
			l := argv.ReadListen(name, main.Command[i:min(i+2, len(main.Command))])
			if key, _ := argv.Resolve(name, main.Command[i], []string{argv.FlagHost, argv.FlagPort}); key == argv.FlagHost {
				hosts++
			} else if key == argv.FlagPort {
				listening++
				if !opened.Has(l.Port.Number) {
					say("%s: listens on %d, which is not open", p.Name, l.Port.Number)
				}
			}
		}
		if hosts != 1 || listening != 1 {
			say("%s: %d hosts and %d ports in %q", p.Name, hosts, listening, main.Command)
		}
		for _, flag := range append(argv.OwnedArgs(name), argv.FlagKVCacheDtype) {
			if n := len(slices.DeleteFunc(slices.Clone(main.Command), func(a string) bool { return a != flag })); n > 1 {
				say("%s: %s %d times", p.Name, flag, n)
			}
		}
		if uncached := strings.HasSuffix(p.Name, ".uncached"); uncached && slices.Contains(env, engine.EnvMaster) {
			say("%s: knows the store", p.Name)
		}
	}
	for _, s := range d.Services {
		role := s.Spec.Selector[v1.LabelComponent]
		for _, port := range s.Spec.Ports {
			if !open[role].Has(port.TargetPort.IntVal) {
				say("Service %s calls port %s of %s, which is not open", s.Name, port.TargetPort.String(), role)
			}
		}
	}
	return found
}

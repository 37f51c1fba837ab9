// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
)

// fronts are the engines that each router speaks to.
var fronts = map[v1.RouterName][]v1.EngineName{
	v1.RouterLLMD:   {v1.EngineVLLM, v1.EngineSGLang},
	v1.RouterVLLM:   {v1.EngineVLLM},
	v1.RouterSGLang: {v1.EngineSGLang},
}

// queueMetric is what llm-d-router weighs replicas by.
var queueMetric = map[v1.EngineName]string{
	v1.EngineVLLM:   "vllm:num_requests_waiting",
	v1.EngineSGLang: "sglang:num_queue_reqs",
}

func routerOwnedArg(s *Subject) (out []Fault) {
	if !s.now.routed() {
		return nil
	}
	for j, token := range s.now.Spec.Router.ExtraArgs {
		flag, ok := argv.RouterOwned(string(s.now.router), token)
		if !ok {
			continue
		}
		out = append(out, Fault{
			Field:   fmt.Sprintf("spec.router.extraArgs[%d]", j),
			Message: fmt.Sprintf("%s of %s follows from the roles; a second value would send requests astray", flag, s.now.router),
			Remedy:  "remove it",
		})
	}
	return out
}

func routerThreshold(s *Subject) []Fault {
	if _, known := fronts[s.now.router]; !known || s.now.router == v1.RouterLLMD || s.now.Spec.Router.DisaggregationThresholdTokens == nil {
		return nil
	}
	return one(Fault{
		Field:   "spec.router.disaggregationThresholdTokens",
		Message: fmt.Sprintf("%s has no threshold below which a request is not split; only %s has one", s.now.router, v1.RouterLLMD),
		Remedy:  "remove it",
	})
}

func routerEngine(s *Subject) []Fault {
	engine := s.now.Spec.Engine.Name
	engines, known := fronts[s.now.router]
	if _, knownEngine := engineKinds[engine]; !known || !knownEngine || slices.Contains(engines, engine) {
		return nil
	}
	var names, routers []string
	for _, e := range engines {
		names = append(names, string(e))
	}
	for _, r := range []v1.RouterName{v1.RouterLLMD, v1.RouterVLLM, v1.RouterSGLang} {
		if slices.Contains(fronts[r], engine) {
			routers = append(routers, string(r))
		}
	}
	return one(Fault{
		Field:   "spec.router.name",
		Message: fmt.Sprintf("%s fronts %s and cannot speak to %s", s.now.router, strings.Join(names, " and "), engine),
		Remedy:  fmt.Sprintf("for %s use %s", engine, strings.Join(routers, " or ")),
	})
}

func routerMetrics(s *Subject) []Fault {
	engine := s.now.Spec.Engine.Name
	if _, known := engineKinds[engine]; !known || s.now.router != v1.RouterLLMD || queueMetric[engine] != "" {
		return nil
	}
	return one(Fault{
		Field:   "spec.engine",
		Message: fmt.Sprintf("%s weighs replicas by the length of their queue, and no such metric of %s is known", s.now.router, engine),
		Remedy:  "use another router",
	})
}

// perRole makes one fault of the router for each role that ails.
func perRole(s *Subject, judge func(*role) (message, remedy, where string)) (out []Fault) {
	if !s.now.routed() {
		return nil
	}
	for _, r := range s.now.roles {
		if message, remedy, where := judge(r); message != "" {
			out = append(out, Fault{Field: "spec.router", Message: message, Remedy: remedy, Where: where})
		}
	}
	return out
}

func routerTCP(s *Subject) []Fault {
	return perRole(s, func(r *role) (string, string, string) {
		if len(r.Ports) == 0 || r.Ports[0].Protocol == "" || r.Ports[0].Protocol == "TCP" || s.broken(r.field("ports[0]")) {
			return "", "", ""
		}
		return fmt.Sprintf("role %q serves over %s, and a router speaks HTTP over TCP", r.Name, r.Ports[0].Protocol),
			fmt.Sprintf("make the first entry of %s TCP, or remove spec.router", r.field("ports")),
			r.field("ports[0].protocol")
	})
}

func routerTLS(s *Subject) []Fault {
	return perRole(s, func(r *role) (string, string, string) {
		if !r.listen.TLS {
			return "", "", ""
		}
		return fmt.Sprintf("role %q serves HTTPS (--ssl-certfile, --ssl-keyfile), and no router calls its engines by HTTPS", r.Name),
			"remove the --ssl flags, or remove spec.router",
			r.argsField()
	})
}

func routerSamePort(s *Subject) []Fault {
	if !s.now.routed() {
		return nil
	}
	var ports []int32
	for _, r := range s.now.roles {
		if !s.broken(r.field("ports")) && !s.meant(r.path, "ports") {
			ports = append(ports, r.servingPort())
		}
	}
	slices.Sort(ports)
	ports = slices.Compact(ports)
	if len(ports) < 2 {
		return nil
	}
	return one(Fault{
		Field:   "spec.router",
		Message: fmt.Sprintf("the roles serve on different ports (%s), and a router calls all of them on one", numbers(ports)),
		Remedy:  "let all roles serve on one port, or remove spec.router",
	})
}

func routerDecodePort(s *Subject) []Fault {
	return perRole(s, func(r *role) (string, string, string) {
		if !r.proxied() || r.ownPort() == 0 || r.ownPort() != r.servingPort() {
			return "", "", ""
		}
		return fmt.Sprintf("role %q gives its engine %s, and on this port %d the decode proxy of %s answers", r.Name, r.listen.Port, r.ownPort(), r.of.router),
			"remove --port, or choose any other port",
			r.field("extraArgs[%d]", r.listen.Port.Index)
	})
}

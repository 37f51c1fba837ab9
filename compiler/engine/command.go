// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strconv"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
)

// bases is how each engine is started, up to the model.
var bases = map[v1.EngineName]struct{ before, after []string }{
	v1.EngineVLLM: {before: []string{"vllm", "serve"}},
	v1.EngineSGLang: {
		before: []string{"python3", "-m", "sglang.launch_server", "--model-path"},
		// Without it SGLang exports nothing, and neither the drain nor a router
		// could read its load.
		after: []string{"--enable-metrics"},
	},
}

// Command assembles the whole command line of a managed role. Host and port
// are filled in last and only where the role states none.
func Command(name v1.EngineName, model string, c Connector, extraArgs []string, port int32) []string {
	base := bases[name]
	out := append([]string{}, base.before...)
	out = append(out, model)
	out = append(out, base.after...)
	out = append(out, c.Args...)
	for _, group := range c.DefaultedArgs {
		if !argv.Names(argv.Engine(name), extraArgs, group[0]) {
			out = append(out, group...)
		}
	}
	out = append(out, extraArgs...)

	listen := argv.ReadListen(argv.Engine(name), extraArgs)
	if !listen.HostStated {
		out = append(out, "--host", "0.0.0.0")
	}
	if !listen.Port.Stated {
		out = append(out, "--port", strconv.Itoa(int(port)))
	}
	return out
}

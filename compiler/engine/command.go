// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strconv"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/argv"
)

// Line is the command line of a managed role.
type Line struct {
	Engine v1.EngineName
	// Model is what the engine loads: a name that its hub client knows, or a
	// path.
	Model string
	// Revision is the commit to load; empty is the newest.
	Revision  string
	Connector Connector
	// ExtraArgs are the role's own.
	ExtraArgs []string
	// ServedName is what clients call the model, when that is not what is
	// loaded.
	ServedName string
	// Port to listen on, unless the role states one.
	Port int32
}

// bases is how each engine is started, around the model.
var bases = map[v1.EngineName]struct{ before, after []string }{
	v1.EngineVLLM: {before: []string{"vllm", "serve"}},
	v1.EngineSGLang: {
		before: []string{"python3", "-m", "sglang.launch_server", argv.FlagModelPath},
		// Without it SGLang exports nothing, and neither the drain nor a router
		// could read its load.
		after: []string{argv.FlagEnableMetrics},
	},
}

// Command assembles the line. Host and port are filled in last and only where
// the role states none.
func (l Line) Command() []string {
	base, engine := bases[l.Engine], argv.Engine(l.Engine)
	out := append([]string{}, base.before...)
	out = append(out, l.Model)
	out = append(out, base.after...)
	if l.Revision != "" {
		out = append(out, argv.FlagRevision, l.Revision)
	}
	out = append(out, l.Connector.Args...)
	for _, group := range l.Connector.DefaultedArgs {
		if !argv.Names(engine, l.ExtraArgs, group[0]) {
			out = append(out, group...)
		}
	}
	out = append(out, l.ExtraArgs...)
	if l.ServedName != "" && !argv.ReadServed(engine, l.ExtraArgs).Stated() {
		out = append(out, argv.FlagServedModelName, l.ServedName)
	}

	listen := argv.ReadListen(engine, l.ExtraArgs)
	if !listen.HostStated {
		out = append(out, argv.FlagHost, "0.0.0.0")
	}
	if !listen.Port.Stated {
		out = append(out, argv.FlagPort, strconv.Itoa(int(l.Port)))
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package apirules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gpustack.ai/mdc/compiler/argv"
)

type object = map[string]any

// deployment is a small valid spec that a test then changes.
func deployment(engine argv.Engine, change func(spec, role object)) object {
	role := object{"name": "srv", "instanceType": "pool"}
	spec := object{
		"model":  object{"name": "acme/chat"},
		"engine": object{"name": string(engine), "version": "1.0"},
		"roles":  []any{role},
	}
	if change != nil {
		change(spec, role)
	}
	return spec
}

// underscored are the spellings of a flag with some of its inner hyphens
// written as underscores.
func underscored(flag string) []string {
	out := []string{"--"}
	for i, word := range strings.Split(strings.TrimPrefix(flag, "--"), "-") {
		var next []string
		for _, head := range out {
			if i == 0 {
				next = append(next, head+word)
				continue
			}
			next = append(next, head+"-"+word, head+"_"+word)
		}
		out = next
	}
	return out
}

// TestOwnedArgs: the flags stand in a table of the compiler and again in the
// CustomResourceDefinition.
func TestOwnedArgs(t *testing.T) {
	s := newServer(t)
	for _, engine := range []argv.Engine{argv.VLLM, argv.SGLang} {
		for _, artifact := range []bool{false, true} {
			for _, flag := range slices.Concat(argv.OwnedArgs(engine), argv.ArtifactArgs(engine)) {
				var tokens []string
				for _, spelling := range underscored(flag) {
					tokens = append(tokens, spelling, spelling+"=x", spelling+".a=x", spelling+"-x", spelling+"x")
				}
				tokens = append(tokens, flag[:len(flag)-1], flag[1:], "x"+flag, strings.ToUpper(flag))
				for _, token := range tokens {
					_, byTable := argv.Resolve(engine, token, argv.OwnedArgs(engine))
					if artifact && !byTable {
						_, byTable = argv.ResolveArtifact(engine, token)
					}
					spec := deployment(engine, func(spec, role object) {
						role["extraArgs"] = []any{"--seed=1", token}
						if artifact {
							spec["model"].(object)["artifactRef"] = object{"name": "weights"}
						}
					})
					_, err := s.judge(t, "md", nil, spec)
					abbreviated := token == flag[:len(flag)-1]
					switch {
					case err != nil && !byTable:
						t.Errorf("%s, artifact %v: %q is free, and the server says %v", engine, artifact, token, err)
					case err == nil && byTable && !abbreviated:
						t.Errorf("%s, artifact %v: %q is owned, and the server accepts it", engine, artifact, token)
					case err != nil && !names(err, "owned-arg") && !names(err, "artifact-arg"):
						t.Errorf("%s: %q: %v", engine, token, err)
					}
					if !byTable {
						continue
					}
					spec["roles"].([]any)[0].(object)["command"] = []any{"serve"}
					if _, err := s.judge(t, "md", nil, spec); err != nil {
						t.Errorf("%s: %q beside a command: %v", engine, token, err)
					}
				}
			}
		}
	}
}

func TestOwnedEnv(t *testing.T) {
	s := newServer(t)
	var all []string
	for _, e := range []argv.Engine{argv.VLLM, argv.SGLang} {
		all = slices.Concat(all, argv.OwnedEnv(e), argv.ArtifactEnv(e))
	}
	slices.Sort(all)
	all = append(slices.Compact(all), "MOONCAKE_TENANT", "hf_token", "GPUSTACK_OTHER")
	for _, engine := range []argv.Engine{argv.VLLM, argv.SGLang} {
		for _, artifact := range []bool{false, true} {
			for _, takeOver := range []bool{false, true} {
				for _, name := range all {
					want := argv.OwnsEnv(engine, name) || artifact && !takeOver && argv.OwnsArtifactEnv(engine, name)
					_, err := s.judge(t, "md", nil, deployment(engine, func(spec, role object) {
						role["env"] = []any{object{"name": "OTHER", "value": "1"}, object{"name": name, "value": "1"}}
						if artifact {
							spec["model"].(object)["artifactRef"] = object{"name": "weights"}
						}
						if takeOver {
							role["command"] = []any{"serve"}
						}
					}))
					if refused := names(err, "owned-env") || names(err, "artifact-env"); refused != want || refused != (err != nil) {
						t.Errorf("%s, artifact %v, take-over %v: %s owned %v, and the server says %v", engine, artifact, takeOver, name, want, err)
					}
				}
			}
		}
	}
}

func TestRouterArgs(t *testing.T) {
	s := newServer(t)
	engines := map[string]argv.Engine{"llm-d-router": argv.VLLM, "vllm-router": argv.VLLM, "sglang-gateway": argv.SGLang}
	var all []string
	for router := range engines {
		all = append(all, argv.RouterArgs(router)...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for router, engine := range engines {
		for _, flag := range all {
			for _, token := range []string{flag, flag + "=x", flag + "x", flag[:len(flag)-1], strings.ReplaceAll(flag[2:], "-", "_"), flag + " x"} {
				_, want := argv.RouterOwned(router, token)
				_, err := s.judge(t, "md", nil, deployment(engine, func(spec, _ object) {
					spec["router"] = object{"name": router, "extraArgs": []any{"-v=2", token}}
				}))
				if refused := names(err, "router-owned-arg"); refused != want || refused != (err != nil) {
					t.Errorf("%s: %q owned %v, and the server says %v", router, token, want, err)
				}
			}
		}
	}
}

// TestUpdates: edits of one deployment, and what they are refused as.
func TestUpdates(t *testing.T) {
	s := newServer(t)
	resources := func(r object) func(object, object) {
		return func(_, role object) { role["resources"] = r }
	}
	set := func(field string, v any) func(object, object) {
		return func(_, role object) { role[field] = v }
	}
	top := func(field string, v any) func(object, object) {
		return func(spec, _ object) { spec[field] = v }
	}
	nothing := func(object, object) {}
	for name, c := range map[string]struct {
		before, after func(spec, role object)
		slug          string
	}{
		"accelerator spelled otherwise":   {resources(object{"accelerator": 2}), resources(object{"accelerator": "2000m"}), ""},
		"accelerator changed":             {resources(object{"accelerator": 2}), resources(object{"accelerator": "3"}), "frozen-resources"},
		"accelerator defaulted later":     {nothing, resources(object{"accelerator": 1}), ""},
		"accelerator no longer stated":    {resources(object{"accelerator": "1"}), nothing, ""},
		"interface spelled otherwise":     {resources(object{"interface": "1"}), resources(object{"interface": 1}), ""},
		"interface of zero dropped":       {resources(object{"interface": 0}), nothing, ""},
		"interface added":                 {nothing, resources(object{"interface": 1}), "frozen-resources"},
		"interface dropped":               {resources(object{"interface": "1", "accelerator": 1}), resources(object{"accelerator": 1}), "frozen-resources"},
		"memory share changed":            {resources(object{"acceleratorSlicedMemoryPercentage": 50}), resources(object{"acceleratorSlicedMemoryPercentage": 60}), "frozen-resources"},
		"cores share of zero":             {nothing, resources(object{"acceleratorSlicedCoresPercentage": 0}), ""},
		"cores share dropped":             {resources(object{"acceleratorSlicedCoresPercentage": 5}), nothing, "frozen-resources"},
		"profile added":                   {resources(object{}), resources(object{"acceleratorPartitionedProfile": "1g"}), "frozen-resources"},
		"profile empty":                   {nothing, resources(object{"acceleratorPartitionedProfile": ""}), ""},
		"command empty":                   {nothing, set("command", []any{}), ""},
		"command added":                   {nothing, set("command", []any{"a"}), "frozen-command"},
		"command changed":                 {set("command", []any{"a", "b"}), set("command", []any{"a", "c"}), "frozen-command"},
		"command reordered":               {set("command", []any{"a", "b"}), set("command", []any{"b", "a"}), "frozen-command"},
		"size changed":                    {nothing, set("size", 2), "frozen-size"},
		"size stated":                     {nothing, set("size", 1), ""},
		"replicas changed":                {nothing, set("replicas", 7), ""},
		"kind changed":                    {nothing, set("kind", "Prefill"), "frozen-kind"},
		"type changed":                    {nothing, set("instanceType", "other"), "frozen-instance-type"},
		"role renamed":                    {nothing, set("name", "other"), "frozen-role-set"},
		"model renamed":                   {nothing, top("model", object{"name": "other"}), "frozen-model"},
		"artifact added":                  {nothing, top("model", object{"name": "acme/chat", "artifactRef": object{"name": "w"}}), "frozen-model"},
		"artifact of no name":             {top("model", object{"name": "acme/chat", "artifactRef": object{}}), top("model", object{"name": "acme/chat", "artifactRef": object{"name": ""}}), ""},
		"engine changed":                  {nothing, top("engine", object{"name": "SGLang", "version": "1.0"}), "frozen-engine"},
		"engine version changed":          {nothing, top("engine", object{"name": "vLLM", "version": "2.0"}), ""},
		"cache added":                     {nothing, top("kvCache", object{"poolRef": object{"name": "p"}}), "frozen-kvcache"},
		"cache dropped":                   {top("kvCache", object{"poolRef": object{"name": "p"}}), nothing, "frozen-kvcache"},
		"cache changed":                   {top("kvCache", object{"poolRef": object{"name": "p"}}), top("kvCache", object{"poolRef": object{"name": "q"}}), "frozen-kvcache"},
		"connector stated":                {top("kvCache", object{"poolRef": object{"name": "p"}}), top("kvCache", object{"poolRef": object{"name": "p"}, "connector": "Mooncake"}), ""},
		"transfer added":                  {nothing, top("kvTransfer", object{"protocol": "RDMA"}), ""},
		"router added":                    {nothing, top("router", object{"name": "llm-d-router"}), ""},
		"router dropped":                  {top("router", object{"name": "llm-d-router"}), nothing, ""},
		"router changed":                  {top("router", object{"name": "llm-d-router"}), top("router", object{"name": "vllm-router"}), "frozen-router-name"},
		"router arguments changed":        {top("router", object{"name": "llm-d-router"}), top("router", object{"name": "llm-d-router", "extraArgs": []any{"-v=1"}}), ""},
		"owned argument added":            {nothing, set("extraArgs", []any{"--kv-transfer-config={}"}), "owned-arg"},
		"two volumes on one path":         {nothing, set("additionalVolumes", volumes("/a", "/b", "/a")), "volume-path-dup"},
		"volumes on different paths":      {nothing, set("additionalVolumes", volumes("/a", "/a/b", "/ab")), ""},
		"level of a topology":             {nothing, set("topology", object{"requiredLevel": "cloud.example.com/topology-rack"}), ""},
		"no level":                        {nothing, set("topology", object{"requiredLevel": ""}), ""},
		"level with an empty prefix":      {nothing, set("topology", object{"requiredLevel": "/rack"}), "topology-syntax"},
		"level with a name of 63":         {nothing, set("topology", object{"requiredLevel": "a/" + strings.Repeat("b", 63)}), ""},
		"level with a name of 64":         {nothing, set("topology", object{"requiredLevel": "a/" + strings.Repeat("b", 64)}), "topology-syntax"},
		"level with a prefix of 253":      {nothing, set("topology", object{"requiredLevel": strings.Repeat("a", 253) + "/" + strings.Repeat("b", 63)}), ""},
		"level with a prefix of 254":      {nothing, set("topology", object{"requiredLevel": strings.Repeat("a", 254) + "/b"}), "topology-syntax"},
		"hostname of the node as a level": {nothing, set("topology", object{"requiredLevel": "kubernetes.io/hostname"}), "topology-hostname"},
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := s.judge(t, "md", deployment(argv.VLLM, c.before), deployment(argv.VLLM, c.after))
			switch {
			case !stored:
				t.Fatalf("the stored deployment is refused: %v", err)
			case c.slug == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.slug != "" && !names(err, c.slug):
				t.Errorf("want %s, got %v", c.slug, err)
			}
		})
	}
}

func volumes(paths ...string) (out []any) {
	for _, p := range paths {
		out = append(out, object{"mountPath": p, "configMap": object{"name": "c"}})
	}
	return out
}

// TestNames: names of Services and hosts, which follow from metadata.name.
func TestNames(t *testing.T) {
	s := newServer(t)
	roles := func(roles ...object) func(object, object) {
		return func(spec, _ object) {
			var all []any
			for _, r := range roles {
				r["instanceType"] = "pool"
				all = append(all, r)
			}
			spec["roles"] = all
		}
	}
	router := func(spec, _ object) { spec["router"] = object{"name": "llm-d-router"} }
	for name, c := range map[string]struct {
		name   string
		change func(spec, role object)
		slug   string
	}{
		"59 and a role of 3":          {strings.Repeat("a", 59), nil, ""},
		"60 and a role of 3":          {strings.Repeat("a", 60), nil, "service-name"},
		"56 and a router":             {strings.Repeat("a", 56), router, ""},
		"57 and a router":             {strings.Repeat("a", 57), router, "service-name"},
		"a dot":                       {"a.b", nil, "service-name"},
		"a digit first":               {"1a", nil, "service-name"},
		"a digit last":                {"a1", nil, ""},
		"hosts of 63":                 {strings.Repeat("a", 54), roles(object{"name": "r", "size": 2, "replicas": 100}), ""},
		"hosts of 64":                 {strings.Repeat("a", 54), roles(object{"name": "r", "size": 2, "replicas": 101}), "member-name"},
		"one Pod each":                {strings.Repeat("a", 54), roles(object{"name": "r", "replicas": 1000}), ""},
		"named like an instance":      {"md", roles(object{"name": "x", "size": 2, "replicas": 3}, object{"name": "x-r2"}), "service-name-clash"},
		"named like a later instance": {"md", roles(object{"name": "x", "size": 2, "replicas": 3}, object{"name": "x-r3"}), ""},
		"a leading zero":              {"md", roles(object{"name": "x", "size": 2, "replicas": 3}, object{"name": "x-r02"}), ""},
		"no number":                   {"md", roles(object{"name": "x", "size": 2, "replicas": 3}, object{"name": "x-r2a"}), ""},
		"a number beyond all":         {"md", roles(object{"name": "x", "size": 2, "replicas": 3}, object{"name": "x-r99999999999999999999"}), ""},
		"no instances apart":          {"md", roles(object{"name": "x", "replicas": 3}, object{"name": "x-r2"}), ""},
		"named router":                {"md", roles(object{"name": "router"}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.judge(t, c.name, nil, deployment(argv.VLLM, c.change))
			switch {
			case c.slug == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.slug != "" && !names(err, c.slug):
				t.Errorf("want %s, got %v", c.slug, err)
			}
		})
	}
}

// TestLargest: what stays inside all bounds also stays inside the time that an
// API server gives to the rules. Their worst case is estimated when the
// CustomResourceDefinition is created, but it is measured when they run.
func TestLargest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many seconds")
	}
	s := newServer(t)
	// The flag of the longest way through the rules that none of them refuses.
	args := slices.Repeat([]any{"--kv-transfer-confi"}, 1024)
	var env, vols, ports, roles []any
	for i := range 256 {
		env = append(env, object{"name": fmt.Sprintf("V%d", i), "value": "x"})
		vols = append(vols, object{"mountPath": fmt.Sprintf("/var/lib/gpustack/models/%d", i), "subPath": strings.Repeat("a/", 20), "secret": object{"name": "s"}})
	}
	for i := range 64 {
		ports = append(ports, object{"port": 9000 + i})
	}
	for i := range 10 {
		roles = append(roles, object{
			"name": fmt.Sprintf("r%d", i), "instanceType": "pool", "size": 2,
			"resources": object{"accelerator": "8", "interface": "8"},
			"extraArgs": args, "env": env, "additionalVolumes": vols, "ports": ports,
		})
	}
	start := time.Now()
	_, err := s.judge(t, "md", nil, object{
		"model":   object{"name": "m", "artifactRef": object{"name": "w"}},
		"engine":  object{"name": "vLLM", "version": "1"},
		"kvCache": object{"poolRef": object{"name": "p"}},
		"roles":   roles,
		"router":  object{"name": "llm-d-router", "extraArgs": args},
	})
	t.Logf("judged in %s", time.Since(start).Round(time.Second/10))
	if err != nil {
		t.Error(err)
	}
}

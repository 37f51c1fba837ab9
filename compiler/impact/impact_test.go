// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package impact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	"gpustack.ai/mdc/compiler/source"
)

const facts = `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: pool-a}, spec: {acceleratorGroup: nvidia-a10g, acceleratable: true, os: linux, arch: amd64, unitResources: {cpu: "8", ram: 64Gi}, localStorage: 100Gi}, status: {entrance: queue-a, detail: {manufacturer: nvidia, runtimeVersion: "12.9"}}}`

// compile compiles deployments, each "name: spec", with the facts.
func compile(t *testing.T, facts string, deployments ...string) *compiler.Output {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	text := facts
	for _, d := range deployments {
		name, spec, _ := strings.Cut(d, ": ")
		text += fmt.Sprintf("\n---\n{apiVersion: worker.gpustack.ai/v1, kind: ModelDeployment, metadata: {name: %s, namespace: team-a}, spec: %s}", name, spec)
	}
	if err := fs.WriteFile("in.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	set, err := source.Loader{FS: fs}.Load("in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, findings := compiler.Compile(compiler.Input{Objects: set.Objects})
	if findings = append(set.Findings, findings...); findings.HasErrors() {
		t.Fatal(findings)
	}
	return out
}

// server is a role with a number of replicas and something more.
func server(replicas int, more string) string {
	return fmt.Sprintf(`{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, roles: [{name: server, replicas: %d, instanceType: pool-a, resources: {accelerator: 1}%s}]}`, replicas, more)
}

func TestOf(t *testing.T) {
	moved := strings.Replace(facts, "12.9", "12.8", 1)
	requeued := strings.Replace(facts, "queue-a", "queue-b", 1)
	pairs := func(replicas int, env string) string {
		return fmt.Sprintf(`{model: {name: m}, engine: {name: vLLM, version: "0.29.0"}, roles: [{name: server, replicas: %d, size: 2, instanceType: pool-a, resources: {accelerator: 1}, command: [serve], env: [{name: A, value: "%s"}]}]}`, replicas, env)
	}
	for name, c := range map[string]struct {
		old, new []string
		facts    string // of the edit; the same by default
		roles    []Role
		objects  string
	}{
		"nothing": {
			old: []string{"d: " + server(2, "")}, new: []string{"d: " + server(2, "")},
			roles: []Role{{Name: "server", Untouched: []int32{0, 1}}},
		},
		"an argument": {
			old: []string{"d: " + server(2, ", extraArgs: [--seed, '1']")}, new: []string{"d: " + server(2, ", extraArgs: [--seed, '2']")},
			roles: []Role{{Name: "server", Turnover: Turnover{
				Replicas: []int32{0, 1}, Pods: 2,
				Because: []Change{{"spec.containers[main].command", "--seed 1", "--seed 2"}},
			}}},
			objects: "changed PodTemplate d-server; changed ModelDeployment d",
		},
		"an argument more": {
			old: []string{"d: " + server(1, "")}, new: []string{"d: " + server(1, ", extraArgs: [--enable-x, --y=z]")},
			roles: []Role{{Name: "server", Turnover: Turnover{
				Replicas: []int32{0}, Pods: 1,
				Because: []Change{{"spec.containers[main].command", "", "--enable-x --y=z"}},
			}}},
			objects: "changed PodTemplate d-server; changed ModelDeployment d",
		},
		"a secret is hidden": {
			old: []string{"d: " + server(1, ", extraArgs: [--api-key, abc], env: [{name: HF_TOKEN, value: abc}, {name: MODE, value: a}]")},
			new: []string{"d: " + server(1, ", extraArgs: [--api-key, def, --max-num-seqs, '32'], env: [{name: HF_TOKEN, value: def}, {name: MODE, value: b}, {name: NCCL_DEBUG, value: INFO}]")},
			roles: []Role{{Name: "server", Turnover: Turnover{
				Replicas: []int32{0}, Pods: 1,
				Because: []Change{
					{"spec.containers[main].command", "--api-key ***", "--api-key *** --max-num-seqs 32"},
					{"spec.containers[main].env[HF_TOKEN].value", "***", "***"},
					{"spec.containers[main].env[MODE].value", "***", "***"},
					{"spec.containers[main].env[NCCL_DEBUG]", "", "INFO"},
				},
			}}},
			objects: "changed PodTemplate d-server; changed ModelDeployment d",
		},
		"scale up": {
			old: []string{"d: " + server(1, "")}, new: []string{"d: " + server(3, "")},
			roles:   []Role{{Name: "server", Added: []int32{1, 2}, Untouched: []int32{0}}},
			objects: "changed ModelDeployment d",
		},
		"scale down of groups": {
			old: []string{"d: " + pairs(3, "a")}, new: []string{"d: " + pairs(1, "a")},
			roles:   []Role{{Name: "server", Removed: []int32{1, 2}, Untouched: []int32{0}}},
			objects: "removed Service d-server-r1; removed Service d-server-r2; changed ModelDeployment d",
		},
		"an edit of groups": {
			old: []string{"d: " + pairs(2, "a")}, new: []string{"d: " + pairs(2, "b")},
			roles: []Role{{Name: "server", Turnover: Turnover{
				Replicas: []int32{0, 1}, Pods: 4, Because: []Change{{"spec.containers[main].env[A].value", "***", "***"}},
			}}},
			objects: "changed PodTemplate d-server; changed ModelDeployment d",
		},
		"a fact": {
			old: []string{"d: " + server(1, "")}, new: []string{"d: " + server(1, "")}, facts: moved,
			roles: []Role{{Name: "server", Turnover: Turnover{
				Replicas: []int32{0}, Pods: 1,
				Because: []Change{{"spec.containers[main].image", "gpustack/runner:cuda12.9-vllm0.29.0", "gpustack/runner:cuda12.8-vllm0.29.0"}},
			}}},
			objects: "changed PodTemplate d-server",
		},
		"a label with dots": {
			old: []string{"d: " + server(1, "")}, new: []string{"d: " + server(1, "")}, facts: requeued,
			roles: []Role{{Name: "server", Turnover: Turnover{
				Replicas: []int32{0}, Pods: 1,
				Because: []Change{{"labels[kueue.x-k8s.io/queue-name]", "queue-a", "queue-b"}},
			}}},
			objects: "changed PodTemplate d-server",
		},
		"a new deployment": {
			new:     []string{"d: " + server(2, "")},
			roles:   []Role{{Name: "server", Added: []int32{0, 1}}},
			objects: "added Service d; added Service d-server; added PodTemplate d-server; added ModelDeployment d",
		},
		"a deployment goes": {
			old:     []string{"d: " + server(2, ""), "e: " + server(1, "")},
			new:     []string{"e: " + server(1, "")},
			roles:   []Role{{Name: "server", Removed: []int32{0, 1}}},
			objects: "removed Service d; removed Service d-server; removed PodTemplate d-server; removed ModelDeployment d",
		},
	} {
		t.Run(name, func(t *testing.T) {
			side := func(facts string, deployments []string) *compiler.Output {
				if len(deployments) == 0 {
					return nil
				}
				return compile(t, facts, deployments...)
			}
			after := c.facts
			if after == "" {
				after = facts
			}
			got, err := Of(side(facts, c.old), side(after, c.new))
			if err != nil {
				t.Fatal(err)
			}
			d := got.Deployments[0]
			if d.Namespace != "team-a" || d.Name != "d" {
				t.Fatalf("%s/%s", d.Namespace, d.Name)
			}
			if diff := cmp.Diff(c.roles, d.Roles, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			var objects []string
			for _, o := range d.Objects {
				objects = append(objects, fmt.Sprintf("%s %s %s", o.Change, o.Kind, o.Name))
			}
			if text := strings.Join(objects, "; "); text != c.objects {
				t.Errorf("objects %s, want %s", text, c.objects)
			}
			if rolls := len(c.roles[0].Turnover.Replicas) > 0; d.Rolls() != rolls {
				t.Errorf("rolls %v", d.Rolls())
			}
		})
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// withSpec is a ModelDeployment whose spec starts on line 6.
func withSpec(spec string) string {
	return "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata:\n  name: md\nspec:\n" + spec
}

// withRole is a ModelDeployment with one role, whose further fields start on
// line 11.
func withRole(fields string) string {
	return withSpec("  model: {name: m}\n  engine: {name: vLLM}\n  roles:\n  - name: a\n    instanceType: t\n" + fields)
}

func TestValidate(t *testing.T) {
	roles := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  - {name: r%d, instanceType: t}\n", i)
		}
		return b.String()
	}
	tests := map[string]struct {
		in   string
		want []string // position, kind, shape, message, remedy
	}{
		"valid": {in: withRole("    replicas: 1_0\n    size: null\n    resources: {accelerator: 500m, interface: 2}\n    command: ['on', !!str off, \"1\"]\n")},
		"unknown, with a suggestion": {
			in: withRole("    replica: 1\n    extra_args: []\n    InstanceType: x\n"),
			want: []string{
				`a.yaml:11:5 Unknown spec.roles[].replica: unknown field "replica" in spec.roles[0] (did you mean "replicas"?)`,
				`a.yaml:12:5 Unknown spec.roles[].extra_args: unknown field "extra_args" in spec.roles[0] (did you mean "extraArgs"?)`,
				`a.yaml:13:5 Unknown spec.roles[].InstanceType: unknown field "InstanceType" in spec.roles[0] (did you mean "instanceType"?)`,
			},
		},
		"unknown, in the wrong place": {
			in: withRole("    template: {}\n  replicas: 1\nspecs: {}\ndata: {}\n"),
			want: []string{
				`a.yaml:11:5 Unknown spec.roles[].template: unknown field "template" in spec.roles[0] (remove it; possible here: image, command, name, ports, replicas, topology)`,
				`a.yaml:12:3 Unknown spec.replicas: unknown field "replicas" in spec (replicas is a field of spec.roles[], spec.router)`,
				`a.yaml:13:1 Unknown specs: unknown field "specs" in the object (did you mean "spec"?)`,
				`a.yaml:14:1 Unknown data: unknown field "data" in the object (remove it; possible here: apiVersion, kind, metadata, spec, status)`,
			},
		},
		"unknown, of many places": {
			in: withRole("    ports: [{port: 1, name: x}]\n"),
			want: []string{
				`a.yaml:11:23 Unknown spec.roles[].ports[].name: unknown field "name" in spec.roles[0].ports[0] (remove it; possible here: port, protocol)`,
			},
		},
		"number that may be a secret": {
			in: withRole("    extraArgs: [--seed, 12, --api-key, 34, --api_kye, 56, --api-key=x, 78]\n"),
			want: []string{
				`a.yaml:11:25 Type spec.roles[].extraArgs[]: spec.roles[0].extraArgs[1] must be a string, not the number 12 (put it in quotes: "12")`,
				`a.yaml:11:40 Type spec.roles[].extraArgs[]: spec.roles[0].extraArgs[3] must be a string, and Kubernetes reads what stands there as a boolean or a number (put it in quotes)`,
				`a.yaml:11:55 Type spec.roles[].extraArgs[]: spec.roles[0].extraArgs[5] must be a string, and Kubernetes reads what stands there as a boolean or a number (put it in quotes)`,
				`a.yaml:11:72 Type spec.roles[].extraArgs[]: spec.roles[0].extraArgs[7] must be a string, not the number 78 (put it in quotes: "78")`,
			},
		},
		"fraction of a card": {
			in: withRole("    resources: {accelerator: 1.5, interface: .5}\n"),
		},
		"duplicate key": {
			in:   withRole("    size: 1\n    size: 2\n"),
			want: []string{`a.yaml:12:5 DuplicateKey spec.roles[].size: the key "size" stands twice in spec.roles[0] (remove one of the two)`},
		},
		"type": {
			in: withRole("    replicas: \"2\"\n    size: 1.5\n    image: 0.29\n    privileged: \"true\"\n    command: [on, 1, {}]\n    ports: 80\n    topology: x\n    resources: {accelerator: [1], interface: x}\n    extraArgs: [null]\n"),
			want: []string{
				`a.yaml:11:15 Type spec.roles[].replicas: spec.roles[0].replicas must be a whole number, not the string "2" (leave out the quotes: 2)`,
				`a.yaml:12:11 Type spec.roles[].size: spec.roles[0].size must be a whole number, not the number 1.5 ()`,
				`a.yaml:13:12 Type spec.roles[].image: spec.roles[0].image must be a string, not the number 0.29 (put it in quotes: "0.29")`,
				`a.yaml:14:17 Type spec.roles[].privileged: spec.roles[0].privileged must be true or false, not the string "true" (leave out the quotes: true)`,
				`a.yaml:15:15 Type spec.roles[].command[]: spec.roles[0].command[0] must be a string, and Kubernetes reads a plain on as a boolean or a number (put it in quotes: "on")`,
				`a.yaml:15:19 Type spec.roles[].command[]: spec.roles[0].command[1] must be a string, not the number 1 (put it in quotes: "1")`,
				`a.yaml:15:22 Type spec.roles[].command[]: spec.roles[0].command[2] must be a string, not a mapping ()`,
				`a.yaml:16:12 Type spec.roles[].ports: spec.roles[0].ports must be a list, not the number 80 ()`,
				`a.yaml:17:15 Type spec.roles[].topology: spec.roles[0].topology must be a mapping, not the string "x" ()`,
				`a.yaml:18:30 Type spec.roles[].resources.accelerator: spec.roles[0].resources.accelerator must be a quantity such as 2 or "500m", not a list ()`,
				`a.yaml:18:46 Type spec.roles[].resources.interface: spec.roles[0].resources.interface must be a quantity such as 2 or "500m", not the string "x" ()`,
				`a.yaml:19:17 Type spec.roles[].extraArgs[]: spec.roles[0].extraArgs[0] must be a string, not null ()`,
			},
		},
		"type, of huge numbers": {
			in: withRole("    replicas: 3000000000\n    terminationGracePeriodSeconds: 99999999999999999999\n"),
			want: []string{
				`a.yaml:11:15 Type spec.roles[].replicas: spec.roles[0].replicas is 3000000000, which does not fit in 32 bits (write a smaller number)`,
				`a.yaml:12:36 Type spec.roles[].terminationGracePeriodSeconds: spec.roles[0].terminationGracePeriodSeconds is 99999999999999999999, which does not fit in 64 bits (write a smaller number)`,
			},
		},
		"required": {
			in: withSpec("  engine: {}\n  model:\n  roles:\n  - name: a\n    ports: [{}]\n"),
			want: []string{
				`a.yaml:6:3 Required spec.engine.name: spec.engine.name is required (add name to spec.engine)`,
				`a.yaml:10:13 Required spec.roles[].ports[].port: spec.roles[0].ports[0].port is required (add port to spec.roles[0].ports[0])`,
				`a.yaml:9:5 Required spec.roles[].instanceType: spec.roles[0].instanceType is required (add instanceType to spec.roles[0])`,
				`a.yaml:7:9 Required spec.model: spec.model is required (add model to spec)`,
			},
		},
		"required, without a spec": {
			in:   "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\n",
			want: []string{`a.yaml:1:1 Required spec: spec is required (add spec to the object)`},
		},
		"enum": {
			in: withRole("    kind: server\n    ports: [{port: 1, protocol: ICMP}]\n"),
			want: []string{
				`a.yaml:11:11 Enum spec.roles[].kind: spec.roles[0].kind is "server"; it must be one of Server, Prefill, Decode (did you mean "Server"?)`,
				`a.yaml:12:33 Enum spec.roles[].ports[].protocol: spec.roles[0].ports[0].protocol is "ICMP"; it must be one of TCP, UDP, SCTP ()`,
			},
		},
		"minimum and maximum": {
			in: withRole("    replicas: 0\n    size: 65\n  router: {name: llm-d-router, replicas: -1}\n"),
			want: []string{
				`a.yaml:11:15 Minimum spec.roles[].replicas: spec.roles[0].replicas is 0; it must be at least 1 (write a number from 1 to 1024)`,
				`a.yaml:12:11 Maximum spec.roles[].size: spec.roles[0].size is 65; it must be at most 64 (write a number from 1 to 64)`,
				`a.yaml:13:42 Minimum spec.router.replicas: spec.router.replicas is -1; it must be at least 1 (write a number of at least 1)`,
			},
		},
		"lengths, in code points": {
			in: withSpec("  model: {name: \"\"}\n  engine: {name: vLLM, version: " + strings.Repeat("é", 64) + "}\n  roles:\n  - name: a\n    instanceType: " + strings.Repeat("é", 254) + "\n"),
			want: []string{
				`a.yaml:6:17 MinLength spec.model.name: spec.model.name is empty (write a value, or remove the key if the field is not needed)`,
				`a.yaml:10:19 MaxLength spec.roles[].instanceType: spec.roles[0].instanceType has 254 characters; at most 253 are allowed (shorten it)`,
			},
		},
		"pattern": {
			in: withSpec("  model: {name: m}\n  engine: {name: vLLM}\n  roles:\n  - name: A_b\n    instanceType: t\n"),
			want: []string{
				`a.yaml:9:11 Pattern spec.roles[].name: spec.roles[0].name is "A_b", which does not match ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ (use lower case letters, digits and hyphens, with a letter or digit at both ends)`,
			},
		},
		"too few items": {
			in:   withSpec("  model: {name: m}\n  engine: {name: vLLM}\n  roles: []\n"),
			want: []string{`a.yaml:8:10 MinItems spec.roles: spec.roles has 0 items; it needs at least 1 (add an item)`},
		},
		"too many items": {
			in:   withSpec("  model: {name: m}\n  engine: {name: vLLM}\n  roles:\n" + roles(11)),
			want: []string{`a.yaml:9:3 MaxItems spec.roles: spec.roles has 11 items; at most 10 are allowed (remove items)`},
		},
		"items with one key": {
			in: withRole("    env: [{name: A}, {name: B}, {name: A}]\n    ports: [{port: 80}, {port: 80, protocol: UDP}, {port: 0x50, protocol: TCP}]\n  - name: a\n    instanceType: t\n"),
			want: []string{
				`a.yaml:11:33 DuplicateItem spec.roles[].env[]: spec.roles[0].env[2] has the same name as spec.roles[0].env[0]: A (give each item its own name, or remove one)`,
				`a.yaml:12:52 DuplicateItem spec.roles[].ports[]: spec.roles[0].ports[2] has the same port and protocol as spec.roles[0].ports[0]: 80 TCP (give each item its own port and protocol, or remove one)`,
				`a.yaml:13:5 DuplicateItem spec.roles[]: spec.roles[1] has the same name as spec.roles[0]: a (give each item its own name, or remove one)`,
			},
		},
		"metadata": {
			in: strings.Replace(withRole(""), "name: md", "name: 1\n  labels: []\n  foo: bar", 1),
			want: []string{
				`a.yaml:4:9 Type metadata.name: metadata.name must be a string, not the number 1 (put it in quotes: "1")`,
				`a.yaml:5:11 Type metadata.labels: metadata.labels must be a mapping, not a list ()`,
				`a.yaml:6:3 Unknown metadata.foo: unknown field "foo" in metadata (remove it; possible here: uid, name, labels, selfLink, annotations, finalizers)`,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := load(t, map[string]string{"a.yaml": tc.in}, "a.yaml").Objects[0]
			var got []string
			for _, v := range ModelDeploymentSchema().Validate(o) {
				f := v.Finding(o, v.Rule())
				if f.Field != v.Field || f.Name != o.Name {
					t.Errorf("%+v", f)
				}
				got = append(got, fmt.Sprintf("%s %s %s: %s (%s)", f.Position, v.Kind, v.Shape, v.Message, v.Remedy))
			}
			equal(t, "violations", got, tc.want)
		})
	}
}

// A problem that the reader and the schema both see is shown once.
func TestValidateRepeatsTheReader(t *testing.T) {
	s := load(t, map[string]string{"a.yaml": strings.Replace(withRole("    size: 1\n    size: 2\n"), "name: md", "name: 1", 1)}, "a.yaml")
	all := s.Findings
	for _, v := range ModelDeploymentSchema().Validate(s.Objects[0]) {
		all = append(all, v.Finding(s.Objects[0], v.Rule()))
	}
	equal(t, "findings", problems(all.Sorted()), []string{
		"a.yaml:4:9: schema-type: metadata.name must be a string, not the number 1",
		"a.yaml:12:5: schema-yaml: the key \"size\" stands twice in spec.roles[0]",
	})
}

func TestParseSchema(t *testing.T) {
	for name, crd := range v1.CRDs() {
		if _, err := ParseSchema(crd); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", "[", "spec: {versions: [{name: v1}]}", "spec: {versions: [{schema: {openAPIV3Schema: {pattern: '('}}}]}"} {
		if _, err := ParseSchema([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestDefault(t *testing.T) {
	const in = `# about
apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
metadata:
  name: md
spec:
  kvCache:
    poolRef: {name: p} # pool
    # none
    connector: null # why
  # nothing here
  router:
  model: {name: m}
  engine:
    name: vLLM
    # gone
    version: null
  roles:
  # first
  - name: a # role
    instanceType: t
    replicas: 3
    ports:
    - port: 80
    # end
  - {name: b, instanceType: t, kind: null, ports: [{port: 1, protocol: UDP}]}
`
	const want = `# about
apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
metadata:
  name: md
spec:
  kvCache:
    poolRef: {name: p} # pool
    # none
    connector: Mooncake # why
  # nothing here
  model: {name: m}
  engine:
    name: vLLM
    # gone
  roles:
  # first
  - name: a # role
    instanceType: t
    replicas: 3
    ports:
    - port: 80
      protocol: TCP
      # end
    kind: Server
    size: 1
  - {name: b, instanceType: t, kind: Server, ports: [{port: 1, protocol: UDP}], replicas: 1, size: 1}
`
	o := load(t, map[string]string{"a.yaml": in}, "a.yaml").Objects[0]
	ModelDeploymentSchema().Default(o)
	if got := o.Node.MustString(); got != want {
		t.Errorf("got\n%s", got)
	}
	ModelDeploymentSchema().Default(o)
	if got := o.Node.MustString(); got != want {
		t.Errorf("the second time changes\n%s", got)
	}
	if v := ModelDeploymentSchema().Validate(o); len(v) > 0 {
		t.Error(v)
	}
	if p := o.Position("spec.roles[0].size").String(); p != "a.yaml:20:5" {
		t.Errorf("position of a default: %s", p)
	}
}

func TestDecode(t *testing.T) {
	o := load(t, map[string]string{"a.yaml": withRole("    replicas: x\n    size: 4294967297\n    image: 1\n    resources: {accelerator: a, interface: 2}\n    extraArgs: [a, 1]\n    ports: {}\n    unknown: 1\n") + "status: 5\n"}, "a.yaml").Objects[0]
	var md v1.ModelDeployment
	equal(t, "findings", problems(Decode(o, &md)), []string{
		`a.yaml:11:15: schema-type: spec.roles[0].replicas must be a whole number, not the string "x"`,
		`a.yaml:12:11: schema-type: spec.roles[0].size is 4294967297, which does not fit in 32 bits`,
		`a.yaml:14:30: schema-type: spec.roles[0].resources.accelerator must be a quantity such as 2 or "500m", not the string "a"`,
		`a.yaml:13:12: schema-type: spec.roles[0].image must be a string, not the number 1`,
		`a.yaml:16:12: schema-type: spec.roles[0].ports must be a list, not a mapping`,
		`a.yaml:15:20: schema-type: spec.roles[0].extraArgs[1] must be a string, not the number 1`,
		`a.yaml:18:9: schema-type: status must be a mapping, not the number 5`,
	})
	r := md.Spec.Roles[0]
	if md.Name != "md" || r.Name != "a" || r.Resources.Interface.Value() != 2 || r.ExtraArgs[0] != "a" || r.Size != 0 {
		t.Errorf("%+v", md)
	}

	cm := load(t, map[string]string{"a.yaml": object("ConfigMap", "c") + "data: {a: b, c: 1}\nbinaryData: {x: aGk=, y: '*'}\n"}, "a.yaml").Objects[0]
	var c corev1.ConfigMap
	equal(t, "findings", problems(Decode(cm, &c)), []string{
		`a.yaml:5:17: schema-type: data[c] must be a string, not the number 1`,
		`a.yaml:6:26: schema-type: binaryData[y] must be base64, not the string "*"`,
	})
	if c.Data["a"] != "b" || string(c.BinaryData["x"]) != "hi" {
		t.Errorf("%+v", c)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const deployment = `# the chat model
apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
metadata:
  name: chat
  annotations:
    note: kept # why
spec:
  model: {name: m}
  engine: {name: vLLM, version: 0.1.0}
  roles:
  - name: a # the first
    instanceType: t
    extraArgs:
    - --one
    - --two
  - name: b
    instanceType: t
`

func TestKustomize(t *testing.T) {
	fn := func(name, config string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  annotations:\n    config.kubernetes.io/function: |\n      " + config + "\n"
	}
	prefix := "apiVersion: builtin\nkind: PrefixTransformer\nmetadata:\n  name: p\nprefix: pre-\nfieldSpecs:\n- path: metadata/name\n"

	tests := map[string]struct {
		files    map[string]string
		objects  []string
		skipped  []string
		findings []string
	}{
		"patches, bases and generators": {
			files: map[string]string{
				"base/kustomization.yaml": "resources: [md.yaml]\n",
				"base/md.yaml":            deployment,
				"app/kustomization.yml":   "resources: [../base]\nnamePrefix: pre-\nnamespace: team\nconfigMapGenerator:\n- name: cm\n  literals: [a=b]\n",
			},
			objects: []string{"base/md.yaml[0] ModelDeployment team/pre-chat", "app/kustomization.yml[1] ConfigMap team/pre-cm-4h2mbtbbt6"},
		},
		"mdc as a transformer": {
			files: map[string]string{
				"app/kustomization.yaml": "resources: [md.yaml]\ntransformers:\n- one.yaml\n- two.yaml\n- three.yaml\n- |\n" +
					"  apiVersion: mdc.gpustack.ai/v1\n  kind: Compile\n  metadata:\n    name: inline\n- fns\nvalidators: [four.yaml]\n",
				"app/md.yaml":                deployment,
				"app/one.yaml":               fn("exec", "exec: {path: ./bin/kubectl-mdc}"),
				"app/two.yaml":               prefix + "---\n" + fn("image", "container: {image: 'ghcr.io:5000/x/mdc:v1@sha256:0'}"),
				"app/three.yaml":             "apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata:\n  name: fn\n",
				"app/four.yaml":              fn("validator", "exec: {path: mdc.exe}"),
				"app/fns/kustomization.yaml": "resources: [x.yaml, y.yaml]\n",
				"app/fns/x.yaml":             fn("dir", "exec: {path: /mdc}"),
				"app/fns/y.yaml":             strings.NewReplacer("pre-", "y-", "name: p", "name: q").Replace(prefix),
			},
			objects: []string{"app/md.yaml[0] ModelDeployment /y-pre-chat"},
			skipped: []string{
				"app/one.yaml[0] ConfigMap /exec", "app/two.yaml[1] ConfigMap /image", "app/three.yaml[2] ModelDeployment /fn",
				"app/kustomization.yaml[3] Compile /inline", "app/fns/x.yaml[4] ConfigMap /dir", "app/four.yaml[5] ConfigMap /validator",
			},
		},
		"only mdc in a component": {
			files: map[string]string{
				"app/kustomization.yaml":      "resources: [md.yaml]\ncomponents: [c]\n",
				"app/md.yaml":                 deployment,
				"app/c/kustomization.yaml":    "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\ntransformers: [fn.yaml]\n",
				"app/c/fn.yaml":               fn("f", "exec: {path: mdc}"),
				"app/unrelated/whatever.yaml": "x: [",
			},
			objects: []string{"app/md.yaml[0] ModelDeployment /chat"},
			skipped: []string{"app/c/fn.yaml[0] ConfigMap /f"},
		},
		"another function": {
			files: map[string]string{
				"app/kustomization.yaml": "resources: [md.yaml]\ntransformers: [fn.yaml]\n",
				"app/md.yaml":            deployment,
				"app/fn.yaml":            fn("f", "exec: {path: amdc}"),
			},
			findings: []string{"app/kustomization.yaml: kustomize-build: kustomize cannot build the directory: external plugins disabled; unable to load external plugin 'ConfigMap'"},
		},
		"remote": {
			files: map[string]string{
				"app/kustomization.yaml": "resources:\n- https://example.com/a.yaml\n- github.com/org/repo?ref=v1\n- git@host:org/repo.git\n- ../base\n" +
					"components:\n- ssh://git@host/x\ncrds: [http://x/y.json]\nopenapi:\n  path: https://x/y\n" +
					"patches:\n- path: https://x/p.yaml\nconfigMapGenerator:\n- name: a\n  files: [k=https://x/f, 'https://x/g?a=b']\n  envs: [HTTP://x/e]\n" +
					"transformers:\n- git::https://x/y\n- t.yaml\n",
				"app/t.yaml":              "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: https://x/t\n",
				"base/kustomization.yaml": "bases: ['file:///x/y']\nresources: [md.yaml]\n",
				"base/md.yaml":            deployment,
			},
			findings: []string{
				"app/kustomization.yaml:2:3: kustomize-remote: the kustomization refers to \"https://example.com/a.yaml\", and a compile reads nothing from the network",
				"app/kustomization.yaml:3:3: kustomize-remote: the kustomization refers to \"github.com/org/repo?ref=v1\", and a compile reads nothing from the network",
				"app/kustomization.yaml:4:3: kustomize-remote: the kustomization refers to \"git@host:org/repo.git\", and a compile reads nothing from the network",
				"base/kustomization.yaml:1:9: kustomize-remote: the kustomization refers to \"file:///x/y\", and a compile reads nothing from the network",
				"app/kustomization.yaml:7:3: kustomize-remote: the kustomization refers to \"ssh://git@host/x\", and a compile reads nothing from the network",
				"app/kustomization.yaml:8:8: kustomize-remote: the kustomization refers to \"http://x/y.json\", and a compile reads nothing from the network",
				"app/kustomization.yaml:10:9: kustomize-remote: the kustomization refers to \"https://x/y\", and a compile reads nothing from the network",
				"app/kustomization.yaml:12:9: kustomize-remote: the kustomization refers to \"https://x/p.yaml\", and a compile reads nothing from the network",
				"app/kustomization.yaml:15:11: kustomize-remote: the kustomization refers to \"k=https://x/f\", and a compile reads nothing from the network",
				"app/kustomization.yaml:15:26: kustomize-remote: the kustomization refers to \"https://x/g?a=b\", and a compile reads nothing from the network",
				"app/kustomization.yaml:16:10: kustomize-remote: the kustomization refers to \"HTTP://x/e\", and a compile reads nothing from the network",
				"app/kustomization.yaml:18:3: kustomize-remote: the kustomization refers to \"git::https://x/y\", and a compile reads nothing from the network",
				"app/t.yaml:4:7: kustomize-remote: the kustomization refers to \"https://x/t\", and a compile reads nothing from the network",
			},
		},
		"text that is wrong is reported where it is": {
			files: map[string]string{
				"app/kustomization.yaml": "resources: [a.yaml, b.yaml]\n",
				"app/a.yaml":             object("A", "a") + "x: [\n",
				"app/b.yaml":             object("B", "b") + "x: 1\nx: 2\n",
			},
			findings: []string{
				"app/a.yaml:6: schema-yaml: this is not YAML: a value was expected",
				"app/b.yaml:6:1: schema-yaml: the key \"x\" stands twice in the object",
			},
		},
		"a build that crashes": {
			files: map[string]string{
				"app/kustomization.yaml": "resources: [md.yaml]\nreplacements:\n- source: {kind: ModelDeployment, fieldPath: metadata.name}\n  targets: [null]\n",
				"app/md.yaml":            deployment,
			},
			findings: []string{"app/kustomization.yaml: kustomize-build: kustomize cannot build the directory: kustomize crashed: runtime error: invalid memory address or nil pointer dereference"},
		},
		"a build that fails": {
			files:    map[string]string{"app/kustomization.yaml": "resources: [missing.yaml]\n"},
			findings: []string{"app/kustomization.yaml: kustomize-build: kustomize cannot build the directory: accumulating resources: accumulation err='accumulating resources from 'missing.yaml': 'app/missing.yaml' doesn't exist': must build at directory: not a valid directory: 'app/missing.yaml' doesn't exist"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := load(t, tc.files, "app")
			equal(t, "objects", list(s.Objects), tc.objects)
			equal(t, "skipped", list(s.Skipped), tc.skipped)
			equal(t, "findings", problems(s.Findings), tc.findings)
		})
	}
}

func TestKustomizePositions(t *testing.T) {
	s := load(t, map[string]string{
		"base/kustomization.yaml": "resources: [md.yaml]\n",
		"base/md.yaml":            object("ConfigMap", "x") + "---\n" + deployment,
		"app/kustomization.yaml":  "resources: [../base]\nnameSuffix: -x\npatches:\n- patch: |\n    - {op: remove, path: /spec/roles/0}\n    - {op: add, path: /spec/roles/-, value: {name: c, instanceType: t}}\n    - {op: add, path: /spec/roles/0/image, value: i}\n  target: {kind: ModelDeployment}\n",
	}, "app")
	equal(t, "findings", problems(s.Findings), nil)
	o := s.Objects[1]
	if o.PreviousName != "chat" || o.Name != "chat-x" || o.Annotation(annotationOrigin) != "" || o.Annotation("note") != "kept" {
		t.Errorf("%+v", o)
	}
	for field, want := range map[string]string{
		"spec.model.name":            "base/md.yaml:14:17",
		"metadata.name":              "base/md.yaml",
		"spec.roles[0].name":         "base/md.yaml:22:11",
		"spec.roles[0].size":         "base/md.yaml:22:5",
		"spec.roles[0].image":        "base/md.yaml",
		"spec.roles[1].instanceType": "base/md.yaml",
		"spec.router.name":           "base/md.yaml:13:1",
		"":                           "base/md.yaml:7:1",
	} {
		if got := o.Position(field).String(); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
	if line, ok := s.Line(o.Position("spec.model.name")); !ok || line != "  model: {name: m}" {
		t.Errorf("line %q", line)
	}
}

// What is built must be what kustomize builds without the preparations.
func TestKustomizeChangesNothing(t *testing.T) {
	in := map[string]string{
		"base/kustomization.yaml": "resources: [md.yaml]\n",
		"base/md.yaml":            deployment + "---\n" + object("ConfigMap", "x"),
		"app/kustomization.yaml":  "resources: [../base]\nnamePrefix: p-\nlabels:\n- pairs: {a: b}\n",
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files(t, in), "app")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, r := range built.Resources() {
		want = append(want, yaml.NewRNode(r.YNode()).MustString())
	}
	for _, o := range load(t, in, "app").Objects {
		got = append(got, o.Node.MustString())
	}
	equal(t, "objects", got, want)

	in["app/kustomization.yaml"] += "buildMetadata: [originAnnotations]\n"
	if o := load(t, in, "app").Objects[0]; !strings.Contains(o.Annotation(annotationOrigin), "md.yaml") {
		t.Error("the origin annotation that was asked for is gone")
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
)

const sourceDeployment = `
metadata: {name: qwen, namespace: team-a, labels: {a: b}}
spec:
  model: {name: m}
  engine: {name: vLLM, version: 0.29.0}
  kvCache: {poolRef: {name: pool}, connector: Mooncake}
  router: {name: llm-d-router}
  roles:
    - name: server
      kind: Server
      replicas: 2
      size: 1
      instanceType: a10g
      resources: {accelerator: 2}
      env: [{name: A, value: ""}]
      extraArgs: ["", x]
      ports: [{port: 9000, protocol: TCP}]
      additionalVolumes: [{mountPath: /data, hostPath: {path: /mnt, type: ""}}]
    - {name: other, kind: Server, replicas: 1, size: 1, instanceType: h20}
`

func sourceHash(t *testing.T, edit func(*v1.ModelDeployment)) string {
	t.Helper()
	md := &v1.ModelDeployment{}
	if err := yaml.UnmarshalStrict([]byte(sourceDeployment), md); err != nil {
		t.Fatal(err)
	}
	edit(md)
	before := md.DeepCopy()
	hash, err := replica.SourceHash(md, "server", "")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := mustJSON(t, before), mustJSON(t, md); a != b {
		t.Errorf("the deployment changed:\n%s\n%s", a, b)
	}
	return hash
}

// server edits the role that is hashed.
func server(f func(*v1.Role)) func(*v1.ModelDeployment) {
	return func(md *v1.ModelDeployment) { f(&md.Spec.Roles[0]) }
}

func accelerator(text string) func(*v1.ModelDeployment) {
	return server(func(r *v1.Role) { r.Resources.Accelerator = ptr.To(resource.MustParse(text)) })
}

func TestSourceHashEqual(t *testing.T) {
	want := sourceHash(t, func(*v1.ModelDeployment) {})
	if len(want) != 64 {
		t.Errorf("%q is not a SHA-256 in hex", want)
	}
	for name, edit := range map[string]func(*v1.ModelDeployment){
		"replicas":               server(func(r *v1.Role) { r.Replicas = 7 }),
		"replicas of another":    func(md *v1.ModelDeployment) { md.Spec.Roles[1].Replicas = 7 },
		"another role's image":   func(md *v1.ModelDeployment) { md.Spec.Roles[1].Image = "x" },
		"another role's type":    func(md *v1.ModelDeployment) { md.Spec.Roles[1].InstanceType = "x" },
		"another role's size":    func(md *v1.ModelDeployment) { md.Spec.Roles[1].Size = 2 },
		"labels":                 func(md *v1.ModelDeployment) { md.Labels, md.Annotations = nil, map[string]string{"x": "y"} },
		"status":                 func(md *v1.ModelDeployment) { md.Status.Phase = "Ready" },
		"router's image":         func(md *v1.ModelDeployment) { md.Spec.Router.Image = "x" },
		"router's arguments":     func(md *v1.ModelDeployment) { md.Spec.Router.ExtraArgs = []string{"x"} },
		"2000m cards":            accelerator("2000m"),
		"2.0 cards":              accelerator("2.0"),
		"2e0 cards":              accelerator("2e0"),
		"no interfaces":          server(func(r *v1.Role) { r.Resources.Interface = nil }),
		"empty transfer":         func(md *v1.ModelDeployment) { md.Spec.KVTransfer = &v1.KVTransferSpec{} },
		"empty topology":         server(func(r *v1.Role) { r.Topology = &v1.RoleTopology{} }),
		"empty lists":            server(func(r *v1.Role) { r.Command, r.ImagePullSecrets = []string{}, []v1.LocalObjectReference{} }),
		"no type of a host path": server(func(r *v1.Role) { r.AdditionalVolumes[0].HostPath.Type = nil }),
	} {
		if sourceHash(t, edit) != want {
			t.Errorf("%s moves the hash", name)
		}
	}
	// "2" and 2 are one quantity.
	quoted := &v1.ModelDeployment{}
	if err := yaml.Unmarshal([]byte(`{spec: {roles: [{name: a, instanceType: t, resources: {accelerator: "2"}}]}}`), quoted); err != nil {
		t.Fatal(err)
	}
	plain := &v1.ModelDeployment{}
	if err := yaml.Unmarshal([]byte(`{spec: {roles: [{name: a, instanceType: t, resources: {accelerator: 2}}]}}`), plain); err != nil {
		t.Fatal(err)
	}
	a, err := replica.SourceHash(quoted, "a", "")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := replica.SourceHash(plain, "a", ""); err != nil || a != b {
		t.Errorf("quoted %s, plain %s, %v", a, b, err)
	}
}

func TestSourceHashDiffers(t *testing.T) {
	directory := corev1.HostPathDirectory
	seen := map[string]string{sourceHash(t, func(*v1.ModelDeployment) {}): "unchanged"}
	for name, edit := range map[string]func(*v1.ModelDeployment){
		"namespace":      func(md *v1.ModelDeployment) { md.Namespace = "team-b" },
		"name":           func(md *v1.ModelDeployment) { md.Name = "x" },
		"model":          func(md *v1.ModelDeployment) { md.Spec.Model.Name = "x" },
		"artifact":       func(md *v1.ModelDeployment) { md.Spec.Model.ArtifactRef = &v1.LocalObjectReference{Name: "x"} },
		"engine":         func(md *v1.ModelDeployment) { md.Spec.Engine.Name = v1.EngineSGLang },
		"version":        func(md *v1.ModelDeployment) { md.Spec.Engine.Version = "0.30.0" },
		"pool":           func(md *v1.ModelDeployment) { md.Spec.KVCache.PoolRef.Name = "x" },
		"no cache":       func(md *v1.ModelDeployment) { md.Spec.KVCache = nil },
		"transfer":       func(md *v1.ModelDeployment) { md.Spec.KVTransfer = &v1.KVTransferSpec{Protocol: "RDMA"} },
		"router":         func(md *v1.ModelDeployment) { md.Spec.Router.Name = "vllm-router" },
		"no router":      func(md *v1.ModelDeployment) { md.Spec.Router = nil },
		"another role":   func(md *v1.ModelDeployment) { md.Spec.Roles[1].Name = "x" },
		"another's kind": func(md *v1.ModelDeployment) { md.Spec.Roles[1].Kind = v1.RolePrefill },
		"fewer roles":    func(md *v1.ModelDeployment) { md.Spec.Roles = md.Spec.Roles[:1] },
		"order of roles": func(md *v1.ModelDeployment) {
			md.Spec.Roles[0], md.Spec.Roles[1] = md.Spec.Roles[1], md.Spec.Roles[0]
		},
		"kind":           server(func(r *v1.Role) { r.Kind = v1.RoleDecode }),
		"size":           server(func(r *v1.Role) { r.Size = 2 }),
		"type":           server(func(r *v1.Role) { r.InstanceType = "x" }),
		"cards":          accelerator("3"),
		"no cards":       accelerator("0"),
		"cards unstated": server(func(r *v1.Role) { r.Resources.Accelerator = nil }),
		"slice memory":   server(func(r *v1.Role) { r.Resources.AcceleratorSlicedMemoryPercentage = 10 }),
		"slice cores":    server(func(r *v1.Role) { r.Resources.AcceleratorSlicedCoresPercentage = 10 }),
		"profile":        server(func(r *v1.Role) { r.Resources.AcceleratorPartitionedProfile = "x" }),
		"interfaces":     server(func(r *v1.Role) { r.Resources.Interface = ptr.To(resource.MustParse("1")) }),
		"image":          server(func(r *v1.Role) { r.Image = "x" }),
		"pull policy":    server(func(r *v1.Role) { r.ImagePullPolicy = "Always" }),
		"pull secrets":   server(func(r *v1.Role) { r.ImagePullSecrets = []v1.LocalObjectReference{{Name: "x"}} }),
		"privileged":     server(func(r *v1.Role) { r.Privileged = true }),
		"port":           server(func(r *v1.Role) { r.Ports[0].Port = 1 }),
		"protocol":       server(func(r *v1.Role) { r.Ports[0].Protocol = "UDP" }),
		"no ports":       server(func(r *v1.Role) { r.Ports = nil }),
		"env":            server(func(r *v1.Role) { r.Env[0].Value = "1" }),
		"more env":       server(func(r *v1.Role) { r.Env = append(r.Env, v1.EnvVar{Name: "B"}) }),
		"no env":         server(func(r *v1.Role) { r.Env = nil }),
		"volume":         server(func(r *v1.Role) { r.AdditionalVolumes[0].HostPath.Type = &directory }),
		"read-only":      server(func(r *v1.Role) { r.AdditionalVolumes[0].ReadOnly = true }),
		"argument":       server(func(r *v1.Role) { r.ExtraArgs[1] = "y" }),
		"empty argument": server(func(r *v1.Role) { r.ExtraArgs = r.ExtraArgs[1:] }),
		"more arguments": server(func(r *v1.Role) { r.ExtraArgs = append(r.ExtraArgs, "") }),
		"command":        server(func(r *v1.Role) { r.Command = []string{"x"} }),
		"topology":       server(func(r *v1.Role) { r.Topology = &v1.RoleTopology{RequiredLevel: "x"} }),
		"grace":          server(func(r *v1.Role) { r.TerminationGracePeriodSeconds = ptr.To[int64](45) }),
	} {
		hash := sourceHash(t, edit)
		if other, ok := seen[hash]; ok {
			t.Errorf("%s: same hash as %s", name, other)
		}
		seen[hash] = name
	}
	if _, err := replica.SourceHash(&v1.ModelDeployment{}, "server", ""); err == nil {
		t.Error("hashed a role that does not exist")
	}
}

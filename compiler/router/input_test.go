// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/router"
)

const fixtures = "../../testdata/router"

// option changes an input that a test starts from.
type option func(*router.Input)

// newInput is a router in namespace team-a over the roles, given as name and
// kind in turn.
func newInput(name, model string, engine v1.EngineName, spec v1.RouterSpec, roles []router.Role, options ...option) router.Input {
	in := router.Input{
		Deployment: &v1.ModelDeployment{},
		Roles:      roles,
		Image:      "gpustack/llm-router:v0.1.0",
		ProxyImage: "gpustack/mirrored-envoy:distroless-v1.33.2",
	}
	md := in.Deployment
	md.Namespace, md.Name = "team-a", name
	md.Spec.Model.Name = model
	md.Spec.Engine.Name = engine
	md.Spec.Router = &spec
	for i := range in.Roles {
		r := &in.Roles[i]
		r.Endpoint = fmt.Sprintf("http://%s-%s.team-a.svc:8000", name, r.Name)
		if r.Port == 0 {
			r.Port = 8000
		}
	}
	for _, o := range options {
		o(&in)
	}
	return in
}

func spec(f func(*v1.RouterSpec)) option {
	return func(in *router.Input) { f(in.Deployment.Spec.Router) }
}

func servers(names ...string) (out []router.Role) {
	for _, n := range names {
		out = append(out, router.Role{Name: n, Kind: v1.RoleServer})
	}
	return out
}

func pair() []router.Role {
	return []router.Role{{Name: "prefill", Kind: v1.RolePrefill}, {Name: "decode", Kind: v1.RoleDecode}}
}

// vllmPair, sglangServer and vllmServer are the worked examples.
func vllmPair(options ...option) router.Input {
	return newInput("qwen-pd", "Qwen/Qwen2.5-72B-Instruct", v1.EngineVLLM, v1.RouterSpec{Name: v1.RouterLLMD}, pair(), options...)
}

func sglangServer(options ...option) router.Input {
	return newInput("sgl", "M", v1.EngineSGLang, v1.RouterSpec{Name: v1.RouterSGLang}, servers("server"), options...)
}

func vllmServer(options ...option) router.Input {
	return newInput("chat", "M", v1.EngineVLLM, v1.RouterSpec{Name: v1.RouterVLLM}, servers("server"), options...)
}

// find returns the object of a type; nil if there is none.
func find[T router.Object](in router.Input) (found T) {
	for _, o := range router.Objects(in) {
		if t, ok := o.(T); ok {
			return t
		}
	}
	return found
}

func podSpec(in router.Input) corev1.PodSpec {
	return find[*appsv1.Deployment](in).Spec.Template.Spec
}

// program is the container of the router itself.
func program(in router.Input) corev1.Container {
	containers := podSpec(in).Containers
	return containers[len(containers)-1]
}

func data(t testing.TB, in router.Input, key string) string {
	t.Helper()
	var text string
	ok := false
	if m := find[*corev1.ConfigMap](in); m != nil {
		text, ok = m.Data[key]
	}
	if !ok {
		t.Fatalf("no key %s", key)
	}
	return text
}

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readObjects decodes every document of a fixture strictly.
func readObjects(t testing.TB, name string) (out []runtime.Object) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, rbacv1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, doc := range bytes.Split(readFixture(t, name), []byte("\n---\n")) {
		o, _, err := decoder.Decode(doc, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, o)
	}
	return out
}

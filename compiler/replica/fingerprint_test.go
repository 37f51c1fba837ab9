// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
)

func fingerprint(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	before := pod.DeepCopy()
	hash, err := replica.Fingerprint(pod)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := mustJSON(t, before), mustJSON(t, pod); a != b {
		t.Errorf("the Pod changed:\n%s\n%s", a, b)
	}
	return hash
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readPod reads the Pod of a PodTemplate in testdata.
func readPod(t *testing.T, file string) *corev1.Pod {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var template corev1.PodTemplate
	if err := yaml.UnmarshalStrict(b, &template); err != nil {
		t.Fatal(err)
	}
	return &corev1.Pod{ObjectMeta: template.Template.ObjectMeta, Spec: template.Template.Spec}
}

// TestFingerprintDocument spells the document that is hashed.
func TestFingerprintDocument(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace = "qwen-server-r0-m1", "team-a"
	pod.Labels = map[string]string{"b": "2", "a": "1"}
	pod.Annotations = map[string]string{"x": "<y>", v1.AnnotationPodSpecHash: "old"}
	pod.Spec.Containers = []corev1.Container{{
		Name: "main", Image: "own:1",
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse("1024Mi"), "cpu": resource.MustParse("2000m")}},
	}}
	document := `{"labels":{"a":"1","b":"2"},"annotations":{"x":"\u003cy\u003e"},"spec":{` +
		`"containers":[{"image":"own:1","imagePullPolicy":"IfNotPresent","name":"main",` +
		`"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"2","memory":"1Gi"}},` +
		`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],` +
		`"dnsPolicy":"ClusterFirst","enableServiceLinks":true,"restartPolicy":"Always","schedulerName":"default-scheduler",` +
		`"securityContext":{},"terminationGracePeriodSeconds":30}}`
	if got, want := fingerprint(t, pod), fmt.Sprintf("%x", sha256.Sum256([]byte(document))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFingerprintOfDefaults hashes a template as a compile writes it and as an
// API server returns it.
func TestFingerprintOfDefaults(t *testing.T) {
	stated, defaulted := readPod(t, "stated.yaml"), readPod(t, "defaulted.yaml")
	if got, want := fingerprint(t, defaulted), fingerprint(t, stated); got != want {
		t.Errorf("read back: %s, in Git: %s", got, want)
	}

	// Every default counts: written as another value it is another Pod. It is
	// taken out of the defaulted document one by one, and must come back.
	var tree map[string]any
	if err := json.Unmarshal([]byte(mustJSON(t, defaulted.Spec)), &tree); err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := json.Unmarshal([]byte(mustJSON(t, stated.Spec)), &plain); err != nil {
		t.Fatal(err)
	}
	want := fingerprint(t, defaulted)
	n := 0
	for path := range added("", plain, tree) {
		n++
		var copied map[string]any
		if err := json.Unmarshal([]byte(mustJSON(t, tree)), &copied); err != nil {
			t.Fatal(err)
		}
		remove(copied, strings.Split(strings.TrimPrefix(path, "/"), "/"))
		pod := defaulted.DeepCopy()
		pod.Spec = corev1.PodSpec{}
		if err := json.Unmarshal([]byte(mustJSON(t, copied)), &pod.Spec); err != nil {
			t.Fatal(err)
		}
		if fingerprint(t, pod) != want {
			t.Errorf("the default at %s is not filled in", path)
		}
	}
	if n < 40 {
		t.Errorf("only %d defaults found", n)
	}
}

// added yields the paths that b has and a does not.
func added(path string, a, b any) map[string]bool {
	out := map[string]bool{}
	switch b := b.(type) {
	case map[string]any:
		a, ok := a.(map[string]any)
		if !ok {
			return map[string]bool{path: true}
		}
		for k := range b {
			if _, ok := a[k]; !ok {
				out[path+"/"+k] = true
				continue
			}
			for p := range added(path+"/"+k, a[k], b[k]) {
				out[p] = true
			}
		}
	case []any:
		for i := range b {
			for p := range added(fmt.Sprintf("%s/%d", path, i), a.([]any)[i], b[i]) {
				out[p] = true
			}
		}
	}
	return out
}

func remove(v any, path []string) {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
			return
		}
		remove(v[path[0]], path[1:])
	case []any:
		var i int
		_, _ = fmt.Sscan(path[0], &i)
		remove(v[i], path[1:])
	}
}

func TestFingerprintOfQuantities(t *testing.T) {
	limits := func(name corev1.ResourceName, text string) *corev1.Pod {
		p := readPod(t, "stated.yaml")
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Limits:   corev1.ResourceList{name: resource.MustParse(text)},
			Requests: corev1.ResourceList{name: resource.MustParse(text)},
		}
		return p
	}
	for name, spellings := range map[corev1.ResourceName][]string{
		"cpu":                     {"2", "2000m", "2.0", "2e0", "0.002k"},
		"memory":                  {"64Gi", "65536Mi", "0.0625Ti", "68719476736", "68719476736000m"},
		"ephemeral-storage":       {"0", "0Gi", "0m"},
		"nvidia.com/gpu":          {"4000", "4k", "4e3"},
		"example.com/thousandths": {"1m", "1u", "0.0005"},
	} {
		want := fingerprint(t, limits(name, spellings[0]))
		for _, s := range spellings[1:] {
			if fingerprint(t, limits(name, s)) != want {
				t.Errorf("%s: %s and %s differ", name, spellings[0], s)
			}
		}
		if fingerprint(t, limits(name, "3")) == want {
			t.Errorf("%s: %s and 3 are equal", name, spellings[0])
		}
		// What was printed before must hash like what was not.
		printed := limits(name, spellings[len(spellings)-1])
		for _, q := range printed.Spec.Containers[0].Resources.Limits {
			_ = q.String()
		}
		if fingerprint(t, printed) != want {
			t.Errorf("%s: differs once printed", name)
		}
	}
}

func TestFingerprintChanges(t *testing.T) {
	main := func(f func(*corev1.Container)) func(*corev1.Pod) {
		return func(p *corev1.Pod) { f(&p.Spec.Containers[0]) }
	}
	seen := map[string]string{fingerprint(t, readPod(t, "stated.yaml")): "unchanged"}
	for name, edit := range map[string]func(*corev1.Pod){
		"label":           func(p *corev1.Pod) { p.Labels["x"] = "1" },
		"label value":     func(p *corev1.Pod) { p.Labels["app.kubernetes.io/name"] = "x" },
		"annotation":      func(p *corev1.Pod) { p.Annotations["x"] = "1" },
		"no annotation":   func(p *corev1.Pod) { delete(p.Annotations, "kueue.x-k8s.io/role-hash") },
		"image":           main(func(c *corev1.Container) { c.Image = "own:2" }),
		"argument":        main(func(c *corev1.Container) { c.Command = append(c.Command, "") }),
		"env":             main(func(c *corev1.Container) { c.Env[0].Value = "2" }),
		"order of env":    main(func(c *corev1.Container) { c.Env[0], c.Env[1] = c.Env[1], c.Env[0] }),
		"probe":           main(func(c *corev1.Container) { c.StartupProbe.FailureThreshold = 180 }),
		"no probe":        main(func(c *corev1.Container) { c.StartupProbe = nil }),
		"hook":            main(func(c *corev1.Container) { c.Lifecycle.PreStop.Exec.Command[2] = "" }),
		"pull policy":     main(func(c *corev1.Container) { c.ImagePullPolicy = "Always" }),
		"limit":           main(func(c *corev1.Container) { c.Resources.Limits["cpu"] = resource.MustParse("3") }),
		"request":         main(func(c *corev1.Container) { c.Resources.Requests["cpu"] = resource.MustParse("1") }),
		"protocol":        main(func(c *corev1.Container) { c.Ports[0].Protocol = "UDP" }),
		"unprivileged":    main(func(c *corev1.Container) { c.SecurityContext = nil }),
		"grace":           func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](45) },
		"hostname":        func(p *corev1.Pod) { p.Spec.Hostname = "x" },
		"subdomain":       func(p *corev1.Pod) { p.Spec.Subdomain = "x" },
		"runtime class":   func(p *corev1.Pod) { p.Spec.RuntimeClassName = nil },
		"pull secret":     func(p *corev1.Pod) { p.Spec.ImagePullSecrets[0].Name = "x" },
		"volume":          func(p *corev1.Pod) { p.Spec.Volumes[0].ConfigMap.Name = "x" },
		"mode of volume":  func(p *corev1.Pod) { p.Spec.Volumes[0].ConfigMap.DefaultMode = ptr.To[int32](0o600) },
		"size of volume":  func(p *corev1.Pod) { p.Spec.Volumes[5].EmptyDir.SizeLimit = ptr.To(resource.MustParse("1Gi")) },
		"init container":  func(p *corev1.Pod) { p.Spec.InitContainers = nil },
		"tw reuse sysctl": func(p *corev1.Pod) { p.Spec.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{}}} },
	} {
		pod := readPod(t, "stated.yaml")
		edit(pod)
		hash := fingerprint(t, pod)
		if other, ok := seen[hash]; ok {
			t.Errorf("%s: same fingerprint as %s", name, other)
		}
		seen[hash] = name
	}

	want := fingerprint(t, readPod(t, "stated.yaml"))
	for name, edit := range map[string]func(*corev1.Pod){
		"fingerprint": func(p *corev1.Pod) { p.Annotations[v1.AnnotationPodSpecHash] = "x" },
		"name":        func(p *corev1.Pod) { p.Name, p.GenerateName, p.Namespace = "x", "y", "z" },
		"empty lists": main(func(c *corev1.Container) { c.Args, c.EnvFrom = []string{}, []corev1.EnvFromSource{} }),
		"empty lists of the Pod": func(p *corev1.Pod) {
			p.Spec.Tolerations, p.Spec.NodeSelector = []corev1.Toleration{}, map[string]string{}
		},
	} {
		pod := readPod(t, "stated.yaml")
		edit(pod)
		if fingerprint(t, pod) != want {
			t.Errorf("%s moves the fingerprint", name)
		}
	}
}

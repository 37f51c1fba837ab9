// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package replica_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"
)

// newTemplate returns the PodTemplate of role server of team-a/qwen.
func newTemplate(size string, late ...replica.Late) *corev1.PodTemplate {
	t := &corev1.PodTemplate{}
	t.Namespace, t.Name = "team-a", "qwen-server"
	t.Annotations = map[string]string{v1.AnnotationDeployment: "qwen", v1.AnnotationSize: size}
	text, err := replica.FormatLate(late)
	if err != nil {
		panic(err)
	}
	if text != "" {
		t.Annotations[v1.AnnotationLateBound] = text
	}
	t.Template.Labels = map[string]string{v1.LabelInstance: "qwen"}
	t.Template.Annotations = map[string]string{"kueue.x-k8s.io/role-hash": "server"}
	t.Template.Spec = corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "proxy", Image: "proxy:1"}},
		Containers: []corev1.Container{{
			Name: "main", Image: "own:1",
			Env:       []corev1.EnvVar{{Name: "A", Value: "1"}},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("2000m")}},
		}},
	}
	return t
}

func stamp(t *testing.T, template *corev1.PodTemplate, seat replica.Seat, late map[replica.LateName]string) *corev1.Pod {
	t.Helper()
	pod, err := replica.Stamp(template, seat, late)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestStamp(t *testing.T) {
	for name, tc := range map[string]struct {
		size string
		seat replica.Seat
		want func(*corev1.Pod)
	}{
		"size 1": {"1", replica.Seat{Ordinal: 3}, func(p *corev1.Pod) {
			p.GenerateName = "qwen-server-"
			p.Labels["modeldeployment.gpustack.ai/pod-ordinal"] = "3"
			p.Labels["modeldeployment.gpustack.ai/member-index"] = "0"
		}},
		"size 2": {"2", replica.Seat{Ordinal: 12, Member: 1}, func(p *corev1.Pod) {
			p.Name = "qwen-server-r12-m1"
			p.Labels["modeldeployment.gpustack.ai/pod-ordinal"] = "12"
			p.Labels["modeldeployment.gpustack.ai/member-index"] = "1"
			p.Spec.Hostname, p.Spec.Subdomain = "qwen-server-r12-m1", "qwen-server-r12"
			p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env,
				corev1.EnvVar{Name: "GPUSTACK_REPLICA_LEADER_ADDRESS", Value: "qwen-server-r12-m0.qwen-server-r12"},
				corev1.EnvVar{Name: "GPUSTACK_REPLICA_SIZE", Value: "2"},
				corev1.EnvVar{Name: "GPUSTACK_MEMBER_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
					FieldPath: "metadata.labels['modeldeployment.gpustack.ai/member-index']",
				}}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			template := newTemplate(tc.size)
			got := stamp(t, template, tc.seat, nil)
			want := &corev1.Pod{}
			want.APIVersion, want.Kind, want.Namespace = "v1", "Pod", "team-a"
			want.Labels = map[string]string{
				v1.LabelInstance:                "qwen",
				"kueue.x-k8s.io/pod-group-name": replica.GroupName("team-a", "qwen", "server", tc.seat.Ordinal),
			}
			hash, err := replica.Fingerprint(got)
			if err != nil {
				t.Fatal(err)
			}
			want.Annotations = map[string]string{"kueue.x-k8s.io/role-hash": "server", "modeldeployment.gpustack.ai/pod-spec-hash": hash}
			want.Spec = *template.Template.Spec.DeepCopy()
			tc.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMembersDiffer lists all that may differ between the members of one
// instance, since one set of requests has to fit them all.
func TestMembersDiffer(t *testing.T) {
	template := newTemplate("2")
	leader, member := stamp(t, template, replica.Seat{}, nil), stamp(t, template, replica.Seat{Member: 1}, nil)
	member.Name, member.Spec.Hostname = leader.Name, leader.Spec.Hostname
	member.Labels[v1.LabelMemberIndex] = "0"
	member.Annotations[v1.AnnotationPodSpecHash] = leader.Annotations[v1.AnnotationPodSpecHash]
	if diff := cmp.Diff(leader, member); diff != "" {
		t.Errorf("(-leader +member):\n%s", diff)
	}
}

func TestStampLeavesTheTemplate(t *testing.T) {
	for name, tc := range map[string]struct {
		late   []replica.Late
		values map[replica.LateName]string
	}{
		"plain": {},
		"late": {
			[]replica.Late{
				replica.NewLate(replica.LateRuntimeVersion, "a10g", replica.ImageField("main"), replica.AnnotationField("x"), replica.EnvField("main", "A")),
				replica.NewLate(replica.LateQueueName, "a10g", replica.LabelField(v1.LabelQueueName)),
			},
			map[replica.LateName]string{replica.LateRuntimeVersion: "12.9", replica.LateQueueName: "queue"},
		},
		"open": {
			[]replica.Late{replica.NewLate(replica.LateRuntimeVersion, "a10g", replica.ImageField("main"))}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			template := newTemplate("2", tc.late...)
			template.Template.Annotations["x"] = "__runtimeVersion__"
			template.Template.Spec.Containers[0].Image = "own:__runtimeVersion__"
			template.Template.Spec.Containers[0].Env[0].Value = "__runtimeVersion__"
			before := template.DeepCopy()
			pod := stamp(t, template, replica.Seat{Member: 1}, tc.values)
			pod.Labels["x"], pod.Annotations["x"], pod.Spec.Containers[0].Env[0].Value = "x", "x", "x"
			if diff := cmp.Diff(before, template); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

func TestLateFields(t *testing.T) {
	const value = "12.9"
	for name, tc := range map[string]struct {
		in   string
		edit func(*corev1.PodTemplateSpec)
		read func(*corev1.Pod) string
		want string
	}{
		"image": {
			"spec.containers[main].image",
			func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "r/own:cuda__runtimeVersion__-x" },
			func(p *corev1.Pod) string { return p.Spec.Containers[0].Image }, "r/own:cuda12.9-x",
		},
		"image, no longer a token": {
			"spec.containers[main].image",
			func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "r/own@sha256:0" },
			func(p *corev1.Pod) string { return p.Spec.Containers[0].Image }, "r/own@sha256:0",
		},
		"image of an init container": {
			"spec.initContainers[proxy].image",
			func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers[0].Image = "p:__runtimeVersion__" },
			func(p *corev1.Pod) string { return p.Spec.InitContainers[0].Image }, "p:12.9",
		},
		"env": {
			"spec.containers[main].env[A].value",
			func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Env[0].Value = "<__runtimeVersion__,__runtimeVersion__>"
			},
			func(p *corev1.Pod) string { return p.Spec.Containers[0].Env[0].Value }, "<12.9,12.9>",
		},
		"env, no longer a token": {
			"spec.containers[main].env[A].value", func(*corev1.PodTemplateSpec) {},
			func(p *corev1.Pod) string { return p.Spec.Containers[0].Env[0].Value }, "1",
		},
		"annotation": {
			"metadata.annotations[kvcache.gpustack.ai/client-config]",
			func(t *corev1.PodTemplateSpec) {
				t.Annotations["kvcache.gpustack.ai/client-config"] = `{"a":"__runtimeVersion__"}`
			},
			func(p *corev1.Pod) string { return p.Annotations["kvcache.gpustack.ai/client-config"] }, `{"a":"12.9"}`,
		},
		"annotation, no longer there": {
			"metadata.annotations[x]", func(*corev1.PodTemplateSpec) {},
			func(p *corev1.Pod) string {
				if _, ok := p.Annotations["x"]; ok {
					return "written"
				}
				return ""
			}, "",
		},
		"label": {
			"metadata.labels[x]", func(*corev1.PodTemplateSpec) {},
			func(p *corev1.Pod) string { return p.Labels["x"] }, value,
		},
		"label, filled in by hand": {
			"metadata.labels[x]", func(t *corev1.PodTemplateSpec) { t.Labels["x"] = "mine" },
			func(p *corev1.Pod) string { return p.Labels["x"] }, "mine",
		},
		"label of a template without labels": {
			"metadata.labels[x]", func(t *corev1.PodTemplateSpec) { t.Labels = nil },
			func(p *corev1.Pod) string { return p.Labels["x"] }, value,
		},
		"container that is gone": {
			"spec.containers[gone].image", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "own:__runtimeVersion__" },
			func(p *corev1.Pod) string { return p.Spec.Containers[0].Image }, "own:__runtimeVersion__",
		},
		"same text elsewhere": {
			"spec.containers[main].image",
			func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Env[0].Value = "__runtimeVersion__"
				t.Spec.Containers[0].Command = []string{"__runtimeVersion__"}
				t.Annotations["x"] = "__runtimeVersion__"
			},
			func(p *corev1.Pod) string {
				c := p.Spec.Containers[0]
				return strings.Join([]string{c.Env[0].Value, c.Command[0], p.Annotations["x"]}, " ")
			}, "__runtimeVersion__ __runtimeVersion__ __runtimeVersion__",
		},
		"token of another name": {
			"spec.containers[main].image",
			func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "own:__queueName__" },
			func(p *corev1.Pod) string { return p.Spec.Containers[0].Image }, "own:__queueName__",
		},
	} {
		t.Run(name, func(t *testing.T) {
			template := newTemplate("1", replica.NewLate(replica.LateRuntimeVersion, "a10g", tc.in))
			tc.edit(&template.Template)
			pod := stamp(t, template, replica.Seat{}, map[replica.LateName]string{replica.LateRuntimeVersion: value})
			if got := tc.read(pod); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if _, ok := pod.Annotations[v1.AnnotationLateBound]; ok {
				t.Error("late values left on a complete Pod")
			}
		})
	}
}

// TestOpenValues stamps without some of the late values, as a reviewer does.
func TestOpenValues(t *testing.T) {
	queue := replica.NewLate(replica.LateQueueName, "a10g", replica.LabelField(v1.LabelQueueName))
	runtime := replica.NewLate(replica.LateRuntimeVersion, "a10g", replica.ImageField("main"))
	for name, values := range map[string]map[replica.LateName]string{
		"absent": {replica.LateRuntimeVersion: "12.9"},
		"empty":  {replica.LateRuntimeVersion: "12.9", replica.LateQueueName: ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := stamp(t, newTemplate("1", runtime, queue), replica.Seat{}, values)
			if q, ok := pod.Labels[v1.LabelQueueName]; ok {
				t.Errorf("queue label %q", q)
			}
			want, err := replica.FormatLate([]replica.Late{queue})
			if err != nil {
				t.Fatal(err)
			}
			if got := pod.Annotations[v1.AnnotationLateBound]; got != want {
				t.Errorf("late-bound %s, want %s", got, want)
			}
		})
	}
}

func TestStampRefuses(t *testing.T) {
	annotate := func(key, value string) func(*corev1.PodTemplate) {
		return func(t *corev1.PodTemplate) { t.Annotations[key] = value }
	}
	for name, tc := range map[string]struct {
		edit     func(*corev1.PodTemplate)
		mentions string
	}{
		"unknown late value": {annotate(v1.AnnotationLateBound, `[{"name":"futureValue","kind":"X","object":"y","field":"z","in":[]}]`), `"futureValue"`},
		"late not JSON":      {annotate(v1.AnnotationLateBound, `x`), v1.AnnotationLateBound},
		"unknown field":      {annotate(v1.AnnotationLateBound, `[{"name":"queueName","in":["spec.hostname"]}]`), `"spec.hostname"`},
		"a container's name": {annotate(v1.AnnotationLateBound, `[{"name":"queueName","in":["spec.containers[main].name"]}]`), `"spec.containers[main].name"`},
		"no deployment":      {annotate(v1.AnnotationDeployment, ""), "not compiled by mdc"},
		"no role":            {func(t *corev1.PodTemplate) { t.Template.Annotations = nil }, "not compiled by mdc"},
		"no size":            {annotate(v1.AnnotationSize, ""), "no positive number"},
		"size 0":             {annotate(v1.AnnotationSize, "0"), "no positive number"},
		"size of text":       {annotate(v1.AnnotationSize, "two"), "no positive number"},
	} {
		t.Run(name, func(t *testing.T) {
			template := newTemplate("1")
			tc.edit(template)
			pod, err := replica.Stamp(template, replica.Seat{}, map[replica.LateName]string{replica.LateQueueName: "queue"})
			if err == nil || pod != nil {
				t.Fatalf("stamped %v", pod)
			}
			if !strings.Contains(err.Error(), tc.mentions) || !strings.Contains(err.Error(), "qwen-server") && tc.mentions[0] != '"' {
				t.Errorf("%v does not mention %s", err, tc.mentions)
			}
		})
	}
	t.Run("unknown late value that nobody gives", func(t *testing.T) {
		template := newTemplate("1")
		template.Annotations[v1.AnnotationLateBound] = `[{"name":"futureValue"}]`
		if _, err := replica.Stamp(template, replica.Seat{}, nil); err == nil {
			t.Error("stamped")
		}
	})
}

func TestLateAnnotation(t *testing.T) {
	if got := replica.LateRuntimeVersion.Token(); got != "__runtimeVersion__" {
		t.Errorf("token %s", got)
	}
	entries := []replica.Late{
		replica.NewLate(replica.LateRuntimeVersion, "a10g", replica.ImageField("main")),
		replica.NewLate(replica.LateClientEndpoint, "dram", replica.EnvField("main", "MOONCAKE_MASTER")),
	}
	text, err := replica.FormatLate(entries)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"clientEndpoint","kind":"KVCachePool","object":"dram","field":"status.clientEndpoint","in":["spec.containers[main].env[MOONCAKE_MASTER].value"]},` +
		`{"name":"runtimeVersion","kind":"InstanceType","object":"a10g","field":"status.detail.runtimeVersion","in":["spec.containers[main].image"]}]`
	if text != want {
		t.Errorf("\n got %s\nwant %s", text, want)
	}
	if entries[0].Name != replica.LateRuntimeVersion {
		t.Error("the argument was sorted")
	}
	got, err := replica.ParseLate(newTemplate("1", entries...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]replica.Late{entries[1], entries[0]}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text, err := replica.FormatLate(nil); text != "" || err != nil {
		t.Errorf("nothing late: %q, %v", text, err)
	}
}

// TestStampIsStable stamps many times from maps of many keys.
func TestStampIsStable(t *testing.T) {
	template := newTemplate("2",
		replica.NewLate(replica.LateQueueName, "a10g", replica.LabelField(v1.LabelQueueName)),
		replica.NewLate(replica.LateRuntimeVersion, "a10g", replica.ImageField("main")))
	c := &template.Template.Spec.Containers[0]
	c.Resources.Requests = corev1.ResourceList{}
	for i := range 20 {
		k := fmt.Sprintf("example.com/k%d", i)
		template.Template.Labels[k], template.Template.Annotations[k] = k, k
		c.Resources.Limits[corev1.ResourceName(k)] = resource.MustParse("1000m")
	}
	late := map[replica.LateName]string{replica.LateQueueName: "queue", replica.LateRuntimeVersion: "12.9"}
	var first []byte
	for i := range 100 {
		other := template.DeepCopy()
		other.Template.Labels = maps.Collect(maps.All(template.Template.Labels))
		got, err := json.Marshal(stamp(t, other, replica.Seat{Ordinal: 1, Member: 1}, late))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = got
		} else if !bytes.Equal(first, got) {
			t.Fatalf("stamp %d differs:\n%s\n%s", i, first, got)
		}
	}
}

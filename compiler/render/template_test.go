// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/render"
)

func TestTemplateMetadata(t *testing.T) {
	r := newRole(size(2), cache(), func(r *render.Role) {
		r.Deployment.Labels = map[string]string{"argocd.argoproj.io/instance": "x"}
		r.Deployment.Annotations = map[string]string{"note": "x"}
		r.CompilerVersion = "v1.2.3"
	})
	out := templates(t, r)
	if len(out) != 2 {
		t.Fatalf("%d templates, want two", len(out))
	}
	for i, name := range []string{"qwen-server", "qwen-server.uncached"} {
		got := out[i]
		hash := got.Annotations[v1.AnnotationSourceHash]
		if len(hash) != 64 {
			t.Errorf("source hash %q", hash)
		}
		want := &corev1.PodTemplate{}
		want.APIVersion, want.Kind, want.Namespace, want.Name = "v1", "PodTemplate", "team-a", name
		want.Labels = map[string]string{
			"app.kubernetes.io/name":       "model-deployment",
			"app.kubernetes.io/instance":   "qwen",
			"app.kubernetes.io/component":  "server",
			"app.kubernetes.io/managed-by": "mdc",
		}
		want.Annotations = map[string]string{
			"modeldeployment.gpustack.ai/deployment":       "qwen",
			"modeldeployment.gpustack.ai/source-hash":      hash,
			"modeldeployment.gpustack.ai/size":             "2",
			"modeldeployment.gpustack.ai/role-kind":        "Server",
			"modeldeployment.gpustack.ai/compiler-version": "v1.2.3",
		}
		want.Template = got.Template
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestPodMetadata(t *testing.T) {
	labels := map[string]string{
		"app.kubernetes.io/name":                "model-deployment",
		"app.kubernetes.io/instance":            "qwen",
		"app.kubernetes.io/component":           "server",
		"modeldeployment.gpustack.ai/role-kind": "server",
		"kueue.x-k8s.io/queue-name":             "queue",
	}
	group := map[string]string{
		"kueue.x-k8s.io/pod-group-total-count": "1",
		"kueue.x-k8s.io/role-hash":             "server",
		"kueue.x-k8s.io/pod-group-serving":     "true",
	}
	scraped := map[string]string{
		"prometheus.io/scrape": "true",
		"prometheus.io/path":   "/metrics",
		"prometheus.io/port":   "8000",
		"prometheus.io/scheme": "http",
	}
	config := func(tenant string) map[string]string {
		text := `{"metadata_server":"P2PHANDSHAKE","master_server_address":"10.0.0.7:50051","protocol":"tcp","device_name":"","mode":"standalone-store","global_segment_size":0,"local_buffer_size":134217728`
		if tenant != "" {
			text += `,"tenant_id":"` + tenant + `"`
		}
		return map[string]string{"kvcache.gpustack.ai/client-config": text + "}"}
	}
	topology := func(level string) edit {
		return spec(func(s *v1.Role) { s.Topology = &v1.RoleTopology{RequiredLevel: level} })
	}
	for name, tc := range map[string]struct {
		edits []edit
		want  []map[string]string
	}{
		"plain":               {nil, []map[string]string{group, scraped}},
		"take-over":           {[]edit{command("serve"), cache()}, []map[string]string{group}},
		"cached":              {[]edit{cache()}, []map[string]string{group, scraped, config("team-a-dram")}},
		"cached, no tenant":   {[]edit{cache(func(c *render.Cache) { c.Tenant = "" })}, []map[string]string{group, scraped, config("")}},
		"cached SGLang":       {[]edit{sglang, cache()}, []map[string]string{group, scraped}},
		"topology":            {[]edit{topology("topology.kubernetes.io/zone")}, []map[string]string{group, scraped, {"kueue.x-k8s.io/podset-required-topology": "topology.kubernetes.io/zone"}}},
		"empty topology":      {[]edit{topology("")}, []map[string]string{group, scraped}},
		"topology, take-over": {[]edit{command("serve"), topology("rack")}, []map[string]string{group, {"kueue.x-k8s.io/podset-required-topology": "rack"}}},
		"size 3": {[]edit{size(3)}, []map[string]string{group, scraped, {
			"kueue.x-k8s.io/pod-group-total-count":     "3",
			"kueue.x-k8s.io/pod-group-pod-index-label": "modeldeployment.gpustack.ai/member-index",
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{}
			for _, m := range tc.want {
				for k, v := range m {
					want[k] = v
				}
			}
			got := pod(t, tc.edits...)
			if diff := cmp.Diff(labels, got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPodSpec covers what stands beside the container.
func TestPodSpec(t *testing.T) {
	classes := func(names ...string) edit {
		return func(r *render.Role) {
			r.HasRuntimeClass = func(n string) bool { return slices.Contains(names, n) }
		}
	}
	grace := func(seconds int64) edit {
		return spec(func(s *v1.Role) { s.TerminationGracePeriodSeconds = &seconds })
	}
	plain := func(f func(*corev1.PodSpec)) corev1.PodSpec {
		s := corev1.PodSpec{
			RestartPolicy:                 "Always",
			AutomountServiceAccountToken:  ptr.To(false),
			EnableServiceLinks:            ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](30),
		}
		f(&s)
		return s
	}
	for name, tc := range map[string]struct {
		edits []edit
		want  corev1.PodSpec
	}{
		"plain":                     {nil, plain(func(*corev1.PodSpec) {})},
		"grace":                     {[]edit{grace(45)}, plain(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](45) })},
		"the default grace, stated": {[]edit{grace(30)}, plain(func(*corev1.PodSpec) {})},
		"take-over":                 {[]edit{command("serve")}, plain(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = nil })},
		"take-over, grace":          {[]edit{command("serve"), grace(45)}, plain(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](45) })},
		"RuntimeClass":              {[]edit{classes("nvidia")}, plain(func(s *corev1.PodSpec) { s.RuntimeClassName = ptr.To("nvidia") })},
		"RuntimeClass of another":   {[]edit{classes("amd")}, plain(func(*corev1.PodSpec) {})},
		"RuntimeClass of ascend":    {[]edit{maker("ascend"), classes("nvidia", "ascend")}, plain(func(s *corev1.PodSpec) { s.RuntimeClassName = ptr.To("ascend") })},
		"RuntimeClass of thead":     {[]edit{maker("thead"), classes("thead", "")}, plain(func(*corev1.PodSpec) {})},
		"RuntimeClass, CPU only":    {[]edit{cpuOnly, func(r *render.Role) { r.Type.Spec.AcceleratorGroup = "nvidia-x" }, classes("nvidia")}, plain(func(*corev1.PodSpec) {})},
		"RuntimeClass, no cards":    {[]edit{cards("0"), classes("nvidia")}, plain(func(s *corev1.PodSpec) { s.RuntimeClassName = ptr.To("nvidia") })},
		"pull secrets": {
			[]edit{spec(func(s *v1.Role) { s.ImagePullSecrets = []v1.LocalObjectReference{{Name: "b"}, {Name: "a"}} })},
			plain(func(s *corev1.PodSpec) {
				s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "b"}, {Name: "a"}}
			}),
		},
		"volumes": {
			[]edit{cache(), additionalVolumes},
			plain(func(s *corev1.PodSpec) { s.Volumes = append(slices.Clone(wantVolumes), clientConfigVolume) }),
		},
		"volumes, SGLang":    {[]edit{sglang, cache()}, plain(func(*corev1.PodSpec) {})},
		"volumes, take-over": {[]edit{command("serve"), cache(), additionalVolumes, grace(30)}, plain(func(s *corev1.PodSpec) { s.Volumes = wantVolumes })},
	} {
		t.Run(name, func(t *testing.T) {
			got := pod(t, tc.edits...).Spec
			got.Containers = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var additionalVolumes = spec(func(s *v1.Role) {
	directory := corev1.HostPathDirectory
	s.AdditionalVolumes = []v1.RoleVolume{
		{MountPath: "/cfg", ReadOnly: true, ConfigMap: &v1.LocalObjectReference{Name: "cm"}},
		{MountPath: "/sec", SubPath: "a/b", Secret: &v1.LocalObjectReference{Name: "se"}},
		{MountPath: "/data", HostPath: &corev1.HostPathVolumeSource{Path: "/mnt", Type: &directory}},
	}
})

var wantVolumes = []corev1.Volume{
	{Name: "additional-0", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}},
	{Name: "additional-1", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "se"}}},
	{Name: "additional-2", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt", Type: ptr.To(corev1.HostPathDirectory)}}},
}

var clientConfigVolume = corev1.Volume{
	Name: "gpustack-kvcache-config",
	VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
		Path:     "mooncake.json",
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['kvcache.gpustack.ai/client-config']"},
	}}}},
}

func TestMounts(t *testing.T) {
	own := []corev1.VolumeMount{
		{Name: "additional-0", MountPath: "/cfg", ReadOnly: true},
		{Name: "additional-1", MountPath: "/sec", SubPath: "a/b"},
		{Name: "additional-2", MountPath: "/data"},
	}
	config := corev1.VolumeMount{Name: "gpustack-kvcache-config", MountPath: "/etc/gpustack/kvcache", ReadOnly: true}
	for name, tc := range map[string]struct {
		edits []edit
		want  []corev1.VolumeMount
	}{
		"none":          {nil, nil},
		"own":           {[]edit{additionalVolumes}, own},
		"cached":        {[]edit{cache()}, []corev1.VolumeMount{config}},
		"own, cached":   {[]edit{cache(), additionalVolumes}, append(slices.Clone(own), config)},
		"cached SGLang": {[]edit{sglang, cache(), additionalVolumes}, own},
		"take-over":     {[]edit{command("serve"), cache(), additionalVolumes}, own},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, mainContainer(t, tc.edits...).VolumeMounts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestContainerFields(t *testing.T) {
	c := mainContainer(t)
	if c.ImagePullPolicy != "" || c.SecurityContext != nil {
		t.Errorf("pull policy %q and security context %v of a role that states none", c.ImagePullPolicy, c.SecurityContext)
	}
	c = mainContainer(t, spec(func(s *v1.Role) { s.ImagePullPolicy, s.Privileged = "Never", true }))
	if want := (&corev1.SecurityContext{Privileged: ptr.To(true)}); c.ImagePullPolicy != "Never" || !cmp.Equal(want, c.SecurityContext) {
		t.Errorf("pull policy %q, security context %v", c.ImagePullPolicy, c.SecurityContext)
	}
}

// TestTakeOver compares a whole container with everything stated: only what the
// user wrote, what the hardware gives and the group's identity are left.
func TestTakeOver(t *testing.T) {
	c := mainContainer(t, cache(), command("python3", "/opt/serve.py", "--port", "9000", "--ssl-keyfile=k"), extraArgs("--ignored"),
		env("MODE", "fast"), additionalVolumes,
		spec(func(s *v1.Role) { s.Image, s.ImagePullPolicy, s.Privileged = "own:1", "Always", true }))
	want := corev1.Container{
		Name: "main", Image: "own:1", ImagePullPolicy: "Always",
		Command:         []string{"python3", "/opt/serve.py", "--port", "9000", "--ssl-keyfile=k"},
		Ports:           []corev1.ContainerPort{port("http", "TCP", 9000)},
		Env:             []corev1.EnvVar{{Name: "MODE", Value: "fast"}},
		VolumeMounts:    c.VolumeMounts,
		Resources:       c.Resources,
		SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(c.VolumeMounts) != 3 || len(c.Resources.Limits) != 4 {
		t.Errorf("mounts %v, limits %v", c.VolumeMounts, c.Resources.Limits)
	}
	if out := templates(t, newRole(cache(), command("serve"))); len(out) != 1 {
		t.Errorf("%d templates, want no uncached one", len(out))
	}
}

// TestUncached compares the template without a store with the role's Pod on a
// deployment that has none.
func TestUncached(t *testing.T) {
	for name, edits := range map[string][]edit{
		"vLLM":   {env("MC_TE_METRIC", "0")},
		"SGLang": {sglang},
		"Ascend": {maker("ascend")},
	} {
		t.Run(name, func(t *testing.T) {
			offers := cache(func(c *render.Cache) { c.Offers, c.Endpoint = []string{"ascend"}, "" })
			out := templates(t, newRole(append(edits, offers)...))
			if len(out) != 2 || out[1].Name != "qwen-server.uncached" {
				t.Fatalf("templates: %v", out)
			}
			plain := templates(t, newRole(edits...))[0]
			if diff := cmp.Diff(plain.Template, out[1].Template); diff != "" {
				t.Errorf("(-plain +uncached):\n%s", diff)
			}
			if got := out[1].Annotations[v1.AnnotationLateBound]; got != "" {
				t.Errorf("late values %s without a store", got)
			}
			if out[0].Annotations[v1.AnnotationSourceHash] != out[1].Annotations[v1.AnnotationSourceHash] {
				t.Error("the two templates of a role have two source hashes")
			}
		})
	}
	if out := templates(t, newRole()); len(out) != 1 {
		t.Errorf("%d templates of a role without a cache", len(out))
	}
}

func TestTransport(t *testing.T) {
	offers := func(protocols ...string) edit {
		return cache(func(c *render.Cache) { c.Offers = protocols })
	}
	for name, tc := range map[string]struct {
		edits []edit
		want  string // empty: refused
	}{
		"vLLM takes the first":      {[]edit{offers("rdma", "tcp")}, "rdma"},
		"vLLM skips an empty offer": {[]edit{offers("", "tcp")}, "tcp"},
		"SGLang takes the first":    {[]edit{sglang, offers("efa", "tcp")}, "efa"},
		"SGLang on Ascend, any":     {[]edit{sglang, maker("ascend"), offers("tcp")}, "tcp"},
		"Ascend takes its own":      {[]edit{maker("ascend"), offers("rdma", "ascend")}, "ascend"},
		"Ascend, not offered":       {[]edit{maker("ascend"), offers("tcp", "rdma")}, ""},
		"Ascend told by the group":  {[]edit{maker("ascend"), func(r *render.Role) { r.Type.Status.Detail.Manufacturer = "" }, offers("tcp")}, ""},
		"a maker that is not observed": {[]edit{func(r *render.Role) {
			r.Type.Spec.AcceleratorGroup = ""
			r.Type.Status.Detail.Manufacturer = ""
		}, spec(func(s *v1.Role) { s.Image, s.Resources = "own:1", nil }), offers("tcp")}, "tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRole(tc.edits...)
			if tc.want == "" {
				rules, findings := refused(t, r)
				if !slices.Equal(rules, []string{"transport-unsupported"}) {
					t.Fatalf("rules %v", rules)
				}
				mentions(t, findings[0].Message, "vllm-ascend", "ascend only", "tcp", `"mooncake"`)
				mentions(t, findings[0].Remedy, "CANN")
				return
			}
			p := templates(t, r)[0].Template
			got := p.Annotations[v1.AnnotationClientConfig]
			want := `"protocol":"` + tc.want + `"`
			if got == "" {
				got, _ = value(p.Spec.Containers[0].Env, "MOONCAKE_PROTOCOL")
				want = tc.want
			}
			mentions(t, got, want)
		})
	}
	t.Run("take-over", func(t *testing.T) {
		templates(t, newRole(maker("ascend"), command("serve"), offers("tcp")))
	})
}

// TestNoTransport: an engine that takes any transport can still be offered none.
func TestNoTransport(t *testing.T) {
	rules, findings := refused(t, newRole(cache(func(c *render.Cache) { c.Offers = []string{"", ""} })))
	if !slices.Equal(rules, []string{"transport-unsupported"}) {
		t.Fatalf("rules %v", rules)
	}
	mentions(t, findings[0].Message, `"mooncake"`, "no transport that mdc knows")
	if strings.Contains(findings[0].Message+findings[0].Remedy, "only") || strings.Contains(findings[0].Remedy, "CANN") {
		t.Errorf("the engine is bound to one transport: %v", findings[0])
	}
}

func value(vars []corev1.EnvVar, name string) (string, bool) {
	for _, e := range vars {
		if e.Name == name {
			return e.Value, true
		}
	}
	return "", false
}

func TestLateBound(t *testing.T) {
	const (
		queue    = `{"name":"queueName","kind":"InstanceType","object":"a10g","field":"status.entrance","in":["metadata.labels[kueue.x-k8s.io/queue-name]"]}`
		runtime  = `{"name":"runtimeVersion","kind":"InstanceType","object":"a10g","field":"status.detail.runtimeVersion","in":["spec.containers[main].image"]}`
		endpoint = `{"name":"clientEndpoint","kind":"KVCachePool","object":"dram","field":"status.clientEndpoint","in":["metadata.annotations[kvcache.gpustack.ai/client-config]"]}`
		master   = `{"name":"clientEndpoint","kind":"KVCachePool","object":"dram","field":"status.clientEndpoint","in":["spec.containers[main].env[MOONCAKE_MASTER].value"]}`
	)
	noQueue := func(r *render.Role) { r.Type.Status.Entrance = "" }
	noRuntime := func(r *render.Role) { r.Type.Status.Detail.RuntimeVersion = "" }
	noEndpoint := cache(func(c *render.Cache) { c.Endpoint = "" })
	for name, tc := range map[string]struct {
		edits            []edit
		cached, uncached string
	}{
		"nothing":                    {[]edit{cache()}, "", ""},
		"queue":                      {[]edit{noQueue}, "[" + queue + "]", ""},
		"runtime":                    {[]edit{noRuntime}, "[" + runtime + "]", ""},
		"runtime beside an image":    {[]edit{noRuntime, spec(func(s *v1.Role) { s.Image = "own:__runtimeVersion__" })}, "", ""},
		"endpoint":                   {[]edit{noEndpoint}, "[" + endpoint + "]", ""},
		"endpoint, SGLang":           {[]edit{sglang, noEndpoint}, "[" + master + "]", ""},
		"endpoint, take-over":        {[]edit{command("serve"), noEndpoint}, "", ""},
		"queue and runtime":          {[]edit{noQueue, noRuntime, command("serve")}, "[" + queue + "," + runtime + "]", ""},
		"all, by name":               {[]edit{noRuntime, noQueue, noEndpoint}, "[" + endpoint + "," + queue + "," + runtime + "]", "[" + queue + "," + runtime + "]"},
		"token typed in an argument": {[]edit{extraArgs("--x=__clientEndpoint__"), env("X", "__queueName__")}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := templates(t, newRole(tc.edits...))
			for i, want := range []string{tc.cached, tc.uncached}[:len(out)] {
				got, stated := out[i].Annotations[v1.AnnotationLateBound]
				if got != want || stated != (want != "") {
					t.Errorf("%s: late-bound\n got %s\nwant %s", out[i].Name, got, want)
				}
			}
		})
	}

	p := pod(t, noQueue, noRuntime, noEndpoint)
	if q, ok := p.Labels[v1.LabelQueueName]; ok {
		t.Errorf("queue label %q while the queue is not known", q)
	}
	mentions(t, p.Spec.Containers[0].Image, "cuda__runtimeVersion__-")
	mentions(t, p.Annotations[v1.AnnotationClientConfig], `"master_server_address":"__clientEndpoint__"`)
	got, _ := value(mainContainer(t, sglang, noEndpoint).Env, "MOONCAKE_MASTER")
	mentions(t, got, "__clientEndpoint__")
}

// TestPure renders twice from one role and looks for traces on the input.
func TestPure(t *testing.T) {
	r := newRole(cache(), size(2), env("A", "1"), extraArgs("--x"), additionalVolumes)
	deployment, it := r.Deployment.DeepCopy(), r.Type.DeepCopy()
	first := templates(t, r)
	render.Services([]*render.Role{r})
	// Writing to what was rendered must not reach what is rendered next.
	want, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range first {
		c := &template.Template.Spec.Containers[0]
		c.Command[0], c.Env[0].Value = "x", "x"
		c.VolumeMounts[0].Name = "x"
		template.Template.Labels["x"] = "x"
		template.Template.Annotations["x"] = "x"
	}
	got, err := json.Marshal(templates(t, r))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(deployment, r.Deployment); diff != "" {
		t.Errorf("deployment changed:\n%s", diff)
	}
	if diff := cmp.Diff(it, r.Type); diff != "" {
		t.Errorf("type changed:\n%s", diff)
	}
}

// TestStatedDefaultGrace keeps the Pod of a role that writes down the default.
func TestStatedDefaultGrace(t *testing.T) {
	stated := pod(t, spec(func(s *v1.Role) { s.TerminationGracePeriodSeconds = ptr.To[int64](30) }))
	if diff := cmp.Diff(pod(t), stated); diff != "" {
		t.Errorf("(-unset +30):\n%s", diff)
	}
}

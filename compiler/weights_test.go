// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
)

const (
	modelDir = "/var/lib/gpustack/model"
	cacheDir = "/var/lib/gpustack/model-cache"

	commit = "a09a35458c702b33eeacc393d103063234e8bc28"
	digest = "sha256:8c1f0f3c9a1d0b6f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7"

	// prefixOfDigest and prefixOfClaim tell the weights of cached blocks apart.
	prefixOfDigest = "m-8c1f0f3c9a1d0b6f5e4d3c2b1a09f8e7"
	prefixOfClaim  = "m-1fcf3b1435bd318e615ef70d487741de"

	resolved = "status: {resolved: {revision: " + commit + ", manifestDigest: \"" + digest + "\", digestSource: Hub, sizeBytes: 107374182400}}"

	claimSource = "spec: {source: {persistentVolumeClaim: {claimName: weights-claim, path: models/m}}}"
	imageSource = "spec: {source: {image: {reference: registry.example.com/weights@" + digest + "}}}"
	hubSource   = "spec: {source: {huggingFace: {repository: acme/weights, revision: main}}}\n" + resolved
	hubSecret   = "spec: {source: {huggingFace: {repository: acme/weights, secretRef: {name: hub}}}}\n" + resolved
	scopeSource = "spec: {source: {modelScope: {repository: acme/weights}}}\n" + resolved
	scopeSecret = "spec: {source: {modelScope: {repository: acme/weights, secretRef: {name: hub}}}}\n" + resolved
)

var nodeMode = map[string]string{"model-artifact-delivery-mode": "Node"}

// served: the engine is told what clients call the model.
func served(e *expected) { e.served = []string{"--served-model-name", model} }

// mounted: the weights are a directory.
func mounted(source corev1.VolumeSource, subPath string) term {
	return func(e *expected) {
		e.model = modelDir
		e.volumes = append(e.volumes, corev1.Volume{Name: "gpustack-model", VolumeSource: source})
		e.mounts = append(e.mounts, corev1.VolumeMount{Name: "gpustack-model", MountPath: modelDir, SubPath: subPath, ReadOnly: true})
	}
}

// downloaded: the engine fetches the weights itself.
func downloaded(e *expected) {
	e.model, e.revision = "acme/weights", []string{"--revision", commit}
	limit := quantity("110Gi")
	e.volumes = append(e.volumes, corev1.Volume{Name: "gpustack-model-cache", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit},
	}})
	e.mounts = append(e.mounts, corev1.VolumeMount{Name: "gpustack-model-cache", MountPath: cacheDir})
}

func token(name string) term {
	return func(e *expected) {
		e.env = append(e.env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "hub"}, Key: "token",
		}}})
	}
}

var (
	claim = mounted(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
		ClaimName: "weights-claim", ReadOnly: true,
	}}, "models/m")
	image = mounted(corev1.VolumeSource{Image: &corev1.ImageVolumeSource{
		Reference: "registry.example.com/weights@" + digest,
	}}, "")
	node = func(secret string) term {
		csi := &corev1.CSIVolumeSource{
			Driver: "model.csi.gpustack.ai", ReadOnly: ptr.To(true),
			VolumeAttributes: map[string]string{
				"artifact": "weights", "artifactUID": "0a1b2c3d-0000-4000-8000-000000000001", "manifestDigest": digest,
			},
		}
		if secret != "" {
			csi.NodePublishSecretRef = &corev1.LocalObjectReference{Name: secret}
		}
		return mounted(corev1.VolumeSource{CSI: csi}, "")
	}
	hub = terms(downloaded, variable("HF_HOME", cacheDir), variable("HF_ENDPOINT", "https://huggingface.co"))
	// scope is the start of the variables of ModelScope; a token and the switch
	// of the engine follow.
	scope       = terms(downloaded, variable("MODELSCOPE_CACHE", cacheDir), variable("MODELSCOPE_DOMAIN", "www.modelscope.cn"))
	vllmScope   = variable("VLLM_USE_MODELSCOPE", "true")
	sglangScope = variable("SGLANG_USE_MODELSCOPE", "true")
)

// prefixed is the document of a native store that keeps weights apart.
func prefixed(role, prefix string) string {
	return fmt.Sprintf(`{"kv_connector":"MooncakeStoreConnector","kv_role":"%s","kv_connector_extra_config":{"cache_prefix":"%s"}}`, role, prefix)
}

// TestWeights compares everything that the delivery of weights decides about a
// role.
func TestWeights(t *testing.T) {
	proxies := map[string]string{"model-artifact-https-proxy": "http://proxy:3128", "model-artifact-no-proxy": ".svc,10.0.0.0/8"}
	run := []string{"run", "--model", "x"}
	for name, tc := range map[string]struct {
		shape
		want []term
	}{
		"claim":                {shape{artifact: claimSource}, []term{claim, served}},
		"claim, SGLang":        {shape{engine: sglang, artifact: claimSource}, []term{claim, served}},
		"claim whatever mode":  {shape{artifact: claimSource, settings: nodeMode}, []term{claim, served}},
		"image":                {shape{artifact: imageSource}, []term{image, served}},
		"image, SGLang":        {shape{engine: sglang, artifact: imageSource, settings: nodeMode}, []term{image, served}},
		"hub":                  {shape{artifact: hubSource}, []term{hub, served}},
		"hub, secret":          {shape{artifact: hubSecret}, []term{hub, token("HF_TOKEN"), served}},
		"hub, SGLang":          {shape{engine: sglang, artifact: hubSecret}, []term{hub, token("HF_TOKEN"), served}},
		"hub, Ascend":          {shape{maker: "ascend", artifact: hubSource}, []term{hub, served}},
		"ModelScope":           {shape{artifact: scopeSource}, []term{scope, vllmScope, served}},
		"ModelScope, secret":   {shape{artifact: scopeSecret}, []term{scope, token("MODELSCOPE_API_TOKEN"), vllmScope, served}},
		"ModelScope, SGLang":   {shape{engine: sglang, artifact: scopeSource}, []term{scope, sglangScope, served}},
		"node":                 {shape{artifact: hubSource, settings: nodeMode}, []term{node(""), served}},
		"node, secret":         {shape{artifact: hubSecret, settings: nodeMode}, []term{node("hub"), served}},
		"node, ModelScope":     {shape{engine: sglang, artifact: scopeSecret, settings: nodeMode}, []term{node("hub"), served}},
		"claim, taken over":    {shape{artifact: claimSource, command: run}, []term{claim, takeOver}},
		"image, taken over":    {shape{artifact: imageSource, command: run}, []term{image, takeOver}},
		"node, taken over":     {shape{artifact: hubSecret, command: run, settings: nodeMode}, []term{node("hub"), takeOver}},
		"hub, taken over":      {shape{artifact: hubSecret, command: run, env: []string{"HF_TOKEN=mine"}}, []term{takeOver}},
		"taken over, store":    {shape{artifact: claimSource, store: "TCP", command: run}, []term{claim, takeOver}},
		"other hub endpoint":   {shape{artifact: hubSource, settings: map[string]string{"model-artifact-huggingface-endpoint": "https://hub.example.com/hf"}}, []term{downloaded, variable("HF_HOME", cacheDir), variable("HF_ENDPOINT", "https://hub.example.com/hf"), served}},
		"other scope endpoint": {shape{artifact: scopeSource, settings: map[string]string{"model-artifact-modelscope-endpoint": "https://scope.example.com/"}}, []term{downloaded, variable("MODELSCOPE_CACHE", cacheDir), variable("MODELSCOPE_DOMAIN", "scope.example.com"), vllmScope, served}},
		"proxies":              {shape{artifact: hubSource, settings: proxies}, []term{hub, variable("HTTPS_PROXY", "http://proxy:3128"), variable("NO_PROXY", ".svc,10.0.0.0/8"), served}},
		"proxies of the role":  {shape{artifact: hubSource, settings: proxies, env: []string{"NO_PROXY=none", "A=b"}}, []term{hub, variable("HTTPS_PROXY", "http://proxy:3128"), served}},
		"proxies, mounted":     {shape{artifact: claimSource, settings: proxies}, []term{claim, served}},
		"proxies, node":        {shape{artifact: hubSource, settings: map[string]string{"model-artifact-https-proxy": "http://proxy:3128", "model-artifact-delivery-mode": "Node"}}, []term{node(""), served}},
		"own arguments":        {shape{artifact: hubSource, extra: []string{"--max-model-len", "8192"}}, []term{hub, served}},

		"name stated":                   {shape{artifact: hubSource, extra: []string{"--served-model-name", model}}, []term{hub}},
		"name stated by =":              {shape{artifact: claimSource, extra: []string{"--served-model-name=" + model, "-x"}}, []term{claim}},
		"name stated otherwise":         {shape{artifact: claimSource, extra: []string{"--served_model_name=" + model}}, []term{claim}},
		"name stated, SGLang":           {shape{engine: sglang, artifact: claimSource, extra: []string{"--served-model", model}}, []term{claim}},
		"name stated without artifacts": {shape{extra: []string{"--served-model-name", model}}, nil},

		"store, hub":            {shape{artifact: hubSource, store: "TCP"}, []term{T(prefixed("kv_both", prefixOfDigest)), DT, VS("tcp"), hub, TM, served}},
		"store, node":           {shape{artifact: scopeSource, store: "TCP", settings: nodeMode}, []term{T(prefixed("kv_both", prefixOfDigest)), DT, VS("tcp"), node(""), TM, served}},
		"store, claim":          {shape{artifact: claimSource, store: "TCP"}, []term{T(prefixed("kv_both", prefixOfClaim)), DT, VS("tcp"), claim, TM, served}},
		"store, image":          {shape{artifact: imageSource, store: "TCP"}, []term{T(prefixed("kv_both", prefixOfDigest)), DT, VS("tcp"), image, TM, served}},
		"store, half":           {shape{kind: decode, artifact: hubSource, store: "TCP"}, []term{T(prefixed("kv_consumer", prefixOfDigest)), DT, VS("tcp"), hub, TM, served}},
		"store, proxies":        {shape{artifact: hubSecret, store: "TCP", settings: proxies}, []term{T(prefixed("kv_both", prefixOfDigest)), DT, VS("tcp"), hub, token("HF_TOKEN"), TM, variable("HTTPS_PROXY", "http://proxy:3128"), variable("NO_PROXY", ".svc,10.0.0.0/8"), served}},
		"store and leg":         {shape{kind: prefill, router: vllmRouter, artifact: hubSource, store: "TCP"}, []term{T(multi("kv_producer", LP("tcp"), prefixed("kv_both", prefixOfDigest))), EV, DT, VS("tcp"), BP, hub, TM, FT, served}},
		"store and leg, decode": {shape{kind: decode, router: llmd, artifact: claimSource, store: "TCP"}, []term{T(multi("kv_consumer", LD("tcp"), prefixed("kv_consumer", prefixOfClaim))), DT, VS("tcp"), claim, TM, FT, nativeProxy, served}},
		"leg alone":             {shape{kind: decode, router: vllmRouter, artifact: hubSource}, []term{T(LD("tcp")), hub, TM, FT, served}},
		"store on Ascend":       {shape{maker: "ascend", artifact: hubSource, store: "CANN"}, []term{T(AS0), DT, VS("ascend"), hub, TM, served}},
		"both on Ascend":        {shape{maker: "ascend", kind: decode, router: llmd, artifact: claimSource, store: "CANN"}, []term{T(AMD(widths{1, 1, 1, 1})), DT, VS("ascend"), DRV, claim, TM, ascendProxy, served}},
		"store on SGLang":       {shape{engine: sglang, artifact: hubSource, store: "TCP"}, []term{HB, DT, HC, SS("tcp"), hub, TM, served}},
	} {
		t.Run(name, func(t *testing.T) {
			workedCase{shape: tc.shape, want: tc.want}.expectPods(t)
		})
	}
}

// TestWeightsOfTwoRoles: one artifact serves all roles, each in its own way.
func TestWeightsOfTwoRoles(t *testing.T) {
	s := shape{kind: prefill, router: llmd, artifact: hubSource, peerCmd: []string{"run"}}
	if got := mainOf(s.template(t, "decode")); len(got.VolumeMounts) > 0 || len(got.Env) > 0 {
		t.Errorf("taken over under Engine: %v %v", got.VolumeMounts, got.Env)
	}
	s.settings = nodeMode
	want := []corev1.VolumeMount{{Name: "gpustack-model", MountPath: modelDir, ReadOnly: true}}
	for _, role := range []string{"prefill", "decode"} {
		if diff := cmp.Diff(want, mainOf(s.template(t, role)).VolumeMounts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
	}
}

// TestWeightsComeLast: after the role's own volumes and those of the connector.
func TestWeightsComeLast(t *testing.T) {
	s := shape{artifact: claimSource, store: "TCP"}
	text := strings.Replace(s.deployment(), "    env: [", "    additionalVolumes: [{mountPath: /var/lib/gpustack/models, configMap: {name: c}}]\n    env: [", 1)
	out, findings := compiler.Compile(compiler.Input{Objects: parse(t, text), Facts: parse(t, s.facts())})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p := templateOf(out, "md-server")
	var volumes, mounts []string
	for _, v := range p.Template.Spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, m := range mainOf(p).VolumeMounts {
		mounts = append(mounts, m.Name)
	}
	want := []string{"additional-0", "gpustack-kvcache-config", "gpustack-model"}
	if !slices.Equal(want, volumes) || !slices.Equal(want, mounts) {
		t.Errorf("volumes %v, mounts %v", volumes, mounts)
	}
}

// TestWeightsRoom: the cache of an engine that downloads has room for the
// weights and more, and so has the limit of the container. No node is asked for
// it.
func TestWeightsRoom(t *testing.T) {
	for name, tc := range map[string]struct {
		bytes                 int64
		cards                 int
		cache, limit, request string
	}{
		"100Gi":            {100 << 30, 1, "110Gi", "125Gi", "15Gi"},
		"1Mi":              {1 << 20, 1, "1025Mi", "16385Mi", "15Gi"},
		"10Gi":             {10 << 30, 1, "11Gi", "26Gi", "15Gi"},
		"a byte less":      {10<<30 - 1, 1, "11811160063", "27917287423", "15Gi"},
		"a tenth is cut":   {10<<30 + 19, 1, "11811160084", "27917287444", "15Gi"},
		"four cards":       {100 << 30, 4, "110Gi", "170Gi", "60Gi"},
		"bound, then more": {100 << 30, 64, "110Gi", "610Gi", "500Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			s := shape{cards: tc.cards, artifact: strings.Replace(hubSource, "107374182400", fmt.Sprint(tc.bytes), 1)}
			p := s.template(t, "server")
			res := mainOf(p).Resources
			limit, request := res.Limits[corev1.ResourceEphemeralStorage], res.Requests[corev1.ResourceEphemeralStorage]
			for what, pair := range map[string][2]string{
				"cache":   {tc.cache, p.Template.Spec.Volumes[0].EmptyDir.SizeLimit.String()},
				"limit":   {tc.limit, limit.String()},
				"request": {tc.request, request.String()},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: %s, want %s", what, pair[1], pair[0])
				}
			}
		})
	}
	for name, s := range map[string]shape{
		"node":       {cards: 1, artifact: hubSource, settings: nodeMode},
		"claim":      {cards: 1, artifact: claimSource},
		"image":      {cards: 1, artifact: imageSource},
		"taken over": {cards: 1, artifact: hubSource, command: []string{"run"}},
	} {
		limit := mainOf(s.template(t, "server")).Resources.Limits[corev1.ResourceEphemeralStorage]
		if limit.String() != "15Gi" {
			t.Errorf("%s: limit %s", name, limit.String())
		}
	}
}

// TestWeightsRefused by the rules of admission.
func TestWeightsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		shape
		rule   string
		tokens []string
	}{
		"another name":     {shape{artifact: hubSource, extra: []string{"--served-model-name", "other"}}, "served-name", []string{"--served-model-name", model}},
		"two names":        {shape{artifact: hubSource, extra: []string{"--served-model-name", model, "other"}}, "served-name", []string{model}},
		"no name":          {shape{artifact: hubSource, extra: []string{"--served-model-name"}}, "served-name", []string{model}},
		"without artifact": {shape{extra: []string{"--served-model-name=other"}}, "served-name", []string{model}},
		"revision":         {shape{artifact: hubSource, extra: []string{"--revision", "main"}}, "artifact-arg", []string{"--revision", "spec.model.artifactRef"}},
		"directory":        {shape{engine: sglang, artifact: claimSource, extra: []string{"--download-dir=/x"}}, "artifact-arg", []string{"--download-dir"}},
		"variable":         {shape{artifact: claimSource, env: []string{"HF_HOME=/x"}}, "artifact-env", []string{"HF_HOME"}},
		"switch":           {shape{engine: sglang, artifact: hubSource, env: []string{"SGLANG_USE_MODELSCOPE=1"}}, "artifact-env", []string{"SGLANG_USE_MODELSCOPE"}},
	} {
		t.Run(name, func(t *testing.T) {
			workedCase{shape: tc.shape, refused: refused(tc.rule, tc.tokens...)}.expectRefusal(t)
		})
	}
	for name, s := range map[string]shape{
		"taken over":                     {artifact: claimSource, command: []string{"run"}, extra: []string{"--served-model-name", "other"}},
		"the switch of the other engine": {artifact: hubSource, env: []string{"SGLANG_USE_MODELSCOPE=1"}},
	} {
		if _, findings := s.compile(t); findings.HasErrors() {
			t.Errorf("%s: %v", name, findings)
		}
	}
}

// TestWeightsUnresolved: what the facts do not tell is refused, and nothing is
// left to be filled in later.
func TestWeightsUnresolved(t *testing.T) {
	hubWith := func(spec, resolved string) string {
		return "spec: {source: {huggingFace: {repository: acme/weights}}" + spec + "}\nstatus: {resolved: {" + resolved + "}}"
	}
	const (
		size     = "sizeBytes: 1"
		revision = "revision: " + commit
		manifest = "manifestDigest: \"" + digest + "\""
	)
	for name, tc := range map[string]struct {
		shape
		noUID  bool
		tokens []string // none: compiles
	}{
		"no source":                     {shape{artifact: "spec: {source: {}}"}, false, []string{"spec.source"}},
		"nothing":                       {shape{artifact: "spec: {source: {huggingFace: {repository: acme/weights}}}"}, false, []string{"status.resolved"}},
		"no revision":                   {shape{artifact: hubWith("", size+", "+manifest)}, false, []string{"revision"}},
		"no size":                       {shape{artifact: hubWith("", revision+", "+manifest)}, false, []string{"size"}},
		"no digest, no cache":           {shape{artifact: hubWith("", revision+", "+size)}, false, nil},
		"no digest, cache":              {shape{store: "TCP", artifact: hubWith("", revision+", "+size)}, false, []string{"cached blocks"}},
		"no digest, cache, SGLang":      {shape{engine: sglang, store: "TCP", artifact: hubWith("", revision+", "+size)}, false, []string{"cached blocks"}},
		"only some files":               {shape{artifact: hubWith(", allowPatterns: [\"*.safetensors\"]", revision+", "+size)}, false, []string{"Node"}},
		"all but some files":            {shape{artifact: hubWith(", ignorePatterns: [\"*.bin\"]", revision+", "+size)}, false, []string{"Node"}},
		"expected digest":               {shape{artifact: hubWith(", expectedDigest: \""+digest+"\"", revision+", "+size)}, false, []string{"Node"}},
		"digest that was expected":      {shape{artifact: hubWith("", "digestSource: Expected, "+revision+", "+size+", "+manifest)}, false, []string{"Node"}},
		"node, no digest":               {shape{settings: nodeMode, artifact: hubWith("", revision+", "+size)}, false, []string{"manifestDigest"}},
		"node, no UID":                  {shape{settings: nodeMode, artifact: hubWith("", manifest)}, true, []string{"metadata.uid"}},
		"node, digest alone":            {shape{settings: nodeMode, artifact: hubWith("", manifest)}, false, nil},
		"node, some files, expected":    {shape{settings: nodeMode, artifact: hubWith(", allowPatterns: [\"*\"], expectedDigest: \""+digest+"\"", "digestSource: Expected, "+manifest)}, false, nil},
		"claim, no UID":                 {shape{artifact: claimSource}, true, nil},
		"claim, no UID, cache":          {shape{artifact: claimSource, store: "TCP"}, true, []string{"cached blocks"}},
		"claim, not resolved, cache":    {shape{artifact: claimSource, store: "TCP"}, false, nil},
		"image by tag":                  {shape{artifact: "spec: {source: {image: {reference: \"registry.example.com/weights:1\"}}}"}, false, nil},
		"image by tag, cache":           {shape{store: "TCP", artifact: "spec: {source: {image: {reference: \"registry.example.com/weights:1\"}}}"}, false, []string{"cached blocks", "spec.source.image.reference"}},
		"digest of another kind, cache": {shape{store: "TCP", artifact: strings.Replace(imageSource, "sha256:", "sha512:", 1)}, false, []string{"cached blocks"}},
		"no digits, cache":              {shape{store: "TCP", artifact: strings.Replace(hubSource, "8c1f", "a_@:", 1)}, false, []string{"cached blocks"}},
		"a short digest, cache":         {shape{store: "TCP", artifact: strings.Replace(hubSource, digest, digest[:len("sha256:")+31], 1)}, false, []string{"cached blocks"}},
		"image by tag and digest":       {shape{store: "TCP", artifact: strings.Replace(imageSource, "weights@", "weights:1@", 1)}, false, nil},
		"a mode that does not exist":    {shape{artifact: hubSource, settings: map[string]string{"model-artifact-delivery-mode": "node"}}, false, []string{"model-artifact-delivery-mode", "Engine", "Node"}},
		"a mode that is not looked for": {shape{artifact: claimSource, settings: map[string]string{"model-artifact-delivery-mode": "node"}}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			facts := tc.facts()
			if tc.noUID {
				facts = strings.Replace(facts, ", uid: 0a1b2c3d-0000-4000-8000-000000000001", "", 1)
			}
			_, findings := compiler.Compile(compiler.Input{Objects: parse(t, tc.deployment()), Facts: parse(t, facts), Settings: tc.settings})
			if tc.tokens == nil {
				if findings.HasErrors() {
					t.Error(findings)
				}
				return
			}
			if got := errorsOf(findings); !slices.Equal(got, []string{"artifact-unresolved"}) {
				t.Fatal(findings)
			}
			f := findings[0]
			if f.Field != "spec.model.artifactRef.name" || f.Line == 0 {
				t.Errorf("at %s, line %d", f.Field, f.Line)
			}
			for _, token := range tc.tokens {
				if !strings.Contains(f.Message+f.Remedy, token) {
					t.Errorf("%q is not named: %s (%s)", token, f.Message, f.Remedy)
				}
			}
		})
	}

	s := shape{artifact: hubSource}
	for name, edit := range map[string]func(string) string{
		"absent": func(f string) string { return strings.Replace(f, "name: weights,", "name: others,", 1) },
		"another namespace": func(f string) string {
			return strings.Replace(f, "weights, namespace: team-a", "weights, namespace: team-b", 1)
		},
	} {
		_, findings := compiler.Compile(compiler.Input{Objects: parse(t, s.deployment()), Facts: parse(t, edit(s.facts()))})
		if got := errorsOf(findings); !slices.Equal(got, []string{"artifact-unresolved"}) || !strings.Contains(findings[0].Remedy, "ModelArtifact") {
			t.Errorf("%s: %v", name, findings)
		}
	}
}

// TestWeightsAreNeverLate: of a deployment of which nothing is known but its
// weights, no value of the weights is filled in later.
func TestWeightsAreNeverLate(t *testing.T) {
	s := shape{artifact: hubSecret, store: "TCP"}
	facts := parse(t, s.facts())
	for _, o := range facts {
		switch o.Kind {
		case v1.KindInstanceType:
			if err := o.Set("", "status", "entrance"); err != nil {
				t.Fatal(err)
			}
			if err := o.Set("", "status", "detail", "runtimeVersion"); err != nil {
				t.Fatal(err)
			}
		case v1.KindKVCachePool:
			if err := o.Set("", "status", "clientEndpoint"); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, findings := compiler.Compile(compiler.Input{Objects: parse(t, s.deployment()), Facts: facts})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	var late []struct{ Name, Kind string }
	if err := json.Unmarshal([]byte(templateOf(out, "md-server").Annotations[v1.AnnotationLateBound]), &late); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range late {
		names = append(names, l.Kind+" "+l.Name)
	}
	if want := []string{"KVCachePool clientEndpoint", "InstanceType queueName", "InstanceType runtimeVersion"}; !slices.Equal(names, want) {
		t.Errorf("late: %v", names)
	}
}

// TestWeightsRenamed: an artifact that an overlay renamed is found by the name
// it had, and the templates speak of the new one.
func TestWeightsRenamed(t *testing.T) {
	s := shape{artifact: hubSource, settings: nodeMode}
	facts := strings.Replace(s.facts(), "name: weights, namespace: team-a,", `name: x-weights, namespace: team-a, annotations: {
  internal.config.kubernetes.io/previousNames: weights,
  internal.config.kubernetes.io/previousKinds: ModelArtifact,
  internal.config.kubernetes.io/previousNamespaces: team-a},`, 1)
	out, findings := compiler.Compile(compiler.Input{Objects: parse(t, s.deployment()), Facts: parse(t, facts), Settings: s.settings})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	volume := templateOf(out, "md-server").Template.Spec.Volumes[0]
	if got := volume.CSI.VolumeAttributes["artifact"]; got != "x-weights" {
		t.Errorf("artifact %q", got)
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/render"
	"gpustack.ai/mdc/compiler/source"
)

// Resources of one interface and of several.
const (
	rdmaOne     = "device.gpustack.ai/rdma.shared"
	rdmaSeveral = "device.gpustack.ai/rdma"
	efa         = "vpc.amazonaws.com/efa"
)

// TestFabric follows resources.interface from the transports of a deployment to
// a resource of the container, or to the refusal.
func TestFabric(t *testing.T) {
	for name, tc := range map[string]struct {
		shape
		key     corev1.ResourceName // empty: none
		refused []string            // tokens of interface-leg
	}{
		"none":                      {shape{store: "RDMA"}, "", nil},
		"RDMA store, one":           {shape{store: "RDMA", fabric: 1}, rdmaOne, nil},
		"RDMA store, two":           {shape{store: "RDMA", fabric: 2}, rdmaSeveral, nil},
		"RDMA store, eight":         {shape{store: "RDMA", fabric: 8}, rdmaSeveral, nil},
		"EFA store, one":            {shape{store: "EFA", fabric: 1}, efa, nil},
		"EFA store, three":          {shape{store: "EFA", fabric: 3}, efa, nil},
		"two groups of one fabric":  {shape{store: "RDMA,RDMA", fabric: 1}, rdmaOne, nil},
		"AMD":                       {shape{maker: "amd", store: "RDMA", fabric: 1}, rdmaOne, nil},
		"routed server":             {shape{store: "EFA", router: llmd, fabric: 1}, efa, nil},
		"no leg":                    {shape{fabric: 1}, "", []string{"RDMA", "EFA"}},
		"TCP store":                 {shape{store: "TCP", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"store of another fabric":   {shape{maker: "amd", store: "ROCM", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"groups of two transports":  {shape{store: "RDMA,TCP", fabric: 1}, "", []string{"rdma", "tcp"}},
		"groups of two fabrics":     {shape{store: "RDMA,EFA", fabric: 1}, "", []string{"rdma", "efa"}},
		"RDMA leg of prefill":       {shape{kind: prefill, router: vllmRouter, transfer: "RDMA", fabric: 1}, rdmaOne, nil},
		"RDMA leg of decode":        {shape{kind: decode, router: llmd, transfer: "RDMA", fabric: 2}, rdmaSeveral, nil},
		"EFA leg":                   {shape{kind: decode, router: vllmRouter, transfer: "EFA", fabric: 4}, efa, nil},
		"both legs":                 {shape{kind: prefill, router: llmd, store: "RDMA", transfer: "RDMA", fabric: 2}, rdmaSeveral, nil},
		"RDMA leg, TCP store":       {shape{kind: prefill, router: llmd, store: "TCP", transfer: "RDMA", fabric: 1}, rdmaOne, nil},
		"TCP leg, RDMA store":       {shape{kind: decode, router: llmd, store: "RDMA", transfer: "TCP", fabric: 1}, rdmaOne, nil},
		"leg of no stated protocol": {shape{kind: decode, router: llmd, store: "EFA", fabric: 1}, efa, nil},
		"EFA leg, RDMA store":       {shape{kind: prefill, router: llmd, store: "RDMA", transfer: "EFA", fabric: 1}, "", []string{"rdma", "efa"}},
		"TCP leg":                   {shape{kind: prefill, router: llmd, transfer: "Auto", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"no router, no leg":         {shape{kind: prefill, transfer: "RDMA", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"inert protocol":            {shape{kind: prefill, store: "RDMA", transfer: "EFA", fabric: 1}, rdmaOne, nil},
		"lone half":                 {shape{kind: decode, alone: true, router: llmd, transfer: "RDMA", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"server beside a protocol":  {shape{router: llmd, transfer: "RDMA", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"unknown maker, leg":        {shape{maker: "cpu", kind: prefill, router: llmd, transfer: "RDMA", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"unknown maker, store":      {shape{maker: "cpu", kind: prefill, router: llmd, store: "RDMA", transfer: "EFA", fabric: 1}, rdmaOne, nil},
		"SGLang store":              {shape{engine: sglang, store: "RDMA", fabric: 2}, rdmaSeveral, nil},
		"SGLang leg":                {shape{engine: sglang, kind: prefill, router: gateway, transfer: "RDMA", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"SGLang store and leg":      {shape{engine: sglang, kind: decode, router: llmd, store: "RDMA", transfer: "EFA", fabric: 1}, rdmaOne, nil},
		"Ascend store":              {shape{maker: "ascend", store: "CANN", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"Ascend leg":                {shape{maker: "ascend", kind: prefill, router: llmd, transfer: "RDMA", fabric: 1}, "", []string{"RDMA", "EFA"}},
		"Ascend mix":                {shape{maker: "ascend", store: "RDMA,CANN", fabric: 1}, "", []string{"rdma", "ascend"}},
		"SGLang on Ascend":          {shape{engine: sglang, maker: "ascend", store: "RDMA", fabric: 1}, rdmaOne, nil},
		"taken over, store":         {shape{store: "RDMA", command: []string{"run"}, fabric: 1}, "", []string{"RDMA", "EFA"}},
		"taken over, leg":           {shape{kind: prefill, router: llmd, transfer: "RDMA", command: []string{"run"}, fabric: 1}, "", []string{"RDMA", "EFA"}},
		"other half taken over":     {shape{kind: prefill, router: llmd, transfer: "RDMA", peerCmd: []string{"run"}, fabric: 1}, rdmaOne, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := workedCase{shape: tc.shape}
			if tc.refused != nil {
				c.refused = refused("interface-leg", append(tc.refused, "role \""+c.roleName()+"\"")...)
				c.expectRefusal(t)
				return
			}
			e := &expected{}
			if tc.key != "" {
				fabric(tc.key, flow(tc.shape.fabric))(e)
			}
			out, findings := c.compile(t)
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			for _, suffix := range []string{"", ".uncached"} {
				if p := templateOf(out, "md-"+c.roleName()+suffix); p != nil {
					c.checkResources(t, mainOf(p), e.fabric)
				}
			}
			if other := map[v1.RoleKind]string{prefill: "decode", decode: "prefill"}[c.kind]; other != "" && !c.alone {
				c.checkResources(t, mainOf(templateOf(out, "md-"+other)), nil)
			}
		})
	}
}

// TestFabricCount: a count is whole and not negative.
func TestFabricCount(t *testing.T) {
	for count, rules := range map[string][]string{
		"1500m": {"interface-count"}, "-1": {"interface-count"}, `"2"`: nil, "2.0": nil, "0": nil,
	} {
		s := shape{store: "EFA", fabric: 77}
		text := strings.Replace(s.deployment(), "interface: 77", "interface: "+count, 1)
		_, findings := compiler.Compile(compiler.Input{Objects: parse(t, text), Facts: parse(t, s.facts())})
		if got := errorsOf(findings); !slices.Equal(got, rules) {
			t.Errorf("%s: %v", count, findings)
		}
	}
}

// errorsOf are the rules of all errors, sorted.
func errorsOf(l diag.List) (out []string) {
	for _, f := range l {
		if f.Severity == diag.Error {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return out
}

// TestFabricOfUnknownEndpoint: the fabric follows from the backend, which is
// known before the pool has an address.
func TestFabricOfUnknownEndpoint(t *testing.T) {
	s := shape{store: "RDMA", fabric: 2}
	text := strings.Replace(s.facts(), endpoint, "", 1)
	out, findings := compiler.Compile(compiler.Input{Objects: parse(t, s.deployment()), Facts: parse(t, text)})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p := templateOf(out, "md-server")
	workedCase{shape: s}.checkResources(t, mainOf(p), corev1.ResourceList{rdmaSeveral: quantity("2")})
	want := `[{"name":"clientEndpoint","kind":"KVCachePool","object":"dram","field":"status.clientEndpoint","in":["metadata.annotations[kvcache.gpustack.ai/client-config]"]}]`
	if got := p.Annotations[v1.AnnotationLateBound]; got != want {
		t.Errorf("late: %s", got)
	}
	if config := p.Template.Annotations[v1.AnnotationClientConfig]; !strings.Contains(config, `"master_server_address":"__clientEndpoint__"`) {
		t.Errorf("client configuration: %s", config)
	}
	if late := templateOf(out, "md-server.uncached").Annotations[v1.AnnotationLateBound]; late != "" {
		t.Errorf("the stand-in waits for %s", late)
	}
}

// TestMixedPool: a new attachment is refused. One that is stored stays, and an
// engine takes the first transport it accepts.
func TestMixedPool(t *testing.T) {
	for name, tc := range map[string]struct {
		shape
		protocol string
	}{
		"SGLang":          {shape{engine: sglang, store: "TCP,RDMA"}, "tcp"},
		"SGLang, swapped": {shape{engine: sglang, store: "RDMA,TCP"}, "rdma"},
		"vLLM":            {shape{store: "EFA,TCP"}, "efa"},
	} {
		t.Run(name, func(t *testing.T) {
			workedCase{shape: tc.shape, refused: refused("pool-transport", "tcp", strings.ToLower(tc.protocol))}.expectRefusal(t)
			in := compiler.Input{Objects: parse(t, tc.deployment()), Facts: parse(t, tc.facts())}
			if findings := compiler.Validate(in, parse(t, tc.deployment())); findings.HasErrors() {
				t.Errorf("stored: %v", findings)
			}
			if got := storeProtocol(t, tc.shape); got != tc.protocol {
				t.Errorf("renders %q", got)
			}
		})
	}
}

// storeProtocol renders the first role of a shape without judging it.
func storeProtocol(t *testing.T, s shape) string {
	t.Helper()
	first := s
	first.store, _, _ = strings.Cut(s.store, ",")
	out, findings := first.compile(t)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	var typ v1.InstanceType
	for _, o := range parse(t, s.facts()) {
		if o.Kind == v1.KindInstanceType && o.Name == s.makerName() {
			if findings := source.Decode(o, &typ); findings.HasErrors() {
				t.Fatal(findings)
			}
		}
	}
	var offers []string
	for p := range strings.SplitSeq(s.store, ",") {
		offers = append(offers, strings.ToLower(p))
	}
	r := render.Role{
		Deployment: out.Deployments[0].ModelDeployment, Type: &typ, HasRuntimeClass: func(string) bool { return false },
		Cache: &render.Cache{Endpoint: endpoint, Offers: offers, Tenant: "team-a", Dtype: "bfloat16"},
	}
	templates, findings := r.Templates()
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	for _, e := range mainOf(templates[0]).Env {
		if e.Name == "MOONCAKE_PROTOCOL" {
			return e.Value
		}
	}
	_, rest, _ := strings.Cut(templates[0].Template.Annotations[v1.AnnotationClientConfig], `"protocol":"`)
	protocol, _, _ := strings.Cut(rest, `"`)
	return protocol
}

// TestMixedMakers: what a half renders follows from its own cards.
func TestMixedMakers(t *testing.T) {
	for name, tc := range map[string]struct {
		shape
		other           string // the maker of the other half
		prefill, decode []term
	}{
		"native prefill, Ascend decode": {
			shape{kind: prefill, router: llmd, extra: []string{"-tp", "4"}}, "ascend",
			[]term{T(LP("tcp")), EV}, []term{T(ALD(widths{4, 1, 1, 1}))},
		},
		"the same behind vllm-router": {
			shape{kind: prefill, router: vllmRouter}, "ascend",
			[]term{T(LP("tcp")), EV}, nil,
		},
		"Ascend prefill, native decode": {
			shape{maker: "ascend", kind: prefill, router: llmd}, "nvidia",
			[]term{T(ALP(widths{1, 1, 1, 1}))}, []term{T(LD("tcp"))},
		},
		"two native makers": {
			shape{kind: prefill, router: llmd, transfer: "RDMA"}, "amd",
			[]term{T(LP("rdma")), EV}, []term{T(LD("rdma"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := tc.deployment()
			at := strings.LastIndex(text, "instanceType: "+tc.makerName())
			text = text[:at] + strings.Replace(text[at:], tc.makerName(), tc.other, 1)
			out, findings := compiler.Compile(compiler.Input{Objects: parse(t, text), Facts: parse(t, tc.facts())})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			for role, want := range map[string][]term{"md-prefill": tc.prefill, "md-decode": tc.decode} {
				e := &expected{annotations: map[string]string{}}
				terms(want...)(e)
				line := mainOf(templateOf(out, role)).Command
				line = line[len([]string{"vllm", "serve", model}):]
				if got := line[:len(e.args)]; !slices.Equal(e.args, got) {
					t.Errorf("%s (-want +got):\n%s", role, cmp.Diff(e.args, got))
				}
				if rest := line[len(e.args):]; slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "--kv-") }) {
					t.Errorf("%s: %v", role, rest)
				}
			}
		})
	}
}

// TestMountOnDriver: no container gets two mounts on one path.
func TestMountOnDriver(t *testing.T) {
	const setting = "instance-host-path-volume-allowed"
	for name, tc := range map[string]struct {
		shape
		path  string
		rules []string // a warning begins with ~
	}{
		"pair":              {shape{maker: "ascend", kind: prefill, router: llmd}, "/usr/local/Ascend/driver", []string{"volume-owned-path"}},
		"inside it":         {shape{maker: "ascend", kind: decode, router: llmd}, "/usr/local/Ascend/driver/lib64", []string{"~volume-owned-path"}},
		"around it":         {shape{maker: "ascend", kind: prefill, router: llmd}, "/usr/local", []string{"~volume-owned-path"}},
		"inside, cached":    {shape{maker: "ascend", kind: prefill, router: llmd, store: "CANN"}, "/usr/local/Ascend/driver/lib64", []string{"~volume-owned-path"}},
		"inside, no leg":    {shape{maker: "ascend", kind: prefill, router: vllmRouter}, "/usr/local/Ascend/driver/lib64", nil},
		"other spelling":    {shape{maker: "ascend", kind: prefill, router: llmd}, "/usr/local/./Ascend/driver", []string{"volume-owned-path"}},
		"beside it":         {shape{maker: "ascend", kind: prefill, router: llmd}, "/usr/local/Ascend/drivers", nil},
		"no leg":            {shape{maker: "ascend", kind: prefill, router: vllmRouter}, "/usr/local/Ascend/driver", nil},
		"server":            {shape{maker: "ascend"}, "/usr/local/Ascend/driver", nil},
		"taken over":        {shape{maker: "ascend", kind: prefill, router: llmd, command: []string{"run"}}, "/usr/local/Ascend/driver", nil},
		"client file":       {shape{store: "TCP"}, "/etc/gpustack/kvcache", []string{"volume-owned-path"}},
		"weights":           {shape{artifact: claimSource}, "/var/lib/gpustack/model", []string{"artifact-mount"}},
		"weights elsewhere": {shape{artifact: claimSource}, "/var/lib/gpustack/models", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(tc.deployment(), "    ports: [", "    additionalVolumes: [{mountPath: "+tc.path+", hostPath: {path: /x}}]\n    ports: [", 1)
			_, findings := compiler.Compile(compiler.Input{
				Objects: parse(t, text), Facts: parse(t, tc.facts()), Settings: map[string]string{setting: "true"},
			})
			var got []string
			for _, f := range findings {
				mark := ""
				if f.Severity == diag.Warning {
					mark = "~"
				}
				got = append(got, mark+f.Rule)
				if f.Line == 0 || !strings.Contains(f.Message, tc.path) {
					t.Errorf("line %d: %s", f.Line, f.Message)
				}
			}
			if !slices.Equal(got, tc.rules) {
				t.Error(findings)
			}
		})
	}
}

// TestReservedOnce: a port that the engine opens itself is refused once, by the
// rule of admission.
func TestReservedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		shape
		rule string
	}{
		"declared":             {shape{router: llmd, ports: []int{8000, 5557}}, "reserved-port"},
		"of the command line":  {shape{kind: prefill, router: vllmRouter, extra: []string{"--port", "8998"}, peer: []string{"--port", "8998"}}, "reserved-listen-port"},
		"declared, on SGLang":  {shape{engine: sglang, kind: prefill, store: "TCP", ports: []int{8998}}, "reserved-port"},
		"declared, with cache": {shape{router: llmd, store: "TCP", ports: []int{8000, 5558}}, "reserved-port"},
	} {
		t.Run(name, func(t *testing.T) {
			workedCase{shape: tc.shape, refused: refused(tc.rule)}.expectRefusal(t)
		})
	}
}

// TestSaidOnce: one mistake is one finding, even where both a rule and the
// renderer meet it.
func TestSaidOnce(t *testing.T) {
	unobserved := strings.NewReplacer(hardware["nvidia"].detail, "", "accelerator: 8", "acceleratorSlicedMemoryPercentage: 50")
	ascend := shape{maker: "ascend", kind: prefill, router: llmd, extra: []string{"-tp", "x"}, peer: []string{"-tp", "4"}}
	for name, tc := range map[string]struct {
		shape
		edit *strings.Replacer
		rule string
	}{
		"a slice of unobserved cards":                    {shape{}, unobserved, "type-not-ready"},
		"a width of which one half cannot be read":       {ascend, strings.NewReplacer(), "parallel-parse"},
		"a width of which the other half cannot be read": {shape{maker: "ascend", kind: decode, router: llmd, extra: []string{"-tp", "4"}, peer: []string{"-tp"}}, strings.NewReplacer(), "parallel-parse"},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings := compiler.Compile(compiler.Input{Objects: parse(t, tc.edit.Replace(tc.deployment())), Facts: parse(t, tc.edit.Replace(tc.facts()))})
			if got := errorsOf(findings); !slices.Equal(got, []string{tc.rule}) {
				t.Error(findings)
			}
		})
	}
}

// TestEnginePort tells apart the port of the proxy and any other that the role
// declares.
func TestEnginePort(t *testing.T) {
	for name, tc := range map[string]struct {
		ports []int
		own   string
		text  string // empty: compiles
	}{
		"of the proxy":   {[]int{8000, 9000}, "8000", "proxy of role \"decode\" owns port 8000"},
		"of another use": {[]int{8000, 9000}, "9000", "port 9000, which is declared"},
		"free":           {[]int{8000, 9000}, "8200", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := shape{kind: decode, router: llmd, ports: tc.ports, extra: []string{"--port", tc.own}}
			_, findings := s.compile(t)
			i := slices.IndexFunc(findings, func(f diag.Finding) bool { return f.Rule == "engine-port" })
			if (i < 0) != (tc.text == "") || i >= 0 && !strings.Contains(findings[i].Message, tc.text) {
				t.Error(findings)
			}
		})
	}
}

// TestFabricWithoutFacts: without the chain of the pool no fabric is known, and
// the first role that asks says so.
func TestFabricWithoutFacts(t *testing.T) {
	s := shape{store: "RDMA", fabric: 1}
	kinds := map[string]string{"KVCachePoolBinding": "team-a-cache", "KVCachePool": "dram", "KVCacheBackend": "dram"}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		facts := slices.DeleteFunc(parse(t, s.facts()), func(o *source.Object) bool { return o.Kind == kind })
		in := compiler.Input{Objects: parse(t, s.deployment()), Facts: facts}
		findings := compiler.Validate(in, nil)
		if got := errorsOf(findings); !slices.Equal(got, []string{"interface-leg"}) || !strings.Contains(findings[0].Message, kind) {
			t.Errorf("%s: %v", kind, findings)
		}
		_, findings = compiler.Compile(in)
		if got := errorsOf(findings); !slices.Contains(got, "cache-facts") {
			t.Errorf("%s: %v", kind, findings)
		}
	}
}

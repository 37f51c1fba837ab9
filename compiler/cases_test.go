// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/source"
)

// shape is a deployment reduced to what decides how its engines are started.
type shape struct {
	engine    v1.EngineName // vLLM when empty
	maker     string        // of the cards, nvidia when empty
	kind      v1.RoleKind   // of the role under test, Server when empty
	alone     bool          // a Prefill or Decode without the other half
	router    string
	store     string // transports of the pool's groups, as the API spells them, by comma
	noLedger  bool   // the store keeps no tenants apart
	transfer  string // spec.kvTransfer.protocol
	cards     int    // 8 when zero
	fabric    int    // resources.interface
	extra     []string
	command   []string
	ports     []int
	env       []string // NAME=value
	peer      []string // extraArgs of the other half
	peerCmd   []string // command of the other half
	peerEnv   []string
	peerImage string
	settings  map[string]string
	artifact  string // the source and status of a ModelArtifact, in YAML flow style
}

const (
	model    = "acme/model"
	endpoint = "kv-master.kv.svc:50051"
)

// hardware of each manufacturer.
var hardware = map[string]struct{ group, key, detail, runner string }{
	"nvidia": {"nvidia-h20", "nvidia.com/gpu", `manufacturer: nvidia, runtimeVersion: "12.9"`, "cuda12.9"},
	"amd":    {"amd-mi300x", "amd.com/gpu", `manufacturer: amd, runtimeVersion: "6.4"`, "rocm6.4"},
	"ascend": {"ascend-910b", "huawei.com/npu", `manufacturer: ascend, family: 910B, runtimeVersion: "9.0"`, "cann9.0-910b"},
	// Nothing is known of the cards of this type: it has none.
	"cpu": {},
}

func (s shape) engineName() v1.EngineName {
	if s.engine == "" {
		return v1.EngineVLLM
	}
	return s.engine
}

func (s shape) makerName() string {
	if s.maker == "" {
		return "nvidia"
	}
	return s.maker
}

func (s shape) version() string {
	return map[v1.EngineName]string{v1.EngineVLLM: "0.29.0", v1.EngineSGLang: "0.5.18"}[s.engineName()]
}

func (s shape) roleName() string {
	if s.kind == "" {
		return "server"
	}
	return strings.ToLower(string(s.kind))
}

// flow writes a value in YAML flow style.
func flow(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// deployment writes the ModelDeployment "md".
func (s shape) deployment() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("apiVersion: worker.gpustack.ai/v1\nkind: ModelDeployment\nmetadata: {name: md, namespace: team-a}\nspec:")
	line("  engine: {name: %s, version: %q}", s.engineName(), s.version())
	if s.artifact != "" {
		line("  model: {name: %s, artifactRef: {name: weights}}", model)
	} else {
		line("  model: {name: %s}", model)
	}
	if s.router != "" {
		line("  router: {name: %s}", s.router)
	}
	if s.store != "" {
		line("  kvCache: {poolRef: {name: team-a-cache}}")
	}
	if s.transfer != "" {
		line("  kvTransfer: {protocol: %s}", s.transfer)
	}
	line("  roles:")
	cards := s.cards
	if cards == 0 {
		cards = 8
	}
	role := func(name string, kind v1.RoleKind) {
		line("  - name: %s", name)
		if kind != "" {
			line("    kind: %s", kind)
		}
		line("    instanceType: %s", s.makerName())
		if s.makerName() == "cpu" {
			line("    image: registry.example.com/own:1")
		}
	}
	if s.makerName() == "cpu" {
		cards = 0
	}
	role(s.roleName(), s.kind)
	line("    resources: {accelerator: %d, interface: %d}", cards, s.fabric)
	line("    extraArgs: %s", flow(append([]string{}, s.extra...)))
	if s.command != nil {
		line("    command: %s", flow(s.command))
	}
	line("    ports: [")
	for _, p := range s.ports {
		line("      {port: %d},", p)
	}
	line("    ]")
	env := func(entries []string) {
		line("    env: [")
		for _, e := range entries {
			name, value, _ := strings.Cut(e, "=")
			line("      {name: %s, value: %q},", name, value)
		}
		line("    ]")
	}
	env(s.env)
	if other := map[v1.RoleKind]v1.RoleKind{v1.RolePrefill: v1.RoleDecode, v1.RoleDecode: v1.RolePrefill}[s.kind]; other != "" && !s.alone {
		role(strings.ToLower(string(other)), other)
		line("    resources: {accelerator: %d}", cards)
		line("    extraArgs: %s", flow(append([]string{}, s.peer...)))
		if s.peerCmd != nil {
			line("    command: %s", flow(s.peerCmd))
		}
		if s.peerImage != "" {
			line("    image: %s", s.peerImage)
		}
		env(s.peerEnv)
	}
	return b.String()
}

// facts writes the objects that the deployment is compiled with.
func (s shape) facts() string {
	var docs []string
	for _, name := range slices.Sorted(maps.Keys(hardware)) {
		docs = append(docs, fmt.Sprintf(`apiVersion: worker.gpustack.ai/v1
kind: InstanceType
metadata: {name: %s}
spec: {acceleratorGroup: %q, acceleratable: %t, os: linux, arch: amd64, unitResources: {cpu: "8", ram: 64Gi}, localStorage: 500Gi}
status: {entrance: queue-%s, detail: {%s}}
`, name, hardware[name].group, hardware[name].group != "", name, hardware[name].detail))
	}
	var groups []string
	for p := range strings.SplitSeq(s.store, ",") {
		groups = append(groups, "{transport: {protocol: "+strings.TrimSpace(p)+"}}")
	}
	if s.store != "" {
		docs = append(docs, fmt.Sprintf(`apiVersion: worker.gpustack.ai/v1
kind: KVCachePoolBinding
metadata: {name: team-a-cache, namespace: team-a}
spec: {poolRef: {name: dram}, domain: {name: team-a, blockSize: 64, dtype: bfloat16}}
---
apiVersion: worker.gpustack.ai/v1
kind: KVCachePool
metadata: {name: dram}
spec: {backends: [dram]}
status: {clientEndpoint: "%s"}
---
apiVersion: worker.gpustack.ai/v1
kind: KVCacheBackend
metadata: {name: dram}
spec: {type: Mooncake, connection: {managed: {leader: {multiTenancy: %t}, members: [%s]}}}
`, endpoint, !s.noLedger, strings.Join(groups, ", ")))
	}
	if s.artifact != "" {
		docs = append(docs, "apiVersion: worker.gpustack.ai/v1\nkind: ModelArtifact\nmetadata: {name: weights, namespace: team-a, uid: 0a1b2c3d-0000-4000-8000-000000000001}\n"+s.artifact+"\n")
	}
	return strings.Join(docs, "---\n")
}

// parse reads objects as if they stood in one file.
func parse(t testing.TB, text string) []*source.Object {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	if err := disk.WriteFile("in.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	set, err := source.Loader{FS: disk}.Load("in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Findings) > 0 {
		t.Fatalf("%v in\n%s", set.Findings, text)
	}
	return set.Objects
}

// compile compiles the shape.
func (s shape) compile(t testing.TB) (*compiler.Output, diag.List) {
	t.Helper()
	return compiler.Compile(compiler.Input{
		Objects: parse(t, s.deployment()), Facts: parse(t, s.facts()), Settings: s.settings,
	})
}

// template compiles the shape and returns a template by the name of its role
// and its suffix.
func (s shape) template(t testing.TB, name string) *corev1.PodTemplate {
	t.Helper()
	out, findings := s.compile(t)
	if findings.HasErrors() {
		t.Fatalf("%v in\n%s", findings, s.deployment())
	}
	found := templateOf(out, "md-"+name)
	if found == nil {
		t.Fatalf("no template md-%s", name)
	}
	return found
}

func templateOf(out *compiler.Output, name string) *corev1.PodTemplate {
	for _, d := range out.Deployments {
		for _, p := range d.Templates {
			if p.Name == name {
				return p
			}
		}
	}
	return nil
}

func mainOf(p *corev1.PodTemplate) *corev1.Container { return &p.Template.Spec.Containers[0] }

// expected is what a case expects of the Pods of the role under test. Terms add
// to it.
type expected struct {
	args []string // between the base and the role's own arguments
	env  []corev1.EnvVar
	path string // of the probes, empty: none
	port int32  // the one in front: Service, probes
	main int32  // the engine's own port
	// more are the ports beside the first: those of the transfer before those of
	// the events.
	transferPorts, eventPorts []corev1.ContainerPort
	annotations               map[string]string
	volumes                   []corev1.Volume
	mounts                    []corev1.VolumeMount
	proxy                     []corev1.Container
	portName                  string
	fabric                    corev1.ResourceList
	security                  *corev1.PodSecurityContext
	ownPort                   bool
	takeOver                  bool
	// model is what the engine loads; revision and served stand before and after
	// what is the role's own.
	model            string
	revision, served []string
}

type term func(*expected)

func args(a ...string) term { return func(e *expected) { e.args = append(e.args, a...) } }

func variable(name, value string) term {
	return func(e *expected) { e.env = append(e.env, corev1.EnvVar{Name: name, Value: value}) }
}

func fieldVar(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func terms(all ...term) term {
	return func(e *expected) {
		for _, t := range all {
			t(e)
		}
	}
}

func tcpPort(name string, number int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: number, Protocol: corev1.ProtocolTCP}
}

// The terms, abbreviated as people speak of them:
//
//	T   the transfer document            EV  the event publisher
//	DT  the dtype of the Binding         VS  vLLM's client file
//	SS  SGLang's client environment      TM  transfer metrics
//	FT  the pin to TCP                   BP  vLLM's bootstrap
//	SB  SGLang's bootstrap               MB  the bootstrap port alone
//	DRV the driver tree of Ascend        PX  the proxy in front of a decode half
//	HB  SGLang's storage backend         DM  its split
//	HC  its host tier                    RB  its retraction backup
func T(document string) term { return args("--kv-transfer-config", document) }

func EV(e *expected) {
	args("--kv-events-config", `{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:5557","replay_endpoint":"tcp://*:5558","buffer_steps":10000,"hwm":100000,"max_queue_size":100000,"topic":"kv@"}`)(e)
	e.eventPorts = []corev1.ContainerPort{tcpPort("kv-events", 5557), tcpPort("kv-replay", 5558)}
}

var (
	DT = args("--kv-cache-dtype", "bfloat16")
	TM = variable("MC_TE_METRIC", "1")
	FT = variable("MC_FORCE_TCP", "1")
	HB = args("--hicache-storage-backend", "mooncake")
	HC = args("--enable-hierarchical-cache")
	RB = args("--disaggregation-decode-retraction-backup", "cpu_tensor")
	BP = terms(variable("VLLM_MOONCAKE_BOOTSTRAP_PORT", "8998"), MB)
)

func MB(e *expected) {
	e.transferPorts = append(e.transferPorts, tcpPort("mc-bootstrap", 8998))
}

func clientFile(protocol, tenant string) term {
	if tenant != "" {
		tenant = fmt.Sprintf(`,"tenant_id":%q`, tenant)
	}
	const annotation, dir = "kvcache.gpustack.ai/client-config", "/etc/gpustack/kvcache"
	return func(e *expected) {
		variable("MOONCAKE_CONFIG_PATH", dir+"/mooncake.json")(e)
		e.annotations[annotation] = fmt.Sprintf(`{"metadata_server":"P2PHANDSHAKE","master_server_address":"%s","protocol":"%s","device_name":"","mode":"standalone-store","global_segment_size":0,"local_buffer_size":134217728%s}`,
			endpoint, protocol, tenant)
		e.volumes = append(e.volumes, corev1.Volume{Name: "gpustack-kvcache-config", VolumeSource: corev1.VolumeSource{
			DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
				Path:     "mooncake.json",
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + annotation + "']"},
			}}},
		}})
		e.mounts = append(e.mounts, corev1.VolumeMount{Name: "gpustack-kvcache-config", MountPath: dir, ReadOnly: true})
	}
}

func VS(protocol string) term { return clientFile(protocol, "team-a") }

func SS(protocol string) term {
	return func(e *expected) {
		for _, v := range [][2]string{
			{"MOONCAKE_TENANT_ID", "team-a"},
			{"MOONCAKE_MASTER", endpoint},
			{"MOONCAKE_TE_META_DATA_SERVER", "P2PHANDSHAKE"},
			{"MOONCAKE_PROTOCOL", protocol},
			{"MOONCAKE_DEVICE", ""},
			{"MOONCAKE_GLOBAL_SEGMENT_SIZE", "0"},
		} {
			variable(v[0], v[1])(e)
		}
		e.env = append(e.env, fieldVar("MOONCAKE_LOCAL_HOSTNAME", "status.podIP"))
	}
}

// DM is the split of SGLang, the bootstrap flag of a prefill half included.
func DM(mode, backend string) term {
	split := args("--disaggregation-mode", mode, "--disaggregation-transfer-backend", backend)
	if mode == "decode" {
		return split
	}
	return terms(split, args("--disaggregation-bootstrap-port", "8998"))
}

func SB(e *expected) {
	e.transferPorts = append(e.transferPorts, tcpPort("bootstrap", 8998))
	e.annotations["sglang.ai/bootstrap-port"] = "8998"
}

func DRV(e *expected) {
	const name, dir = "gpustack-ascend-driver", "/usr/local/Ascend/driver"
	e.volumes = append(e.volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: dir, Type: ptr.To(corev1.HostPathDirectory)},
	}})
	e.mounts = append(e.mounts, corev1.VolumeMount{Name: name, MountPath: dir, ReadOnly: true})
}

// PX puts the engine on a port of its own, behind a proxy with some arguments.
func PX(engine int32, connector ...string) term {
	return func(e *expected) {
		e.main, e.portName, e.path = engine, "model-server", "/v1/models"
		env := []corev1.EnvVar{fieldVar("POD_IP", "status.podIP")}
		if slices.Contains(connector, "--kv-connector=sglang") {
			env = append(env, corev1.EnvVar{Name: "SGLANG_BOOTSTRAP_PORT", Value: "8998"})
		}
		e.proxy = []corev1.Container{{
			Name:            "routing-proxy",
			Image:           "gpustack/mirrored-llm-d-router-disagg-sidecar:v0.10.0",
			ImagePullPolicy: corev1.PullIfNotPresent,
			RestartPolicy:   ptr.To(corev1.ContainerRestartPolicyAlways),
			Args: slices.Concat([]string{fmt.Sprintf("--port=%d", e.port), fmt.Sprintf("--model-server-port=%d", engine)},
				connector, []string{"--secure-proxy=false"}),
			Ports:           []corev1.ContainerPort{tcpPort("http", e.port)},
			Env:             env,
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), RunAsNonRoot: ptr.To(true)},
		}}
	}
}

var (
	nativeProxy = PX(8200, "--kv-connector=mooncake", "--mooncake-bootstrap-port=8998")
	ascendProxy = PX(8200, "--kv-connector=nixlv2")
	sglangProxy = PX(8200, "--kv-connector=sglang")
)

// ownPort: the role itself gives the engine a port.
func ownPort(e *expected) { e.ownPort = true }

// serves moves the port of the container and of all that calls it.
func serves(port int32) term { return func(e *expected) { e.port, e.main = port, port } }

func fabric(key corev1.ResourceName, count string) term {
	return func(e *expected) { e.fabric = corev1.ResourceList{key: quantity(count)} }
}

func takeOver(e *expected) { e.takeOver = true }

// The documents of the transfer.

func single(connector, role string) string {
	return fmt.Sprintf(`{"kv_connector":"%s","kv_role":"%s"}`, connector, role)
}

var (
	S0  = single("MooncakeStoreConnector", "kv_both")
	SP  = single("MooncakeStoreConnector", "kv_producer")
	SD  = single("MooncakeStoreConnector", "kv_consumer")
	AS0 = single("AscendStoreConnector", "kv_both")
	ASP = single("AscendStoreConnector", "kv_producer")
	ASD = single("AscendStoreConnector", "kv_consumer")
)

func nativeLeg(role, protocol string) string {
	return fmt.Sprintf(`{"kv_connector":"MooncakeConnector","kv_role":"%s","kv_connector_extra_config":{"mooncake_protocol":"%s"}}`, role, protocol)
}

func LP(protocol string) string { return nativeLeg("kv_producer", protocol) }
func LD(protocol string) string { return nativeLeg("kv_consumer", protocol) }

// widths are the tensor and data parallel sizes of the two halves.
type widths struct{ prefillTP, prefillDP, decodeTP, decodeDP int }

func ascendLeg(role string, w widths) string {
	return fmt.Sprintf(`{"kv_connector":"MooncakeConnectorV1","kv_role":"%s","kv_port":8998,"kv_connector_extra_config":{"prefill":{"tp_size":%d,"dp_size":%d},"decode":{"tp_size":%d,"dp_size":%d}}}`,
		role, w.prefillTP, w.prefillDP, w.decodeTP, w.decodeDP)
}

func ALP(w widths) string { return ascendLeg("kv_producer", w) }
func ALD(w widths) string { return ascendLeg("kv_consumer", w) }

func multi(role string, entries ...string) string {
	return fmt.Sprintf(`{"kv_connector":"MultiConnector","kv_role":"%s","kv_connector_extra_config":{"connectors":[%s]}}`, role, strings.Join(entries, ","))
}

func MP(protocol string) string {
	return multi("kv_producer", LP(protocol), single("MooncakeStoreConnector", "kv_both"))
}

func MD(protocol string) string {
	return multi("kv_consumer", LD(protocol), single("MooncakeStoreConnector", "kv_consumer"))
}

func AMP(w widths) string {
	return multi("kv_producer", ALP(w), single("AscendStoreConnector", "kv_both"))
}

func AMD(w widths) string {
	return multi("kv_consumer", ALD(w), single("AscendStoreConnector", "kv_consumer"))
}

var reuse = map[string]string{"model-deployment-tcp-tw-reuse": "true"}

func reused(e *expected) {
	e.security = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.ipv4.tcp_tw_reuse", Value: "1"}}}
}

// refusal is what a case expects instead.
type refusal struct {
	// rules are all rules that refuse, sorted.
	rules []string
	// tokens stand somewhere in the findings.
	tokens []string
}

type workedCase struct {
	number int
	name   string
	shape
	want    []term
	refused *refusal
}

func refused(rule string, tokens ...string) *refusal { return &refusal{[]string{rule}, tokens} }

const (
	vllmRouter = "vllm-router"
	llmd       = "llm-d-router"
	gateway    = "sglang-gateway"
	prefill    = v1.RolePrefill
	decode     = v1.RoleDecode
	sglang     = v1.EngineSGLang
)

var workedCases = []workedCase{
	{1, "", shape{}, nil, nil},
	{2, "", shape{store: "TCP"}, []term{T(S0), DT, VS("tcp"), TM}, nil},
	{3, "", shape{router: llmd}, []term{EV, TM}, nil},
	{4, "", shape{router: llmd, store: "TCP"}, []term{T(S0), EV, DT, VS("tcp"), TM}, nil},
	{5, "", shape{router: vllmRouter, store: "TCP"}, []term{T(S0), EV, DT, VS("tcp"), TM}, nil},
	{6, "", shape{kind: prefill, store: "TCP", transfer: "RDMA"}, []term{T(SP), DT, VS("tcp"), TM}, nil},
	{7, "", shape{kind: decode, store: "TCP"}, []term{T(SD), DT, VS("tcp"), TM}, nil},
	{8, "", shape{kind: prefill}, nil, nil},
	{8, "decode", shape{kind: decode}, nil, nil},
	{9, "", shape{kind: prefill, router: llmd}, []term{T(LP("tcp")), EV, BP, TM, FT}, nil},
	{10, "", shape{kind: decode, router: llmd}, []term{T(LD("tcp")), TM, FT, nativeProxy}, nil},
	{11, "", shape{kind: prefill, router: vllmRouter}, []term{T(LP("tcp")), EV, BP, TM, FT}, nil},
	{12, "", shape{kind: decode, router: vllmRouter}, []term{T(LD("tcp")), TM, FT}, nil},
	{13, "", shape{kind: prefill, router: llmd, store: "TCP", transfer: "TCP"}, []term{T(MP("tcp")), EV, DT, VS("tcp"), BP, TM, FT}, nil},
	{14, "", shape{kind: decode, router: llmd, store: "TCP", transfer: "Auto"}, []term{T(MD("tcp")), DT, VS("tcp"), TM, FT, nativeProxy}, nil},
	{15, "", shape{kind: prefill, router: llmd, store: "RDMA"}, []term{T(MP("tcp")), EV, DT, VS("rdma"), BP, TM}, nil},
	{16, "", shape{kind: prefill, router: llmd, transfer: "RDMA", fabric: 1},
		[]term{T(LP("rdma")), EV, BP, TM, fabric("device.gpustack.ai/rdma.shared", "1")}, nil},
	{17, "", shape{kind: decode, router: llmd, store: "RDMA", transfer: "RDMA", fabric: 4},
		[]term{T(MD("rdma")), DT, VS("rdma"), TM, nativeProxy, fabric("device.gpustack.ai/rdma", "4")}, nil},
	{18, "", shape{kind: prefill, router: llmd, transfer: "EFA", fabric: 2},
		[]term{T(LP("efa")), EV, BP, TM, fabric("vpc.amazonaws.com/efa", "2")}, nil},
	{19, "", shape{kind: prefill, router: llmd, store: "EFA", transfer: "RDMA", fabric: 1}, nil, refused("interface-leg", "efa", "rdma")},
	{19, "no interface", shape{kind: prefill, router: llmd, store: "EFA", transfer: "RDMA"},
		[]term{T(MP("rdma")), EV, DT, VS("efa"), BP, TM}, nil},
	{20, "", shape{maker: "amd", kind: decode, router: vllmRouter, transfer: "ROCM"}, []term{T(LD("hip")), TM}, nil},
	{21, "", shape{kind: decode, alone: true, router: vllmRouter, store: "TCP"}, []term{T(SD), DT, VS("tcp"), TM}, nil},
	{22, "", shape{store: "TCP", noLedger: true}, []term{T(S0), DT, clientFile("tcp", ""), TM}, nil},
	{23, "", shape{kind: prefill, router: llmd, store: "TCP", transfer: "TCP", env: []string{"MC_FORCE_TCP=true", "MC_TE_METRIC=0"}},
		[]term{T(MP("tcp")), EV, DT, VS("tcp"), BP}, nil},
	{24, "", shape{store: "TCP", extra: []string{"--kv_transfer_config.kv_role=kv_both"}}, nil,
		refused("owned-arg", "--kv-transfer-config", "--kv_transfer_config.kv_role", "vLLM", "spec.roles[0].command")},
	{25, "", shape{extra: []string{"--kv-cache-dtype=fp8"}}, nil, nil},
	{26, "", shape{store: "TCP", extra: []string{"--kv_cache_dtype", "fp8"}}, nil,
		refused("kv-cache-dtype", "--kv-cache-dtype", "--kv_cache_dtype", "spec.kvCache", "Binding", "spec.roles[0].command")},
	{26, "setting off", shape{store: "TCP", extra: []string{"--kv_cache_dtype", "fp8"}, settings: map[string]string{"model-deployment-kv-cache-dtype-owned": "false"}},
		[]term{T(S0), VS("tcp"), TM}, nil},
	{27, "", shape{kind: decode, router: llmd, transfer: "TCP", extra: []string{"--port", "9100"}},
		[]term{T(LD("tcp")), TM, FT, ownPort, PX(9100, "--kv-connector=mooncake", "--mooncake-bootstrap-port=8998")}, nil},
	{27, "port of the proxy", shape{kind: decode, router: llmd, transfer: "TCP", extra: []string{"--port", "8000"}}, nil,
		&refusal{[]string{"engine-port", "router-decode-port"}, []string{"8000", "--port", "decode"}}},
	{28, "", shape{extra: []string{"--port=9000"}}, []term{serves(9000), ownPort}, nil},
	{29, "", shape{kind: decode, router: llmd, transfer: "TCP", extra: []string{"--ssl-certfile", "c", "--ssl-keyfile", "k"}}, nil,
		refused("router-tls", "decode", "HTTPS")},
	{30, "", shape{cards: 4, extra: []string{"-tp", "4", "-dp", "2"}}, nil, refused("parallel-width", "4 cards", "8", "spec.roles[0].size")},
	{30, "one local", shape{cards: 4, extra: []string{"-tp", "4", "-dp", "2", "-dpl", "1"}}, nil, nil},
	{30, "wired", shape{cards: 4, extra: []string{"-tp", "4", "-dp", "2", "--nnodes", "2"}}, nil, nil},
	{31, "", shape{extra: []string{"-tp2"}}, nil, refused("parallel-parse", "--tensor-parallel-size", "spec.roles[0].command")},
	{31, "by =", shape{extra: []string{"-tp=2"}}, nil, nil},
	{31, "two tokens", shape{extra: []string{"-tp", "2"}}, nil, nil},
	{32, "", shape{env: []string{"VLLM_DP_SIZE=x"}}, nil, refused("parallel-parse", "VLLM_DP_SIZE")},
	{32, "beside -dp", shape{env: []string{"VLLM_DP_SIZE=x"}, extra: []string{"-dp", "2"}}, nil, nil},
	{32, "beside -dpl", shape{env: []string{"VLLM_DP_SIZE=x"}, extra: []string{"-dpl", "0"}}, nil, nil},
	{33, "", shape{store: "TCP", command: []string{"run", "--port", "8000", "-x"}, extra: []string{"--kv-transfer-config", "{}"}, env: []string{"A=b", "MC_TE_METRIC=0"}},
		[]term{takeOver}, nil},
	{33, "routed server", shape{router: llmd, store: "TCP", command: []string{"run"}, env: []string{"A=b"}}, []term{takeOver}, nil},
	{33, "prefill", shape{kind: prefill, router: vllmRouter, store: "TCP", transfer: "TCP", command: []string{"run"}}, []term{takeOver}, nil},
	{33, "decode", shape{kind: decode, router: llmd, store: "TCP", transfer: "RDMA", command: []string{"run"}}, []term{takeOver}, nil},
	{33, "owned variable", shape{store: "TCP", command: []string{"run"}, env: []string{"MOONCAKE_CONFIG_PATH=/x"}}, nil,
		refused("owned-env", "MOONCAKE_CONFIG_PATH", "vLLM", "spec.roles[0].command")},
	{34, "", shape{maker: "ascend", store: "CANN"}, []term{T(AS0), DT, VS("ascend"), TM}, nil},
	{35, "", shape{maker: "ascend", router: llmd}, nil, nil},
	{36, "", shape{maker: "ascend", store: "TCP"}, nil, refused("transport-unsupported", "CANN", "ascend", "tcp", "vllm-ascend")},
	{37, "", shape{maker: "ascend", store: "RDMA,CANN"}, []term{T(AS0), DT, VS("ascend"), TM}, nil},
	{37, "native", shape{store: "RDMA,CANN"}, nil, refused("pool-transport", "rdma", "ascend")},
	{38, "", shape{maker: "ascend", kind: prefill, router: llmd, transfer: "RDMA", extra: []string{"-tp", "4"}, peer: []string{"-tp", "2"}},
		[]term{T(ALP(widths{4, 1, 2, 1})), MB, TM, DRV}, nil},
	{39, "", shape{maker: "ascend", kind: decode, router: llmd, extra: []string{"-tp", "2"}, peer: []string{"-tp", "4"}},
		[]term{T(ALD(widths{4, 1, 2, 1})), TM, DRV, ascendProxy}, nil},
	{40, "", shape{maker: "ascend", kind: decode, router: llmd, store: "CANN"},
		[]term{T(AMD(widths{1, 1, 1, 1})), DT, VS("ascend"), TM, DRV, ascendProxy}, nil},
	{40, "prefill", shape{maker: "ascend", kind: prefill, router: llmd, store: "CANN", extra: []string{"-tp=4", "--data-parallel-size", "2"}},
		[]term{T(AMP(widths{4, 2, 1, 1})), DT, MB, VS("ascend"), TM, DRV}, nil},
	{41, "", shape{maker: "ascend", kind: prefill, router: llmd, extra: []string{"-tp", "1"}, peer: []string{"-tp", "2"}}, nil,
		refused("pair-width", "1", "2", "prefill", "decode")},
	{42, "", shape{maker: "ascend", kind: prefill, router: vllmRouter, store: "CANN"}, []term{T(ASP), DT, VS("ascend"), TM}, nil},
	{42, "decode", shape{maker: "ascend", kind: decode, router: vllmRouter, store: "CANN"}, []term{T(ASD), DT, VS("ascend"), TM}, nil},
	{43, "", shape{maker: "ascend", kind: prefill, router: vllmRouter}, nil, nil},
	{44, "", shape{engine: sglang}, nil, nil},
	{45, "", shape{engine: sglang, store: "TCP"}, []term{HB, DT, HC, SS("tcp"), TM}, nil},
	{46, "", shape{engine: sglang, store: "RDMA", extra: []string{"--enable-hierarchical-cache"}}, []term{HB, DT, SS("rdma"), TM}, nil},
	{47, "", shape{engine: sglang, kind: prefill, router: gateway}, []term{DM("prefill", "mooncake_tcp"), SB, TM}, nil},
	{48, "", shape{engine: sglang, kind: decode, router: gateway}, []term{DM("decode", "mooncake_tcp"), RB, TM}, nil},
	{49, "", shape{engine: sglang, kind: prefill, router: gateway, store: "TCP", transfer: "TCP"},
		[]term{HB, DM("prefill", "mooncake_tcp"), DT, HC, SS("tcp"), SB, TM}, nil},
	{50, "", shape{engine: sglang, kind: decode, router: llmd, store: "TCP", transfer: "TCP"},
		[]term{HB, DM("decode", "mooncake_tcp"), DT, RB, SS("tcp"), TM, sglangProxy}, nil},
	{51, "", shape{engine: sglang, kind: prefill, router: llmd, store: "RDMA"},
		[]term{HB, DM("prefill", "mooncake"), DT, HC, SS("rdma"), SB, TM}, nil},
	{52, "", shape{engine: sglang, kind: decode, router: gateway, transfer: "RDMA", extra: []string{"--disaggregation-decode-retraction-backup=host_pool"}},
		[]term{DM("decode", "mooncake"), TM}, nil},
	{53, "", shape{engine: sglang, kind: prefill, router: gateway, transfer: "RDMA", fabric: 1}, nil, refused("interface-leg", "RDMA", "EFA")},
	{54, "", shape{engine: sglang, kind: prefill, store: "TCP"}, []term{HB, DM("prefill", "mooncake_tcp"), DT, HC, SS("tcp"), SB, TM}, nil},
	{55, "", shape{engine: sglang, kind: prefill, alone: true, router: gateway, store: "TCP"}, []term{HB, DT, HC, SS("tcp"), TM}, nil},
	{56, "", shape{engine: sglang, store: "TCP", extra: []string{"--disaggregation-mo", "null"}}, nil,
		refused("owned-arg", "--disaggregation-mode", "--disaggregation-mo", "SGLang", "spec.roles[0].command")},
	{57, "", shape{engine: sglang, store: "TCP", env: []string{"MOONCAKE_TENANT_ID=x"}}, nil, refused("owned-env", "MOONCAKE_TENANT_ID", "SGLang", "spec.roles[0].command")},
	{57, "taken over", shape{engine: sglang, store: "TCP", command: []string{"run"}, env: []string{"MOONCAKE_TENANT_ID=x"}}, nil, refused("owned-env", "MOONCAKE_TENANT_ID")},
	{58, "", shape{engine: sglang, extra: []string{"--tp", "8", "--dp", "8", "--enable-dp-attention"}}, nil, nil},
	{58, "no mode", shape{engine: sglang, extra: []string{"--tp", "8", "--dp", "8"}}, nil, refused("parallel-width", "64", "8 cards")},
	{59, "", shape{engine: sglang, store: "TCP,RDMA"}, nil, refused("pool-transport", "tcp", "rdma")},
	{60, "", shape{engine: sglang, maker: "ascend", kind: decode, router: llmd}, []term{DM("decode", "mooncake_tcp"), RB, TM, sglangProxy}, nil},

	// Shapes between the cases.
	{0, "unknown manufacturer counts as native", shape{maker: "cpu", kind: prefill, router: llmd, store: "TCP"}, []term{T(MP("tcp")), EV, DT, VS("tcp"), BP, TM, FT}, nil},
	{0, "lone decode has no proxy", shape{kind: decode, alone: true, router: llmd}, nil, nil},
	{0, "lone prefill publishes", shape{kind: prefill, alone: true, router: llmd}, []term{EV, TM}, nil},
	{0, "an empty pin is the user's", shape{kind: prefill, router: llmd, env: []string{"MC_FORCE_TCP="}}, []term{T(LP("tcp")), EV, BP, TM}, nil},
	{0, "the other half is taken over", shape{maker: "ascend", kind: prefill, router: llmd, extra: []string{"-tp", "4"}, peer: []string{"-tp", "8"}, peerCmd: []string{"vllm", "serve", "x", "-tp=2", "-dp", "2"}},
		[]term{T(ALP(widths{4, 1, 2, 2})), MB, TM, DRV}, nil},
	{0, "the width of a decode half by its environment", shape{maker: "ascend", kind: decode, router: llmd, env: []string{"VLLM_DP_SIZE=4"}, peer: []string{"-tp", "2"}},
		[]term{T(ALD(widths{2, 1, 1, 4})), TM, DRV, ascendProxy}, nil},
	{0, "an engine port that is declared is passed over", shape{kind: decode, router: llmd, transfer: "TCP", ports: []int{8000, 8200, 8201}, peer: nil},
		[]term{T(LD("tcp")), TM, FT, func(e *expected) {
			PX(8202, "--kv-connector=mooncake", "--mooncake-bootstrap-port=8998")(e)
			e.proxy[0].Ports[0].Name = "tcp-8000"
			e.transferPorts = []corev1.ContainerPort{tcpPort("tcp-8200", 8200), tcpPort("tcp-8201", 8201)}
		}}, nil},
	{0, "split on Ascend behind the gateway needs a store", shape{engine: sglang, maker: "ascend", kind: prefill, router: gateway}, nil, nil},
	{0, "split on Ascend behind the gateway with a store", shape{engine: sglang, maker: "ascend", kind: prefill, router: gateway, store: "TCP"},
		[]term{HB, DM("prefill", "mooncake_tcp"), DT, HC, SS("tcp"), SB, TM}, nil},
	{0, "an SGLang pair without store and router", shape{engine: sglang, kind: prefill}, nil, nil},
	{0, "a store on another fabric unpins SGLang", shape{engine: sglang, kind: decode, store: "RDMA", transfer: "TCP"},
		[]term{HB, DM("decode", "mooncake"), DT, RB, SS("rdma"), TM}, nil},
	{0, "a transfer on another fabric unpins SGLang", shape{engine: sglang, kind: decode, store: "TCP", transfer: "RDMA"},
		[]term{HB, DM("decode", "mooncake"), DT, RB, SS("tcp"), TM}, nil},
	{0, "an abbreviated switch is the user's", shape{engine: sglang, store: "TCP", extra: []string{"--enable-hier"}}, []term{HB, DT, SS("tcp"), TM}, nil},
	{0, "a taken over half too is as wide as its line", shape{maker: "ascend", kind: decode, router: llmd, extra: []string{"-tp", "4"}, peerCmd: []string{"run", "-tp", "2"}}, nil,
		refused("pair-width", "2", "4")},
	{0, "no width is compared where nothing is transferred", shape{maker: "ascend", kind: prefill, router: vllmRouter, extra: []string{"-tp", "1"}, peer: []string{"-tp", "2"}}, nil, nil},
	{0, "nor on native cards", shape{kind: decode, router: vllmRouter, extra: []string{"-tp", "4"}}, []term{T(LD("tcp")), TM, FT}, nil},
	{0, "a taken over role says its engine", shape{engine: sglang, kind: decode, router: llmd, command: []string{"run"}}, []term{takeOver}, nil},
	{0, "sockets are reused by the prefill half", shape{engine: sglang, kind: prefill, router: gateway, settings: reuse},
		[]term{DM("prefill", "mooncake_tcp"), SB, TM, reused}, nil},
	{0, "and with a store alone", shape{engine: sglang, kind: prefill, store: "TCP", settings: reuse},
		[]term{HB, DM("prefill", "mooncake_tcp"), DT, HC, SS("tcp"), SB, TM, reused}, nil},
	{0, "not by the decode half", shape{engine: sglang, kind: decode, router: gateway, settings: reuse}, []term{DM("decode", "mooncake_tcp"), RB, TM}, nil},
	{0, "not by a half that is not split", shape{engine: sglang, kind: prefill, settings: reuse}, nil, nil},
	{0, "not by vLLM", shape{kind: prefill, router: vllmRouter, settings: reuse}, []term{T(LP("tcp")), EV, BP, TM, FT}, nil},
	{0, "another proxy", shape{engine: sglang, kind: decode, router: llmd, settings: map[string]string{"model-deployment-routing-sidecar-image": "registry.example.com/proxy:1"}},
		[]term{DM("decode", "mooncake_tcp"), RB, TM, sglangProxy, func(e *expected) { e.proxy[0].Image = "registry.example.com/proxy:1" }}, nil},
	{0, "keys of the other engine are ordinary", shape{env: []string{"MOONCAKE_MASTER=x"}, extra: []string{"--disaggregation-mode", "null"}}, nil, nil},
}

// TestWorkedCases compares everything that the shape of a deployment decides
// about a role: the whole command line and environment, ports, volumes,
// annotations, probes, the proxy and the fabric interfaces.
func TestWorkedCases(t *testing.T) {
	seen := map[int]bool{}
	for _, tc := range workedCases {
		seen[tc.number] = true
		name := fmt.Sprintf("%02d", tc.number)
		if tc.name != "" {
			name += " " + tc.name
		}
		t.Run(name, func(t *testing.T) {
			if tc.refused != nil {
				tc.expectRefusal(t)
			} else {
				tc.expectPods(t)
			}
		})
	}
	for n := range 60 {
		if !seen[n+1] {
			t.Errorf("case %d is missing", n+1)
		}
	}
}

func (tc workedCase) expectRefusal(t *testing.T) {
	out, findings := tc.compile(t)
	if out != nil {
		t.Error("refused, and an output")
	}
	var rules []string
	var text strings.Builder
	for _, f := range findings {
		if f.Severity == diag.Error {
			rules = append(rules, f.Rule)
			text.WriteString(f.Field + " " + f.Message + " " + f.Remedy + "\n")
		}
	}
	slices.Sort(rules)
	if diff := cmp.Diff(tc.refused.rules, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s%v", diff, findings)
	}
	for _, token := range tc.refused.tokens {
		if !strings.Contains(text.String(), token) {
			t.Errorf("%q is not named in:\n%s", token, text.String())
		}
	}
}

func (tc workedCase) expectPods(t *testing.T) {
	out, findings := tc.compile(t)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	name := "md-" + tc.roleName()
	got := templateOf(out, name)
	if late := got.Annotations[v1.AnnotationLateBound]; late != "" {
		t.Errorf("late: %s", late)
	}
	equal := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}

	e := &expected{
		port: 8000, main: 8000, path: "/health", portName: "http", model: model,
		annotations: map[string]string{
			"kueue.x-k8s.io/pod-group-total-count": "1",
			"kueue.x-k8s.io/role-hash":             tc.roleName(),
			"kueue.x-k8s.io/pod-group-serving":     "true",
		},
	}
	terms(tc.want...)(e)
	if !e.takeOver {
		maps.Copy(e.annotations, map[string]string{
			"prometheus.io/scrape": "true",
			"prometheus.io/path":   "/metrics",
			"prometheus.io/port":   strconv.Itoa(int(e.main)),
			"prometheus.io/scheme": "http",
		})
	}

	main := mainOf(got)
	equal("command", tc.wantCommand(e), main.Command)
	equal("args", []string(nil), main.Args)
	for _, v := range tc.env {
		n, value, _ := strings.Cut(v, "=")
		e.env = slices.DeleteFunc(e.env, func(d corev1.EnvVar) bool { return d.Name == n })
		variable(n, value)(e)
	}
	equal("env", e.env, main.Env)
	first := tcpPort(e.portName, e.main)
	equal("ports", slices.Concat([]corev1.ContainerPort{first}, e.transferPorts, e.eventPorts), main.Ports)
	equal("volumes", e.volumes, got.Template.Spec.Volumes)
	equal("mounts", e.mounts, main.VolumeMounts)
	equal("security", e.security, got.Template.Spec.SecurityContext)
	equal("proxy", e.proxy, got.Template.Spec.InitContainers)
	equal("annotations", e.annotations, got.Template.Annotations)
	equal("labels", tc.wantLabels(), got.Template.Labels)
	for failures, probe := range map[int32]*corev1.Probe{180: main.StartupProbe, 3: main.ReadinessProbe, 6: main.LivenessProbe} {
		equal("probe", wantProbe(e, failures), probe)
	}
	if hook := main.Lifecycle; (hook == nil) != e.takeOver {
		t.Errorf("drain: %v", hook)
	} else if url := fmt.Sprintf("http://127.0.0.1:%d/metrics", e.main); hook != nil && !strings.Contains(hook.PreStop.Exec.Command[2], url) {
		t.Errorf("the drain does not read %s", url)
	}
	tc.checkResources(t, main, e.fabric)
	if hw := hardware[tc.makerName()]; hw.runner != "" {
		equal("image", fmt.Sprintf("gpustack/runner:%s-%s%s", hw.runner, strings.ToLower(string(tc.engineName())), tc.version()), main.Image)
	}

	// The Service of the role follows the port in front, and opens the events.
	for _, s := range out.Deployments[0].Services {
		if s.Name != name {
			continue
		}
		ports := []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 8000, TargetPort: intstr.FromInt32(e.port)}}
		if len(tc.ports) > 0 {
			ports[0].Name = fmt.Sprintf("tcp-%d", tc.ports[0])
		}
		for _, p := range e.eventPorts {
			ports = append(ports, corev1.ServicePort{Name: p.Name, Protocol: p.Protocol, Port: p.ContainerPort, TargetPort: intstr.FromInt32(p.ContainerPort)})
		}
		equal("Service", ports, s.Spec.Ports)
	}
	tc.checkUncached(t, out, name)
}

func (tc workedCase) wantCommand(e *expected) []string {
	if e.takeOver {
		return tc.command
	}
	base := []string{"vllm", "serve", e.model}
	if tc.engineName() == sglang {
		base = []string{"python3", "-m", "sglang.launch_server", "--model-path", e.model, "--enable-metrics"}
	}
	line := slices.Concat(base, e.revision, e.args, tc.extra, e.served, []string{"--host", "0.0.0.0"})
	if !e.ownPort {
		line = append(line, "--port", strconv.Itoa(int(e.main)))
	}
	return line
}

func (tc workedCase) wantLabels() map[string]string {
	kind := tc.roleName()
	l := map[string]string{
		"app.kubernetes.io/name":                "model-deployment",
		"app.kubernetes.io/instance":            "md",
		"app.kubernetes.io/component":           tc.roleName(),
		"modeldeployment.gpustack.ai/role-kind": kind,
		"kueue.x-k8s.io/queue-name":             "queue-" + tc.makerName(),
	}
	if tc.engineName() == sglang && tc.router == llmd {
		l["llm-d.ai/engine-type"] = "sglang"
	}
	return l
}

func wantProbe(e *expected, failures int32) *corev1.Probe {
	if e.takeOver {
		return nil
	}
	return &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: e.path, Port: intstr.FromInt32(e.port), Scheme: corev1.URISchemeHTTP}},
		PeriodSeconds:  10,
		TimeoutSeconds: 3, FailureThreshold: failures,
	}
}

// checkResources compares the extended resources, which limits and requests
// state alike.
func (tc workedCase) checkResources(t *testing.T, main *corev1.Container, fabric corev1.ResourceList) {
	t.Helper()
	cards := tc.cards
	if cards == 0 {
		cards = 8
	}
	want := corev1.ResourceList{}
	if key := hardware[tc.makerName()].key; key != "" {
		want[corev1.ResourceName(key)] = quantity(strconv.Itoa(cards))
	}
	maps.Copy(want, fabric)
	for what, list := range map[string]corev1.ResourceList{"limits": main.Resources.Limits, "requests": main.Resources.Requests} {
		got := maps.Clone(list)
		for _, general := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			delete(got, general)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// checkUncached compares the stand-in for an unresolved cache with the Pod of
// the same deployment without one.
func (tc workedCase) checkUncached(t *testing.T, out *compiler.Output, name string) {
	t.Helper()
	uncached := templateOf(out, name+".uncached")
	if managed := tc.command == nil; (uncached != nil) != (tc.store != "" && managed) {
		t.Errorf("stand-in: %v", uncached != nil)
	}
	if uncached == nil {
		return
	}
	plain := tc.shape
	plain.store = ""
	want := plain.template(t, tc.roleName())
	if diff := cmp.Diff(want.Template, uncached.Template); diff != "" {
		t.Errorf("stand-in (-without a cache +stand-in):\n%s", diff)
	}
}

func quantity(s string) resource.Quantity {
	q := resource.MustParse(s)
	_ = q.String() // fills in what a rendered quantity has
	return q
}

package argv

// EnvDPSize is the variable vLLM takes its data parallel size from when the
// command line does not set one.
const EnvDPSize = "VLLM_DP_SIZE"

// Parallelism is what a command line declares about how an engine divides a
// model over accelerators. A degree counts ranks; one that is not declared
// is 1, except DPLocal, where 0 says the line leaves it to DP.
type Parallelism struct {
	Engine Engine

	TP      int64 // tensor parallel
	PP      int64 // pipeline parallel
	DP      int64 // data parallel, over all Pods
	DPLocal int64 // data parallel in this Pod (vLLM)
	PCP     int64 // prefill context parallel (vLLM)
	DCP     int64 // decode context parallel
	EP      int64 // expert parallel (SGLang)
	AttnCP  int64 // attention context parallel (SGLang)
	MoEDP   int64 // data parallel of the experts (SGLang)
	DWDP    int64 // distributed weight data parallel (SGLang)

	ExpertParallel bool // vLLM: experts over the ranks that exist anyway
	DPAttention    bool // SGLang: data parallel inside the tensor parallel ranks
	PrefillCP      bool // SGLang: context parallel prefill, on existing ranks

	// DPFromEnv: DP came from [EnvDPSize], not from a flag.
	DPFromEnv bool
	// Wired: the line places this Pod among others (node ranks, addresses), so
	// its degrees no longer say how many cards this Pod uses.
	Wired bool
	// Failed: something could not be read, so the degrees are incomplete.
	Failed bool
}

type kind int

const (
	degree       kind = iota // takes a whole number
	mode                     // a switch that may fold a degree
	wiringValue              // places the Pod among others, takes a value
	wiringSwitch             // the same without a value
)

// parallelFlag is one row of an engine's parallel flags.
type parallelFlag struct {
	kind kind
	// spellings the engine registers, the canonical one first.
	spellings []string
	// abbreviations are single-dash prefixes of a single-dash spelling that
	// argparse takes as one, if they stand alone.
	abbreviations []string
	// min is the smallest legal degree.
	min int64
	// degree and mode say where the row is kept; wiring keeps nothing.
	degree func(*Parallelism) *int64
	mode   func(*Parallelism) *bool
}

func (f *parallelFlag) canonical() string { return f.spellings[0] }

func (f *parallelFlag) takesValue() bool { return f.kind == degree || f.kind == wiringValue }

func tp(p *Parallelism) *int64      { return &p.TP }
func pp(p *Parallelism) *int64      { return &p.PP }
func dp(p *Parallelism) *int64      { return &p.DP }
func dpLocal(p *Parallelism) *int64 { return &p.DPLocal }
func pcp(p *Parallelism) *int64     { return &p.PCP }
func dcp(p *Parallelism) *int64     { return &p.DCP }
func ep(p *Parallelism) *int64      { return &p.EP }
func attnCP(p *Parallelism) *int64  { return &p.AttnCP }
func moeDP(p *Parallelism) *int64   { return &p.MoEDP }
func dwdp(p *Parallelism) *int64    { return &p.DWDP }

func expertParallel(p *Parallelism) *bool { return &p.ExpertParallel }
func dpAttention(p *Parallelism) *bool    { return &p.DPAttention }
func prefillCP(p *Parallelism) *bool      { return &p.PrefillCP }

// Canonical spellings that a width names.
const (
	vllmTP      = "--tensor-parallel-size"
	vllmPP      = "--pipeline-parallel-size"
	vllmDP      = "--data-parallel-size"
	vllmDPLocal = "--data-parallel-size-local"
	vllmPCP     = "--prefill-context-parallel-size"
	sglangTP    = "--tp-size"
	sglangPP    = "--pp-size"
	sglangDP    = "--dp-size"
)

// parallelFlags hold every flag that changes how many cards an engine uses, or
// says that cards elsewhere are part of it.
var parallelFlags = map[Engine][]parallelFlag{
	VLLM: {
		{kind: degree, spellings: []string{vllmTP, "-tp"}, abbreviations: []string{"-t"}, min: 1, degree: tp},
		{kind: degree, spellings: []string{vllmPP, "-pp"}, min: 1, degree: pp},
		{kind: degree, spellings: []string{vllmDP, "-dp"}, min: 1, degree: dp},
		{kind: degree, spellings: []string{vllmDPLocal, "-dpl"}, min: 0, degree: dpLocal},
		{kind: degree, spellings: []string{vllmPCP, "-pcp"}, abbreviations: []string{"-pc"}, min: 1, degree: pcp},
		{kind: degree, spellings: []string{"--decode-context-parallel-size", "-dcp"}, min: 1, degree: dcp},
		{kind: mode, spellings: []string{"--enable-expert-parallel", "-ep"}, abbreviations: []string{"-e"}, mode: expertParallel},
		{kind: wiringValue, spellings: []string{"--nnodes", "-n"}},
		{kind: wiringValue, spellings: []string{"--node-rank", "-r"}},
		{kind: wiringValue, spellings: []string{"--master-addr"}},
		{kind: wiringValue, spellings: []string{"--master-port"}},
		{kind: wiringValue, spellings: []string{"--data-parallel-rank", "-dpn"}},
		{kind: wiringValue, spellings: []string{"--data-parallel-start-rank", "-dpr"}},
		{kind: wiringValue, spellings: []string{"--data-parallel-address", "-dpa"}},
		{kind: wiringValue, spellings: []string{"--data-parallel-rpc-port", "-dpp"}},
		{kind: wiringValue, spellings: []string{"--data-parallel-backend", "-dpb"}},
		{kind: wiringSwitch, spellings: []string{"--headless"}},
		{kind: wiringSwitch, spellings: []string{"--data-parallel-hybrid-lb", "-dph"}},
		{kind: wiringSwitch, spellings: []string{"--data-parallel-external-lb", "-dpe"}},
		{kind: wiringSwitch, spellings: []string{"--data-parallel-multi-port-external-lb", "-dpm"}},
	},
	SGLang: {
		{kind: degree, spellings: []string{sglangTP, "--tensor-parallel-size"}, min: 1, degree: tp},
		{kind: degree, spellings: []string{sglangPP, "--pipeline-parallel-size"}, min: 1, degree: pp},
		{kind: degree, spellings: []string{sglangDP, "--data-parallel-size"}, min: 1, degree: dp},
		{kind: degree, spellings: []string{"--ep-size", "--expert-parallel-size", "--ep"}, min: 1, degree: ep},
		{kind: degree, spellings: []string{"--dcp-size", "--decode-context-parallel-size"}, min: 1, degree: dcp},
		{kind: degree, spellings: []string{"--attn-cp-size", "--attention-context-parallel-size"}, min: 1, degree: attnCP},
		{kind: degree, spellings: []string{"--moe-dp-size", "--moe-data-parallel-size"}, min: 1, degree: moeDP},
		{kind: degree, spellings: []string{"--dwdp-size"}, min: 1, degree: dwdp},
		{kind: mode, spellings: []string{"--enable-dp-attention"}, mode: dpAttention},
		{kind: mode, spellings: []string{"--enable-prefill-cp"}, mode: prefillCP},
		{kind: wiringValue, spellings: []string{"--nnodes"}},
		{kind: wiringValue, spellings: []string{"--node-rank"}},
		{kind: wiringValue, spellings: []string{"--dist-init-addr", "--nccl-init-addr"}},
	},
}

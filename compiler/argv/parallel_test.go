package argv

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// undeclared is what an empty line reads as.
func undeclared(engine Engine) Parallelism {
	return Parallelism{Engine: engine, TP: 1, PP: 1, DP: 1, PCP: 1, DCP: 1, EP: 1, AttnCP: 1, MoEDP: 1, DWDP: 1}
}

func TestReadParallelism(t *testing.T) {
	tests := map[string]struct {
		engine Engine
		args   string
		want   func(*Parallelism)
	}{
		"nothing":           {VLLM, "", func(*Parallelism) {}},
		"every vllm degree": {VLLM, "--tensor-parallel-size 2 --pipeline-parallel-size=3 --data-parallel-size 4 --data-parallel-size-local 5 --prefill-context-parallel-size 6 --decode-context-parallel-size 7", func(p *Parallelism) { p.TP, p.PP, p.DP, p.DPLocal, p.PCP, p.DCP = 2, 3, 4, 5, 6, 7 }},
		"every short one": {VLLM, "-tp 2 -pp=3 -dp 4 -dpl=5 -pcp 6 -dcp=7 -ep", func(p *Parallelism) {
			p.TP, p.PP, p.DP, p.DPLocal, p.PCP, p.DCP, p.ExpertParallel = 2, 3, 4, 5, 6, 7, true
		}},
		"abbreviated": {VLLM, "-t 2 -pc 3 -e", func(p *Parallelism) { p.TP, p.PCP, p.ExpertParallel = 2, 3, true }},
		"every sglang degree": {SGLang, "--tp-size 2 --pp-size 3 --dp-size 4 --ep-size 5 --dcp-size 6 --attn-cp-size 7 --moe-dp-size 8 --dwdp-size 9 --enable-dp-attention --enable-prefill-cp", func(p *Parallelism) {
			p.TP, p.PP, p.DP, p.EP, p.DCP, p.AttnCP, p.MoEDP, p.DWDP = 2, 3, 4, 5, 6, 7, 8, 9
			p.DPAttention, p.PrefillCP = true, true
		}},
		"every other spelling": {SGLang, "--tensor-parallel-size 2 --pipeline-parallel-size 3 --data-parallel-size 4 --expert-parallel-size 5 --decode-context-parallel-size 6 --attention-context-parallel-size 7 --moe-data-parallel-size 8", func(p *Parallelism) {
			p.TP, p.PP, p.DP, p.EP, p.DCP, p.AttnCP, p.MoEDP = 2, 3, 4, 5, 6, 7, 8
		}},
		"sglang prefixes":               {SGLang, "--tp 2 --pp 3 --dp 4 --ep 5", func(p *Parallelism) { p.TP, p.PP, p.DP, p.EP = 2, 3, 4, 5 }},
		"sglang tensor":                 {SGLang, "--tensor 2", func(p *Parallelism) { p.TP = 2 }},
		"sglang takes no single dashes": {SGLang, "-tp 2 -tp2 -t=2 -n2", func(*Parallelism) {}},
		"sglang rewrites nothing":       {SGLang, "--tp_size 2", func(*Parallelism) {}},
		"underscores":                   {VLLM, "--tensor_parallel_size 2", func(p *Parallelism) { p.TP = 2 }},
		"dotted":                        {VLLM, "--tensor-parallel-size.x 2", func(*Parallelism) {}},
		"unique prefix":                 {VLLM, "--tensor 2", func(p *Parallelism) { p.TP = 2 }},
		"shared prefix":                 {VLLM, "--data-parallel-s 2", func(*Parallelism) {}},
		"exact although a prefix":       {VLLM, "--data-parallel-size 2", func(p *Parallelism) { p.DP = 2 }},
		"glued short ones":              {VLLM, "-pp2 -dp4 -pc2 -dpl3", func(*Parallelism) {}},
		"short with both":               {VLLM, "-tp2=3 -n2=3", func(*Parallelism) {}},
		"grouped digits":                {VLLM, "-tp 1_0", func(p *Parallelism) { p.TP = 10 }},
		"last wins":                     {VLLM, "-tp 2 --tensor-parallel-size=4", func(p *Parallelism) { p.TP = 4 }},
		"last wins over a small one":    {VLLM, "-tp 0 -tp 4", func(p *Parallelism) { p.TP = 4 }},
		"dashes end the flags":          {VLLM, "-tp 2 -- -tp x", func(p *Parallelism) { p.TP = 2 }},
		"local zero":                    {VLLM, "-dpl 0", func(*Parallelism) {}},
		"mode with value":               {VLLM, "-ep=1 -e=1 --enable-expert-parallel=x", func(*Parallelism) {}},
		"sglang mode with value":        {SGLang, "--enable-dp-attention=true", func(*Parallelism) {}},
		"wiring with value":             {VLLM, "--nnodes 2", func(p *Parallelism) { p.Wired = true }},
		"wiring joined":                 {VLLM, "--master-addr=a", func(p *Parallelism) { p.Wired = true }},
		"wiring glued":                  {VLLM, "-n2", func(p *Parallelism) { p.Wired = true }},
		"wiring glued rank":             {VLLM, "-r0", func(p *Parallelism) { p.Wired = true }},
		"wiring short joined":           {VLLM, "-n=2", func(p *Parallelism) { p.Wired = true }},
		"wiring without value":          {VLLM, "--nnodes", func(p *Parallelism) { p.Wired = true }},
		"wiring switch":                 {VLLM, "--headless", func(p *Parallelism) { p.Wired = true }},
		"wiring switch with value":      {VLLM, "--headless=true -dph=1", func(*Parallelism) {}},
		"wiring before a degree":        {VLLM, "--node-rank -tp 2", func(p *Parallelism) { p.Wired, p.TP = true, 2 }},
		"wiring takes its value":        {VLLM, "--master-addr host -tp 2", func(p *Parallelism) { p.Wired, p.TP = true, 2 }},
		"sglang wiring":                 {SGLang, "--nccl-init-addr a:1", func(p *Parallelism) { p.Wired = true }},
		"sglang wiring prefix":          {SGLang, "--dist a:1", func(p *Parallelism) { p.Wired = true }},
		"foreign wiring":                {SGLang, "--headless --master-addr a", func(*Parallelism) {}},
		"unknown flags":                 {VLLM, "--max-num-seqs 4 -O3 -q awq --tensor-paralel-size x", func(*Parallelism) {}},
		"unknown engine":                {"other", "-tp 2 --tp-size x --nnodes 2", func(*Parallelism) {}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := undeclared(test.engine)
			test.want(&want)
			got, problems := ReadParallelism(test.engine, strings.Fields(test.args), nil)
			if got != want || len(problems) > 0 {
				t.Errorf("%s:\n got %+v %v\nwant %+v", test.args, got, problems, want)
			}
		})
	}
	for _, flag := range []string{"--nnodes", "-n", "--node-rank", "-r", "--master-addr", "--master-port", "--data-parallel-rank", "-dpn", "--data-parallel-start-rank", "-dpr", "--data-parallel-address", "-dpa", "--data-parallel-rpc-port", "-dpp", "--data-parallel-backend", "-dpb", "--headless", "--data-parallel-hybrid-lb", "-dph", "--data-parallel-external-lb", "-dpe", "--data-parallel-multi-port-external-lb", "-dpm"} {
		if got, _ := ReadParallelism(VLLM, []string{flag, "1"}, nil); !got.Wired || got.Judgeable() {
			t.Errorf("%s places the Pod among others", flag)
		}
	}
}

func TestParallelProblems(t *testing.T) {
	const tp = "--tensor-parallel-size"
	problem := func(flag, written, value string, index int, reason Reason, min int64) Problem {
		return Problem{Flag: flag, Written: written, Value: value, Index: index, Reason: reason, Minimum: min}
	}
	tests := map[string]struct {
		engine Engine
		args   []string
		want   []Problem
	}{
		"no value":               {VLLM, []string{"-tp"}, []Problem{problem(tp, "-tp", "", 0, NoValue, 1)}},
		"flag for a value":       {VLLM, []string{"-tp", "-dp", "2"}, []Problem{problem(tp, "-tp", "", 0, NoValue, 1)}},
		"dashes for a value":     {VLLM, []string{"-tp", "--"}, []Problem{problem(tp, "-tp", "", 0, NoValue, 1)}},
		"empty value":            {VLLM, []string{"-tp="}, []Problem{problem(tp, "-tp", "", 0, NotInteger, 1)}},
		"empty token":            {VLLM, []string{"-tp", ""}, []Problem{problem(tp, "-tp", "", 0, NotInteger, 1)}},
		"word":                   {VLLM, []string{"--tensor", "auto"}, []Problem{problem(tp, "--tensor", "auto", 0, NotInteger, 1)}},
		"fraction":               {SGLang, []string{"--tp", "2.0"}, []Problem{problem("--tp-size", "--tp", "2.0", 0, NotInteger, 1)}},
		"bad grouping":           {SGLang, []string{"--tp=_3"}, []Problem{problem("--tp-size", "--tp", "_3", 0, NotInteger, 1)}},
		"range":                  {VLLM, []string{"-pp", "9223372036854775808"}, []Problem{problem("--pipeline-parallel-size", "-pp", "9223372036854775808", 0, OutOfRange, 1)}},
		"zero":                   {VLLM, []string{"-tp", "0"}, []Problem{problem(tp, "-tp", "0", 0, BelowMinimum, 1)}},
		"negative":               {VLLM, []string{"-tp", "-1"}, []Problem{problem(tp, "-tp", "-1", 0, BelowMinimum, 1)}},
		"negative fraction":      {VLLM, []string{"-tp", "-.5"}, []Problem{problem(tp, "-tp", "-.5", 0, NotInteger, 1)}},
		"negative local":         {VLLM, []string{"-dpl", "-1"}, []Problem{problem("--data-parallel-size-local", "-dpl", "-1", 0, BelowMinimum, 0)}},
		"glued -t2":              {VLLM, []string{"-t2"}, []Problem{problem(tp, "-t2", "-t2", 0, Glued, 1)}},
		"glued -tp2":             {VLLM, []string{"-tp2"}, []Problem{problem(tp, "-tp2", "-tp2", 0, Glued, 1)}},
		"glued -ep2":             {VLLM, []string{"-ep2"}, []Problem{problem("--enable-expert-parallel", "-ep2", "-ep2", 0, Glued, 0)}},
		"abbreviation joined":    {VLLM, []string{"-t=2"}, []Problem{problem(tp, "-t=2", "-t=2", 0, Glued, 1)}},
		"abbreviation joined pc": {VLLM, []string{"-pc=2"}, []Problem{problem("--prefill-context-parallel-size", "-pc=2", "-pc=2", 0, Glued, 1)}},
		"early word":             {VLLM, []string{"-tp", "x", "-tp", "2"}, []Problem{problem(tp, "-tp", "x", 0, NotInteger, 1)}},
		"several, in order": {VLLM, []string{"-pp", "0", "-tp", "x", "-dcp=0"}, []Problem{
			problem("--pipeline-parallel-size", "-pp", "0", 0, BelowMinimum, 1),
			problem(tp, "-tp", "x", 2, NotInteger, 1),
			problem("--decode-context-parallel-size", "-dcp", "0", 4, BelowMinimum, 1),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, problems := ReadParallelism(test.engine, test.args, nil)
			if !slices.Equal(problems, test.want) {
				t.Errorf("%q:\n got %+v\nwant %+v", test.args, problems, test.want)
			}
			if !got.Failed || got.Judgeable() {
				t.Error("a line that cannot be read has no width")
			}
			for _, p := range problems {
				if !strings.Contains(p.Error(), p.Flag) || !strings.Contains(p.Error(), p.Value) {
					t.Errorf("%q names neither flag nor value", p.Error())
				}
			}
		})
	}
}

func TestDPSizeVariable(t *testing.T) {
	tests := map[string]struct {
		engine Engine
		args   string
		env    []string
		dp     int64
		from   bool
		reason Reason
	}{
		"absent":               {VLLM, "", nil, 1, false, ""},
		"read":                 {VLLM, "", []string{"4"}, 4, true, ""},
		"last entry":           {VLLM, "", []string{"x", "4"}, 4, true, ""},
		"word":                 {VLLM, "", []string{"x"}, 1, false, NotInteger},
		"empty":                {VLLM, "", []string{""}, 1, false, NotInteger},
		"zero":                 {VLLM, "", []string{"0"}, 1, false, BelowMinimum},
		"range":                {VLLM, "", []string{"9223372036854775808"}, 1, false, OutOfRange},
		"flag drives":          {VLLM, "-dp 2", []string{"x"}, 2, false, ""},
		"flag of one":          {VLLM, "-dp 1", []string{"4"}, 4, true, ""},
		"flag of one, word":    {VLLM, "-dp 1", []string{"x"}, 1, false, NotInteger},
		"local zero":           {VLLM, "-dpl 0", []string{"x"}, 1, false, ""},
		"local two":            {VLLM, "-dpl 2", []string{"4"}, 4, true, ""},
		"local zero, then two": {VLLM, "-dpl 0 -dpl 2", []string{"4"}, 4, true, ""},
		"beside other degrees": {VLLM, "-tp 2", []string{"4"}, 4, true, ""},
		"unreadable flag":      {VLLM, "-dp x", []string{"y"}, 1, false, ""},
		"not of sglang":        {SGLang, "", []string{"x"}, 1, false, ""},
		"not of others":        {"other", "", []string{"x"}, 1, false, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, problems := ReadParallelism(test.engine, strings.Fields(test.args), test.env)
			if got.DP != test.dp || got.DPFromEnv != test.from {
				t.Errorf("DP %d, from the variable: %v", got.DP, got.DPFromEnv)
			}
			var reason Reason
			for _, p := range problems {
				if p.Env {
					reason = p.Reason
					if p.Flag != EnvDPSize || p.Index != len(test.env)-1 {
						t.Errorf("problem %+v", p)
					}
				}
			}
			if reason != test.reason {
				t.Errorf("reason %q, want %q", reason, test.reason)
			}
		})
	}
}

func TestWidth(t *testing.T) {
	f := func(pairs ...any) (factors []Factor) {
		for i := 0; i < len(pairs); i += 2 {
			factors = append(factors, Factor{pairs[i].(string), int64(pairs[i+1].(int))})
		}
		return factors
	}
	tests := map[string]struct {
		engine  Engine
		args    string
		env     []string
		cards   int64
		factors []Factor
	}{
		"nothing":            {VLLM, "", nil, 1, nil},
		"tp and dp":          {VLLM, "-tp 4 -dp 2", nil, 8, f(vllmTP, 4, vllmDP, 2)},
		"local replaces dp":  {VLLM, "-tp 4 -dp 2 -dpl 1", nil, 4, f(vllmTP, 4)},
		"local counts":       {VLLM, "-tp 2 -dp 8 -dpl 4", nil, 8, f(vllmTP, 2, vllmDPLocal, 4)},
		"local zero":         {VLLM, "-dp 8 -dpl 0", nil, 8, f(vllmDP, 8)},
		"all":                {VLLM, "-tp 2 -pp 3 -pcp 5 -dp 7", nil, 210, f(vllmTP, 2, vllmPP, 3, vllmPCP, 5, vllmDP, 7)},
		"dcp and ep":         {VLLM, "-tp 2 -dcp 2 -ep", nil, 2, f(vllmTP, 2)},
		"variable":           {VLLM, "-tp 2", []string{"4"}, 8, f(vllmTP, 2, EnvDPSize, 4)},
		"variable and local": {VLLM, "-dpl 2", []string{"4"}, 2, f(vllmDPLocal, 2)},
		"sglang":             {SGLang, "--tp 2 --pp 3 --dp 5", nil, 30, f(sglangTP, 2, sglangPP, 3, sglangDP, 5)},
		"dp attention":       {SGLang, "--tp 8 --dp 8 --enable-dp-attention", nil, 8, f(sglangTP, 8)},
		"no dp attention":    {SGLang, "--tp 8 --dp 8", nil, 64, f(sglangTP, 8, sglangDP, 8)},
		"dwdp":               {SGLang, "--tp 8 --dp 8 --dwdp-size 2", nil, 8, f(sglangTP, 8)},
		"moe dp":             {SGLang, "--tp 8 --dp 8 --moe-dp-size 2", nil, 8, f(sglangTP, 8)},
		"attention cp":       {SGLang, "--tp 8 --dp 8 --attn-cp-size 2", nil, 8, f(sglangTP, 8)},
		"dwdp of one":        {SGLang, "--tp 8 --dp 2 --dwdp-size 1", nil, 16, f(sglangTP, 8, sglangDP, 2)},
		"sglang side":        {SGLang, "--tp 2 --ep 4 --dcp-size 8 --enable-prefill-cp", nil, 2, f(sglangTP, 2)},
		"unknown engine":     {"other", "-tp 4", nil, 1, nil},
		"largest":            {VLLM, "-tp 9223372036854775807", nil, math.MaxInt64, f(vllmTP, math.MaxInt64)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, problems := ReadParallelism(test.engine, strings.Fields(test.args), test.env)
			if len(problems) > 0 || !p.Judgeable() {
				t.Fatal(problems)
			}
			got := p.Width(4)
			if got.Cards != test.cards || got.Overflow || !slices.Equal(got.Factors, test.factors) {
				t.Errorf("%s: %+v", test.args, got)
			}
		})
	}

	p, _ := ReadParallelism(VLLM, strings.Fields("-tp 4611686018427387904 -pp 4611686018427387904 -dp 2"), nil)
	for cards, want := range map[int64]int64{4: 5, math.MaxInt64: math.MaxInt64} {
		if got := p.Width(cards); !got.Overflow || got.Cards != want || len(got.Factors) != 3 {
			t.Errorf("overflow on %d cards: %+v", cards, got)
		}
	}
	if got := (Parallelism{}).Width(1); got.Cards != 1 {
		t.Errorf("zero value: %+v", got)
	}
}

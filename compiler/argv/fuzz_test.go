package argv

import (
	"slices"
	"strings"
	"testing"
)

// FuzzRead reads any line with every reader. The first byte of the input picks
// the engine, the rest is one token a line; tokens behind the first "\x00" are
// values of the data parallel variable.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"v--port\n9000\n--host=::\n--ssl-certfile\nc\n--ssl-cert-reqs\n02",
		"v-tp\n4\n-dp=2\n-dpl\n1\n--nnodes\n2\n-n2\n-t2\x004",
		"v--kv_transfer_config.kv_role=kv_both\n--kv-cache\n--served-model-name\na\nb",
		"v-pp\n9223372036854775807\n-tp\n3\n--\n-tp\nx\x00x\n1_0",
		"v--tensor-paralel-size=2\n--no-enable-prefix-cacheing\n--tp\n--data-parallel-s",
		"s--tp\n8\n--dp=8\n--enable-dp-attention\n--ep\n-1\n--dist-init-addr\na",
		"s--hicache-storage-backend-ex\n{}\n--disaggregation-mo=null\n--po=1\n--port=0",
		"s--served-model-name\na\nb\n--mem_fraction_statik\n.9",
		"o--tp\n8\n--port=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		engine := Engine("other")
		switch {
		case strings.HasPrefix(input, "v"):
			engine = VLLM
		case strings.HasPrefix(input, "s"):
			engine = SGLang
		}
		line, values, hasValues := strings.Cut(input, "\x00")
		var args, env []string
		if len(line) > 1 {
			args = strings.Split(line[1:], "\n")
		}
		if hasValues {
			env = strings.Split(values, "\n")
		}
		checkResolve(t, engine, args)
		checkListen(t, engine, args)
		checkParallelism(t, engine, args, env)
		for _, token := range args {
			checkSuggest(t, engine, token)
		}
	})
}

func checkResolve(t *testing.T, engine Engine, args []string) {
	for _, keys := range [][]string{OwnedArgs(engine), append(OwnedArgs(engine), FlagKVCacheDtype), ArtifactArgs(engine), listenKeys[engine], nil} {
		for _, token := range args {
			key, ok := Resolve(engine, token, keys)
			if ok != slices.Contains(keys, key) || !ok && key != "" {
				t.Fatalf("%q resolves to %q, not among %q", token, key, keys)
			}
			name, _, _ := strings.Cut(token, "=")
			if alone, _ := Resolve(engine, name, keys); alone != key {
				t.Fatalf("%q is %q, and %q without its value", token, key, alone)
			}
			if slices.Contains(keys, name) && key != name {
				t.Fatalf("exact %q resolves to %q", name, key)
			}
		}
	}
	if got := Index(engine, args, FlagServedModelName); got < -1 || got >= len(args) {
		t.Fatalf("index %d of %d", got, len(args))
	}
}

func checkListen(t *testing.T, engine Engine, args []string) {
	listen := ReadListen(engine, args)
	port := listen.Port
	if port.Stated != (port.Index >= 0) || port.Index >= len(args) {
		t.Fatalf("%+v of %d tokens", port, len(args))
	}
	if port.Readable && (!port.Stated || port.Number < 1 || port.Number > 65535) || !port.Readable && port.Number != 0 {
		t.Fatalf("%+v", port)
	}
	if listen.ClientCertificate && (!listen.TLS || engine != VLLM) {
		t.Fatalf("%+v", listen)
	}
	served := ReadServed(engine, args)
	if served.Index >= len(args) || len(served.Names) > len(args) || engine != VLLM && len(served.Names) > 1 {
		t.Fatalf("%+v of %d tokens", served, len(args))
	}

	apart := ReadListen(engine, split(args, func(token string) bool {
		_, ok := Resolve(engine, token, listenKeys[engine])
		return ok
	}))
	apart.Port.Index = port.Index
	if apart != listen {
		t.Fatalf("%q: joined %+v, apart %+v", args, listen, apart)
	}
}

func checkParallelism(t *testing.T, engine Engine, args, env []string) {
	p, problems := ReadParallelism(engine, args, env)
	if p.Failed != (len(problems) > 0) || p.DPFromEnv && engine != VLLM {
		t.Fatalf("%+v %v", p, problems)
	}
	for _, d := range []int64{p.TP, p.PP, p.DP, p.PCP, p.DCP, p.EP, p.AttnCP, p.MoEDP, p.DWDP, p.DPLocal + 1} {
		if d < 1 {
			t.Fatalf("%q: degree below its minimum in %+v", args, p)
		}
	}
	for i, problem := range problems {
		bound := len(args)
		if problem.Env {
			bound = len(env)
		}
		if problem.Index < 0 || problem.Index >= bound || problem.Error() == "" {
			t.Fatalf("%+v", problem)
		}
		if i > 0 && !problem.Env && problems[i-1].Index > problem.Index {
			t.Fatalf("out of order: %v", problems)
		}
	}
	width := p.Width(8)
	if width.Cards < 1 || width.Overflow && width.Cards != 9 {
		t.Fatalf("%+v", width)
	}

	apart, apartProblems := ReadParallelism(engine, split(args, func(token string) bool {
		flag, form := matchParallel(engine, parallelFlags[engine], token)
		return flag != nil && form == whole && flag.takesValue()
	}), env)
	if apart != p || len(apartProblems) != len(problems) {
		t.Fatalf("%q: joined %+v %v, apart %+v %v", args, p, problems, apart, apartProblems)
	}
	for i := range problems {
		a, b := problems[i], apartProblems[i]
		if a.Flag != b.Flag || a.Written != b.Written || a.Value != b.Value || a.Reason != b.Reason {
			t.Fatalf("joined %+v, apart %+v", a, b)
		}
	}
}

func checkSuggest(t *testing.T, engine Engine, token string) {
	flag, ok := Suggest(engine, token)
	if ok != (flag != "") {
		t.Fatalf("Suggest(%q) = %q, %v", token, flag, ok)
	}
	if !ok {
		return
	}
	if _, again := Suggest(engine, flag); again {
		t.Fatalf("%q leads to %q, which leads on", token, flag)
	}
	if v := vocabularies()[engine]; !v.set[flag] && !v.short[strings.TrimPrefix(flag, "-")] {
		t.Fatalf("%q is no flag of %s", flag, engine)
	}
}

// split turns --flag=value into two tokens, before a lone "--" and where the
// value would still be read as one.
func split(args []string, want func(string) bool) []string {
	var out []string
	for i, token := range args {
		if token == "--" {
			return append(out, args[i:]...)
		}
		if flag, value, ok := strings.Cut(token, "="); ok && isValue(value) && want(token) {
			out = append(out, flag, value)
			continue
		}
		out = append(out, token)
	}
	return out
}

package argv

import (
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) {
	tests := map[string]struct {
		token        string
		vllm, sglang string
	}{
		"one letter missing":   {"--tensor-paralel-size", "--tensor-parallel-size", "--tensor-parallel-size"},
		"with value":           {"--tensor-paralel-size=2", "--tensor-parallel-size", "--tensor-parallel-size"},
		"swapped":              {"--gpu-memory-utiliaztion", "--gpu-memory-utilization", ""},
		"british":              {"--gpu-memory-utilisation=0.9", "--gpu-memory-utilization", ""},
		"two slips":            {"--max-modle-lenn", "--max-model-len", ""},
		"three slips":          {"--mxa-modle-lenn", "", ""},
		"short name, one slip": {"--prot", "--port", "--port"},
		"short name, two":      {"--prto", "", ""},
		"negated":              {"--no-enable-prefix-cacheing", "--no-enable-prefix-caching", ""},
		"dotted":               {"--compilaton-config.level=3", "--compilation-config", ""},
		"underscored slip":     {"--max_num_seq", "", ""},
		"sglang underscores":   {"--mem_fraction_static", "", "--mem-fraction-static"},
		"capital":              {"--Max-num-seqs", "--max-num-seqs", ""},
		"two dashes for one":   {"--tp", "-tp", ""},
		"ambiguous beginning":  {"--data-parallel-siz", "--data-parallel-size", ""},
		"sglang slip":          {"--mem-fraction-statik", "", "--mem-fraction-static"},
		"owned slip":           {"--kv-transfer-confg", FlagKVTransferConfig, ""},

		"known":                 {"--max-num-seqs", "", ""},
		"known batched":         {"--max-num-batched-tokens=8192", "", ""},
		"known switch":          {"--enable-prefix-caching", "", ""},
		"known negated":         {"--no-enable-prefix-caching", "", ""},
		"known underscored":     {"--enable_prefix_caching", "", ""},
		"known dotted":          {"--compilation-config.mode", "", ""},
		"unique beginning":      {"--max-num-seq", "", ""},
		"unique, short":         {"--por", "", ""},
		"resembles nothing":     {"--brand-new-flag", "", ""},
		"differs by a number":   {"--fp6-gemm-backend", "", ""},
		"single dash":           {"-tpp", "", ""},
		"value":                 {"tensor-paralel-size", "", ""},
		"dashes":                {"--", "", ""},
		"dashes and a value":    {"--=tensor-paralel-size", "", ""},
		"two letters":           {"--xp", "", ""},
		"help":                  {"--help", "", ""},
		"hicache ratio":         {"--hicache-ratio", "", ""},
		"long, far from others": {"--" + strings.Repeat("a", 40000), "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for engine, want := range map[Engine]string{VLLM: test.vllm, SGLang: test.sglang, "other": ""} {
				if got, ok := Suggest(engine, test.token); got != want || ok != (want != "") {
					t.Errorf("%s: Suggest(%.40q) = %q, %v; want %q", engine, test.token, got, ok, want)
				}
			}
		})
	}
}

// TestSuggestEveryFlag misspells every known flag in every single-letter way
// and counts how often the flag itself comes back. A misspelling that is a legal
// spelling of some flag is not counted: the engine accepts it.
func TestSuggestEveryFlag(t *testing.T) {
	for engine, v := range vocabularies() {
		right, wrong, silent := 0, 0, 0
		for _, flag := range v.flags {
			if got, ok := Suggest(engine, flag); ok {
				t.Errorf("%s: known flag %s is taken for %s", engine, flag, got)
			}
			if edits(flag) == 0 {
				continue
			}
			for misspelt := range slips(flag) {
				if v.legal(misspelt) || misspelt == flag {
					continue
				}
				switch got, _ := Suggest(engine, misspelt); got {
				case flag:
					right++
				case "":
					silent++
				default:
					wrong++
					if testing.Verbose() {
						t.Logf("%s: %s, meant %s, taken for %s", engine, misspelt, flag, got)
					}
				}
			}
		}
		total := right + wrong + silent
		t.Logf("%s: %d flags, %d misspellings: %d right, %d wrong, %d silent", engine, len(v.flags), total, right, wrong, silent)
		if right*100 < total*95 {
			t.Errorf("%s: only %d of %d misspellings recognised", engine, right, total)
		}
	}
}

// slips yields flag with one letter behind the dashes dropped, doubled,
// replaced, or swapped with the next.
func slips(flag string) map[string]bool {
	all := map[string]bool{}
	for i := len("--"); i < len(flag); i++ {
		all[flag[:i]+flag[i+1:]] = true
		all[flag[:i+1]+flag[i:]] = true
		for _, letter := range []string{"a", "x"} {
			all[flag[:i]+letter+flag[i+1:]] = true
		}
		if i+1 < len(flag) {
			all[flag[:i]+flag[i+1:i+2]+flag[i:i+1]+flag[i+2:]] = true
		}
	}
	return all
}

func TestDistance(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want int
	}{
		"equal":          {"port", "port", 0},
		"empty":          {"", "abc", 3},
		"missing":        {"port", "prt", 1},
		"extra":          {"port", "poort", 1},
		"replaced":       {"port", "pott", 1},
		"swapped":        {"port", "prot", 1},
		"swapped at end": {"port", "potr", 1},
		"two":            {"port", "pottt", 2},
		"kitten":         {"kitten", "sitting", 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := distance(test.a, test.b, 9); got != test.want {
				t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
			}
			if distance(test.a, test.b, 9) != distance(test.b, test.a, 9) {
				t.Error("not symmetric")
			}
			for limit := range 4 {
				if got, want := distance(test.a, test.b, limit), min(test.want, limit+1); got != want {
					t.Errorf("distance(%q, %q) up to %d = %d, want %d", test.a, test.b, limit, got, want)
				}
			}
		})
	}
}

func BenchmarkSuggest(b *testing.B) {
	for b.Loop() {
		Suggest(VLLM, "--tensor-paralel-size=2")
	}
}

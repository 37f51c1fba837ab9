package argv

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadPort(t *testing.T) {
	none := Port{Index: -1}
	at := func(index int, number int32, text string) Port {
		return Port{Stated: true, Readable: true, Number: number, Index: index, Text: text}
	}
	bad := func(index int, text string) Port { return Port{Stated: true, Index: index, Text: text} }
	tests := map[string]struct {
		args         []string
		vllm, sglang Port
	}{
		"none":             {nil, none, none},
		"two tokens":       {[]string{"--port", "9000"}, at(0, 9000, "9000"), at(0, 9000, "9000")},
		"one token":        {[]string{"--port=9000"}, at(0, 9000, "9000"), at(0, 9000, "9000")},
		"last wins":        {[]string{"--port", "9000", "--port=9001"}, at(2, 9001, "9001"), at(2, 9001, "9001")},
		"last unreadable":  {[]string{"--port=9000", "--port=x"}, bad(1, "x"), bad(1, "x")},
		"no value":         {[]string{"--port"}, bad(0, ""), bad(0, "")},
		"flag for a value": {[]string{"--port", "--host"}, bad(0, ""), bad(0, "")},
		"empty value":      {[]string{"--port="}, bad(0, ""), bad(0, "")},
		"zero":             {[]string{"--port=0"}, bad(0, "0"), bad(0, "0")},
		"negative":         {[]string{"--port", "-1"}, bad(0, "-1"), bad(0, "-1")},
		"lowest":           {[]string{"--port=1"}, at(0, 1, "1"), at(0, 1, "1")},
		"highest":          {[]string{"--port=65535"}, at(0, 65535, "65535"), at(0, 65535, "65535")},
		"too high":         {[]string{"--port=65536"}, bad(0, "65536"), bad(0, "65536")},
		"far too high":     {[]string{"--port=99999999999999999999"}, bad(0, "99999999999999999999"), bad(0, "99999999999999999999")},
		"fraction":         {[]string{"--port=80.0"}, bad(0, "80.0"), bad(0, "80.0")},
		"python integer":   {[]string{"--port= +8_000 "}, at(0, 8000, " +8_000 "), at(0, 8000, " +8_000 ")},
		"cut to por":       {[]string{"--por=9000"}, at(0, 9000, "9000"), at(0, 9000, "9000")},
		"cut to po":        {[]string{"--po=9000"}, none, at(0, 9000, "9000")},
		"cut to p":         {[]string{"--p=9000"}, none, none},
		"longer":           {[]string{"--ports=9000"}, none, none},
		"dotted":           {[]string{"--port.x=9000"}, at(0, 9000, "9000"), none},
		"as a value":       {[]string{"--chat-template", "port", "9000"}, none, none},
		"in a shell":       {[]string{"sh", "-c", "vllm serve m --port 9000"}, none, none},
		"in a command":     {[]string{"vllm", "serve", "m", "--port", "9000"}, at(3, 9000, "9000"), at(3, 9000, "9000")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for engine, want := range map[Engine]Port{VLLM: test.vllm, SGLang: test.sglang, "other": none} {
				if got := ReadListen(engine, test.args).Port; got != want {
					t.Errorf("%s: %q: got %+v, want %+v", engine, test.args, got, want)
				}
			}
		})
	}
}

func TestPortString(t *testing.T) {
	for args, want := range map[string]string{"--port=0_9": "--port=9", "--port=x": "--port=x"} {
		if got := ReadListen(VLLM, []string{args}).Port.String(); got != want {
			t.Errorf("%s reads %s", args, got)
		}
	}
}

func TestReadListen(t *testing.T) {
	type answer struct{ host, tls, client bool }
	tests := map[string]struct {
		args         string
		vllm, sglang answer
	}{
		"nothing":               {"", answer{}, answer{}},
		"host":                  {"--host 127.0.0.1", answer{host: true}, answer{host: true}},
		"host joined":           {"--host=::", answer{host: true}, answer{host: true}},
		"host cut short":        {"--hos=::", answer{host: true}, answer{host: true}},
		"certificate":           {"--ssl-certfile c", answer{tls: true}, answer{tls: true}},
		"key":                   {"--ssl-keyfile=k", answer{tls: true}, answer{tls: true}},
		"underscored":           {"--ssl_keyfile=k", answer{tls: true}, answer{}},
		"cut short":             {"--ssl-cert=c", answer{tls: true}, answer{tls: true}},
		"authorities alone":     {"--ssl-ca-certs a", answer{}, answer{}},
		"ciphers alone":         {"--ssl-ciphers a", answer{}, answer{}},
		"key password alone":    {"--ssl-keyfile-password p", answer{}, answer{}},
		"client without tls":    {"--ssl-cert-reqs 2", answer{}, answer{}},
		"client":                {"--ssl-certfile c --ssl-cert-reqs 2", answer{tls: true, client: true}, answer{tls: true}},
		"client first":          {"--ssl-cert-reqs=2 --ssl-certfile c", answer{tls: true, client: true}, answer{tls: true}},
		"client cut short":      {"--ssl-cert-r=2 --ssl-certfile c", answer{tls: true, client: true}, answer{tls: true}},
		"client leading zero":   {"--ssl-certfile c --ssl-cert-reqs 02", answer{tls: true, client: true}, answer{tls: true}},
		"client none":           {"--ssl-certfile c --ssl-cert-reqs 0", answer{tls: true}, answer{tls: true}},
		"client optional":       {"--ssl-certfile c --ssl-cert-reqs 01", answer{tls: true}, answer{tls: true}},
		"client unreadable":     {"--ssl-certfile c --ssl-cert-reqs CERT_NONE", answer{tls: true, client: true}, answer{tls: true}},
		"client without value":  {"--ssl-certfile c --ssl-cert-reqs", answer{tls: true, client: true}, answer{tls: true}},
		"client negative":       {"--ssl-certfile c --ssl-cert-reqs -1", answer{tls: true, client: true}, answer{tls: true}},
		"client last wins":      {"--ssl-certfile c --ssl-cert-reqs 2 --ssl-cert-reqs=0", answer{tls: true}, answer{tls: true}},
		"client last wins, bad": {"--ssl-certfile c --ssl-cert-reqs 0 --ssl-cert-reqs=3", answer{tls: true, client: true}, answer{tls: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for engine, want := range map[Engine]answer{VLLM: test.vllm, SGLang: test.sglang, "other": {}} {
				l := ReadListen(engine, strings.Fields(test.args))
				if got := (answer{l.HostStated, l.TLS, l.ClientCertificate}); got != want {
					t.Errorf("%s: %s: got %+v, want %+v", engine, test.args, got, want)
				}
			}
		})
	}
}

func TestReadServed(t *testing.T) {
	tests := map[string]struct {
		args         []string
		vllm, sglang []string
		index        int
	}{
		"absent":         {[]string{"--seed", "1"}, nil, nil, -1},
		"one":            {[]string{"--served-model-name", "m"}, []string{"m"}, []string{"m"}, 0},
		"joined":         {[]string{"--served-model-name=m"}, []string{"m"}, []string{"m"}, 0},
		"joined, extra":  {[]string{"--served-model-name=m", "n"}, []string{"m"}, []string{"m"}, 0},
		"joined, empty":  {[]string{"--served-model-name="}, []string{""}, []string{""}, 0},
		"several":        {[]string{"--seed=1", "--served-model-name", "m", "n", "--port", "1"}, []string{"m", "n"}, []string{"m"}, 1},
		"no value":       {[]string{"--served-model-name", "--port", "1"}, nil, nil, 0},
		"ends":           {[]string{"--served-model-name"}, nil, nil, 0},
		"up to a dash":   {[]string{"--served-model-name", "m", "-tp", "n"}, []string{"m"}, []string{"m"}, 0},
		"negative":       {[]string{"--served-model-name", "-1"}, []string{"-1"}, []string{"-1"}, 0},
		"cut short":      {[]string{"--served", "m"}, []string{"m"}, []string{"m"}, 0},
		"last wins":      {[]string{"--served-model-name", "m", "--served-model-name", "n"}, []string{"n"}, []string{"n"}, 2},
		"bare dashes":    {[]string{"--served-model-name", "m", "--", "n"}, []string{"m"}, []string{"m"}, 0},
		"value by blank": {[]string{"--served-model-name", ""}, []string{""}, []string{""}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for engine, want := range map[Engine][]string{VLLM: test.vllm, SGLang: test.sglang} {
				got := ReadServed(engine, test.args)
				if !slices.Equal(got.Names, want) || got.Index != test.index || got.Stated() != (test.index >= 0) {
					t.Errorf("%s: %q: got %+v, want %q at %d", engine, test.args, got, want, test.index)
				}
				if got.Only("m") != slices.Equal(want, []string{"m"}) {
					t.Errorf("%s: %q: Only(m) = %v", engine, test.args, got.Only("m"))
				}
			}
			if ReadServed("other", test.args).Stated() {
				t.Error("an unknown engine has no flags")
			}
		})
	}
	if got := ReadServed(VLLM, []string{"--served_model_name", "m"}); !got.Only("m") {
		t.Errorf("underscores: %+v", got)
	}
	if got := ReadServed(SGLang, []string{"--served_model_name", "m"}); got.Stated() {
		t.Errorf("SGLang rewrites nothing: %+v", got)
	}
}

func TestInteger(t *testing.T) {
	tests := map[string]struct {
		text string
		n    int64
		err  error
	}{
		"plain":         {"12", 12, nil},
		"blanks":        {" \t12\n", 12, nil},
		"plus":          {"+3", 3, nil},
		"minus":         {"-3", -3, nil},
		"zeros":         {"007", 7, nil},
		"grouped":       {"1_0", 10, nil},
		"grouped twice": {"1_0_0", 100, nil},
		"led by _":      {"_3", 0, errNotInteger},
		"ended by _":    {"3_", 0, errNotInteger},
		"double _":      {"1__0", 0, errNotInteger},
		"sign and _":    {"+_1", 0, errNotInteger},
		"two signs":     {"--1", 0, errNotInteger},
		"sign alone":    {"-", 0, errNotInteger},
		"inner blank":   {"1 0", 0, errNotInteger},
		"blank at sign": {"- 1", 0, errNotInteger},
		"empty":         {"", 0, errNotInteger},
		"hex":           {"0x10", 0, errNotInteger},
		"fraction":      {"1.0", 0, errNotInteger},
		"largest":       {"9223372036854775807", 9223372036854775807, nil},
		"too large":     {"9223372036854775808", 0, errRange},
		"smallest":      {"-9223372036854775808", -9223372036854775808, nil},
		"too small":     {"-9223372036854775809", 0, errRange},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if n, err := integer(test.text); n != test.n || !errors.Is(err, test.err) {
				t.Errorf("integer(%q) = %d, %v", test.text, n, err)
			}
		})
	}
}

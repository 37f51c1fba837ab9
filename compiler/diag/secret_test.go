// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		// Environment variables.
		{`        value: hunter2`, `        value: ***`},
		{`        value: "hunter2 and more" # why`, `        value: *** # why`},
		{`        value: 'it''s'`, `        value: ***`},
		{`        value: "a\"b"`, `        value: ***`},
		{`    - {name: HF_TOKEN, value: hunter2}`, `    - {name: HF_TOKEN, value: ***}`},
		{`    - {value: hunter2, name: HF_TOKEN}`, `    - {value: ***, name: HF_TOKEN}`},
		{`    - {name: HF_TOKEN, value: "hunter2, 3"}`, `    - {name: HF_TOKEN, value: ***}`},
		{`{"name":"HF_TOKEN","value":"hunter2"}`, `{"name":"HF_TOKEN","value":***}`},
		{`{"name": "A", "value": "hunter2"}, {"name": "B", "value": "x"}`, `{"name": "A", "value": ***}, {"name": "B", "value": ***}`},
		{`        value: a b # c`, `        value: *** # c`},
		{`      - value: hunter2`, `      - value: ***`},
		{`  env: [{name: HF_TOKEN, valeu: hunter2}]`, `  env: [{name: HF_TOKEN, valeu: ***}]`},
		{`  - {name: r, env: [{name: A, valeu: hunter2}], replicas: 0}`, `  - {name: r, env: [{name: A, valeu: ***}], replicas: 0}`},
		{`        value: {x: hunter2}`, `        value: ***`},
		{`        value: |`, `        value: |`},
		{`        value:`, `        value:`},

		// Names of secrets.
		{`  apiKey: hunter2`, `  apiKey: ***`},
		{`  HF_TOKEN: hunter2`, `  HF_TOKEN: ***`},
		{`  "db-password": hunter2`, `  "db-password": ***`},
		{`  secret: {name: certs}`, `  secret: {name: certs}`},
		{`  imagePullSecrets: [{name: certs}]`, `  imagePullSecrets: [{name: certs}]`},
		{`  disaggregationThresholdTokens: 512`, `  disaggregationThresholdTokens: 512`},
		{`  key: tls.crt`, `  key: tls.crt`},
		{`  name: HF_TOKEN`, `  name: HF_TOKEN`},

		// Arguments.
		{`        - --api-key=hunter2`, `        - --api-key=***`},
		{`        - "--api-key=hunter2 3"`, `        - "--api-key=***"`},
		{`        - '--token=hunter2'`, `        - '--token=***'`},
		{`        - --api_key hunter2`, `        - --api_key ***`},
		{`    extraArgs: [--api-key=hunter2, --seed=1]`, `    extraArgs: [--api-key=***, --seed=1]`},
		{`    extraArgs: ["--api-key", "hunter2", "--seed=1"]`, `    extraArgs: ["--api-key", "***", "--seed=1"]`},
		{`    extraArgs: ["--api-key","hunter2"]`, `    extraArgs: ["--api-key","***"]`},
		{`    extraArgs: [--api-key, hunter2, --seed=1]`, `    extraArgs: [--api-key, ***, --seed=1]`},
		{`    extraArgs: [--api-key, --seed=1]`, `    extraArgs: [--api-key, --seed=1]`},
		{`    command: [sh, -c, "HF_TOKEN=hunter2 vllm serve"]`, `    command: [sh, -c, "HF_TOKEN=***"]`},
		{`        - --max-num-batched-tokens=8192`, `        - --max-num-batched-tokens=8192`},
		{`        - --tokenizer=acme/chat`, `        - --tokenizer=acme/chat`},
		{`        - --seed=1`, `        - --seed=1`},
		// A slip of the pen makes no value less secret.
		{`        - --api-kye=hunter2`, `        - --api-kye=***`},
		{`    extraArgs: [--api_kye, hunter2, --seed=1]`, `    extraArgs: [--api_kye, ***, --seed=1]`},
		{`        - --apikye hunter2`, `        - --apikye ***`},
		{`        - --hf-tokn=hunter2`, `        - --hf-tokn=***`},
		{`    command: [sh, -c, "DB_PASWORD=hunter2 vllm serve"]`, `    command: [sh, -c, "DB_PASWORD=***"]`},
		{`        - --kv-offloading-size=8`, `        - --kv-offloading-size=8`},
		{`        - --keep-mm-feature-on-device`, `        - --keep-mm-feature-on-device`},
		{`  kye: tls.crt`, `  kye: tls.crt`},

		// JSON documents as arguments.
		{`        - '{"api_key":"hunter2","seed":1}'`, `        - '{"api_key":***,"seed":1}'`},
		{`        - '{"api_key":12345,"seed":1}'`, `        - '{"api_key":***,"seed":1}'`},
		{`        - "{\"api_kye\": \"hunter2\", \"seed\": 1}"`, `        - "{\"api_kye\": ***, \"seed\": 1}"`},
		{`        - "{\"api_key\": \"hun\\\"ter2\"}"`, `        - "{\"api_key\": ***}"`},
		{`        - '--x={''token'': ''hunter2''}'`, `        - '--x={''token'': ***}'`},
		{`        - --x={"keys":["hunter2","hunter3"],"seed":1}`, `        - --x={"keys":***,"seed":1}`},
		{`        - '{"Authorization":"Bearer hunter2"}'`, `        - '{"Authorization":***}'`},
		{`        - '{"secret":{"name":"certs"}}'`, `        - '{"secret":{"name":"certs"}}'`},
		{`        - '{"max_tokens":512}'`, `        - '{"max_tokens":512}'`},
		{`{"extraArgs":["--x","{\"api_key\":\"hunter2\"}"],"replicas":0}`, `{"extraArgs":["--x","{\"api_key\":***}"],"replicas":0}`},
		{`  url: https://me:hunter2@example.com/x`, `  url: https://***@example.com/x`},
	} {
		got, _ := mask(test.line, nil)
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.line, got, test.want)
		}
		again, _ := mask(got, nil)
		if again != got {
			t.Errorf("%s: masked again it is %s", got, again)
		}
	}
}

func TestMaskBelow(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"- --api-key\n- hunter2", "- ***"},
		{"  - \"--api-key\"\n  - \"hunter2\"", "  - ***"},
		{"  - --api-key\n  - --seed=1", "  - --seed=1"},
		{"  - --api-kye\n  - hunter2", "  - ***"},
		{"  - --seed\n  - 12", "  - 12"},
		{"  - name: A\n    value: |\n      hunter2", "      ***"},
		{"  - name: A\n    value: |\n      hunter\n\n        2", "        ***"},
		{"  - name: A\n    value: >-\n      a: hunter2", "      ***"},
		{"  - name: A\n    value:\n      hunter2", "      ***"},
		{"  - name: A\n    value:\n      x: hunter2", "      ***"},
		{"  env:\n    - name: A\n      valeu: hunter2", "      valeu: ***"},
		{"  env:\n  - name: A\n    valeu: hunter2", "    valeu: ***"},
		{"  env:\n  - name: A\n    value: x\n  - valeu: hunter2", "  - valeu: ***"},
		{"  env:\n  - name: A\n    value: x\n  image: y", "  image: y"},
		{"  env:\n  - name: A\n  extraArgs:\n  - --seed=1", "  - --seed=1"},
		{"  secret:\n    name: certs", "    name: certs"},
		{"  tokens:\n    - hunter2", "    - ***"},
		{"  - name: A\n    value: x\n  image: y", "  image: y"},
	} {
		lines := strings.Split(test.text, "\n")
		last := len(lines) - 1
		got, _ := mask(lines[last], func(n int) (string, bool) {
			if n > last {
				return "", false
			}
			return lines[last-n], true
		})
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestMaskMovesColumns(t *testing.T) {
	const line = `- {value: hunter2, name: X}`
	got, moved := mask(line, nil)
	for what, want := range map[string]string{"{value": "{value", "hunter2": "***", "unter2": "**", "name": "name", "X}": "X}"} {
		i := moved(strings.Index(line, what))
		if what == "unter2" {
			want = "***" // within it points at its beginning
		}
		if !strings.HasPrefix(got[i:], want) {
			t.Errorf("%s has moved to %q of %q", what, got[i:], got)
		}
	}
	if moved(len(line)) != len(got) {
		t.Errorf("the end has moved to %d of %q", moved(len(line)), got)
	}
}

// TestTextMasks: what is printed for people has no secret, and the caret stays
// below its column.
func TestTextMasks(t *testing.T) {
	lines := []string{`env: [{name: A, value: hunter2}], x: 1`, `- --api-key`, `- hunter2`}
	text := Text{Line: func(p Position) (string, bool) {
		if p.Line < 1 || p.Line > len(lines) {
			return "", false
		}
		return lines[p.Line-1], true
	}}
	var b strings.Builder
	if err := text.Print(&b, List{
		{Rule: "r", Severity: Error, Message: "m", Position: Position{File: "f", Line: 1, Column: 35}},
		{Rule: "r", Severity: Error, Message: "m", Position: Position{File: "f", Line: 3, Column: 3}},
	}); err != nil {
		t.Fatal(err)
	}
	const want = `f:1:35: error: m [r]
    1 | env: [{name: A, value: ***}], x: 1
      |                               ^
f:3:3: error: m [r]
    3 | - ***
      |   ^
2 errors, 0 warnings
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{`- {value: "a, b", name: X}`, `- '--api-key=x'`, `- "{\"api_key\":\"x\"}"`, `{'token':`, `"token":"x"`, `value: é`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, line string, i int) {
		line, _ = nearby(line, i)
		got, moved := mask(line, func(int) (string, bool) { return line, true })
		if i < 0 || i > len(line) {
			return
		}
		if m := moved(i); m < 0 || m > len(got) {
			t.Errorf("%d of %q has moved to %d of %q", i, line, m, got)
		}
	})
}

// Package argv knows the command lines of the engines and routers mdc renders
// for: which token is which flag, where an engine listens, how wide it is, and
// which flags a user leaves to mdc.
//
// The facts are tables, taken from the argument parsers of vLLM (vllm serve)
// and SGLang (sglang.launch_server), both Python argparse with extensions. The
// functions over them are pure. Nothing here judges; callers turn what is read
// into findings.
//
// A command line is the list of tokens an engine receives after its program
// name, or a whole replaced command. What an image entrypoint, a file given
// with --config or a script inside "sh -c" adds is out of sight.
package argv

import (
	"errors"
	"strconv"
	"strings"
)

// Engine is an engine's name as the API spells it. The tables of any other name
// are empty: nothing is owned, read or suggested.
type Engine string

// The engines with tables.
const (
	VLLM   Engine = "vLLM"
	SGLang Engine = "SGLang"
)

// Flags that other packages render or name in a message. Spelled once, here.
const (
	FlagHost            = "--host"
	FlagPort            = "--port"
	FlagServedModelName = "--served-model-name"
	FlagKVCacheDtype    = "--kv-cache-dtype"
	FlagRevision        = "--revision"

	// vLLM: JSON documents of the transfer connector and the event publisher.
	FlagKVTransferConfig = "--kv-transfer-config"
	FlagKVEventsConfig   = "--kv-events-config"

	// SGLang: the store behind the hierarchical cache and the split of a pair.
	FlagModelPath                            = "--model-path"
	FlagEnableMetrics                        = "--enable-metrics"
	FlagEnableHierarchicalCache              = "--enable-hierarchical-cache"
	FlagHicacheStorageBackend                = "--hicache-storage-backend"
	FlagHicacheStorageBackendExtraConfig     = "--hicache-storage-backend-extra-config"
	FlagDisaggregationMode                   = "--disaggregation-mode"
	FlagDisaggregationTransferBackend        = "--disaggregation-transfer-backend"
	FlagDisaggregationBootstrapPort          = "--disaggregation-bootstrap-port"
	FlagDisaggregationDecodeRetractionBackup = "--disaggregation-decode-retraction-backup"
)

// longName is the flag a token spells, as the engine's parser compares it:
// the text before "=", and on vLLM with "_" read as "-" and a dotted member
// (--kv-transfer-config.kv_role) reduced to the flag in front of the dot. It
// is empty for a token that is no long flag: a value, a single-dash form, "--".
func longName(engine Engine, token string) string {
	name, _, _ := strings.Cut(token, "=")
	if !strings.HasPrefix(name, "--") {
		return ""
	}
	if engine == VLLM {
		name, _, _ = strings.Cut(name, ".")
		name = strings.ReplaceAll(name, "_", "-")
	}
	if name == "--" {
		return ""
	}
	return name
}

// isValue reports whether argparse hands token to the flag in front of it
// rather than reading it as a flag: it does not begin with "-", or it is a
// negative number.
func isValue(token string) bool {
	return !strings.HasPrefix(token, "-") || isNegativeNumber(token)
}

// isNegativeNumber is argparse's own pattern: -\d+ or -\d*\.\d+.
func isNegativeNumber(token string) bool {
	digits, ok := strings.CutPrefix(token, "-")
	if !ok {
		return false
	}
	whole, fraction, dotted := strings.Cut(digits, ".")
	if dotted {
		return (whole == "" || isDigits(whole)) && isDigits(fraction)
	}
	return isDigits(whole)
}

func isDigits(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// valueAt is the value of the flag at args[i], which is the text after its
// "=", or else the next token when argparse would hand that over.
func valueAt(args []string, i int) (value string, ok bool) {
	if _, value, glued := strings.Cut(args[i], "="); glued {
		return value, true
	}
	if i+1 < len(args) && isValue(args[i+1]) {
		return args[i+1], true
	}
	return "", false
}

var (
	errNotInteger = errors.New("not an integer")
	errRange      = errors.New("outside the 64-bit range")
)

// integer reads text the way Python's int() does in base 10: blanks around it
// are ignored, one sign is allowed, so is a single "_" between two digits, and
// leading zeros mean nothing. Digits outside ASCII are not read.
func integer(text string) (int64, error) {
	text = strings.TrimSpace(text)
	digits := text
	if digits != "" && (digits[0] == '+' || digits[0] == '-') {
		digits = digits[1:]
	}
	for group := range strings.SplitSeq(digits, "_") {
		if !isDigits(group) {
			return 0, errNotInteger
		}
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		return 0, errRange
	}
	return n, nil
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// Keys of the ConfigMap. The two documents are files in the containers.
const (
	keyPicker      = "epp.yaml"
	keyEnvoy       = "envoy.yaml"
	keySelector    = "endpoint-selector"
	keyTargetPorts = "endpoint-target-ports"
	// keyExtraArgs is read by nothing: it puts the user's arguments into the
	// hash.
	keyExtraArgs = "extra-args.json"
)

// data is the content of the ConfigMap; nil for a router without one.
func (in Input) data() map[string]string {
	f := programs[in.spec().Name].data
	if f == nil {
		return nil
	}
	return f(in)
}

func pickerData(in Input) map[string]string {
	args := in.spec().ExtraArgs
	if len(args) == 0 {
		args = nil // an empty list is an absent one
	}
	return map[string]string{
		keyPicker:      pickerDocument(in),
		keyEnvoy:       envoyDocument(in.spec().RequestTimeoutSeconds),
		keySelector:    in.leaderSelector(),
		keyTargetPorts: strconv.Itoa(int(in.port())),
		keyExtraArgs:   compact(args),
	}
}

// ConfigHash is the hash of the content of a ConfigMap: the SHA-256, in hex, of
// its compact JSON with sorted keys and HTML escapes.
func ConfigHash(data map[string]string) string {
	sum := sha256.Sum256([]byte(compact(data)))
	return hex.EncodeToString(sum[:])
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings
	}
	return string(b)
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"slices"
)

// pickerArgs leave TLS and the authentication of callers to a gateway in front:
// the only client of the picker's gRPC port is the Envoy beside it.
func pickerArgs(Input) []string {
	return []string{
		"--endpoint-selector=$(ENDPOINT_SELECTOR)",
		"--endpoint-target-ports=$(ENDPOINT_TARGET_PORTS)",
		"--config-file=" + configDir + "/" + keyPicker,
		"--secure-serving=false",
		fmt.Sprintf("--grpc-health-port=%d", pickerHealthPort),
		"--metrics-endpoint-auth=false",
	}
}

// discovery is what differs between the command lines of the routers that find
// the Pods of the roles themselves.
type discovery struct {
	// own are flags that only this router has.
	own []string
	// split makes the router send a request to both halves of a pair.
	split string
}

func (d discovery) args(in Input) []string {
	out := []string{
		// Both hosts are loopback by default.
		"--host=0.0.0.0",
		fmt.Sprintf("--port=%d", Port),
		"--prometheus-host=0.0.0.0",
		fmt.Sprintf("--prometheus-port=%d", metricsPort),
	}
	if t := in.spec().RequestTimeoutSeconds; t != nil {
		out = append(out, fmt.Sprintf("--request-timeout-secs=%d", *t))
	}
	out = append(out, d.own...)
	out = append(out,
		"--service-discovery",
		// Without a namespace it would watch all, which its permissions forbid.
		"--service-discovery-namespace="+in.Deployment.Namespace,
		fmt.Sprintf("--service-discovery-port=%d", in.port()),
	)
	// A selector takes one label each argument; labels joined by commas would be
	// read as one.
	if prefill, decode, ok := in.pair(); ok {
		return slices.Concat(out,
			[]string{d.split, "--prefill-selector"}, terms(in.roleLeaders(prefill)),
			[]string{"--decode-selector"}, terms(in.roleLeaders(decode)))
	}
	return slices.Concat(out, []string{"--selector"}, terms(in.leaders()))
}

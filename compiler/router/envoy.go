// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	_ "embed"
	"strings"
	"text/template"

	"k8s.io/utils/ptr"
)

// defaultTimeout lets a reply take a day: how long a model may generate is for
// the client to decide.
const defaultTimeout int32 = 24 * 60 * 60

//go:embed envoy.yaml.tmpl
var envoyText string

var envoyTemplate = template.Must(template.New(keyEnvoy).Parse(envoyText))

// envoyDocument is the bootstrap of the Envoy that carries the requests. Only
// the time a reply may take varies.
func envoyDocument(timeoutSeconds *int32) string {
	var b strings.Builder
	err := envoyTemplate.Execute(&b, struct{ TimeoutSeconds int32 }{ptr.Deref(timeoutSeconds, defaultTimeout)})
	if err != nil {
		panic(err) // one number in a fixed text
	}
	return b.String()
}

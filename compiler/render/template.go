// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/replica"
)

// Templates returns the PodTemplates of the role: the one its Pods are made
// from, and for a managed role with a cache the one without a store connector
// that stands in while the cache cannot be resolved.
func (r *Role) Templates() ([]*corev1.PodTemplate, diag.List) {
	md, role := r.Deployment.Name, r.spec().Name
	store, findings := r.store()
	t, more := r.template(v1.TemplateName(md, role), store)
	if findings = append(findings, more...); findings.HasErrors() {
		return nil, findings
	}
	out := []*corev1.PodTemplate{t}
	if store != nil {
		// What it warns of has been said.
		uncached, more := r.template(v1.UncachedTemplateName(md, role), nil)
		if more.HasErrors() {
			return nil, append(findings, more...)
		}
		out = append(out, uncached)
	}
	return out, findings
}

// store is the cache as this role's engine reaches it; nil for a role that mdc
// does not configure.
func (r *Role) store() (*engine.Store, diag.List) {
	c := r.Cache
	if c == nil || !r.managed() {
		return nil, nil
	}
	protocol, ok := r.dialect().MatchTransport(c.Offers)
	if !ok {
		f := diag.Finding{
			Rule: "transport-unsupported", Severity: diag.Error, Field: "spec.kvCache.poolRef.name",
			Message: fmt.Sprintf("role %q runs %s, whose cache client speaks %s only, and KVCacheBackend %q of pool %q offers %s",
				r.spec().Name, r.dialect(), r.dialect().RequiredTransport(), c.Backend, c.Pool, strings.Join(c.Offers, ", ")),
			Remedy: "set the transport protocol of the backend to CANN, or use another pool",
		}
		if r.dialect().RequiredTransport() == "" {
			f.Message = fmt.Sprintf("role %q runs %s, and KVCacheBackend %q of pool %q offers no transport that mdc knows", r.spec().Name, r.dialect(), c.Backend, c.Pool)
			f.Remedy = "correct the transport protocol of the backend, or use another pool"
		}
		return nil, diag.List{f}
	}
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = replica.LateClientEndpoint.Token()
	}
	return &engine.Store{Endpoint: endpoint, Protocol: protocol, Tenant: c.Tenant, Prefix: c.Prefix, Dtype: c.Dtype}, nil
}

func (r *Role) template(name string, store *engine.Store) (*corev1.PodTemplate, diag.List) {
	md, role := r.Deployment, r.spec()
	image, imageLate, findings := r.image()
	resources, more := r.resources()
	findings = append(findings, more...)
	ports, more := r.ports()
	findings = append(findings, more...)
	leg, more := r.leg(store)
	findings = append(findings, more...)
	findings = append(findings, r.overDriver(leg)...)
	if findings.HasErrors() {
		return nil, findings
	}

	// What the connector owns comes before what delivers the weights.
	var c engine.Connector
	if r.managed() {
		c = engine.NewConnector(engine.Request{
			Dialect: r.dialect(), Kind: role.Kind, Store: store, Leg: leg, Publishes: r.Publishes(),
		})
	}
	open, ok := ports.with(c.Ports)
	if !ok {
		return nil, diag.List{r.refuse("engine-port", "ports",
			fmt.Sprintf("role %q declares a port that its engine needs for the transfer of blocks or their events", role.Name),
			"declare another port")}
	}
	ports.all = open
	c.Add(r.weights())

	annotations := map[string]string{
		v1.AnnotationDeployment: md.Name,
		v1.AnnotationSourceHash: r.sourceHash(leg),
		v1.AnnotationSize:       strconv.Itoa(int(r.size())),
		v1.AnnotationRoleKind:   string(role.Kind),
	}
	if r.CompilerVersion != "" {
		annotations[v1.AnnotationCompilerVersion] = r.CompilerVersion
	}
	late, err := replica.FormatLate(r.late(imageLate, store))
	if err != nil {
		panic(err) // plain strings
	}
	if late != "" {
		annotations[v1.AnnotationLateBound] = late
	}
	return &corev1.PodTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   md.Namespace,
			Labels:      generatedLabels(md.Name, role.Name),
			Annotations: annotations,
		},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: r.podLabels(), Annotations: r.podAnnotations(c, ports)},
			Spec:       r.podSpec(image, resources, c, ports, leg),
		},
	}, findings
}

// sourceHash is that of the role. On Ascend both halves of a pair carry both
// widths, so each depends on the command line of the other.
func (r *Role) sourceHash(leg *engine.Leg) string {
	peer := ""
	if leg != nil && r.dialect() == engine.VLLMAscend {
		peer = r.peer().Name
	}
	hash, err := replica.SourceHash(r.Deployment, r.spec().Name, peer)
	if err != nil {
		panic(err) // both roles are the deployment's
	}
	return hash
}

// generatedLabels are the labels of an object generated for a role. No selector
// looks for managed-by, and no Pod carries it.
func generatedLabels(deployment, role string) map[string]string {
	l := identity(deployment, role)
	l[v1.LabelManagedBy] = v1.ManagedBy
	return l
}

// late lists what the compile does not know of this template.
func (r *Role) late(image bool, store *engine.Store) []replica.Late {
	var out []replica.Late
	if r.Type.Status.Entrance == "" {
		out = append(out, replica.NewLate(replica.LateQueueName, r.Type.Name, replica.LabelField(v1.LabelQueueName)))
	}
	if image {
		out = append(out, replica.NewLate(replica.LateRuntimeVersion, r.Type.Name, replica.ImageField(replica.MainContainer)))
	}
	if store != nil && r.Cache.Endpoint == "" {
		field := replica.AnnotationField(v1.AnnotationClientConfig)
		if r.dialect() == engine.SGLang {
			field = replica.EnvField(replica.MainContainer, engine.EnvMaster)
		}
		out = append(out, replica.NewLate(replica.LateClientEndpoint, r.Cache.Pool, field))
	}
	return out
}

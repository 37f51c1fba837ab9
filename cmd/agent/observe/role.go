// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/report"
)

// Role is one declared role and what its Pods are made of.
type Role struct {
	Spec *v1.Role
	// Late are the values that only the cluster knows, as far as it does.
	Late map[replica.LateName]string
	// Versions are the driver runtimes of the role's hardware, lowest first; they
	// are read only for a role whose image mdc chooses.
	Versions []string
	// Queues are the LocalQueues that lead to the role's quota, when there is
	// more than one, the one in use first.
	Queues []string
	// Stale: the template was compiled from another spec.
	Stale bool
	// Fault is what is wrong with the template; empty: nothing.
	Fault report.Fault
	// Pins are values that were compiled in and that the cluster has otherwise.
	Pins []Pin
	// TenantNotSeparated: it names a tenant to a store that keeps none apart.
	TenantNotSeparated bool

	view *View
	// full is the template; uncached the one without a store, where there is
	// such a variant.
	full, uncached *corev1.PodTemplate
	stamps         map[seatVariant]stamp
}

type seatVariant struct {
	converge.Seat
	uncached bool
}

type stamp struct {
	pod *corev1.Pod
	err error
}

func (r *Role) managed() bool { return len(r.Spec.Command) == 0 }

func size(r *v1.Role) int32 { return max(r.Size, 1) }

// declared is what the spec alone says of a role.
func declared(md *v1.ModelDeployment, role *v1.Role) converge.Role {
	return converge.Role{
		Name:     role.Name,
		Replicas: role.Replicas,
		Size:     size(role),
		Group: func(n int32) string {
			return replica.GroupName(md.Namespace, md.Name, role.Name, n)
		},
	}
}

// hasVariant reports whether the role is compiled for a store and without one.
func (r *Role) hasVariant() bool { return r.managed() && r.view.Deployment.Spec.KVCache != nil }

// TemplateNames are the names of the PodTemplates that the role needs.
func (r *Role) TemplateNames() []string {
	md := r.view.Deployment.Name
	names := []string{v1.TemplateName(md, r.Spec.Name)}
	if r.hasVariant() {
		names = append(names, v1.UncachedTemplateName(md, r.Spec.Name))
	}
	return names
}

// templates returns the PodTemplates compiled for a deployment by name. They
// are known by their annotation, since hosts rewrite labels.
func (r *Reader) templates(ctx context.Context, md *v1.ModelDeployment) (map[string]*corev1.PodTemplate, error) {
	var list corev1.PodTemplateList
	if err := r.Cache.List(ctx, &list, client.InNamespace(md.Namespace), client.MatchingFields{IndexDeployment: md.Name}); err != nil {
		return nil, err
	}
	out := map[string]*corev1.PodTemplate{}
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out, nil
}

// judge finds the role's templates and compares them with the live spec.
func (r *Role) judge(templates map[string]*corev1.PodTemplate) {
	md := r.view.Deployment
	for i, name := range r.TemplateNames() {
		t := templates[name]
		if t == nil {
			r.Fault = report.Fault{Reason: report.ReasonNotCompiled, Message: fmt.Sprintf("PodTemplate %q is missing; compile the deployment with \"mdc build\" and apply what it prints", name)}
			return
		}
		if i == 0 {
			r.full = t
		} else {
			r.uncached = t
		}
		r.Stale = r.Stale || !r.compiledFrom(md, t)
	}
	for _, t := range []*corev1.PodTemplate{r.full, r.uncached} {
		if t == nil {
			continue
		}
		if message := r.misfit(t); message != "" {
			r.Fault = report.Fault{Reason: report.ReasonTemplateInvalid, Message: message}
			return
		}
		if message := r.tenantFault(t); message != "" {
			r.Fault = report.Fault{Reason: report.ReasonTenantMismatch, Message: fmt.Sprintf("PodTemplate %q: %s; nothing is created from it", t.Name, message)}
			return
		}
	}
	if domain := r.unnamedTenant(); domain != "" {
		r.Fault = report.Fault{Reason: report.ReasonTenantMismatch, Message: fmt.Sprintf("PodTemplate %q names no tenant, and the Binding grants tenant %q in a store that keeps tenants apart; nothing is created from it. Compile again with the facts of this cluster", r.full.Name, domain)}
		return
	}
	r.TenantNotSeparated = r.hasVariant() && !r.view.Chain.separates() && namesTenant(&r.full.Template)
	if r.Stale {
		r.Fault = report.Fault{Reason: report.ReasonStale, Message: fmt.Sprintf("PodTemplate %q was compiled from another spec than the live one; compile again with \"mdc build\" and apply what it prints", r.full.Name)}
	}
}

// compiledFrom reports whether a template was compiled from the live spec. The
// hash tells whether the template depends on the other half of a pair as well.
func (r *Role) compiledFrom(md *v1.ModelDeployment, t *corev1.PodTemplate) bool {
	want := t.Annotations[v1.AnnotationSourceHash]
	peers := []string{""}
	if r.Spec.Kind != v1.RoleServer {
		for _, other := range md.Spec.Roles {
			if other.Kind != v1.RoleServer && other.Kind != r.Spec.Kind {
				peers = append(peers, other.Name)
			}
		}
	}
	return slices.ContainsFunc(peers, func(peer string) bool {
		hash, err := replica.SourceHash(md, r.Spec.Name, peer)
		return err == nil && hash == want
	})
}

// misfit says how the Pods of a template would not be recognised as those of
// the role. Each would be made once and then stand in its own way.
func (r *Role) misfit(t *corev1.PodTemplate) string {
	for _, want := range [][3]string{
		{"label", v1.LabelName, v1.NameModelDeployment},
		{"label", v1.LabelInstance, r.view.Deployment.Name},
		{"label", v1.LabelComponent, r.Spec.Name},
		{"annotation", podconstants.RoleHashAnnotation, r.Spec.Name},
	} {
		from := t.Template.Labels
		if want[0] == "annotation" {
			from = t.Template.Annotations
		}
		if got := from[want[1]]; got != want[2] {
			return fmt.Sprintf("PodTemplate %q: %s %s of its Pods is %q and must be %q; compile last, after whatever rewrites labels", t.Name, want[0], want[1], got, want[2])
		}
	}
	if want := strconv.Itoa(int(size(r.Spec))); !r.Stale && t.Annotations[v1.AnnotationSize] != want {
		return fmt.Sprintf("PodTemplate %q: annotation %s is %q and must be %q, the size of the role; compile last, after whatever rewrites annotations", t.Name, v1.AnnotationSize, t.Annotations[v1.AnnotationSize], want)
	}
	late, err := replica.ParseLate(t)
	queued := t.Template.Labels[v1.LabelQueueName] != "" ||
		err != nil || slices.ContainsFunc(late, func(l replica.Late) bool { return l.Name == replica.LateQueueName })
	if !queued {
		return fmt.Sprintf("PodTemplate %q: its Pods have no label %s and would run outside any quota; compile last, after whatever rewrites labels", t.Name, v1.LabelQueueName)
	}
	return ""
}

// tenantFault judges a template that could be used.
func (r *Role) tenantFault(t *corev1.PodTemplate) string {
	domain := r.view.Chain.Domain()
	switch {
	case r.view.Deployment.Spec.KVCache == nil:
		if !r.managed() {
			return "" // the store that a user's own command line reaches is his affair
		}
		return tenantFault(&t.Template, "", false)
	case domain == "" && t == r.full && r.hasVariant():
		return "" // without a Binding the other variant is used
	}
	return tenantFault(&t.Template, domain, true)
}

// unnamedTenant is the tenant that the Binding grants and the template does not
// name, so that the engines would use the tenant of nobody. It is empty when the
// cluster does not tell that there are any.
func (r *Role) unnamedTenant() string {
	c := r.view.Chain
	if !r.hasVariant() || !c.resolved() || c.Backend == nil || !c.separates() || namesTenant(&r.full.Template) {
		return ""
	}
	return c.Domain()
}

// judgeUse notes why no Pod can be made now.
func (r *Role) judgeUse() {
	if r.Fault.Reason != "" && r.Fault.Reason != report.ReasonStale {
		return
	}
	t := r.template(!r.view.Chain.resolved())
	missing, err := r.missing(t)
	switch {
	case err != nil:
		r.Fault = report.Fault{Reason: report.ReasonUnknownLateValue, Message: err.Error()}
	case len(missing) > 0:
		r.Fault = report.Fault{Reason: report.ReasonMissingLateValue, Message: fmt.Sprintf("PodTemplate %q cannot be used yet: %s", t.Name, strings.Join(missing, "; "))}
	default:
		// A template of which no Pod can be made would make every replica look
		// outdated.
		if _, err := r.stampAnew(converge.Seat{}, t == r.uncached); err != nil {
			r.Fault = report.Fault{Reason: report.ReasonTemplateInvalid, Message: fmt.Sprintf("PodTemplate %q cannot be used: %v; compile again with the \"mdc build\" of this agent's version and apply what it prints", t.Name, err)}
		}
	}
}

// template is the variant to use.
func (r *Role) template(uncached bool) *corev1.PodTemplate {
	if uncached && r.uncached != nil {
		return r.uncached
	}
	return r.full
}

// missing says which late values of a template are not known, and where each
// would come from.
func (r *Role) missing(t *corev1.PodTemplate) (out []string, err error) {
	entries, err := replica.ParseLate(t)
	for _, e := range entries {
		if r.Late[e.Name] == "" {
			out = append(out, fmt.Sprintf("%s is not known; it comes from %s", e.Name, sourceOf(e)))
		}
	}
	return out, err
}

// state is what a decision reads of all this.
func (r *Role) state() converge.Template {
	switch r.Fault.Reason {
	case "":
		return converge.InSync
	case report.ReasonStale:
		return converge.Stale
	case report.ReasonNotCompiled:
		return converge.NotCompiled
	}
	return converge.Unstampable
}

func (r *Role) hash(seat converge.Seat, uncached bool) string {
	pod, err := r.stamp(seat, uncached)
	if err != nil {
		return ""
	}
	return pod.Annotations[v1.AnnotationPodSpecHash]
}

// stamp makes the Pod of a seat, once per pass.
func (r *Role) stamp(seat converge.Seat, uncached bool) (*corev1.Pod, error) {
	key := seatVariant{seat, uncached}
	if s, ok := r.stamps[key]; ok {
		return s.pod, s.err
	}
	var s stamp
	s.pod, s.err = r.stampAnew(seat, uncached)
	if r.stamps == nil {
		r.stamps = map[seatVariant]stamp{}
	}
	r.stamps[key] = s
	return s.pod, s.err
}

func (r *Role) stampAnew(seat converge.Seat, uncached bool) (*corev1.Pod, error) {
	if state := r.state(); state == converge.NotCompiled || state == converge.Unstampable {
		return nil, fmt.Errorf("role %q: %s: %s", r.Spec.Name, r.Fault.Reason, r.Fault.Message)
	}
	t := r.template(uncached)
	missing, err := r.missing(t)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("PodTemplate %s/%s: %s", t.Namespace, t.Name, strings.Join(missing, "; "))
	}
	return replica.Stamp(t, replica.Seat{Ordinal: seat.Ordinal, Member: seat.Member}, r.Late)
}

// Stamp returns the Pod of a seat, without owner and name of its own.
func (v *View) Stamp(role string, seat converge.Seat, uncached bool) (*corev1.Pod, error) {
	for _, r := range v.Roles {
		if r.Spec.Name == role {
			pod, err := r.stamp(seat, uncached)
			if err != nil {
				return nil, err
			}
			return pod.DeepCopy(), nil
		}
	}
	return nil, fmt.Errorf("no role %q", role)
}

// Size is the number of Pods of one instance of a role.
func (v *View) Size(role string) int32 {
	for _, r := range v.Roles {
		if r.Spec.Name == role {
			return size(r.Spec)
		}
	}
	return 0
}

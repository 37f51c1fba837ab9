// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"gpustack.ai/mdc/compiler"
	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
	"gpustack.ai/mdc/compiler/render"
	"gpustack.ai/mdc/compiler/replica"
	"gpustack.ai/mdc/compiler/router"
)

// unknown stands for a value that only the cluster knows.
const unknown = "?"

// IDs of nodes of which a graph has one at most.
const (
	idRouter   = "router"
	idPool     = "pool"
	idArtifact = "artifact"
)

func roleID(name string) string    { return "role/" + name }
func proxyID(name string) string   { return "proxy/" + name }
func serviceID(name string) string { return "service/" + name }

// New returns the graph of a compiled deployment.
func New(d compiler.Deployment) *Graph {
	md := d.ModelDeployment
	b := &builder{
		Graph: Graph{
			Namespace: md.Namespace,
			Name:      md.Name,
			Model:     md.Spec.Model.Name,
			Engine:    strings.TrimSpace(string(md.Spec.Engine.Name) + " " + md.Spec.Engine.Version),
		},
		md:        md,
		templates: map[string]*corev1.PodTemplate{},
	}
	for _, t := range d.Templates {
		b.templates[t.Name] = t
	}
	for _, r := range d.Roles {
		b.roles = append(b.roles, role{Role: r, spec: &md.Spec.Roles[r.Index], links: r.Links()})
	}
	b.services()
	b.router()
	// The half that a prompt meets first is drawn first.
	slices.SortStableFunc(b.roles, func(x, y role) int { return before(x) - before(y) })
	for _, r := range b.roles {
		b.role(r)
	}
	b.requests()
	b.transfer()
	b.pool()
	b.artifact()
	return &b.Graph
}

func before(r role) int {
	if r.spec.Kind == v1.RoleDecode {
		return 1
	}
	return 0
}

// role is a rendered role with what its Pods are connected to.
type role struct {
	*render.Role
	spec  *v1.Role
	links render.Links
}

type builder struct {
	Graph
	md        *v1.ModelDeployment
	roles     []role
	templates map[string]*corev1.PodTemplate
}

func (b *builder) add(n Node)     { b.Nodes = append(b.Nodes, n) }
func (b *builder) connect(e Edge) { b.Edges = append(b.Edges, e) }

// late notes where a value will come from, once.
func (b *builder) late(name string, l replica.Late) {
	entry := Late{Name: name, Source: fmt.Sprintf("%s %s %s", l.Kind, l.Object, l.Field)}
	if !slices.Contains(b.Late, entry) {
		b.Late = append(b.Late, entry)
	}
}

// services adds what clients call: the Service of the router, or without one
// those of the roles, of which the first is also that of the deployment.
func (b *builder) services() {
	if b.md.Spec.Router != nil {
		name := router.Name(b.md.Name)
		b.add(Node{ID: serviceID(name), Kind: KindService, Title: name, Lines: []Line{{Text: port(router.Port)}}})
		return
	}
	for i, r := range b.roles {
		name := v1.TemplateName(b.md.Name, r.spec.Name)
		p, _ := r.ServicePort()
		n := Node{ID: serviceID(name), Kind: KindService, Title: name, Lines: []Line{{Text: port(p.ContainerPort)}}}
		if strings.HasPrefix(r.Endpoint(), "https:") {
			n.Lines[0].Text += ", HTTPS"
		}
		if i == 0 {
			n.Title = b.md.Name
			n.Lines = append(n.Lines, Line{Text: "also " + name})
		}
		b.add(n)
		b.connect(Edge{From: n.ID, To: roleID(r.spec.Name), Kind: EdgeRequests, Label: "requests"})
	}
}

func port(number int32) string { return fmt.Sprintf("port %d", number) }

func (b *builder) router() {
	spec := b.md.Spec.Router
	if spec == nil {
		return
	}
	n := Node{ID: idRouter, Kind: KindRouter, Title: string(spec.Name), Lines: []Line{
		{Text: count(int64(ptr.Deref(spec.Replicas, 1)), "replica")},
	}}
	if b.pair() && spec.Name == v1.RouterLLMD {
		switch t := spec.DisaggregationThresholdTokens; {
		case t == nil:
		case *t == 0:
			n.Lines = append(n.Lines, Line{Text: "never splits"})
		default:
			n.Lines = append(n.Lines, Line{Text: fmt.Sprintf("splits from %s", count(int64(*t), "uncached token"))})
		}
	}
	b.add(n)
	b.connect(Edge{From: serviceID(router.Name(b.md.Name)), To: idRouter, Kind: EdgeRequests, Label: "requests"})
}

// pair reports whether both halves are declared.
func (b *builder) pair() bool { return b.half(v1.RolePrefill) != nil && b.half(v1.RoleDecode) != nil }

// half returns the role of a kind; nil is none.
func (b *builder) half(k v1.RoleKind) *role {
	for i := range b.roles {
		if b.roles[i].spec.Kind == k {
			return &b.roles[i]
		}
	}
	return nil
}

func (b *builder) role(r role) {
	image, late := "", map[replica.LateName]replica.Late{}
	if t := b.templates[v1.TemplateName(b.md.Name, r.spec.Name)]; t != nil {
		entries, _ := replica.ParseLate(t) // written by the same version
		for _, l := range entries {
			late[l.Name] = l
		}
		for _, c := range t.Template.Spec.Containers {
			if c.Name == replica.MainContainer {
				image = c.Image
			}
		}
	}
	n := Node{
		ID:    roleID(r.spec.Name),
		Kind:  KindRole,
		Title: r.spec.Name,
		Group: b.group(r, late),
		Role:  &Role{Kind: string(r.spec.Kind), Replicas: r.spec.Replicas, Size: max(r.spec.Size, 1)},
		Lines: append([]Line{{Text: pods(r.spec)}}, hardware(r.spec)...),
	}
	if r.spec.Topology != nil && r.spec.Topology.RequiredLevel != "" && n.Role.Size > 1 {
		n.Lines = append(n.Lines, Line{Text: "each instance within one " + r.spec.Topology.RequiredLevel})
	}
	if l, ok := late[replica.LateRuntimeVersion]; ok {
		b.late("runtime version", l)
		n.Lines = append(n.Lines, Line{Text: strings.ReplaceAll(image, replica.LateRuntimeVersion.Token(), unknown), Code: true, Late: true})
	} else {
		n.Lines = append(n.Lines, Line{Text: image, Code: true})
	}
	if r.links.Publishes && b.md.Spec.Router.Name != v1.RouterLLMD {
		// No other router listens; the Service of the role offers them.
		n.Lines = append(n.Lines, Line{Text: fmt.Sprintf("publishes KV events on :%d", engine.EventPorts()[0].ContainerPort)})
	}
	if !r.links.Managed {
		n.Lines = append(n.Lines, Line{Text: "started by its own command"})
	}
	if l, ok := late[replica.LateClientEndpoint]; ok {
		b.late("endpoint", l)
	}
	b.add(n)
	if r.links.Proxied {
		p, _ := r.ServicePort()
		b.add(Node{ID: proxyID(r.spec.Name), Kind: KindProxy, Title: "routing-proxy", Within: n.ID, Group: n.Group, Lines: []Line{
			{Text: port(p.ContainerPort)},
			{Text: fmt.Sprintf("engine %d", r.links.EnginePort)},
		}})
	}
}

// group returns the ID of the role's queue.
func (b *builder) group(r role, late map[replica.LateName]replica.Late) string {
	g := Group{ID: "queue/" + r.Type.Name, Queue: r.Type.Status.Entrance, InstanceType: r.Type.Name}
	if l, ok := late[replica.LateQueueName]; ok {
		b.late("queue", l)
	}
	if !slices.Contains(b.Groups, g) {
		b.Groups = append(b.Groups, g)
	}
	return g.ID
}

// pods says how many Pods a role has.
func pods(r *v1.Role) string {
	size := int64(max(r.Size, 1))
	if size == 1 {
		return fmt.Sprintf("%s of 1 Pod", count(int64(r.Replicas), "instance"))
	}
	return fmt.Sprintf("%s of %d Pods", count(int64(r.Replicas), "instance"), size)
}

// hardware says what one Pod asks for.
func hardware(r *v1.Role) (out []Line) {
	res := r.Resources
	if res == nil {
		res = &v1.RoleResources{}
	}
	add := func(format string, args ...any) { out = append(out, Line{Text: fmt.Sprintf(format, args...)}) }
	cards, pods := value(res.Accelerator), int64(r.Replicas)*int64(max(r.Size, 1))
	memory, cores := res.AcceleratorSlicedMemoryPercentage, res.AcceleratorSlicedCoresPercentage
	switch {
	case cards == 0:
		add("no cards")
	case res.AcceleratorPartitionedProfile != "":
		add("%s %s per Pod", count(cards, "partition"), res.AcceleratorPartitionedProfile)
	case memory > 0 || cores > 0:
		var share []string
		if memory > 0 {
			share = append(share, fmt.Sprintf("%d%% of the memory", memory))
		}
		if cores > 0 {
			share = append(share, fmt.Sprintf("%d%% of the cores", cores))
		}
		add("%s of %s per Pod", strings.Join(share, " and "), count(cards, "card"))
	case pods == 1:
		add("%s", count(cards, "card"))
	default:
		add("%s per Pod, %d in all", count(cards, "card"), cards*pods)
	}
	if n := value(res.Interface); n > 0 {
		add("%s per Pod", count(n, "fabric interface"))
	}
	return out
}

func value(q *resource.Quantity) int64 {
	if q == nil {
		return 0
	}
	return q.Value()
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// requests connects the router, or the proxy of a decode half, with the roles.
func (b *builder) requests() {
	spec := b.md.Spec.Router
	if spec == nil {
		return
	}
	for _, r := range b.roles {
		id := roleID(r.spec.Name)
		prefill := r.spec.Kind == v1.RolePrefill && b.pair()
		switch {
		case r.links.Proxied:
			b.connect(Edge{From: idRouter, To: proxyID(r.spec.Name), Kind: EdgeRequests, Label: "requests"})
			b.connect(Edge{From: proxyID(r.spec.Name), To: id, Kind: EdgeRequests})
		case prefill && spec.Name == v1.RouterLLMD:
			// The decode half hands the prompt over: its proxy, or what its own
			// command starts.
			from, half := roleID(b.half(v1.RoleDecode).spec.Name), true
			if b.half(v1.RoleDecode).links.Proxied {
				from, half = proxyID(b.half(v1.RoleDecode).spec.Name), false
			}
			b.connect(Edge{From: from, To: id, Kind: EdgePrompts, Label: "prompts", Half: half})
		case prefill:
			b.connect(Edge{From: idRouter, To: id, Kind: EdgePrompts, Label: "prompts"})
		default:
			b.connect(Edge{From: idRouter, To: id, Kind: EdgeRequests, Label: "requests"})
		}
		if r.links.Publishes && spec.Name == v1.RouterLLMD {
			b.connect(Edge{From: id, To: idRouter, Kind: EdgeEvents, Label: fmt.Sprintf("KV events :%d", engine.EventPorts()[0].ContainerPort)})
		}
	}
}

// transfer connects the halves of a pair.
func (b *builder) transfer() {
	p, d := b.half(v1.RolePrefill), b.half(v1.RoleDecode)
	if p == nil || d == nil {
		return
	}
	protocol := p.links.Leg
	if protocol == "" {
		protocol = d.links.Leg
	}
	if protocol == "" {
		return
	}
	b.connect(Edge{
		From: roleID(p.spec.Name), To: roleID(d.spec.Name), Kind: EdgeTransfer, Label: "direct transfer over " + protocol,
		// Halves that speak differently do not meet either.
		Half: p.links.Leg != d.links.Leg,
	})
}

// pool adds the shared cache and who is attached to it.
func (b *builder) pool() {
	c := b.cache()
	if c == nil {
		return
	}
	n := Node{ID: idPool, Kind: KindPool, Title: c.Pool}
	if c.Endpoint != "" {
		n.Lines = append(n.Lines, Line{Text: c.Endpoint, Code: true})
	} else {
		n.Lines = append(n.Lines, Line{Text: "endpoint " + unknown, Late: true})
	}
	offers := slices.Compact(slices.Clone(c.Offers))
	n.Lines = append(n.Lines, Line{Text: "offers " + strings.Join(offers, ", ")})
	if c.Tenant != "" {
		n.Lines = append(n.Lines, Line{Text: "domain " + c.Tenant})
	}
	if c.Dtype != "" {
		n.Lines = append(n.Lines, Line{Text: "blocks of " + c.Dtype})
	}
	b.add(n)
	for _, r := range b.roles {
		if r.links.Store == "" {
			continue
		}
		e := Edge{From: roleID(r.spec.Name), To: idPool, Kind: EdgeStore, Label: "KV blocks over " + r.links.Store, Both: r.links.Reads && r.links.Writes}
		if !r.links.Writes {
			e.From, e.To = e.To, e.From
		}
		b.connect(e)
	}
}

func (b *builder) cache() *render.Cache {
	for _, r := range b.roles {
		if r.Cache != nil {
			return r.Cache
		}
	}
	return nil
}

// artifact adds where the weights come from.
func (b *builder) artifact() {
	var w *render.Weights
	for _, r := range b.roles {
		w = r.Weights
	}
	if w == nil {
		return
	}
	n := Node{ID: idArtifact, Kind: KindArtifact, Title: w.Artifact}
	switch s := w.Source; {
	case s.HuggingFace != nil:
		n.Lines = append(n.Lines, Line{Text: "Hugging Face"}, Line{Text: s.HuggingFace.Repository, Code: true})
	case s.ModelScope != nil:
		n.Lines = append(n.Lines, Line{Text: "ModelScope"}, Line{Text: s.ModelScope.Repository, Code: true})
	case s.PersistentVolumeClaim != nil:
		n.Lines = append(n.Lines, Line{Text: "PersistentVolumeClaim"}, Line{Text: s.PersistentVolumeClaim.ClaimName, Code: true})
	case s.Image != nil:
		n.Lines = append(n.Lines, Line{Text: "image volume"}, Line{Text: s.Image.Reference, Code: true})
	}
	n.Lines = append(n.Lines, Line{Text: deliveries[w.Delivery]})
	b.add(n)
	for _, r := range b.roles {
		if w.Delivery == v1.DeliveryEngine && !r.links.Managed {
			continue // its own command has to fetch them
		}
		b.connect(Edge{From: idArtifact, To: roleID(r.spec.Name), Kind: EdgeWeights, Label: "weights"})
	}
}

// deliveries says who brings the weights to the Pods.
var deliveries = map[v1.Delivery]string{
	v1.DeliveryEngine: "downloaded by the engine",
	v1.DeliveryNode:   "mounted from the node's store",
	v1.DeliveryPVC:    "mounted from the claim",
	v1.DeliveryImage:  "mounted from the image",
}

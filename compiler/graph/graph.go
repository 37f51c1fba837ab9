// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package graph draws compiled deployments: what runs, how requests reach it and
// what it exchanges.
//
// New turns a deployment into a Graph, which holds no layout; Mermaid, DOT and
// SVG print it. All of it is pure: the same deployment gives the same bytes.
package graph

// Graph is one deployment as nodes and edges.
type Graph struct {
	// Namespace and Name are those of the deployment.
	Namespace, Name string
	// Model is what clients ask for; Engine is its name and version.
	Model, Engine string
	// Groups are the queues that roles wait in, in the order of the roles.
	Groups []Group
	// Nodes are in the order in which requests meet them; roles keep their order,
	// except that the prefill half of a pair comes first.
	Nodes []Node
	Edges []Edge
	// Late are the values that only the cluster knows.
	Late []Late
}

// Group is a Kueue queue with the roles that wait in it.
type Group struct {
	ID string
	// Queue is the name of the LocalQueue; empty when only the cluster knows it.
	Queue string
	// InstanceType is the hardware behind the queue.
	InstanceType string
}

// Kind is what a node stands for.
type Kind string

// The kinds of nodes.
const (
	KindService  Kind = "Service"
	KindRouter   Kind = "Router"
	KindRole     Kind = "Role"
	KindProxy    Kind = "Proxy"
	KindPool     Kind = "KVCachePool"
	KindArtifact Kind = "ModelArtifact"
)

// Node is one box.
type Node struct {
	// ID is unique within the graph.
	ID   string
	Kind Kind
	// Title is a name that users chose.
	Title string
	// Lines say more, in order of importance.
	Lines []Line
	// Group is the ID of the queue of a role; empty elsewhere.
	Group string
	// Within is the ID of the role whose Pods a proxy is part of.
	Within string
	// Role is set on roles only.
	Role *Role
}

// Late reports whether something about the node is known only to the cluster.
func (n Node) Late() bool {
	for _, l := range n.Lines {
		if l.Late {
			return true
		}
	}
	return false
}

// Line is one statement about a node.
type Line struct {
	Text string
	// Code is text that stands in a manifest, such as an image or an address.
	Code bool
	// Late text holds a "?" for a value that only the cluster knows.
	Late bool
}

// Role is what distinguishes roles at a glance.
type Role struct {
	// Kind is Server, Prefill or Decode.
	Kind string
	// Replicas is the number of instances, Size that of the Pods of each.
	Replicas, Size int32
}

// EdgeKind is what flows along an edge.
type EdgeKind string

// The kinds of edges.
const (
	// EdgeRequests are requests of clients.
	EdgeRequests EdgeKind = "requests"
	// EdgePrompts are prompts that are prefilled apart from the decoding.
	EdgePrompts EdgeKind = "prompts"
	// EdgeTransfer is the direct hand-over of blocks from prefill to decode.
	EdgeTransfer EdgeKind = "transfer"
	// EdgeStore is the access to the shared cache.
	EdgeStore EdgeKind = "store"
	// EdgeEvents tell the router which blocks a role holds.
	EdgeEvents EdgeKind = "events"
	// EdgeWeights deliver the model.
	EdgeWeights EdgeKind = "weights"
)

// Edge is one arrow.
type Edge struct {
	// From and To are IDs of nodes. The data flows from From to To.
	From, To string
	Kind     EdgeKind
	Label    string
	// Both ways: data also flows from To to From.
	Both bool
	// Half: only one end is configured by mdc, the other by its own command.
	Half bool
}

// Late is one value that the agent fills in.
type Late struct {
	// Name of the value, for example "queue".
	Name string
	// Source is where it is read from.
	Source string
}

// node returns the node of an ID.
func (g *Graph) node(id string) Node {
	for _, n := range g.Nodes {
		if n.ID == id {
			return n
		}
	}
	return Node{}
}

// ofKind returns the nodes of a kind.
func (g *Graph) ofKind(k Kind) (out []Node) {
	for _, n := range g.Nodes {
		if n.Kind == k {
			out = append(out, n)
		}
	}
	return out
}

// edges returns the edges of a kind.
func (g *Graph) edges(k EdgeKind) (out []Edge) {
	for _, e := range g.Edges {
		if e.Kind == k {
			out = append(out, e)
		}
	}
	return out
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

// Colours of text and of what stands behind everything else.
const (
	ink      = "#0f172a"
	inkSoft  = "#475569"
	inkLate  = "#b45309"
	white    = "#ffffff"
	bandFill = "#f8fafc"
	bandLine = "#94a3b8"
	rule     = "#cbd5e1"
)

// tint is the colour of a node: of its area and of its border, which is dark
// enough for white text.
type tint struct{ fill, line string }

// tints of the nodes, and of the roles by their kind.
var tints = map[string]tint{
	string(KindService):  {"#f1f5f9", "#475569"},
	string(KindRouter):   {"#fff7ed", "#c2410c"},
	string(KindProxy):    {"#fff7ed", "#c2410c"},
	string(KindPool):     {"#ecfeff", "#0e7490"},
	string(KindArtifact): {"#f5f5f4", "#57534e"},
	"Server":             {"#eff6ff", "#1d4ed8"},
	"Prefill":            {"#f5f3ff", "#6d28d9"},
	"Decode":             {"#ecfdf5", "#047857"},
}

// tint returns the colours of a node.
func (n Node) tint() tint {
	if n.Role != nil {
		return tints[n.Role.Kind]
	}
	return tints[string(n.Kind)]
}

// colors of the edges.
var colors = map[EdgeKind]string{
	EdgeRequests: "#334155",
	EdgePrompts:  "#6d28d9",
	EdgeTransfer: "#be185d",
	EdgeStore:    "#0e7490",
	EdgeEvents:   "#c2410c",
	EdgeWeights:  "#57534e",
}

// captions stand above the title of a node.
var captions = map[Kind]string{
	KindService:  "Service",
	KindRouter:   "Request router",
	KindPool:     "KV cache pool",
	KindArtifact: "Model artifact",
}

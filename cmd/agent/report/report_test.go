// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// TestWhole: all of a status that is as it should be.
func TestWhole(t *testing.T) {
	at := metav1.NewTime(noon)
	condition := func(name string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: name, Status: status, Reason: reason, Message: message, LastTransitionTime: at}
	}
	got := Build(pair(routed, cached, delivered(v1.DeliveryNode), func(in *Input) {
		in.role("prefill").Publishes = true
		in.Weights.Model.Revision = "r"
		for i := range in.Pods {
			in.Pods[i].Store = Active
		}
	}))
	want := v1.ModelDeploymentStatus{
		ObservedGeneration: 3,
		Phase:              v1.PhaseReady,
		RoleSummary:        "1R1P2D",
		Endpoint:           "http://m-router.team-a.svc:8081",
		Roles: []v1.RoleStatus{
			{Name: "prefill", Kind: "Prefill", Desired: 1, Ready: 1, QuotaReserved: 1},
			{Name: "decode", Kind: "Decode", Desired: 2, Ready: 2, QuotaReserved: 2},
		},
		KVCache: &v1.KVCacheStatus{Binding: "dram", Pool: "pool", Domain: v1.KVCacheDomain{Name: "team-a", BlockSize: 64, Dtype: "bfloat16"}},
		Model:   &v1.ModelStatus{Artifact: "weights", Revision: "r", Delivery: "Node"},
		Router:  &v1.RouterStatus{Name: "llm-d-router", Endpoint: "http://m-router.team-a.svc:8081"},
		Conditions: []metav1.Condition{
			condition("Stalled", "False", "NotStalled", "Nothing is stuck for good"),
			condition("Reconciling", "False", "AsDeclared", "All is as declared"),
			condition("Ready", "True", "Ready", "Ready: 3 replicas"),
			condition("Compiled", "True", "InSync", "Every role has a PodTemplate that was compiled from the live spec"),
			condition("WeightsReady", "True", "Mounted", `ModelArtifact "weights" is where it is needed`),
			condition("DomainRegistered", "True", "Registered", `Attached to domain "team-a" by KVCachePoolBinding "dram" of KVCachePool "pool"`),
			condition("QuotaReserved", "True", "Reserved", "Quota is reserved for 3 replicas"),
			condition("ReplicasUpToDate", "True", "UpToDate", "As declared: 3 replicas"),
			condition("RoleKindsReady", "True", "AllKindsReady", "Every kind of role has a replica that is ready"),
			condition("RouterReady", "True", "Ready", "The router has a Pod that is ready"),
			condition("KVEventsPublishing", "True", "Publishing", "Every role that computes blocks publishes events of its cache"),
			condition("CacheAttached", "True", "CacheActive", "Engines store and load blocks"),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTransitions: a time moves when the status of its condition does, and only
// then; what was stored otherwise does not stay.
func TestTransitions(t *testing.T) {
	hour := noon.Add(-time.Hour)
	in := servers(
		stored(QuotaReserved, metav1.ConditionTrue, "Other"),
		stored(Ready, metav1.ConditionFalse, "ReplicaUnavailable"),
		stored("Unheard", metav1.ConditionTrue, "Of"),
		func(in *Input) {
			in.Now = noon.Add(300 * time.Millisecond)
			in.Deployment.Status.Conditions[0].Message = "another message"
		})
	s := Build(in)
	for name, want := range map[string]time.Time{QuotaReserved: hour, Ready: noon, Compiled: noon} {
		if c, _ := find(s.Conditions, name); !c.LastTransitionTime.Time.Equal(want) || c.Status != "True" {
			t.Errorf("%s: %v", name, c)
		}
	}
	if _, ok := find(s.Conditions, "Unheard"); ok || len(s.Conditions) != len(order) {
		t.Errorf("conditions %v", s.Conditions)
	}
	if v, _ := said(t, s, QuotaReserved); v != "True/Reserved" {
		t.Error(v)
	}

	// At rest nothing changes, however much later; nor does building change what
	// it is built from.
	before, _ := json.Marshal(in.Deployment)
	Build(in)
	if after, _ := json.Marshal(in.Deployment); string(before) != string(after) {
		t.Errorf("building changed %s to %s", before, after)
	}
	in.Deployment.Status = s
	in.Now = noon.Add(24 * time.Hour)
	if diff := cmp.Diff(s, Build(in)); diff != "" {
		t.Errorf("at rest: %s", diff)
	}
}

// TestDeterminism: the order in which Pods and Workloads are read does not
// matter.
func TestDeterminism(t *testing.T) {
	in := pair(routed, cached, waitingForQuota("decode", 1, "x"), preempted("prefill", 0),
		workloads("decode", -1, func(w *Workload) {
			w.Parked, w.Inactive = true, true
			w.Assigned = map[string]map[string]string{"decode": {creditPrefix + "nvidia": "a"}}
		}),
		pods("decode", -1, func(p *Pod) { p.Evicted = "disk of " + p.Name }))
	want, err := json.Marshal(Build(in))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		rand.Shuffle(len(in.Pods), func(i, j int) { in.Pods[i], in.Pods[j] = in.Pods[j], in.Pods[i] })
		rand.Shuffle(len(in.Workloads), func(i, j int) { in.Workloads[i], in.Workloads[j] = in.Workloads[j], in.Workloads[i] })
		if got, _ := json.Marshal(Build(in)); string(got) != string(want) {
			t.Fatalf("%s\n%s", want, got)
		}
	}
}

// TestBounds: the status of a thousand replicas fits, whatever others say.
func TestBounds(t *testing.T) {
	long := strings.Repeat("é", 40000)
	in := input(role("server", v1.RoleServer, 1024), waitingForQuota("server", -1, long), pods("server", -1, func(p *Pod) { p.Evicted = long }))
	workloads("server", -1, func(w *Workload) { w.Reserved, w.Admitted, w.Message = false, false, long })(&in)
	s := Build(in)
	for _, c := range s.Conditions {
		if len(c.Message) > messageLimit || !utf8.ValidString(c.Message) {
			t.Errorf("%s: %d bytes", c.Type, len(c.Message))
		}
	}
	if len(s.PhaseMessage) > messageLimit || !utf8.ValidString(s.PhaseMessage) {
		t.Errorf("phaseMessage: %d bytes", len(s.PhaseMessage))
	}
	_, message := said(t, s, QuotaReserved)
	contains(t, "Pending", message, "1024 of 1024")

	for _, n := range []int32{0, 1, 2, 12} {
		in := input(role("server", v1.RoleServer, 12), waitingForQuota("server", -1, ""))
		in.Deployment.Spec.Roles[0].Replicas = n
		Build(in) // whatever is there beside
	}
}

func TestPhase(t *testing.T) {
	for name, tc := range map[string]struct {
		in      Input
		phase   v1.Phase
		message string
	}{
		"ready":            {servers(), "Ready", ""},
		"starting":         {servers(unready("server", -1)), "Starting", `Quota of ClusterQueue "pool-a" is reserved for 2 replicas`},
		"degraded":         {servers(unready("server", 1)), "Degraded", "1 of 2 replicas are ready"},
		"no router":        {servers(routed, func(in *Input) { in.Router.Ready = 0 }), "Degraded", `Deployment "m-router" of the router has no ready Pod`},
		"router not there": {servers(routed, func(in *Input) { in.Router.Deployed = false }), "Degraded", `Deployment "m-router" does not exist; compile the deployment with "mdc build" and apply what it prints`},
		"evicted":          {servers(leaving("server", 0), pods("server", -1, func(p *Pod) { p.Evicted = "disk of " + p.Name })), "Degraded", "1 of 2 replicas are ready. Pod m-server-0-0 was evicted: disk of m-server-0-0"},
		"evicted, ready":   {servers(pods("server", -1, func(p *Pod) { p.Evicted = "disk" })), "Ready", ""},
		"no weights": {servers(func(in *Input) {
			in.Pods = nil
			in.Weights = Weights{Artifact: "w", Blocked: Fault{"ClaimNotBound", "Lost"}}
		}), "Starting", "Lost. Nothing is created until then"},
		"not compiled":    {servers(func(in *Input) { in.Pods = nil }, fault("server", ReasonNotCompiled, ""), waitsFor("server", 0, converge.WaitCompile), waitsFor("server", 1, converge.WaitCompile)), "Starting", "There is no Pod: role server replicas 0, 1: they are not compiled, see condition Compiled"},
		"a missing value": {servers(gone("server", 1), fault("server", ReasonMissingLateValue, "queueName is not known"), waitsFor("server", 1, converge.WaitCompile)), "Degraded", "1 of 2 replicas are ready"},
		"deleting":        {servers(deleted), "Deleting", "Still there: 2 Pods"},
		"deleting, stuck": {servers(deleted, pods("server", 1, func(p *Pod) { p.NodeLost, p.Node = true, "node-1" })), "Deleting", `Still there: 2 Pods; on Nodes that do not answer: m-server-1-0 on Node "node-1", which go when the Node is back, or its object is deleted`},
		"deleted":         {servers(deleted, func(in *Input) { in.Pods = nil }), "Deleting", "All Pods have gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Build(tc.in)
			if s.Phase != tc.phase || s.PhaseMessage != tc.message {
				t.Errorf("%s %q, want %s %q", s.Phase, s.PhaseMessage, tc.phase, tc.message)
			}
		})
	}
}

// TestDesired: what later passes read back as the number of instances that there
// have been.
func TestDesired(t *testing.T) {
	desired := func(kept int32, in Input) int32 {
		in.Deployment.Status.Roles = []v1.RoleStatus{{Name: "server", Desired: kept}, {Name: "gone", Desired: 7}}
		s := Build(in)
		if len(s.Roles) != len(in.Deployment.Spec.Roles) {
			t.Errorf("roles %v", s.Roles)
		}
		for _, r := range s.Roles {
			if r.Name == "server" {
				return r.Desired
			}
		}
		return -1
	}
	other := role("other", v1.RoleServer, 1)
	for name, tc := range map[string]struct{ got, want int32 }{
		"first":                     {desired(0, servers()), 2},
		"grown":                     {desired(1, servers()), 2},
		"grown while stale":         {desired(1, servers(stale("server"))), 1},
		"shrunk while stale":        {desired(5, servers(stale("server"))), 2},
		"first while stale":         {desired(0, servers(stale("server"))), 0},
		"grown while not compiled":  {desired(1, servers(fault("server", ReasonNotCompiled, ""))), 1},
		"a value is missing":        {desired(1, servers(fault("server", ReasonMissingLateValue, ""))), 2},
		"grown beside a stale role": {desired(1, servers(other, stale("other"))), 1},
		"while deleting":            {desired(1, servers(deleted)), 1},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %d, want %d", name, tc.got, tc.want)
		}
	}
}

func TestFlavors(t *testing.T) {
	assigned := func(n int32, flavors map[string]string) edit {
		return workloads("server", n, func(w *Workload) {
			w.Assigned = map[string]map[string]string{"server": flavors, "other": {creditPrefix + "nvidia": "not-ours"}}
		})
	}
	cards := func(in *Input) { in.role("server").Accelerators = []string{"nvidia.com/gpu", "nvidia.com/gpu.sliced"} }
	for name, tc := range map[string]struct {
		edits []edit
		want  []string
	}{
		"none":              {nil, nil},
		"credits":           {[]edit{cards, assigned(0, map[string]string{creditPrefix + "nvidia": "b", "nvidia.com/gpu": "x"}), assigned(1, map[string]string{creditPrefix + "nvidia": "a"})}, []string{"a", "b"}},
		"the same":          {[]edit{assigned(-1, map[string]string{creditPrefix + "nvidia": "a"})}, []string{"a"}},
		"two credits":       {[]edit{cards, assigned(-1, map[string]string{creditPrefix + "nvidia": "a", creditPrefix + "amd": "a", "nvidia.com/gpu": "x"})}, nil},
		"cards":             {[]edit{cards, assigned(-1, map[string]string{"nvidia.com/gpu": "x", "cpu": "y"})}, []string{"x"}},
		"cards in two":      {[]edit{cards, assigned(-1, map[string]string{"nvidia.com/gpu": "x", "nvidia.com/gpu.sliced": "y"})}, nil},
		"no cards":          {[]edit{assigned(-1, map[string]string{"nvidia.com/gpu": "x"})}, nil},
		"no quota any more": {[]edit{assigned(0, map[string]string{creditPrefix + "nvidia": "a"}), workloads("server", 0, func(w *Workload) { w.Reserved = false })}, []string{"a"}},
		"leaving":           {[]edit{assigned(0, map[string]string{creditPrefix + "nvidia": "a"}), leaving("server", 0)}, nil},
	} {
		if diff := cmp.Diff(tc.want, Build(servers(tc.edits...)).Roles[0].AssignedFlavors); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCounts(t *testing.T) {
	in := pair(unready("decode", 0), waitingForQuota("decode", 1, ""), command("decode"))
	s := Build(in)
	want := []v1.RoleStatus{
		{Name: "prefill", Kind: "Prefill", Desired: 1, Ready: 1, QuotaReserved: 1},
		{Name: "decode", Kind: "Decode", Desired: 2, QuotaReserved: 1, Unmanaged: true},
	}
	if diff := cmp.Diff(want, s.Roles); diff != "" {
		t.Error(diff)
	}
	for _, tc := range []struct {
		in   Input
		want string
	}{
		{in, "1P0D"},
		{pair(routed, func(in *Input) { in.Pods = nil; in.Router.Ready = 0 }), "0R0P0D"},
		{servers(routed), "1R2S"},
		{input(role("a", v1.RoleServer, 2), role("b", v1.RoleServer, 3)), "5S"},
	} {
		if got := Build(tc.in).RoleSummary; got != tc.want {
			t.Errorf("summary %s, want %s", got, tc.want)
		}
	}

	// Instances are counted, not Pods.
	members := func(edits ...edit) v1.RoleStatus {
		all := []edit{func(in *Input) { in.Deployment.Spec.Roles[0].Size = 2 }, add("server", 0, 1), add("server", 1, 1)}
		return Build(servers(append(all, edits...)...)).Roles[0]
	}
	one := func(member int32, change func(*Pod)) edit {
		return pods("server", 1, func(p *Pod) {
			if p.Member == member {
				change(p)
			}
		})
	}
	for name, tc := range map[string]struct {
		got             v1.RoleStatus
		ready, reserved int32
	}{
		"all":             {members(), 2, 2},
		"one is unready":  {members(one(1, func(p *Pod) { p.Ready = false })), 1, 2},
		"one leaves":      {members(one(1, func(p *Pod) { p.Deleting = true })), 1, 2},
		"a strange index": {members(one(1, func(p *Pod) { p.Member = 5 })), 1, 2},
		"a strange place": {members(one(1, func(p *Pod) { p.Ordinal = -1 })), 1, 2},
	} {
		if tc.got.Ready != tc.ready || tc.got.QuotaReserved != tc.reserved {
			t.Errorf("%s: %+v", name, tc.got)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"no router":        {pair(), "http://m.team-a.svc:8000"},
		"router":           {pair(routed), "http://m-router.team-a.svc:8081"},
		"router not ready": {pair(routed, func(in *Input) { in.Router.Ready = 0 }), ""},
	} {
		if got := Build(tc.in).Endpoint; got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestCacheKept: the domain is there once the cache could be used, and stays.
func TestCacheKept(t *testing.T) {
	kept := &v1.KVCacheStatus{Binding: "dram", Pool: "earlier"}
	lost := func(in *Input) { in.Cache.Binding, in.Cache.Resolved = nil, false }
	for name, tc := range map[string]struct {
		in   Input
		want *v1.KVCacheStatus
	}{
		"none":     {servers(), nil},
		"not yet":  {servers(cached, func(in *Input) { in.Cache.Resolved = false }), nil},
		"resolved": {servers(cached), &v1.KVCacheStatus{Binding: "dram", Pool: "pool", Domain: v1.KVCacheDomain{Name: "team-a", BlockSize: 64, Dtype: "bfloat16"}}},
		"lost":     {servers(cached, lost, func(in *Input) { in.Deployment.Status.KVCache = kept }), kept},
		"ends":     {servers(deleted, func(in *Input) { in.Deployment.Status.KVCache = kept }), kept},
	} {
		if diff := cmp.Diff(tc.want, Build(tc.in).KVCache); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestEnd: what is read no more keeps its last word.
func TestEnd(t *testing.T) {
	before := Build(pair(routed, cached, delivered(v1.DeliveryNode), stale("prefill")))
	in := pair(deleted)
	in.Deployment.Spec.Router = &v1.RouterSpec{Name: v1.RouterLLMD}
	in.Router = Router{Name: "m-router", Deployed: true, Ready: 1}
	in.Deployment.Status = before
	s := Build(in)
	for _, name := range []string{Compiled, WeightsReady, DomainRegistered, KVEventsPublishing, CacheAttached} {
		was, _ := find(before.Conditions, name)
		is, _ := find(s.Conditions, name)
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if diff := cmp.Diff([]any{before.Endpoint, before.Model, before.Router, before.KVCache}, []any{s.Endpoint, s.Model, s.Router, s.KVCache}); diff != "" {
		t.Error(diff)
	}
	if got, _ := said(t, s, Reconciling); got != "True/Deleting" || s.RoleSummary != "1R1P2D" {
		t.Errorf("%s, %s", got, s.RoleSummary)
	}
	// Nothing is invented that was never observed.
	if s := Build(servers(deleted)); len(s.Conditions) != 7 {
		t.Errorf("conditions %v", s.Conditions)
	}
}

// kstatus judges an object as the library of that name does, by which Flux and
// others wait: the first of the conditions that says something unusual counts.
func kstatus(s v1.ModelDeploymentStatus, generation int64) string {
	if s.ObservedGeneration != generation {
		return "InProgress"
	}
	for _, c := range s.Conditions {
		switch {
		case c.Type == "Reconciling" && c.Status == "True":
			return "InProgress"
		case c.Type == "Stalled" && c.Status == "True":
			return "Failed"
		}
	}
	for _, c := range s.Conditions {
		if c.Type == "Ready" && c.Status != "True" {
			return "InProgress"
		}
	}
	return "Current"
}

// TestKstatus: done exactly when all is as declared, failed exactly when a person
// is needed.
func TestKstatus(t *testing.T) {
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"as declared":         {servers(), "Current"},
		"another generation":  {servers(func(in *Input) { in.Deployment.Generation = 4 }), "InProgress"},
		"starting":            {servers(unready("server", -1)), "InProgress"},
		"waiting for quota":   {servers(waitingForQuota("server", 1, "")), "InProgress"},
		"rolling":             {servers(outdated("server", 1)), "InProgress"},
		"stale":               {servers(stale("server"), fault("server", ReasonStale, "")), "InProgress"},
		"lost a node":         {servers(unready("server", 1), pods("server", 1, func(p *Pod) { p.NodeLost = true })), "InProgress"},
		"deleting":            {servers(deleted), "InProgress"},
		"parked":              {servers(waitingForQuota("server", 1, ""), workloads("server", 1, func(w *Workload) { w.Inactive, w.Parked = true, true })), "Failed"},
		"not compiled":        {servers(fault("server", ReasonNotCompiled, "")), "Failed"},
		"outside any quota":   {servers(pods("server", -1, func(p *Pod) { p.Managed = false })), "Failed"},
		"the cache is absent": {servers(cached, func(in *Input) { in.Cache.Resolved = false }), "InProgress"},
	} {
		s := Build(tc.in)
		generation := int64(3)
		if got := kstatus(s, generation); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if stalled, reconciling := s.Conditions[0], s.Conditions[1]; stalled.Type != Stalled || reconciling.Type != Reconciling || stalled.Status == "True" && reconciling.Status == "True" {
			t.Errorf("%s: %v, %v", name, stalled, reconciling)
		}
	}
}

func TestWords(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprint(i))
	}
	for _, tc := range [][2]string{
		{few(names[:2], ", "), "0, 1"},
		{few(names, ", "), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, and 2 more"},
		{cut("abcdef", 6), "abcdef"},
		{cut("abcdefg", 6), "abc..."},
		{cut("abéééé", 6), "ab..."},
		{cut("aéééé", 6), "aé..."},
		{count(1, "Pod"), "1 Pod"},
		{count(int32(0), "Pod"), "0 Pods"},
	} {
		if tc[0] != tc[1] {
			t.Errorf("%q, want %q", tc[0], tc[1])
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/render"

	"gpustack.ai/mdc/cmd/agent/converge"
	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/report"
)

func TestReportPod(t *testing.T) {
	start := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for name, tc := range map[string]struct {
		pod  corev1.Pod
		want report.Pod
	}{
		"waits": {corev1.Pod{}, report.Pod{}},
		"serves": {corev1.Pod{Status: corev1.PodStatus{
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}, {Type: corev1.PodReadyToStartContainers, Status: "True"}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "proxy", RestartCount: 1}, {Name: "main", Ready: true},
			},
		}}, report.Pod{Pod: converge.Pod{Ready: true}, Mounted: true, EngineReady: true, Restarted: true}},
		"mounts": {corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: "False"}}}}, report.Pod{}},
		"was evicted": {
			corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on memory."}},
			report.Pod{Pod: converge.Pod{Ended: true}, Evicted: "The node was low on memory."},
		},
		"was never ready": {corev1.Pod{Status: corev1.PodStatus{StartTime: &start, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: "False", LastTransitionTime: metav1.NewTime(start.Add(time.Second))},
		}}}, report.Pod{}},
		"is not ready any more": {corev1.Pod{Status: corev1.PodStatus{StartTime: &start, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: "False", LastTransitionTime: metav1.NewTime(start.Add(time.Minute))},
		}}}, report.Pod{WasReady: true}},
		"ended":          {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Error", Message: "x"}}, report.Pod{Pod: converge.Pod{Ended: true}}},
		"is on a node":   {corev1.Pod{Spec: corev1.PodSpec{NodeName: "fine"}}, report.Pod{}},
		"is out of call": {corev1.Pod{Spec: corev1.PodSpec{NodeName: "lost"}}, report.Pod{Pod: converge.Pod{NodeLost: true}, Node: "lost"}},
	} {
		tc.want.Ordinal = -1
		if diff := cmp.Diff(tc.want, reportPod(&tc.pod, known)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReportWorkload(t *testing.T) {
	w := func(edit func(*kueue.Workload)) *kueue.Workload {
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "g", UID: "u"}}
		edit(w)
		return w
	}
	condition := func(name string, status metav1.ConditionStatus, message string) func(*kueue.Workload) {
		return func(w *kueue.Workload) {
			w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: name, Status: status, Message: message})
		}
	}
	base := func(edit func(*report.Workload)) report.Workload {
		out := report.Workload{Workload: converge.Workload{Name: "g", UID: "u"}, Unpark: joint.Unpark("team-a", "g")}
		edit(&out)
		return out
	}
	v := &View{parked: map[types.UID]bool{"p": true}}
	for name, tc := range map[string]struct {
		in   *kueue.Workload
		want report.Workload
	}{
		"waits":    {w(condition(kueue.WorkloadQuotaReserved, "False", "no room")), base(func(r *report.Workload) { r.Message = "no room" })},
		"has some": {w(condition(kueue.WorkloadQuotaReserved, "True", "Quota reserved")), base(func(r *report.Workload) { r.Reserved = true })},
		"evicted": {w(func(w *kueue.Workload) {
			condition(kueue.WorkloadQuotaReserved, "True", "Quota reserved")(w)
			condition(kueue.WorkloadEvicted, "True", "Preempted")(w)
		}), base(func(r *report.Workload) { r.Reserved, r.Evicted, r.Message = true, true, "Preempted" })},
		"inactive": {w(func(w *kueue.Workload) { w.Spec.Active = ptr.To(false) }), base(func(r *report.Workload) { r.Inactive = true })},
		"parked": {w(func(w *kueue.Workload) { w.Spec.Active, w.UID = ptr.To(false), "p" }), base(func(r *report.Workload) {
			r.Inactive, r.Parked, r.UID = true, true, "p"
		})},
		"assigned": {w(func(w *kueue.Workload) {
			w.Status.Admission = &kueue.Admission{PodSetAssignments: []kueue.PodSetAssignment{{
				Name: "server", Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{"nvidia.com/gpu": "a10g"},
			}}}
		}), base(func(r *report.Workload) {
			r.Assigned = map[string]map[string]string{"server": {"nvidia.com/gpu": "a10g"}}
		})},
	} {
		if diff := cmp.Diff(tc.want, v.reportWorkload(tc.in)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestReport: what a status is made from, and what a pass has done to it.
func TestReport(t *testing.T) {
	md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "m"}}
	md.Spec.Engine.Name = v1.EngineVLLM
	md.Spec.Router = &v1.RouterSpec{Name: v1.RouterLLMD}
	md.Spec.KVCache = &v1.KVCacheSpec{PoolRef: v1.LocalObjectReference{Name: "dram"}}
	md.Spec.Model.ArtifactRef = &v1.LocalObjectReference{Name: "weights"}
	md.Spec.Roles = []v1.Role{
		{Name: "prefill", Kind: v1.RolePrefill, Replicas: 1, Ports: []v1.RolePort{{Port: 9000}}},
		{Name: "decode", Kind: v1.RoleDecode, Replicas: 2, Size: 2},
	}
	pod := func(role, ordinal, member string) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			UID:    types.UID(role + ordinal + member),
			Labels: map[string]string{v1.LabelComponent: role, v1.LabelPodOrdinal: ordinal, v1.LabelMemberIndex: member},
		}}
	}
	template := &corev1.PodTemplate{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Command: []string{"vllm", "--kv-events-config", "{}"},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
			"cpu": {}, "nvidia.com/gpu": {}, "device.gpustack.ai/rdma": {},
		}},
	}}}}}
	v := &View{
		Deployment: md,
		Pods:       []corev1.Pod{pod("prefill", "0", "0"), pod("decode", "0", "0")},
		nodes:      known,
		Chain: Chain{
			Binding: &v1.KVCachePoolBinding{
				Spec:   v1.KVCachePoolBindingSpec{PoolRef: v1.LocalObjectReference{Name: "pool"}, Domain: v1.KVCacheDomain{BlockSize: 64, Dtype: "auto"}},
				Status: v1.KVCachePoolBindingStatus{Phase: "Ready", PhaseMessage: "fine", Usage: ptr.To(resource.MustParse("1Gi"))},
			},
			Pool: &v1.KVCachePool{Status: v1.KVCachePoolStatus{ClientEndpoint: "h:1"}},
		},
		artifact: &v1.ModelArtifact{
			ObjectMeta: metav1.ObjectMeta{Name: "weights"},
			Spec:       v1.ModelArtifactSpec{Source: v1.ArtifactSource{HuggingFace: &v1.HubSource{}}},
			Status: v1.ModelArtifactStatus{
				Conditions: []v1.ReadCondition{{Type: "Resolved", Status: "True"}},
				Resolved:   &v1.ResolvedArtifact{Revision: "r", ManifestDigest: "sha256:d"},
			},
		},
		router: &appsv1.Deployment{Status: appsv1.DeploymentStatus{ReadyReplicas: 2}},
	}
	v.Roles = []*Role{
		{Spec: &md.Spec.Roles[0], view: v, full: template},
		{Spec: &md.Spec.Roles[1], view: v, Stale: true, Fault: report.Fault{Reason: report.ReasonNotCompiled, Message: "compile"}},
	}
	whole, half := converge.Create{Role: "decode", Ordinal: 0}, converge.Create{Role: "decode", Ordinal: 1}
	in := v.Report(Outcome{
		Plan: &converge.Plan{
			Creates: []converge.Create{whole, half},
			Roles:   []converge.RoleReport{{Name: "decode", Outdated: 3}},
		},
		Created: []corev1.Pod{pod("decode", "0", "1"), pod("decode", "1", "0")},
		Failed:  []converge.Create{half},
		Deleted: map[string]bool{"prefill00": true},
		Stores:  map[types.UID]report.Evidence{"decode00": report.Active},
	}, time.Time{})

	if p := in.Pods; len(p) != 4 || !p[0].Deleting || p[1].Deleting || p[1].Store != report.Active || p[3].Ordinal != 1 {
		t.Errorf("Pods %+v", p)
	}
	prefill, decode := in.Roles[0], in.Roles[1]
	if in.Endpoint != "http://m.team-a.svc:9000" || !prefill.Publishes || len(prefill.Accelerators) != 1 || prefill.Created != 0 || prefill.Pass.Outdated != 0 {
		t.Errorf("%s, prefill %+v", in.Endpoint, prefill)
	}
	if decode.Publishes || decode.Created != 1 || decode.Pass.Outdated != 3 ||
		!decode.Stale || decode.Fault.Message != "compile" || decode.Service(1) != "m-decode-r1" {
		t.Errorf("decode %+v", decode)
	}
	if diff := cmp.Diff(report.Cache{Name: "dram", Binding: &report.Binding{
		Pool: "pool", Domain: v1.KVCacheDomain{Name: "default", BlockSize: 64, Dtype: "auto"}, Phase: "Ready", PhaseMessage: "fine", HoldsData: true,
	}}, in.Cache); diff != "" {
		t.Errorf("cache: %s", diff)
	}
	if diff := cmp.Diff(report.Weights{Artifact: "weights", Delivery: v1.DeliveryEngine, Model: &v1.ModelStatus{
		Artifact: "weights", Revision: "r", ManifestDigest: "sha256:d", Delivery: v1.DeliveryEngine,
	}}, in.Weights); diff != "" {
		t.Errorf("weights: %s", diff)
	}
	c := in.Router.Contract
	if !in.Router.Deployed || in.Router.Ready != 2 || in.Router.Name != "m-router" || c.Endpoint != "http://m-router.team-a.svc:8081" || c.PoolEndpoint != "h:1" ||
		len(c.Roles) != 2 || c.Roles[0].KVEvents == nil || c.Roles[1].KVEvents != nil || c.Metrics.Port != 9000 ||
		c.Roles[0].Endpoint != "http://m-prefill.team-a.svc:9000" || c.Roles[1].Endpoint != "http://m-decode.team-a.svc:8000" {
		t.Errorf("router %+v, %+v", in.Router, c)
	}

	// At the end nothing is read but what is left.
	v.Roles = nil
	if in := v.Report(Outcome{Plan: &converge.Plan{}}, time.Time{}); in.Router.Contract != nil || len(in.Roles) > 0 || len(in.Pods) != 2 {
		t.Errorf("%+v", in)
	}
}

func TestHoldsData(t *testing.T) {
	for name, tc := range map[string]struct {
		status v1.KVCachePoolBindingStatus
		want   bool
	}{
		"not known": {v1.KVCachePoolBindingStatus{}, false},
		"empty":     {v1.KVCachePoolBindingStatus{Blocks: ptr.To[int64](0), Usage: &resource.Quantity{}}, false},
		"blocks":    {v1.KVCachePoolBindingStatus{Blocks: ptr.To[int64](1)}, true},
		"usage":     {v1.KVCachePoolBindingStatus{Usage: ptr.To(resource.MustParse("1"))}, true},
	} {
		if got := HoldsData(&v1.KVCachePoolBinding{Status: tc.status}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDelivery(t *testing.T) {
	csi := &Role{full: &corev1.PodTemplate{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: render.ModelDriver}}}},
	}}}}
	hub := v1.ArtifactSource{HuggingFace: &v1.HubSource{}}
	filtered := v1.ModelArtifact{Spec: v1.ModelArtifactSpec{Source: hub, IgnorePatterns: []string{"*.bin"}}}
	for name, tc := range map[string]struct {
		artifact v1.ModelArtifact
		roles    []*Role
		want     v1.Delivery
		fault    string
	}{
		"claim":           {v1.ModelArtifact{Spec: v1.ModelArtifactSpec{Source: v1.ArtifactSource{PersistentVolumeClaim: &v1.ClaimSource{}}}}, nil, v1.DeliveryPVC, ""},
		"image":           {v1.ModelArtifact{Spec: v1.ModelArtifactSpec{Source: v1.ArtifactSource{Image: &v1.ImageSource{}}}}, nil, v1.DeliveryImage, ""},
		"engine":          {v1.ModelArtifact{Spec: v1.ModelArtifactSpec{Source: hub}}, []*Role{{}}, v1.DeliveryEngine, ""},
		"node":            {filtered, []*Role{{}, csi}, v1.DeliveryNode, ""},
		"filtered":        {filtered, nil, v1.DeliveryEngine, ReasonFilterNeedsNodeDelivery},
		"expected":        {v1.ModelArtifact{Spec: v1.ModelArtifactSpec{Source: hub, ExpectedDigest: "sha256:d"}}, nil, v1.DeliveryEngine, ReasonAnchorNeedsNodeDelivery},
		"expected before": {v1.ModelArtifact{Spec: v1.ModelArtifactSpec{Source: hub}, Status: v1.ModelArtifactStatus{Resolved: &v1.ResolvedArtifact{DigestSource: "Expected"}}}, nil, v1.DeliveryEngine, ReasonAnchorNeedsNodeDelivery},
	} {
		how := delivery(&tc.artifact, tc.roles)
		if fault := undeliverable(&tc.artifact, how); how != tc.want || fault.Reason != tc.fault {
			t.Errorf("%s: %s, %+v", name, how, fault)
		}
	}
}

// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/replica"

	"gpustack.ai/mdc/cmd/agent/joint"
	"gpustack.ai/mdc/cmd/agent/report"
)

// objectsByKind reads objects of a file by their kind.
func objectsByKind(t *testing.T, file string) map[string][]*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]*unstructured.Unstructured{}
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		u := &unstructured.Unstructured{}
		if err := d.Decode(&u.Object); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out[u.GetKind()] = append(out[u.GetKind()], u)
	}
}

// TestStatusTree compares whole trees; UPDATE_GOLDEN=1 rewrites them.
func TestStatusTree(t *testing.T) {
	objects := objectsByKind(t, "testdata/status/objects.yaml")
	for file, c := range map[string]struct {
		width int
		knows bool
	}{
		"tree.txt":      {0, true},
		"narrow.txt":    {100, true},
		"workloads.txt": {0, false},
	} {
		t.Run(file, func(t *testing.T) {
			workloads := objects["Workload"]
			if !c.knows {
				workloads = nil
			}
			deployments, err := joinLive(objects["ModelDeployment"], objects["Pod"], workloads, c.knows)
			if err != nil {
				t.Fatal(err)
			}
			got := drawTree(statusTree(deployments), c.width, false)
			golden := filepath.Join("testdata/status", file)
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			// Colours change nothing else.
			painted := drawTree(statusTree(deployments), c.width, true)
			if !strings.Contains(painted, "\x1b[32m") || unpainted(painted) != got {
				t.Errorf("painted:\n%s", painted)
			}
		})
	}
}

// TestStatusColors: what gets better by itself is not told like what does not.
func TestStatusColors(t *testing.T) {
	objects := objectsByKind(t, "testdata/status/objects.yaml")
	deployments, err := joinLive(objects["ModelDeployment"], objects["Pod"], objects["Workload"], true)
	if err != nil {
		t.Fatal(err)
	}
	painted := drawTree(statusTree(deployments), 0, true)
	for state, code := range map[liveState]string{
		stateReady: "32", stateMissing: "33", stateDraining: "33", stateGated: "33", stateCrashing: "31;1", stateParked: "31;1", statePreempted: "31;1",
	} {
		if n := strings.Count(painted, "m"+string(state)+"\x1b[0m"); n == 0 || n != strings.Count(painted, "\x1b["+code+"m"+string(state)+"\x1b[0m") {
			t.Errorf("%s is not always painted %s:\n%s", state, code, painted)
		}
	}
}

// TestNextSteps: every reason with a next step is one that the agent can give
// where it is looked for.
func TestNextSteps(t *testing.T) {
	for reason := range nextSteps {
		if !slices.ContainsFunc(tellingConditions, func(c tellingCondition) bool { return slices.Contains(report.Reasons(c.condition), reason) }) {
			t.Errorf("no condition gives %s", reason)
		}
	}
}

func unpainted(text string) string {
	for _, code := range []string{"0", "1", "31;1", "32", "33"} {
		text = strings.ReplaceAll(text, "\x1b["+code+"m", "")
	}
	return text
}

// TestStatusJSON: what is printed is what the cluster has, joined.
func TestStatusJSON(t *testing.T) {
	objects := objectsByKind(t, "testdata/status/objects.yaml")
	deployments, err := joinLive(objects["ModelDeployment"], objects["Pod"], objects["Workload"], true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := (&screen{format: "json"}).render(deployments)
	if err != nil {
		t.Fatal(err)
	}
	var got statusJSON
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Deployments) != len(objects["ModelDeployment"]) {
		t.Fatalf("%d deployments", len(got.Deployments))
	}
	decode := got.Deployments[0].Roles[1].Replicas[0]
	workload := unstructured.Unstructured{Object: decode.Workload}
	if decode.State != "Gated" || len(decode.Pods) != 2 || workload.GetName() != "w-decode-0" || workload.GetAPIVersion() != "kueue.x-k8s.io/v1beta2" {
		t.Errorf("%+v", decode)
	}
	server := got.Deployments[1]
	if r := server.Roles[0]; r.Desired != 5 || r.Ready != 1 || len(r.Replicas) != 6 || r.Replicas[5].Ordinal != 7 || len(server.Orphans) != 1 {
		t.Errorf("%+v", r)
	}
	if strings.Contains(text, `"copied"`) {
		t.Error("a Pod of another owner is taken in")
	}
	if text, err := (&screen{format: "json"}).render(nil); err != nil || text != "{\n  \"deployments\": []\n}\n" {
		t.Errorf("nothing: %q, %v", text, err)
	}
}

// livePodWith is a Pod of a replica, changed by each change.
func livePodWith(member int32, changes ...func(*corev1.Pod)) *livePod {
	p := &livePod{member: member, Pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: types.UID('a' + member)}}}
	for _, change := range changes {
		change(&p.Pod)
	}
	return p
}

func TestJudgeReplica(t *testing.T) {
	gatedPod := func(p *corev1.Pod) {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
	}
	node := func(p *corev1.Pod) { p.Spec.NodeName = "gpu-1" }
	ready := func(p *corev1.Pod) {
		node(p)
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	}
	leaving := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	preempted := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: "TerminationTarget", Status: corev1.ConditionTrue, Reason: "WorkloadEvictedDueToPreempted", Message: "for another",
		})
	}
	unscheduled := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available",
		})
	}
	opened := func(p *corev1.Pod) {
		unscheduled(p)
		p.Status.Conditions[0].Reason = corev1.PodReasonSchedulingGated
	}
	held := func(p *corev1.Pod) {
		opened(p)
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "of-another"}}
	}
	failed := func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "low on memory"
	}
	container := func(c corev1.ContainerStatus) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			node(p)
			c.Name = replica.MainContainer
			p.Status.ContainerStatuses = []corev1.ContainerStatus{c}
		}
	}
	queued := func(conditions ...metav1.Condition) *workload {
		w := &workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "w"}}
		w.Status.Conditions = conditions
		return w
	}
	is := func(kind string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Message: "is " + kind}
	}
	isNot := func(kind, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Message: message}
	}
	checked := func(w *workload, state, message string) *workload {
		w.Status.AdmissionChecks = append(w.Status.AdmissionChecks, struct {
			Name    string `json:"name"`
			State   string `json:"state"`
			Message string `json:"message"`
		}{"joint", state, message})
		return w
	}
	inactive := func(w *workload) *workload {
		w.Spec.Active = new(bool)
		return w
	}
	unpark := joint.Unpark("ns", "w")

	for name, c := range map[string]struct {
		size     int32
		surplus  bool
		blind    bool
		pods     []*livePod
		workload *workload
		state    liveState
		why      string
		next     string
	}{
		"nothing":         {state: stateMissing},
		"ready":           {pods: []*livePod{livePodWith(0, ready)}, state: stateReady},
		"ready and going": {pods: []*livePod{livePodWith(0, ready, leaving)}, state: stateDraining, why: "being deleted: p on Node gpu-1"},
		"surplus":         {surplus: true, pods: []*livePod{livePodWith(0, ready)}, state: stateReady, why: "not declared any more"},
		"replaced by a new one": {
			pods: []*livePod{livePodWith(0, ready, leaving), livePodWith(0, gatedPod)}, workload: queued(isNot("QuotaReserved", "full")),
			state: stateGated, why: "full",
		},
		"no Workload yet":             {pods: []*livePod{livePodWith(0, gatedPod)}, state: stateGated, why: "no Workload"},
		"Workloads cannot be read":    {blind: true, pods: []*livePod{livePodWith(0, gatedPod)}, state: stateGated, why: "ClusterQueue a10g"},
		"waits for quota":             {pods: []*livePod{livePodWith(0, gatedPod)}, workload: queued(isNot("QuotaReserved", "insufficient")), state: stateGated, why: "ClusterQueue a10g: insufficient"},
		"waits for quota once more":   {pods: []*livePod{livePodWith(0, gatedPod)}, workload: queued(isNot("QuotaReserved", ""), is("Evicted")), state: stateGated, why: "is Evicted"},
		"evicted, not cleared yet":    {pods: []*livePod{livePodWith(0, gatedPod)}, workload: queued(is("QuotaReserved"), is("Evicted")), state: stateGated, why: "is Evicted"},
		"waits for the others":        {pods: []*livePod{livePodWith(0, gatedPod)}, workload: checked(queued(is("QuotaReserved")), "Pending", "1 of 2"), state: stateWaiting, why: "check joint: 1 of 2"},
		"waits for an agent":          {pods: []*livePod{livePodWith(0, gatedPod)}, workload: checked(queued(is("QuotaReserved")), "Pending", ""), state: stateWaiting, why: "check joint has no answer yet", next: "if it stays so, see that whoever answers the check runs: of modeldeployment-joint, the agent"},
		"waits for nothing":           {pods: []*livePod{livePodWith(0, gatedPod)}, workload: checked(queued(is("QuotaReserved")), "Ready", "all"), state: stateWaiting, why: "not admitted it yet"},
		"just admitted":               {pods: []*livePod{livePodWith(0, gatedPod)}, workload: queued(is("QuotaReserved"), is("Admitted")), state: stateLoading, why: "lets its Pods go"},
		"parked":                      {pods: []*livePod{livePodWith(0, gatedPod)}, workload: checked(inactive(queued()), "Pending", joint.Marker+" After"), state: stateParked, next: unpark},
		"parked, and its Pod is gone": {workload: checked(inactive(queued()), "Pending", joint.Marker), state: stateParked, next: unpark},
		"deactivated":                 {pods: []*livePod{livePodWith(0, gatedPod)}, workload: inactive(queued()), state: stateInactive, why: "Workload w", next: unpark},
		"preempted":                   {pods: []*livePod{livePodWith(0, ready, leaving, preempted)}, state: statePreempted, why: "for another"},
		"is being evicted":            {pods: []*livePod{livePodWith(0, node)}, workload: queued(is("QuotaReserved"), is("Evicted")), state: statePreempted, why: "is Evicted"},
		"no Node":                     {pods: []*livePod{livePodWith(0, unscheduled)}, state: statePending, why: "0/3 nodes"},
		"Kueue has just let it go":    {pods: []*livePod{livePodWith(0, opened)}, state: statePending, why: "no Node has been chosen yet"},
		"another holds it back":       {pods: []*livePod{livePodWith(0, held)}, state: statePending, why: "0/3 nodes"},
		"the kubelet has not begun":   {pods: []*livePod{livePodWith(0, node)}, state: stateLoading, why: "not started"},
		"has ended":                   {pods: []*livePod{livePodWith(0, node, failed)}, state: stateFailed, why: "Evicted: low on memory", next: "kubectl describe pod p --namespace ns"},
		"the image is not there": {
			pods:  []*livePod{livePodWith(0, container(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}}}))},
			state: stateLoading, why: "container main: ImagePullBackOff: no such image",
		},
		"crashes": {
			pods:  []*livePod{livePodWith(0, container(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}}}))},
			state: stateCrashing, why: "CrashLoopBackOff: back-off",
		},
		"its Node does not answer": {
			pods:  []*livePod{livePodWith(0, node, container(corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}))},
			state: stateLoading, why: "may not answer", next: "kubectl get node gpu-1",
		},
		"loads": {
			pods:  []*livePod{livePodWith(0, container(corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}))},
			state: stateLoading, why: "container main runs and is not ready yet",
		},
		"loads again": {
			pods: []*livePod{livePodWith(0, container(corev1.ContainerStatus{
				RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
			}))},
			state: stateLoading, why: "code 137 (OOMKilled)", next: "kubectl logs p --namespace ns --container main --previous",
		},
		"a member lacks":                   {size: 2, pods: []*livePod{livePodWith(0, gatedPod)}, state: stateIncomplete, why: "1 of 2 Pods"},
		"a member goes":                    {size: 2, pods: []*livePod{livePodWith(0, ready), livePodWith(1, ready, leaving)}, state: stateIncomplete, why: "being deleted: p"},
		"all members are ready":            {size: 2, pods: []*livePod{livePodWith(0, ready), livePodWith(1, ready)}, state: stateReady},
		"the worst of the members counts":  {size: 2, pods: []*livePod{livePodWith(0, node), livePodWith(1, unscheduled)}, state: statePending, why: "0/3"},
		"the worst of the members, turned": {size: 2, pods: []*livePod{livePodWith(0, unscheduled), livePodWith(1, ready)}, state: statePending, why: "0/3"},
	} {
		t.Run(name, func(t *testing.T) {
			one := &liveReplica{declared: !c.surplus, size: max(c.size, 1), pods: c.pods, workload: c.workload}
			md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
			got := judgeReplica(md, &v1.Role{Name: "r", InstanceType: "a10g"}, one, !c.blind)
			if got.state != c.state || !strings.Contains(got.why, c.why) || got.next != c.next {
				t.Errorf("%+v, want %s, %q, %q", got, c.state, c.why, c.next)
			}
			if got.state == stateReady && c.why == "" && got.why != "" {
				t.Errorf("of a replica that is ready is said %q", got.why)
			}
		})
	}
}

// TestWorkloadOfReplica: the one of a Pod that lives comes first, and a name is
// what is left without Pods.
func TestWorkloadOfReplica(t *testing.T) {
	md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	named := func(name string, deleting bool, owners ...types.UID) *workload {
		w := &workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		if deleting {
			w.DeletionTimestamp = &metav1.Time{}
		}
		for _, uid := range owners {
			w.OwnerReferences = append(w.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", UID: uid})
		}
		return w
	}
	group := replica.GroupName("ns", "m", "r", 3)
	old := livePodWith(0, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })
	current := livePodWith(1)
	for name, c := range map[string]struct {
		workloads []*workload
		pods      []*livePod
		want      string
	}{
		"none":              {},
		"of its Pod":        {[]*workload{named("x", false, "b"), named(group, false)}, []*livePod{current}, "x"},
		"by name":           {[]*workload{named("x", false, "z"), named(group, false)}, nil, group},
		"of the living Pod": {[]*workload{named("x", false, "a"), named("y", false, "b")}, []*livePod{old, current}, "y"},
		"of the only Pod":   {[]*workload{named("x", true, "a")}, []*livePod{old}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			x := workloadIndex{byPod: map[types.UID][]*workload{}, byName: map[types.NamespacedName]*workload{}}
			for _, w := range c.workloads {
				x.add(w)
			}
			got := ""
			if w := x.of(md, "r", &liveReplica{ordinal: 3, pods: c.pods}); w != nil {
				got = w.Name
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestDrawHostile: what a cluster says commands no terminal and breaks no line.
func TestDrawHostile(t *testing.T) {
	n := &treeNode{name: "n", state: "Ready", said: []string{"one\ntwo\x1b[2Jthree\u009b"}, next: []string{"do\nthis"}}
	text := drawTree([]*treeNode{n}, 0, false)
	if strings.Count(text, "\n") != 3 || strings.ContainsAny(text, "\x1b\u009b\r") {
		t.Errorf("%q", text)
	}
}

func TestFit(t *testing.T) {
	text := "1\n2\n3\n4\n5\n6\n"
	for height, want := range map[int]string{
		10: text,
		7:  text,
		5:  "1\n2\n3\n... and 3 more lines",
	} {
		if got := fit(text, 80, height); got != want {
			t.Errorf("height %d: %q", height, got)
		}
	}
	if got := fit(strings.Repeat("x", 200)+"\n2\n3\n4\n", 80, 6); got != strings.Repeat("x", 200)+"\n2\n... and 2 more lines" {
		t.Errorf("long lines: %q", got)
	}
}

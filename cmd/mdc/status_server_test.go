// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
)

// transcript is what a command prints while it runs.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

const (
	liveDeploymentYAML = `
apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
metadata: {namespace: team-a, name: qwen}
spec:
  model: {name: Qwen/Qwen3-8B}
  engine: {name: vLLM, version: 0.29.0}
  roles: [{name: server, kind: Server, replicas: 1, instanceType: a10g, resources: {accelerator: 1}}]
status:
  observedGeneration: 1
  phase: Starting
  phaseMessage: 1 of 1 replicas wait for quota
  roleSummary: 0S
`
	// The UID of the owner comes in.
	livePodYAML = `
apiVersion: v1
kind: Pod
metadata:
  namespace: team-a
  name: qwen-server-0
  labels:
    app.kubernetes.io/name: model-deployment
    app.kubernetes.io/instance: qwen
    app.kubernetes.io/component: server
    modeldeployment.gpustack.ai/pod-ordinal: "0"
    modeldeployment.gpustack.ai/member-index: "0"
  ownerReferences: [{apiVersion: worker.gpustack.ai/v1, kind: ModelDeployment, name: qwen, uid: %q, controller: true}]
spec:
  schedulingGates: [{name: kueue.x-k8s.io/admission}]
  containers: [{name: main, image: none}]
`
	liveWorkloadYAML = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  namespace: team-a
  name: w
  ownerReferences: [{apiVersion: v1, kind: Pod, name: qwen-server-0, uid: %q}]
spec: {queueName: gpu, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: main, image: none}], restartPolicy: Never}}}]}
status:
  conditions: [{type: QuotaReserved, status: "%s", reason: Any, message: %q, lastTransitionTime: "2026-01-01T00:00:00Z"}]
`
	// An account that may see deployments and Pods, and no Workloads.
	readerYAML = `
apiVersion: v1
kind: ServiceAccount
metadata: {namespace: team-a, name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [worker.gpustack.ai], resources: [modeldeployments], verbs: [list, watch]}
- {apiGroups: [""], resources: [pods], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, namespace: team-a, name: reader}]
`
)

// TestStatus: on a real API server.
func TestStatus(t *testing.T) {
	c := localcluster.ForTest(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	apply := func(text string) {
		t.Helper()
		must(c.ApplyYAML(ctx, []byte(text)))
	}
	t.Setenv("KUBECONFIG", c.Kubeconfig)
	has := func(what, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", what, part, text)
			}
		}
	}

	if _, _, err := mdc("status", "-A"); err == nil || !strings.Contains(err.Error(), "does not serve ModelDeployments") {
		t.Errorf("nothing is installed: %v", err)
	}
	var crds [][]byte
	for _, text := range v1.CRDs() {
		crds = append(crds, text)
	}
	must(c.ApplyYAML(ctx, bytes.Join(crds, []byte("\n---\n"))))
	apply("{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}")
	stdout, stderr, err := mdc("status")
	if err != nil || stdout != "" {
		t.Errorf("no deployment: %v, %q", err, stdout)
	}
	has("no deployment", stderr, "no ModelDeployment in namespace default", "nothing is told of Workloads")
	if stdout, _, err := mdc("status", "-o", "json"); err != nil || !strings.Contains(stdout, `"deployments": []`) {
		t.Errorf("no deployment: %v, %q", err, stdout)
	}

	apply(liveDeploymentYAML)
	md, err := c.Dynamic.Resource(v1.GroupVersion.WithResource("modeldeployments")).Namespace("team-a").Get(ctx, "qwen", metav1.GetOptions{})
	must(err)
	apply(fmt.Sprintf(livePodYAML, md.GetUID()))
	pods := c.Client.CoreV1().Pods("team-a")
	pod, err := pods.Get(ctx, "qwen-server-0", metav1.GetOptions{})
	must(err)
	stdout, stderr, err = mdc("status", "-n", "team-a")
	must(err)
	has("without Kueue", stdout, "team-a/qwen", "0 of 1", "waits for quota of ClusterQueue a10g", "Pod qwen-server-0")
	if strings.Count(stderr, "Workloads") != 1 {
		t.Errorf("without Kueue: %s", stderr)
	}

	must(c.InstallKueueAPI(ctx))
	workload := func(reserved, message string) { apply(fmt.Sprintf(liveWorkloadYAML, pod.UID, reserved, message)) }
	workload("False", "insufficient quota")
	stdout, stderr, err = mdc("status", "qwen", "-n", "team-a")
	must(err)
	has("with Kueue", stdout, "ClusterQueue a10g: insufficient quota", "w in LocalQueue gpu")
	if stderr != "" {
		t.Errorf("with Kueue: %s", stderr)
	}
	stdout, _, err = mdc("status", "-A", "-o", "json")
	must(err)
	var document statusJSON
	must(json.Unmarshal([]byte(stdout), &document))
	if r := document.Deployments[0].Roles[0].Replicas[0]; r.State != "Gated" || len(r.Pods) != 1 || r.Workload == nil || strings.Contains(stdout, "managedFields") {
		t.Errorf("%s", stdout)
	}

	for _, args := range [][]string{
		{"nope", "-n", "team-a"},
		{"qwen"},
		{"qwen", "Not a name", "-n", "team-a"},
		{"qwen", "-A"},
		{"-A", "-n", "team-a"},
		{"-n", "team-a", "-o", "yaml"},
		{"--context", "nowhere"},
	} {
		if stdout, _, err := mdc(append([]string{"status"}, args...)...); err == nil || stdout != "" {
			t.Errorf("%v: %v, %q", args, err, stdout)
		}
	}
	if stdout, _, err := mdc("__complete", "status", "-n", "team-a", ""); err != nil || !strings.HasPrefix(stdout, "qwen\n") {
		t.Errorf("names: %v, %q", err, stdout)
	}
	if stdout, _, err := mdc("__complete", "status", "qwen", "-n", ""); err != nil || !strings.Contains(stdout, "\nteam-a\n:4") {
		t.Errorf("namespaces: %v, %q", err, stdout)
	}

	// Who may not see Workloads is told so, and the rest.
	apply(readerYAML)
	reader, err := c.KubeconfigAs(ctx, "team-a", "reader")
	must(err)
	var forbidden string
	must(localcluster.Eventually(ctx, "the role is known", func(context.Context) (err error) {
		stdout, forbidden, err = mdc("status", "-n", "team-a", "--kubeconfig", reader)
		return err
	}))
	has("forbidden", forbidden, "nothing is told of Workloads", "forbidden")
	has("forbidden", stdout, "waits for quota of ClusterQueue a10g\n")

	// A watch prints what changes, and only that.
	out := &transcript{}
	watching, interrupt := context.WithCancel(ctx)
	root := newRoot(&app{fs: filesys.MakeFsOnDisk(), stdin: strings.NewReader(""), stdout: out, stderr: out}, "mdc")
	root.SetArgs([]string{"status", "-n", "team-a", "--watch"})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(watching) }()
	prints := func(what string, blocks int, parts ...string) {
		t.Helper()
		must(localcluster.Eventually(ctx, what, func(context.Context) error {
			text := out.String()
			if n := strings.Count(text, "NAME"); n != blocks {
				return fmt.Errorf("%d blocks, want %d:\n%s", n, blocks, text)
			}
			last := text[strings.LastIndex(text, "NAME"):]
			for _, part := range parts {
				if !strings.Contains(last, part) {
					return fmt.Errorf("no %q in\n%s", part, last)
				}
			}
			return nil
		}))
	}
	prints("it begins", 1, "insufficient quota")
	pod.Annotations = map[string]string{"of": "no interest"}
	pod, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	must(err)
	workload("True", "")
	prints("quota is reserved", 2, "Waiting", "Reserved")
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	must(err)
	prints("the Pod is ready", 3, "1 of 1", "replica 0  Ready")
	now := int64(0)
	must(pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	prints("the Pod is gone", 4, "0 of 1", "Missing")
	interrupt()
	select {
	case err := <-ended:
		must(err)
	case <-ctx.Done():
		t.Error("it does not end")
	}
	if text := out.String(); strings.Contains(text, "\x1b") {
		t.Errorf("this is no terminal: %q", text)
	}
}

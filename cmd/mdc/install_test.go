// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/localcluster"
	"gpustack.ai/mdc/cmd/agent/manifests"
)

const agentImage = "registry.example/mdc-agent:1"

var admissionChecks = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "admissionchecks"}

// installed is what is printed, as objects.
func installed(t *testing.T, args ...string) []*unstructured.Unstructured {
	t.Helper()
	return parsed(t, []byte(printed(t, append([]string{"install", "--image", agentImage}, args...)...)))
}

func parsed(t *testing.T, text []byte) []*unstructured.Unstructured {
	t.Helper()
	objects, err := localcluster.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestInstallGolden compares all that is printed with a file, in which a
// CustomResourceDefinition is the name of the file that it equals.
// UPDATE_SCRIPTS=1 writes it.
func TestInstallGolden(t *testing.T) {
	documents := strings.Split(printed(t, "install", "--image", agentImage, "--with-read-crds"), "\n---\n")
	for i, text := range documents {
		for name, crd := range v1.CRDs() {
			if reflect.DeepEqual(parsed(t, []byte(text)), parsed(t, crd)) {
				documents[i] = "# " + name
			}
		}
	}
	got := strings.Join(documents, "\n---\n")
	const file = "testdata/install/golden.yaml"
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("not as in %s:\n%s", file, got)
	}
}

// TestInstallFormats: JSON has the same objects, and the agent's rights are those
// of the manifest.
func TestInstallFormats(t *testing.T) {
	objects := installed(t)
	var list unstructured.UnstructuredList
	if err := json.Unmarshal([]byte(printed(t, "install", "--image", agentImage, "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != len(objects) {
		t.Fatalf("%d and %d objects", len(list.Items), len(objects))
	}
	for i, o := range objects {
		if !sameJSON(t, o, &list.Items[i]) {
			t.Errorf("%s %s differs in JSON", o.GetKind(), o.GetName())
		}
	}
	for _, rights := range parsed(t, manifests.RBAC) {
		found := false
		for _, o := range objects {
			found = found || reflect.DeepEqual(o, rights)
		}
		if !found {
			t.Errorf("%s %s is not as in the manifest", rights.GetKind(), rights.GetName())
		}
	}
}

func sameJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// TestInstallNamespace: another namespace stands wherever the default one did,
// even one that YAML would read as something else.
func TestInstallNamespace(t *testing.T) {
	places := strings.Count(printed(t, "install", "--image", agentImage), manifests.Namespace)
	for namespace, text := range map[string]string{"team-a": "team-a", "yes": `"yes"`, "1e3": `"1e3"`} {
		got := printed(t, "install", "--image", agentImage, "-n", namespace)
		if strings.Contains(got, manifests.Namespace) || strings.Count(got, ": "+text+"\n") != places {
			t.Errorf("%s, %d places:\n%s", namespace, places, got)
		}
		for _, o := range parsed(t, []byte(got)) {
			if n := o.GetNamespace(); n != "" && n != namespace {
				t.Errorf("%s %s is in %q", o.GetKind(), o.GetName(), n)
			}
		}
	}
}

// TestInstall applies what is printed to an API server, in order and at once, and
// runs the agent with the account that it then has.
func TestInstall(t *testing.T) {
	c := localcluster.ForTest(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.InstallKueueAPI(ctx))
	groups, err := restmapper.GetAPIGroupResources(c.Client.Discovery())
	must(err)
	// The Pod Security of namespaces that exist already.
	for _, name := range []string{manifests.Namespace, "team-a"} {
		must(c.ApplyYAML(ctx, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: "+name+", labels: {pod-security.kubernetes.io/enforce: restricted}}}")))
	}
	apply := func(t *testing.T, objects []*unstructured.Unstructured) {
		for range 2 { // again is an upgrade
			for _, o := range objects {
				if err := applyStrictly(ctx, c.Dynamic, restmapper.NewDiscoveryRESTMapper(groups), o); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		}
	}
	t.Run("restricted", func(t *testing.T) {
		objects := installed(t)
		apply(t, objects)
		d := deploymentOf(t, objects)
		pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: d.Spec.Template.Spec}
		pod.Name = "agent"
		pods := c.Client.CoreV1().Pods(d.Namespace)
		dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
		if _, err := pods.Create(ctx, pod, dry); err != nil {
			t.Errorf("its Pod is refused: %v", err)
		}
		pod.Spec.SecurityContext.RunAsNonRoot = nil
		if _, err := pods.Create(ctx, pod, dry); !apierrors.IsForbidden(err) {
			t.Errorf("a Pod that may run as root: %v", err)
		}
	})
	t.Run("agent", func(t *testing.T) {
		const namespace = "team-a"
		objects := installed(t, "-n", namespace, "--replicas", "2", "--with-read-crds")
		apply(t, objects)
		kubeconfig, err := c.KubeconfigAs(ctx, namespace, manifests.Name)
		must(err)
		runAgent(t, c, namespace, deploymentOf(t, objects).Spec.Template.Spec.Containers[0], kubeconfig)
	})
}

// applyStrictly applies as kubectl apply --server-side does: a conflict or a
// field that nobody knows is an error.
func applyStrictly(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, o *unstructured.Unstructured) error {
	kind := o.GroupVersionKind()
	m, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	text, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = client.Resource(m.Resource).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{
		FieldManager: "kubectl", FieldValidation: metav1.FieldValidationStrict, Force: ptr.To(false),
	})
	return err
}

func deploymentOf(t *testing.T, objects []*unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// runAgent runs the program as its container does, as far as this machine can,
// until it is ready and leads.
func runAgent(t *testing.T, c *localcluster.Cluster, namespace string, container corev1.Container, kubeconfig string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "agent")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "gpustack.ai/mdc/cmd/agent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// Its ports are those of the container, on this machine others.
	addresses, free := map[string]string{}, localcluster.FreeAddresses(t, len(container.Ports))
	var args []string
	for _, arg := range container.Args {
		for i, p := range container.Ports {
			if flag, ok := strings.CutSuffix(arg, fmt.Sprintf("=:%d", p.ContainerPort)); ok {
				addresses[p.Name] = free[i]
				arg = flag + "=" + addresses[p.Name]
			}
		}
		args = append(args, arg)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, append(args, "--kubeconfig="+kubeconfig, "--leader-election-namespace="+namespace)...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 40 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	urls := []string{"http://" + addresses["metrics"] + "/metrics"}
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
		urls = append(urls, "http://"+addresses[probe.HTTPGet.Port.StrVal]+probe.HTTPGet.Path)
	}
	wait, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	err := localcluster.Eventually(wait, "the agent is ready and leads", func(ctx context.Context) error {
		select {
		case err := <-ended:
			cancel()
			return fmt.Errorf("the agent ended: %w", err)
		default:
		}
		for _, url := range urls {
			if err := asked(ctx, url); err != nil {
				return err
			}
		}
		lease, err := c.Client.CoordinationV1().Leases(namespace).Get(ctx, manifests.Name, metav1.GetOptions{})
		if err == nil && ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
			err = errors.New("nobody holds the lease")
		}
		if err != nil {
			return err
		}
		// It works: it answers for its AdmissionCheck.
		check, err := c.Dynamic.Resource(admissionChecks).Get(ctx, manifests.CheckName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if conditions, _, _ := unstructured.NestedSlice(check.Object, "status", "conditions"); len(conditions) == 0 {
			return errors.New("its AdmissionCheck is not active")
		}
		return nil
	})
	if err == nil {
		err = cmd.Cancel()
	}
	if err == nil {
		err = <-ended
	}
	if err != nil || strings.Contains(said.String(), "forbidden") {
		t.Errorf("%v\n%s", err, said.String())
	}
}

func asked(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", url, res.StatusCode)
	}
	return nil
}

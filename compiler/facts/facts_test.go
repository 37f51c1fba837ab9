// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/diag"
	"gpustack.ai/mdc/compiler/facts"
	"gpustack.ai/mdc/compiler/source"
)

func objects(t *testing.T, documents ...string) []*source.Object {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	if err := fs.WriteFile("facts.yaml", []byte(strings.Join(documents, "\n---\n"))); err != nil {
		t.Fatal(err)
	}
	set, err := source.Loader{FS: fs}.Load("facts.yaml")
	if err != nil || set.Findings != nil {
		t.Fatal(err, set.Findings)
	}
	return set.Objects
}

func index(t *testing.T, documents ...string) *facts.Index {
	t.Helper()
	x, findings := facts.New(objects(t, documents...), "", nil)
	if findings != nil {
		t.Fatal(findings)
	}
	return x
}

// A chain from Binding a in namespace ns to Pool p and Backend b.
const (
	binding = `{apiVersion: worker.gpustack.ai/v1, kind: KVCachePoolBinding, metadata: {name: a, namespace: ns}, spec: {poolRef: {name: p}, domain: {name: dom, dtype: fp8}}}`
	pool    = `{apiVersion: worker.gpustack.ai/v1, kind: KVCachePool, metadata: {name: p}, spec: {backends: [b]}, status: {clientEndpoint: "h:1"}}`
	backend = `{apiVersion: worker.gpustack.ai/v1, kind: KVCacheBackend, metadata: {name: b}, spec: {connection: {managed: {members: [{}]}}}}`
)

func TestCacheChain(t *testing.T) {
	for name, tc := range map[string]struct {
		documents []string
		namespace string
		missing   *facts.MissingFact
	}{
		"complete":              {[]string{binding, pool, backend}, "ns", nil},
		"any order":             {[]string{backend, binding, pool}, "ns", nil},
		"no Binding":            {[]string{pool, backend}, "ns", &facts.MissingFact{Kind: "KVCachePoolBinding", Namespace: "ns", Name: "a"}},
		"Binding elsewhere":     {[]string{binding, pool, backend}, "other", &facts.MissingFact{Kind: "KVCachePoolBinding", Namespace: "other", Name: "a"}},
		"no Pool":               {[]string{binding, backend}, "ns", &facts.MissingFact{Kind: "KVCachePool", Name: "p", Of: "KVCachePoolBinding a"}},
		"no Backend":            {[]string{binding, pool}, "ns", &facts.MissingFact{Kind: "KVCacheBackend", Name: "b", Of: "KVCachePool p"}},
		"Pool without Backends": {[]string{binding, strings.Replace(pool, "[b]", "[]", 1), backend}, "ns", &facts.MissingFact{Kind: "KVCacheBackend", Of: "KVCachePool p"}},
		"Binding without Pool":  {[]string{strings.Replace(binding, "poolRef: {name: p}, ", "", 1), pool, backend}, "ns", &facts.MissingFact{Kind: "KVCachePool", Of: "KVCachePoolBinding a"}},
		"the first Backend":     {[]string{binding, strings.Replace(pool, "[b]", "[b, c]", 1), backend}, "ns", nil},
		"a namespace on cluster-scoped facts": {
			[]string{binding, strings.Replace(pool, "{name: p}", "{name: p, namespace: x}", 1), strings.Replace(backend, "{name: b}", "{name: b, namespace: z}", 1)}, "ns", nil,
		},
		"another API group": {
			[]string{binding, strings.Replace(pool, "worker.gpustack.ai/v1", "example.com/v1", 1), backend}, "ns", &facts.MissingFact{Kind: "KVCachePool", Name: "p", Of: "KVCachePoolBinding a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, missing := index(t, tc.documents...).Cache(tc.namespace, "a")
			if diff := cmp.Diff(tc.missing, missing); diff != "" {
				t.Fatalf("missing (-want +got):\n%s", diff)
			}
			if missing != nil {
				return
			}
			if c.Binding.Value.Spec.Domain.Dtype != "fp8" || c.Pool.Value.Status.ClientEndpoint != "h:1" || c.Backend.Source.Name != "b" {
				t.Errorf("found %v, %v, %v", c.Binding.Value, c.Pool.Value, c.Backend.Value)
			}
		})
	}
}

func TestDefaultNamespace(t *testing.T) {
	all := objects(t, strings.Replace(binding, ", namespace: ns", "", 1), pool, backend)
	x, findings := facts.New(all, "ns", nil)
	if findings != nil {
		t.Fatal(findings)
	}
	if _, missing := x.Cache("ns", "a"); missing != nil {
		t.Errorf("a Binding without a namespace is not in the default one: %v", missing)
	}
}

func TestPreviousName(t *testing.T) {
	renamed := func(now, before string) string {
		return `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: ` + now +
			`, annotations: {internal.config.kubernetes.io/previousNames: "` + before + `"}}, spec: {os: ` + now + `}}`
	}
	plain := func(name string) string {
		return `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: ` + name + `}, spec: {os: ` + name + `}}`
	}
	for name, tc := range map[string]struct {
		documents []string
		find      map[string]string // name to the current name of what is found
	}{
		"renamed":                     {[]string{renamed("prod-t", "t")}, map[string]string{"t": "prod-t", "prod-t": "prod-t", "x": ""}},
		"renamed twice: the first":    {[]string{renamed("a-b-t", "t,b-t")}, map[string]string{"t": "a-b-t", "a-b-t": "a-b-t", "b-t": ""}},
		"a current name beats it":     {[]string{renamed("prod-t", "t"), plain("t")}, map[string]string{"t": "t", "prod-t": "prod-t"}},
		"in any order":                {[]string{plain("t"), renamed("prod-t", "t")}, map[string]string{"t": "t", "prod-t": "prod-t"}},
		"two of one former name":      {[]string{renamed("b-t", "t"), renamed("a-t", "t")}, map[string]string{"t": "a-t", "a-t": "a-t", "b-t": "b-t"}},
		"the same in the other order": {[]string{renamed("a-t", "t"), renamed("b-t", "t")}, map[string]string{"t": "a-t", "a-t": "a-t", "b-t": "b-t"}},
		"swapped":                     {[]string{renamed("u", "t"), renamed("t", "u")}, map[string]string{"t": "t", "u": "u"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := index(t, tc.documents...)
			for name, want := range tc.find {
				got := ""
				if f, ok := x.InstanceType(name); ok {
					got = f.Value.Name
				}
				if got != want {
					t.Errorf("%s finds %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestOffers(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"inherited":                        {`connection: {managed: {members: [{}, {}]}}, transport: {protocol: RDMA}`, []string{"rdma", "rdma"}},
		"own, in order":                    {`connection: {managed: {members: [{transport: {protocol: EFA}}, {}, {transport: {protocol: CANN}}]}}, transport: {protocol: TCP}`, []string{"efa", "tcp", "ascend"}},
		"nothing stated":                   {`connection: {managed: {members: [{}]}}`, []string{"tcp"}},
		"Auto":                             {`connection: {managed: {members: [{transport: {protocol: Auto}}]}}, transport: {protocol: RDMA}`, []string{"tcp"}},
		"an empty transport is Auto":       {`connection: {managed: {members: [{transport: {}}]}}, transport: {protocol: RDMA}`, []string{"tcp"}},
		"an empty transport of a backend":  {`connection: {managed: {members: [{}]}}, transport: {}`, []string{"tcp"}},
		"every spelling":                   {`connection: {managed: {members: [{transport: {protocol: ROCM}}, {transport: {protocol: MUSA}}, {transport: {protocol: MACA}}]}}`, []string{"hip", "musa", "maca"}},
		"external":                         {`connection: {external: {endpoints: []}}, transport: {protocol: RDMA}`, []string{"rdma"}},
		"external without a transport":     {`connection: {external: {}}`, []string{"tcp"}},
		"managed without members":          {`connection: {managed: {}}, transport: {protocol: EFA}`, []string{"efa"}},
		"a protocol that nobody knows yet": {`connection: {managed: {members: [{transport: {protocol: NEW}}, {}]}}`, []string{"", "tcp"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := `{apiVersion: worker.gpustack.ai/v1, kind: KVCacheBackend, metadata: {name: b}, spec: {` + tc.spec + `}}`
			c, missing := index(t, binding, pool, b).Cache("ns", "a")
			if missing != nil {
				t.Fatal(missing)
			}
			if got := c.Offers(); !slices.Equal(got, tc.want) {
				t.Errorf("offers %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTenant(t *testing.T) {
	conditions := func(list string) string {
		return strings.Replace(pool, `clientEndpoint: "h:1"`, "conditions: ["+list+"]", 1)
	}
	leader := func(fields string) string {
		return `{apiVersion: worker.gpustack.ai/v1, kind: KVCacheBackend, metadata: {name: b}, spec: {connection: {managed: {leader: {` + fields + `}}}}}`
	}
	external := `{apiVersion: worker.gpustack.ai/v1, kind: KVCacheBackend, metadata: {name: b}, spec: {connection: {external: {}}}}`
	unnamed := strings.Replace(binding, "name: dom, ", "", 1)
	for name, tc := range map[string]struct {
		binding, pool, backend string
		want                   string
	}{
		"named":                  {binding, pool, backend, "dom"},
		"unnamed is default":     {unnamed, pool, backend, "default"},
		"default":                {strings.Replace(binding, "name: dom", "name: default", 1), pool, backend, "default"},
		"external":               {binding, pool, external, "dom"},
		"tenancy on":             {binding, pool, leader("multiTenancy: true"), "dom"},
		"tenancy not stated":     {binding, pool, leader(""), "dom"},
		"tenancy off":            {binding, pool, leader("multiTenancy: false"), ""},
		"tenancy off, unnamed":   {unnamed, pool, leader("multiTenancy: false"), ""},
		"no ledger":              {binding, conditions(`{type: QuotaLedgerAvailable, status: "False", reason: MultiTenancyDisabled}`), backend, ""},
		"no ledger, external":    {binding, conditions(`{type: X, status: "True"}, {type: QuotaLedgerAvailable, status: "False", reason: MultiTenancyDisabled}`), external, ""},
		"ledger there":           {binding, conditions(`{type: QuotaLedgerAvailable, status: "True", reason: MultiTenancyDisabled}`), backend, "dom"},
		"ledger not reachable":   {binding, conditions(`{type: QuotaLedgerAvailable, status: "False", reason: RequestFailed}`), backend, "dom"},
		"another condition says": {binding, conditions(`{type: QuotaPolicyWritable, status: "False", reason: MultiTenancyDisabled}`), backend, "dom"},
		"status not known":       {binding, conditions(`{type: QuotaLedgerAvailable, status: Unknown, reason: MultiTenancyDisabled}`), backend, "dom"},
	} {
		t.Run(name, func(t *testing.T) {
			c, missing := index(t, tc.binding, tc.pool, tc.backend).Cache("ns", "a")
			if missing != nil {
				t.Fatal(missing)
			}
			if got := c.Tenant(); got != tc.want {
				t.Errorf("tenant %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	setting := func(name, value string) string {
		return `{apiVersion: gpustack.ai/v1, kind: Setting, metadata: {name: ` + name + `, namespace: gpustack-system}, spec: {value: "` + value + `"}}`
	}
	all := map[facts.SettingName]bool{ // with its default
		facts.SettingKVCacheDtypeOwned:   true,
		facts.SettingResourcesOvercommit: false,
		facts.SettingPrivilegedAllowed:   false,
		facts.SettingHostPathAllowed:     false,
	}
	for name, tc := range map[string]struct {
		fact, override *string
		want           func(byDefault bool) bool
	}{
		"default":                    {nil, nil, func(d bool) bool { return d }},
		"fact, true":                 {text("true"), nil, func(bool) bool { return true }},
		"fact, false":                {text("false"), nil, func(bool) bool { return false }},
		"fact, empty":                {text(""), nil, func(d bool) bool { return d }},
		"override":                   {nil, text("true"), func(bool) bool { return true }},
		"override beats the fact":    {text("true"), text("false"), func(bool) bool { return false }},
		"override that is no answer": {text("true"), text("x"), func(d bool) bool { return d }},
	} {
		t.Run(name, func(t *testing.T) {
			for s, byDefault := range all {
				var docs []string
				if tc.fact != nil {
					docs = append(docs, setting(string(s), *tc.fact))
				}
				overrides := map[string]string{}
				if tc.override != nil {
					overrides[string(s)] = *tc.override
				}
				x, findings := facts.New(objects(t, append(docs, pool)...), "", overrides)
				if findings != nil {
					t.Fatal(findings)
				}
				if got, want := x.Enabled(s), tc.want(byDefault); got != want {
					t.Errorf("%s: %v, want %v", s, got, want)
				}
			}
		})
	}
	// An empty value is no answer either: a proxy without an image never starts.
	for s, want := range map[facts.SettingName]string{
		facts.SettingRoutingSidecarImage: "gpustack/mirrored-llm-d-router-disagg-sidecar:v0.10.0",
		facts.SettingDeliveryMode:        "Engine",
		facts.SettingHTTPSProxy:          "",
	} {
		if got := index(t, setting(string(s), "")).Setting(s); got != want {
			t.Errorf("%s, stated and empty: %q, want %q", s, got, want)
		}
	}
	// An override that empties a Setting beats the fact all the same.
	overridden, findings := facts.New(objects(t, setting(string(facts.SettingHTTPSProxy), "http://proxy:3128")), "",
		map[string]string{string(facts.SettingHTTPSProxy): ""})
	if got := overridden.Setting(facts.SettingHTTPSProxy); got != "" || findings != nil {
		t.Errorf("a proxy that is overridden by none: %q, %v", got, findings)
	}
	for s := range all {
		_, findings := facts.New(objects(t, setting(string(s), "maybe")), "", nil)
		if len(findings) != 1 || findings[0].Rule != "setting-value" {
			t.Errorf("%s that is neither true nor false: %v", s, findings)
		}
	}
	for name, want := range map[facts.SettingName]string{
		facts.SettingKVCacheDtypeOwned:   "model-deployment-kv-cache-dtype-owned",
		facts.SettingResourcesOvercommit: "instance-general-resources-overcommit",
		facts.SettingPrivilegedAllowed:   "instance-privileged-allowed",
		facts.SettingHostPathAllowed:     "instance-host-path-volume-allowed",
	} {
		if string(name) != want {
			t.Errorf("Setting %s, want %s", name, want)
		}
	}
}

func text(s string) *string { return &s }

func TestDuplicates(t *testing.T) {
	it := func(os string) string {
		return `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: t}, spec: {os: ` + os + `}}`
	}
	for name, tc := range map[string]struct {
		documents []string
		clashes   int
	}{
		"equal":                    {[]string{it("linux"), it("linux")}, 0},
		"equal in other words":     {[]string{it("linux"), "apiVersion: worker.gpustack.ai/v1\nkind: InstanceType\nmetadata: {name: t}\nspec:\n  os: \"linux\" # comment"}, 0},
		"different":                {[]string{it("linux"), it("windows")}, 1},
		"equal, quantities":        {[]string{capacity("4"), capacity("4000m")}, 0},
		"different, quantities":    {[]string{capacity("4"), capacity("5")}, 1},
		"one name, two namespaces": {[]string{binding, strings.Replace(binding, "namespace: ns", "namespace: other", 1)}, 0},
		"cluster-scoped, ditto":    {[]string{strings.Replace(pool, "{name: p}", "{name: p, namespace: x}", 1), strings.Replace(pool, "[b]", "[c]", 1)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			all := objects(t, tc.documents...)
			_, findings := facts.New(all, "", nil)
			slices.Reverse(all)
			_, reversed := facts.New(all, "", nil)
			if len(findings) != tc.clashes {
				t.Fatalf("findings %v", findings)
			}
			if diff := cmp.Diff(findings, reversed); diff != "" {
				t.Errorf("the order of the input changes the findings:\n%s", diff)
			}
			for _, f := range findings {
				if f.Rule != "object-clash" || f.Severity != diag.Error || f.Line == 0 || !strings.Contains(f.Message, "facts.yaml:") {
					t.Errorf("finding %+v", f)
				}
			}
		})
	}
}

func capacity(n string) string {
	return `{apiVersion: worker.gpustack.ai/v1, kind: InstanceType, metadata: {name: t}, status: {accelerator: {capacity: ` + n + `}}}`
}

func TestLookups(t *testing.T) {
	x := index(t,
		`{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: nvidia}, handler: nvidia}`,
		`{apiVersion: worker.gpustack.ai/v1, kind: ModelArtifact, metadata: {name: w, namespace: ns}, spec: {}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: amd}}`)
	if !x.RuntimeClass("nvidia") || x.RuntimeClass("amd") || x.RuntimeClass("") {
		t.Error("RuntimeClasses are found wrongly")
	}
	if _, ok := x.Artifact("ns", "w"); !ok {
		t.Error("the artifact is not found")
	}
	if _, ok := x.Artifact("other", "w"); ok {
		t.Error("an artifact of another namespace is found")
	}
	empty, findings := facts.New(nil, "", nil)
	if _, ok := empty.InstanceType(""); ok || findings != nil || empty.RuntimeClass("") {
		t.Error("something is found among no facts")
	}
}

func TestManufacturer(t *testing.T) {
	for name, tc := range map[string]struct{ group, observed, want string }{
		"observed":         {"amd-mi300x", "nvidia", "nvidia"},
		"told by group":    {"nvidia-a10g", "", "nvidia"},
		"id with dashes":   {"ascend-910b-64g", "", "ascend"},
		"group alone":      {"nvidia", "", "nvidia"},
		"neither":          {"", "", ""},
		"group of no name": {"-a10g", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			it := &v1.InstanceType{}
			it.Spec.AcceleratorGroup, it.Status.Detail.Manufacturer = tc.group, tc.observed
			if got := facts.Manufacturer(it); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

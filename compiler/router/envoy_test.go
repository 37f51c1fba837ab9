// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"slices"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/stream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/router"
)

// readEnvoy decodes the bootstrap into Envoy's own types, which refuses unknown
// fields and types, and validates every message of it.
func readEnvoy(t testing.TB, in router.Input) (*bootstrapv3.Bootstrap, *hcmv3.HttpConnectionManager) {
	t.Helper()
	b, err := yaml.YAMLToJSONStrict([]byte(data(t, in, "envoy.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := &bootstrapv3.Bootstrap{}
	if err := protojson.Unmarshal(b, bootstrap); err != nil {
		t.Fatal(err)
	}
	validateMessage(t, bootstrap)
	manager := &hcmv3.HttpConnectionManager{}
	filter := bootstrap.StaticResources.Listeners[0].FilterChains[0].Filters[0]
	if err := filter.GetTypedConfig().UnmarshalTo(manager); err != nil {
		t.Fatal(err)
	}
	return bootstrap, manager
}

// validateMessage validates a message and all messages within, typed
// configurations included, and refuses fields that Envoy gives up.
func validateMessage(t testing.TB, m proto.Message) {
	t.Helper()
	if v, ok := m.(interface{ ValidateAll() error }); ok {
		if err := v.ValidateAll(); err != nil {
			t.Error(err)
		}
	}
	if typed, ok := m.(*anypb.Any); ok {
		inner, err := typed.UnmarshalNew()
		if err != nil {
			t.Fatal(err)
		}
		validateMessage(t, inner)
		return
	}
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if o, ok := f.Options().(*descriptorpb.FieldOptions); ok && o.GetDeprecated() {
			t.Errorf("%s is deprecated", f.FullName())
		}
		switch {
		case f.IsMap():
			if f.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
					validateMessage(t, v.Message().Interface())
					return true
				})
			}
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				validateMessage(t, v.List().Get(i).Message().Interface())
			}
		default:
			validateMessage(t, v.Message().Interface())
		}
		return true
	})
}

func TestEnvoyBootstrap(t *testing.T) {
	bootstrap, manager := readEnvoy(t, vllmPair())
	var filters []string
	for _, f := range manager.HttpFilters {
		filters = append(filters, f.Name)
	}
	// The picker sets the header that clients must not.
	want := []string{"envoy.filters.http.header_mutation", "envoy.filters.http.ext_proc", "envoy.filters.http.router"}
	if !slices.Equal(want, filters) {
		t.Errorf("filters %q", filters)
	}
	clusters := map[string]bool{}
	for _, c := range bootstrap.StaticResources.Clusters {
		clusters[c.Name] = true
	}
	if c := theRoute(manager).GetCluster(); !clusters[c] || !clusters["ext_proc"] {
		t.Errorf("route to %s, clusters %v", c, clusters)
	}
	listener := bootstrap.StaticResources.Listeners[0].Address.GetSocketAddress()
	if listener.GetPortValue() != uint32(router.Port) || bootstrap.Admin != nil {
		t.Errorf("listener %v, admin %v", listener, bootstrap.Admin)
	}
}

func theRoute(m *hcmv3.HttpConnectionManager) *routev3.RouteAction {
	return m.GetRouteConfig().VirtualHosts[0].Routes[0].GetRoute()
}

// TestRequestTimeout: Envoy carries the timeout of llm-d-router, which the
// picker has no flag for.
func TestRequestTimeout(t *testing.T) {
	for _, tc := range []struct {
		seconds *int32
		want    time.Duration
	}{
		{nil, 24 * time.Hour},
		{ptr.To[int32](1), time.Second},
		{ptr.To[int32](600), 10 * time.Minute},
		{ptr.To[int32](1<<31 - 1), (1<<31 - 1) * time.Second},
		{ptr.To[int32](0), 0}, // refused by the schema; to Envoy it means no limit
	} {
		_, manager := readEnvoy(t, vllmPair(spec(func(s *v1.RouterSpec) { s.RequestTimeoutSeconds = tc.seconds })))
		if got := theRoute(manager).Timeout.AsDuration(); got != tc.want {
			t.Errorf("timeout %s, want %s", got, tc.want)
		}
	}
}

// TestEnvoyTestRefuses keeps the decoding above honest.
func TestEnvoyTestRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"field": `{"static_resources": {"listener": []}}`,
		"type":  `{"static_resources": {"listeners": [{"filter_chains": [{"filters": [{"typed_config": {"@type": "type.googleapis.com/envoy.Nothing"}}]}]}]}}`,
	} {
		if err := protojson.Unmarshal([]byte(text), &bootstrapv3.Bootstrap{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	bad := &hcmv3.HttpConnectionManager{}
	if bad.ValidateAll() == nil {
		t.Error("an empty connection manager is valid")
	}
}

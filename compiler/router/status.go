// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"

	v1 "gpustack.ai/mdc/compiler/api/v1"
	"gpustack.ai/mdc/compiler/engine"
)

// Status returns the contract between the roles and the router, without any
// observation but the address of the cache pool, which may be empty. It is nil
// without spec.router.
func Status(in Input, poolEndpoint string) *v1.RouterStatus {
	if in.spec() == nil {
		return nil
	}
	s := &v1.RouterStatus{
		Name:         in.spec().Name,
		Endpoint:     Endpoint(in.Deployment),
		PoolEndpoint: poolEndpoint,
	}
	for _, r := range in.Roles {
		s.Roles = append(s.Roles, v1.RouterRoleStatus{
			Name:     r.Name,
			Kind:     r.Kind,
			Selector: in.roleLeaders(r),
			Endpoint: r.Endpoint,
			KVEvents: in.events(r),
		})
	}
	// The other routers read no metrics of the engines.
	if s.Name == v1.RouterLLMD {
		g := engineGauges[in.engine()]
		s.Metrics = &v1.RouterMetrics{
			Port:               in.port(),
			QueuedRequests:     g.queued,
			RunningRequests:    g.running,
			KVCacheUtilization: g.cache,
		}
	}
	return s
}

// events is where others can dial the event stream of a role, unlike the
// wildcard that the engine binds.
func (in Input) events(r Role) *v1.KVEventsStatus {
	if !r.Publishes {
		return nil
	}
	host := fmt.Sprintf("%s.%s.svc", v1.TemplateName(in.Deployment.Name, r.Name), in.Deployment.Namespace)
	return &v1.KVEventsStatus{
		Endpoint:       fmt.Sprintf("tcp://%s:%d", host, engine.EventsPort),
		ReplayEndpoint: fmt.Sprintf("tcp://%s:%d", host, engine.ReplayPort),
		Topic:          engine.EventsTopic,
	}
}

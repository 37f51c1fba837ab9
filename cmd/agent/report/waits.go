// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"gpustack.ai/mdc/cmd/agent/converge"
)

// waitValue: what a replica is made of lacks a value that only the cluster
// knows. To a decision that is the same as a template that lacks.
const waitValue converge.Wait = "value"

// waitTexts are what missing replicas wait for.
var waitTexts = []struct {
	wait converge.Wait
	text string
}{
	{converge.WaitNamespace, "the namespace is being deleted"},
	{converge.WaitUnmanaged, "Kueue does not take up Pods here"},
	{converge.WaitWeights, "the weights cannot be delivered, see condition " + WeightsReady},
	{converge.WaitCache, "the cache cannot be used yet, see condition " + DomainRegistered + "; after two minutes they start without it"},
	{converge.WaitCompile, "they are not compiled, see condition " + Compiled},
	{waitValue, "a value is missing that only the cluster knows"},
	{converge.WaitRefused, "the API server refuses their Pods"},
	{converge.WaitService, "their Services are missing, see condition " + Compiled},
	{converge.WaitOccupied, "their places are still taken, by what they replace or by Pods of others"},
}

// waitsFor is what keeps a missing replica from being made; empty: nothing.
func (r *replica) waitsFor() converge.Wait {
	wait := r.role.Pass.Waits[r.ordinal]
	if wait == converge.WaitCompile && r.role.Fault.Reason == ReasonMissingLateValue {
		return waitValue
	}
	return wait
}

// waits tells what missing replicas wait for.
func waits(missing []*replica) string {
	var parts []string
	for _, w := range waitTexts {
		var held []*replica
		var details []string
		for _, r := range missing {
			if r.waitsFor() != w.wait {
				continue
			}
			held = append(held, r)
			for _, d := range r.details(w.wait) {
				if !slices.Contains(details, d) {
					details = append(details, d)
				}
			}
		}
		if len(held) == 0 {
			continue
		}
		part := slots(held) + ": " + w.text
		if len(details) > 0 {
			part += ": " + few(details, "; ")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ". ")
}

// details are what there is to say of a wait.
func (r *replica) details(wait converge.Wait) (out []string) {
	switch wait {
	case waitValue:
		out = append(out, r.role.Fault.Message)
	case converge.WaitRefused:
		out = append(out, cut(r.role.Refused[r.ordinal], quoteLimit))
	case converge.WaitOccupied:
		for _, p := range r.leaving {
			out = append(out, fmt.Sprintf("Pod %q is still terminating", p.Name))
		}
	}
	return out
}

// waitsForAny reports whether a missing replica waits for one of some things.
func (s *state) waitsForAny(what ...converge.Wait) bool {
	return slices.ContainsFunc(s.missing(), func(r *replica) bool { return slices.Contains(what, r.waitsFor()) })
}

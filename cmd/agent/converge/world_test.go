// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	born  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	today = born.Add(time.Hour)
)

// server is a role of size 1 that is compiled and was declared before.
func server(replicas int32) Role { return role("server", replicas, 1) }

func role(name string, replicas, size int32) Role {
	r := Role{
		Name: name, Replicas: replicas, Size: size, Managed: true, Template: InSync, Settled: replicas,
		Services: map[int32]bool{},
		Group:    func(n int32) string { return fmt.Sprintf("%s/%d", name, n) },
		Hash: func(_ Seat, uncached bool) string {
			if uncached {
				return "uncached"
			}
			return "new"
		},
	}
	for n := range replicas {
		r.Services[n] = true
	}
	return r
}

// pods reads Pods, one a line or between semicolons: where each belongs and
// what is known about it, as in "server/1 ready old" or "a@server/0/1 gated".
// A Pod is live, managed and held by Kueue, and of the new template.
func pods(t *testing.T, text string) (out []Pod) {
	t.Helper()
	for _, line := range lines(text) {
		words := strings.Fields(line)
		name, where, named := strings.Cut(words[0], "@")
		if !named {
			where = name
		}
		p := Pod{Name: name, UID: name, Managed: true, Held: true, Hash: "new"}
		parts := strings.Split(where, "/")
		p.Role = parts[0]
		p.Ordinal = number(t, parts[1])
		if len(parts) > 2 {
			p.Member = number(t, parts[2])
		}
		p.Group = parts[0] + "/" + parts[1]
		for _, word := range words[1:] {
			switch word {
			case "ready":
				p.Ready = true
			case "gated", "starting": // to a decision the same
			case "terminating":
				p.Deleting = true
			case "ended":
				p.Ended = true
			case "lost":
				p.NodeLost = true
			case "nodeless":
				p.NodeGone = true
			case "unheld":
				p.Held = false
			case "unmanaged":
				p.Managed, p.Held = false, false
			case "preempted":
				p.Preempted = true
			case "foreign":
				p.Foreign = true
			case "abandoned":
				p.Foreign, p.Abandoned = true, true
			case "old", "uncached", "other":
				p.Hash = word
			default:
				t.Fatalf("unknown word %q", word)
			}
		}
		out = append(out, p)
	}
	return out
}

// workloads reads Workloads: the group and its state, as in "server/0 admitted".
// Each owns all Pods of its group, or those listed after "of".
func workloads(t *testing.T, text string, pods []Pod) (out []Workload) {
	t.Helper()
	for _, line := range lines(text) {
		line, owners, listed := strings.Cut(line, " of ")
		words := strings.Fields(line)
		w := Workload{Name: words[0], UID: "w-" + words[0], Created: born}
		if listed {
			w.Pods = strings.Fields(owners)
		} else {
			for _, p := range pods {
				if p.Group == w.Name {
					w.Pods = append(w.Pods, p.UID)
				}
			}
		}
		for _, word := range words[1:] {
			switch word {
			case "admitted":
				w.Reserved, w.Admitted = true, true
			case "reserved":
				w.Reserved = true
			case "evicted":
				w.Evicted = true
			case "terminating":
				w.Deleting = true
			case "young":
				w.Created = today
			default:
				t.Fatalf("unknown word %q", word)
			}
		}
		out = append(out, w)
	}
	return out
}

func lines(text string) (out []string) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func number(t *testing.T, s string) int32 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

// all is the Workloads of groups, admitted.
func admitted(groups ...string) string {
	return strings.Join(groups, " admitted;") + " admitted"
}

// written are the writes of a plan in order.
func written(p Plan) (out []string) {
	if p.AddFinalizer {
		out = append(out, "finalizer")
	}
	if p.AddClaim {
		out = append(out, "claim")
	}
	for _, d := range p.DeletePods {
		out = append(out, fmt.Sprintf("delete Pod %s: %s", d.Name, d.Cause))
	}
	for _, d := range p.DeleteWorkloads {
		out = append(out, fmt.Sprintf("delete Workload %s: %s", d.Name, d.Cause))
	}
	for _, c := range p.Creates {
		variant := ""
		if c.Uncached {
			variant = " uncached"
		}
		out = append(out, fmt.Sprintf("create %s/%d%s", c.Role, c.Ordinal, variant))
	}
	if p.Release {
		out = append(out, "release")
	}
	return out
}

// scenario is one pass.
type scenario struct {
	roles     []Role
	pods      string
	workloads string
	// live are the Pods past the cache, liveWorkloads the Workloads; the same as
	// in the cache when nothing is said.
	live, liveWorkloads string
	with                func(*Observation)
	// writes are expected in this order.
	writes []string
	// reads: the pass asks to read past the cache though it deletes no Workload.
	reads bool
	// hold and waits are those of the first role.
	hold  Hold
	waits map[int32]Wait
	check func(t *testing.T, p Plan)
}

func (s scenario) run(t *testing.T) {
	obs := Observation{Created: born, Finalizer: true, Roles: s.roles, Pods: pods(t, s.pods)}
	obs.Workloads = workloads(t, s.workloads, obs.Pods)
	if s.with != nil {
		s.with(&obs)
	}
	p := Decide(&obs, today)
	// No Workload is deleted on the word of the cache.
	reads := s.reads || slices.ContainsFunc(s.writes, func(w string) bool { return strings.HasPrefix(w, "delete Workload") })
	if p.NeedLive != reads {
		t.Errorf("reads past the cache: %v, want %v", p.NeedLive, reads)
	}
	if p.NeedLive {
		obs.Live = &Live{Pods: obs.Pods, Workloads: obs.Workloads}
		if s.live != "" {
			obs.Live.Pods = pods(t, s.live)
			obs.Live.Workloads = workloads(t, s.workloads, obs.Live.Pods)
		}
		if s.liveWorkloads != "" {
			obs.Live.Workloads = workloads(t, s.liveWorkloads, obs.Live.Pods)
		}
		p = Decide(&obs, today)
	}
	if got := written(p); !slices.Equal(got, s.writes) {
		t.Errorf("writes\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(s.writes, "\n  "))
	}
	if deletes := len(p.DeletePods)+len(p.DeleteWorkloads) > 0; deletes && p.Requeue != pause {
		t.Errorf("asks for the next pass after %v", p.Requeue)
	}
	if len(p.Roles) > 0 {
		if got := p.Roles[0].Hold; got != s.hold {
			t.Errorf("hold %q, want %q", got, s.hold)
		}
		if got := fmt.Sprint(p.Roles[0].Waits); s.waits != nil && got != fmt.Sprint(s.waits) {
			t.Errorf("waits %v, want %v", got, s.waits)
		}
	}
	if s.check != nil {
		s.check(t, p)
	}
}

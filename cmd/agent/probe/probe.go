// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe asks engines whether their operations of the store succeed.
//
// It asks in the background, from time to time: no pass waits for an engine, and
// none fails because one does not answer.
package probe

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "gpustack.ai/mdc/compiler/api/v1"

	"gpustack.ai/mdc/cmd/agent/report"
)

const (
	// every is how often the engines of a deployment are asked at most.
	every = 30 * time.Second
	// atOnce bounds how many engines are asked at the same time, inRound how many
	// of a deployment in one round.
	atOnce, inRound = 16, 16
)

// Target is an engine that can be asked.
type Target struct {
	UID types.UID
	// URL of its metrics.
	URL string
}

// Asker asks one engine. What cannot be read is Unreadable.
type Asker interface {
	Ask(ctx context.Context, url string) report.Evidence
}

// Prober remembers what the engines of all deployments have told.
type Prober struct {
	Asker Asker
	// Every is shorter in tests.
	Every time.Duration

	mu          sync.Mutex
	deployments map[types.NamespacedName]*deployment
	wake        chan struct{}
	changed     chan event.GenericEvent
}

// deployment is what its engines have told.
type deployment struct {
	targets []Target
	told    map[types.UID]report.Evidence
	// next is the target that is asked first in the next round, which is not
	// before due.
	next int
	due  time.Time
}

// New returns a prober that has asked nobody yet.
func New(a Asker) *Prober {
	return &Prober{
		Asker: a, Every: every,
		deployments: map[types.NamespacedName]*deployment{},
		wake:        make(chan struct{}, 1),
		changed:     make(chan event.GenericEvent),
	}
}

// Changed tells of deployments whose engines have told something new.
func (p *Prober) Changed() <-chan event.GenericEvent { return p.changed }

// Told returns what the engines of a deployment have told so far. From now on
// these targets are asked, and no other; none at all forgets the deployment.
func (p *Prober) Told(name types.NamespacedName, targets []Target) map[types.UID]report.Evidence {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(targets) == 0 {
		delete(p.deployments, name)
		return nil
	}
	d := p.deployments[name]
	if d == nil {
		d = &deployment{told: map[types.UID]report.Evidence{}}
		p.deployments[name] = d
	}
	if !slices.Equal(d.targets, targets) {
		d.targets = targets
		maps.DeleteFunc(d.told, func(uid types.UID, _ report.Evidence) bool {
			return !slices.ContainsFunc(targets, func(t Target) bool { return t.UID == uid })
		})
		select {
		case p.wake <- struct{}{}:
		default: // it is going to look anyway
		}
	}
	told := maps.Clone(d.told)
	for _, t := range targets {
		if _, asked := told[t.UID]; !asked {
			told[t.UID] = report.Unasked
		}
	}
	return told
}

// Start asks until the context ends. Only the agent at work makes passes, and so
// only its prober has anybody to ask.
func (p *Prober) Start(ctx context.Context) error {
	t := time.NewTicker(max(p.Every/10, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		case <-p.wake:
		}
		round := p.round(time.Now())
		told := p.ask(ctx, round)
		for name := range round {
			if ctx.Err() != nil || !p.learn(name, told) {
				continue
			}
			md := &v1.ModelDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
			select {
			case p.changed <- event.GenericEvent{Object: md}:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// round is whom to ask now.
func (p *Prober) round(now time.Time) map[types.NamespacedName][]Target {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[types.NamespacedName][]Target{}
	for name, d := range p.deployments {
		if now.Before(d.due) {
			continue
		}
		d.due = now.Add(p.Every)
		for i := range min(len(d.targets), inRound) {
			out[name] = append(out[name], d.targets[(d.next+i)%len(d.targets)])
		}
		d.next = (d.next + inRound) % len(d.targets)
	}
	return out
}

// ask asks engines, some at a time.
func (p *Prober) ask(ctx context.Context, round map[types.NamespacedName][]Target) map[types.UID]report.Evidence {
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		told = map[types.UID]report.Evidence{}
		free = make(chan struct{}, atOnce)
	)
	for _, targets := range round {
		for _, t := range targets {
			free <- struct{}{}
			wg.Go(func() {
				defer func() { <-free }()
				e := p.Asker.Ask(ctx, t.URL)
				mu.Lock()
				defer mu.Unlock()
				told[t.UID] = e
			})
		}
	}
	wg.Wait()
	return told
}

// learn remembers what engines have told, and reports whether that is new. One
// that does not answer now has not taken back what it told.
func (p *Prober) learn(name types.NamespacedName, told map[types.UID]report.Evidence) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.deployments[name]
	if d == nil {
		return false
	}
	for _, t := range d.targets {
		now, asked := told[t.UID]
		before, known := d.told[t.UID]
		if asked && (!known || now != report.Unreadable && now != before) {
			d.told[t.UID], news = now, true
		}
	}
	return news
}

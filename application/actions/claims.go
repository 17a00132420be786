package actions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

const (
	// renewals is how many renewals of a claim may fail before it ends.
	renewals = 6
	// margin is how long before its claim ends an attempt must be gone where another server may take it over: clocks differ.
	margin = 5 * time.Second
	// How long the store may take to answer; what comes later counts as no answer.
	answerWithin = 5 * time.Second
	leastAnswer  = time.Second
)

// KeepClaims renews the claims of running attempts until ctx ends (actions 5.4), and stops an attempt whose claim is lost:
// somebody else says how it ends, or has ended it. While the store is away attempts go on, and their claims with the first
// answer; but when other servers were there, an attempt is gone before they may take it over. It returns the cause of ctx.
func (d *Dispatcher) KeepClaims(ctx context.Context) error {
	every := d.ClaimTTL / renewals
	retry := min(every, d.Poll, time.Second) // who is cut off must notice in time
	renewal, away := d.Clock.After(every), false
	var poll, rest <-chan time.Time // for what other servers have ended
	if d.Engine.Shared() {
		poll = d.Clock.After(retry)
	}
	suspect := d.suspect
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-renewal:
			away = !d.renew(ctx, away)
			renewal = d.Clock.After(every)
			if away {
				renewal = d.Clock.After(retry)
			}
		case <-suspect:
			d.compare(ctx)
			suspect, rest = nil, d.Clock.After(noticed)
		case <-rest:
			suspect = d.suspect
		case <-poll:
			d.compare(ctx)
			poll = d.Clock.After(retry)
		}
		d.giveUp()
	}
}

// renew renews all claims, and reports whether the store answered.
func (d *Dispatcher) renew(ctx context.Context, away bool) bool {
	claims := d.registry.claims()
	if len(claims) == 0 {
		return true
	}
	began := d.Clock.Now()
	bounded, cancel := d.bounded(ctx)
	defer cancel()
	lost, err := d.Tasks.Renew(bounded, claims, began.Add(d.ClaimTTL))
	if err != nil {
		if !away && ctx.Err() == nil {
			d.Logger.Warn("the claims of running attempts cannot be renewed; they run on", "count", len(claims), "error", err)
		}
		return false
	}
	d.registry.renewed(claims, lost, began)
	d.lose(bounded, lost)
	return true
}

// compare finds the claims that are lost, without renewing any. A store that does not answer is asked again soon.
func (d *Dispatcher) compare(ctx context.Context) {
	claims := d.registry.claims()
	if len(claims) == 0 {
		return
	}
	bounded, cancel := d.bounded(ctx)
	defer cancel()
	if lost, err := d.Tasks.Lost(bounded, claims); err == nil {
		d.lose(bounded, lost)
	}
}

// bounded bounds a call of the store, so that what has to be given up meanwhile is given up in time.
func (d *Dispatcher) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	left := answerWithin
	if oldest, ok := d.registry.oldest(); ok && d.others() {
		left = min(left, oldest.Add(d.longest()).Sub(d.Clock.Now()))
	}
	return context.WithTimeout(ctx, max(left, leastAnswer))
}

// lose stops attempts whose claims are lost, for the reason that their runs know. An attempt that has come to its own end
// is not registered any more, or nothing of it runs.
func (d *Dispatcher) lose(ctx context.Context, lost []history.Claim) {
	for _, c := range lost {
		cause := ports.StopClaimLost // also unseen: the store has spoken
		_ = d.Engine.Look(ctx, c.Key.WorkflowID, func(v engine.View) error {
			cause = lostBy(v, c.Key)
			return nil
		})
		if d.registry.stopClaim(c, cause) && cause == ports.StopClaimLost {
			d.Logger.Warn("an attempt lost its claim and is stopped", keyed(c.Key)...)
		}
	}
}

// lostBy is why the claim of an attempt is lost: a claim also ends with its run and with its activity.
func lostBy(v engine.View, key domain.AttemptKey) ports.StopCause {
	if v.Run == nil || v.Run.ID() != key.RunID || v.Run.Ended() {
		return ports.StopRunClosed
	}
	if _, open := v.Run.Activity(key.ActivityID); !open {
		return ports.StopCancelled
	}
	return ports.StopClaimLost
}

// giveUp stops the attempts whose claims could not be renewed for so long that another server may soon take them over.
// Nobody can when there was no other server.
func (d *Dispatcher) giveUp() {
	if !d.others() {
		return
	}
	for _, key := range d.registry.stopHeldBefore(d.Clock.Now().Add(-d.longest())) {
		d.Logger.Warn("the claim of an attempt cannot be renewed and another server may take it over; it is stopped", keyed(key)...)
	}
}

// others reports whether there is a server that could take attempts over.
func (d *Dispatcher) others() bool { return d.Peers != nil && d.Peers.Others() }

// longest is how long an attempt may run on without a renewal where other servers are.
func (d *Dispatcher) longest() time.Duration { return d.ClaimTTL - d.KillGrace - d.KillWait - margin }

// left tells the executor how long it may go on with an attempt without this server, which another one takes for dead when it stands
// still; nil: no other one can. While this server sees no other, one that comes does not take over before a whole claim has passed.
func (d *Dispatcher) left(key domain.AttemptKey) func() time.Duration {
	if !d.Engine.Shared() {
		return nil
	}
	return func() time.Duration {
		if !d.others() {
			return d.longest()
		}
		return d.registry.held(key).Add(d.longest()).Sub(d.Clock.Now())
	}
}

// claims gives the claims of all attempts whose start is recorded and whose verdict is not.
func (r *registry) claims() []history.Claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	var held []history.Claim
	for key, e := range r.entries {
		if e.token != 0 {
			held = append(held, history.Claim{Key: key, Token: e.token})
		}
	}
	slices.SortFunc(held, func(a, b history.Claim) int { return cmp.Compare(a.Key.String(), b.Key.String()) })
	return held
}

// claim sets the claim of a registered attempt, and since when it holds; 0: it has none any more.
func (r *registry) claim(key domain.AttemptKey, token history.Seq, held time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		e.token, e.held = token, held
	}
}

// held is since when the claim of a registered attempt holds.
func (r *registry) held(key domain.AttemptKey) (since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		since = e.held
	}
	return since
}

// oldest is since when the claim holds that was renewed longest ago; false when none is held.
func (r *registry) oldest() (held time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if e.running() && (!ok || e.held.Before(held)) {
			held, ok = e.held, true
		}
	}
	return held, ok
}

// renewed notes since when claims hold, but for those that are lost.
func (r *registry) renewed(claims, lost []history.Claim, held time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range claims {
		if e := r.entries[c.Key]; e != nil && e.token == c.Token && !slices.Contains(lost, c) {
			e.held = held
		}
	}
}

// stopClaim stops the attempt of a claim, and reports whether there was something to stop.
func (r *registry) stopClaim(c history.Claim, cause ports.StopCause) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[c.Key]
	if e == nil || e.token != c.Token || !e.running() {
		return false
	}
	e.stop(cause)
	return true
}

// stopHeldBefore stops the attempts whose claims hold since a time or an earlier one, and gives those that ran until now.
func (r *registry) stopHeldBefore(limit time.Time) (stopped []domain.AttemptKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, e := range r.entries {
		if e.running() && !e.held.After(limit) {
			e.stop(ports.StopClaimLost)
			stopped = append(stopped, key)
		}
	}
	return stopped
}

func claimLost(err error) bool { return domain.TypeOf(err) == "ClaimLost" }

package actions

import (
	"cmp"
	"context"
	"slices"

	"aion/application/engine"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// renewals is how many renewals of a claim may fail before it ends.
const renewals = 6

// KeepClaims renews the claims of running attempts until ctx ends (actions 5.4), and stops an attempt whose claim is lost:
// somebody else says how it ends. While the store is away attempts go on, and their claims with the first answer. It
// returns the cause of ctx.
func (d *Dispatcher) KeepClaims(ctx context.Context) error {
	away := false
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-d.Clock.After(d.ClaimTTL / renewals):
		}
		claims := d.registry.claims()
		if len(claims) == 0 {
			continue
		}
		lost, err := d.Tasks.Renew(ctx, claims, d.Clock.Now().Add(d.ClaimTTL))
		if err != nil {
			if !away && ctx.Err() == nil {
				d.Logger.Warn("the claims of running attempts cannot be renewed; they run on", "count", len(claims), "error", err)
			}
			away = true
			continue
		}
		away = false
		for _, c := range lost {
			d.loseClaim(ctx, c)
		}
	}
}

// loseClaim stops an attempt. A claim also ends with its attempt, its activity or its run: then the outbox says so.
func (d *Dispatcher) loseClaim(ctx context.Context, c history.Claim) {
	open := true
	_ = d.Engine.Look(ctx, c.Key.WorkflowID, func(v engine.View) error { // unseen, it is stopped: the store has spoken
		open = v.Run != nil && v.Run.ID() == c.Key.RunID && v.Run.AttemptOpen(c.Key.ActivityID, c.Key.Attempt)
		return nil
	})
	if open && d.registry.stopClaim(c) {
		d.Logger.Warn("an attempt lost its claim and is stopped", keyed(c.Key)...)
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

// claim sets the claim of a registered attempt; 0: it has none any more.
func (r *registry) claim(key domain.AttemptKey, token history.Seq) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		e.token = token
	}
}

// stopClaim stops the attempt of a claim, and reports whether it is still registered with it.
func (r *registry) stopClaim(c history.Claim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[c.Key]
	if e == nil || e.token != c.Token {
		return false
	}
	e.stop(ports.StopClaimLost)
	return true
}

func claimLost(err error) bool { return domain.TypeOf(err) == "ClaimLost" }

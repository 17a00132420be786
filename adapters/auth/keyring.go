package auth

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"aion/domain"
	"aion/ports"
)

// The pace of fetches besides the configured one.
const (
	// askEvery is how often a kid that is not in the set can cause a fetch.
	askEvery = 30 * time.Second
	// retryEvery is how soon a failed fetch is repeated, while there are keys to work with; without any it is firstRetry.
	retryEvery = 30 * time.Second
	firstRetry = 5 * time.Second
)

// keyring holds the key set of an issuer and keeps it fresh. All fetches are made by run; callers only wait for one.
type keyring struct {
	clock ports.Clock
	log   *slog.Logger
	meter ports.Meter // nil: nothing is counted

	wake chan struct{} // a caller asks for a fetch
	gone chan struct{} // closed when run has ended

	mu      sync.Mutex
	fetch   func(context.Context) (keySet, error)
	refresh time.Duration
	maxAge  time.Duration
	first   chan struct{} // closed after the first fetch from this place, however it ended
	place   int           // counts the places that keys came from
	set     keySet
	fetched time.Time     // when the set was asked for; zero: there is none
	asked   time.Time     // when a caller has caused the last fetch; zero: never
	round   chan struct{} // closed at the end of the fetch that callers asked for; nil: none is due
	begun   bool          // the first fetch has ended
	failing bool          // the last one failed
}

func newKeyring(fetch func(context.Context) (keySet, error), o JWKSOptions) *keyring {
	return &keyring{
		fetch: fetch, clock: o.Clock, log: o.Log, meter: o.Meter, refresh: o.Refresh, maxAge: o.MaxAge,
		wake: make(chan struct{}, 1), first: make(chan struct{}), gone: make(chan struct{}),
	}
}

// run fetches the set at once, after every refresh period, and when a caller asks, until ctx ends.
func (k *keyring) run(ctx context.Context) error {
	defer close(k.gone)
	for {
		pause := k.renew(ctx)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-k.clock.After(pause):
		case <-k.wake:
		}
	}
}

// change lets the next fetch, which is due at once, go elsewhere. Keys from another place are forgotten: none of them says
// anything about the tokens to come.
func (k *keyring) change(fetch func(context.Context) (keySet, error), refresh, maxAge time.Duration, same bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetch, k.refresh, k.maxAge = fetch, refresh, maxAge
	if !same {
		k.place++
		k.set, k.fetched, k.asked, k.failing = nil, time.Time{}, time.Time{}, false
		if k.begun {
			k.begun, k.first = false, make(chan struct{})
		}
	}
	k.ask()
}

// ask wakes run for a fetch. The lock is held.
func (k *keyring) ask() {
	select {
	case k.wake <- struct{}{}:
	default: // a wake-up is on its way
	}
}

// renew makes one fetch and tells how long to wait for the next.
func (k *keyring) renew(ctx context.Context) (pause time.Duration) {
	fetch, place, round := k.take()
	begin := k.clock.Now()
	set, err := fetch(ctx)
	if k.meter != nil {
		k.meter.KeysFetched(err == nil)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if round != nil {
		defer close(round)
	}
	if place != k.place { // what was fetched is of no use any more
		return 0
	}
	if !k.begun {
		k.begun = true
		defer close(k.first)
	}
	if err != nil {
		return k.failed(ctx, err)
	}
	if k.failing || k.fetched.IsZero() {
		k.log.InfoContext(ctx, "the keys of the issuer are fetched", slog.Int("keys", len(set)))
	}
	k.failing, k.set, k.fetched = false, set, begin
	return k.refresh - k.clock.Now().Sub(begin)
}

// age is the time since the set was fetched.
func (k *keyring) age() (age time.Duration, held bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clock.Now().Sub(k.fetched), !k.fetched.IsZero()
}

// take begins the fetch that callers asked for, if they did: who asks from now on may have seen a later key.
func (k *keyring) take() (fetch func(context.Context) (keySet, error), place int, round chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.wake:
	default:
	}
	round, k.round = k.round, nil
	return k.fetch, k.place, round
}

func (k *keyring) failed(ctx context.Context, err error) (pause time.Duration) {
	held := !k.fetched.IsZero()
	if ctx.Err() == nil {
		k.log.WarnContext(ctx, "the keys of the issuer cannot be fetched",
			slog.String("error", domain.Quote(err.Error(), 500)), slog.Bool("keys_held", held))
	}
	k.failing = true
	if !held {
		return firstRetry
	}
	return min(retryEvery, k.refresh)
}

// find gives the keys of a kid: none when the issuer has none under it. It refuses while there is no set to judge by.
func (k *keyring) find(ctx context.Context, kid string) ([]publicKey, error) {
	if err := k.wait(ctx, k.begin()); err != nil {
		return nil, err
	}
	keys, round, err := k.look(kid)
	if round == nil || err != nil {
		return keys, err
	}
	if err := k.wait(ctx, round); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fetched.IsZero() { // the keys come from another place since
		return nil, keysUnavailable()
	}
	return k.set[kid], nil
}

// begin is closed when there is something to judge by, or known not to be.
func (k *keyring) begin() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.first
}

// look gives the keys of a kid, or the fetch to wait for when they may be new. Made-up kids cause one fetch per askEvery.
func (k *keyring) look(kid string) ([]publicKey, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock.Now()
	if k.fetched.IsZero() || now.Sub(k.fetched) > k.maxAge {
		return nil, nil, keysUnavailable()
	}
	if keys := k.set[kid]; len(keys) > 0 || kid == "" || len(kid) > maxKid {
		return keys, nil, nil
	}
	if k.round == nil {
		if !k.asked.IsZero() && now.Sub(k.asked) < askEvery {
			return nil, nil, nil
		}
		k.asked, k.round = now, make(chan struct{})
		k.ask()
	}
	return nil, k.round, nil
}

func (k *keyring) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-k.gone:
		return domain.Unavailable("ShuttingDown", "the server is shutting down; repeat the call later", nil)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func keysUnavailable() error {
	return domain.Unavailable("KeysUnavailable", "the server cannot fetch the keys of its token issuer, so it cannot judge your token; repeat the call later", nil)
}

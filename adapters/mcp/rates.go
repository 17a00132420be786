package mcp

import (
	"fmt"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/access"
)

// rates bounds the tool calls of each caller by a bucket of tokens.
type rates struct {
	mu        sync.Mutex
	perSecond float64
	burst     float64
	buckets   map[string]bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// maxBuckets is when full buckets are forgotten: they say nothing.
const maxBuckets = 10_000

// newRates makes buckets of burst tokens; perSecond 0 turns the limit off.
func newRates(perSecond, burst int) *rates {
	r := &rates{buckets: map[string]bucket{}}
	r.change(perSecond, burst)
	return r
}

// change takes another rate over; nobody keeps more than the new burst.
func (r *rates) change(perSecond, burst int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.perSecond, r.burst = float64(perSecond), float64(max(burst, 1))
}

// take uses one token of the caller, or refuses and tells when the next one comes.
func (r *rates) take(who access.Caller, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.perSecond <= 0 || who.Mode == "off" {
		return nil
	}
	key := who.Mode + ":" + who.Subject
	b, known := r.buckets[key]
	if !known {
		r.forget(now)
		b = bucket{tokens: r.burst, at: now}
	}
	b = r.refilled(b, now)
	if b.tokens < 1 {
		r.buckets[key] = b
		wait := time.Duration((1-b.tokens)/r.perSecond*float64(time.Second)).Round(time.Millisecond) + time.Millisecond
		return &domain.Error{Code: domain.CodeResourceExhausted, Type: "RateLimited", Message: fmt.Sprintf(
			"more than %.0f tool calls per second; wait %d ms and repeat the call", r.perSecond, wait.Milliseconds())}
	}
	b.tokens--
	r.buckets[key] = b
	return nil
}

func (r *rates) refilled(b bucket, now time.Time) bucket {
	b.tokens = min(r.burst, b.tokens+max(now.Sub(b.at).Seconds(), 0)*r.perSecond)
	b.at = now
	return b
}

func (r *rates) forget(now time.Time) {
	if len(r.buckets) < maxBuckets {
		return
	}
	for key, b := range r.buckets {
		if r.refilled(b, now).tokens >= r.burst {
			delete(r.buckets, key)
		}
	}
}

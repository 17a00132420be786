package web

import (
	"fmt"
	"sync"
	"time"

	"aion/domain"
	"aion/domain/access"
)

// Rates bounds what each caller asks for by a bucket of tokens. It is safe for concurrent use.
type Rates struct {
	what string // is counted, for the refusal

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

// NewRates makes buckets of burst tokens for what a caller sends, such as "requests"; perSecond 0 turns the limit off.
func NewRates(what string, perSecond, burst int) *Rates {
	r := &Rates{what: what, buckets: map[string]bucket{}}
	r.Change(perSecond, burst)
	return r
}

// Change takes another rate over; nobody keeps more than the new burst.
func (r *Rates) Change(perSecond, burst int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.perSecond, r.burst = float64(perSecond), float64(max(burst, 1))
}

// Take uses one token of the caller, or refuses and tells when the next one comes. In mode off nobody is bounded.
func (r *Rates) Take(who access.Caller, now time.Time) error {
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
		return &domain.Error{
			Code: domain.CodeResourceExhausted, Type: "RateLimited", Details: map[string]any{"retry_after_ms": wait.Milliseconds()},
			Message: fmt.Sprintf("more than %.0f %s per second; wait %d ms and repeat the call", r.perSecond, r.what, wait.Milliseconds()),
		}
	}
	b.tokens--
	r.buckets[key] = b
	return nil
}

func (r *Rates) refilled(b bucket, now time.Time) bucket {
	b.tokens = min(r.burst, b.tokens+max(now.Sub(b.at).Seconds(), 0)*r.perSecond)
	b.at = now
	return b
}

func (r *Rates) forget(now time.Time) {
	if len(r.buckets) < maxBuckets {
		return
	}
	for key, b := range r.buckets {
		if r.refilled(b, now).tokens >= r.burst {
			delete(r.buckets, key)
		}
	}
}

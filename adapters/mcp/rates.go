package mcp

import (
	"sync"
	"time"

	"aion/domain/access"
)

// rates bounds the tool calls of each caller by a bucket of tokens.
type rates struct {
	perSecond float64
	burst     float64

	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// maxBuckets is when full buckets are forgotten: they say nothing.
const maxBuckets = 10_000

// newRates makes buckets of burst tokens; perSecond 0 turns the limit off.
func newRates(perSecond, burst int) *rates {
	return &rates{perSecond: float64(perSecond), burst: float64(max(burst, 1)), buckets: map[string]bucket{}}
}

// take uses one token of the caller; wait is when the next one comes.
func (r *rates) take(who access.Caller, now time.Time) (wait time.Duration, ok bool) {
	if r.perSecond <= 0 || who.Mode == "off" {
		return 0, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := who.Mode + ":" + who.Subject
	b, known := r.buckets[key]
	if !known {
		r.forget(now)
		b = bucket{tokens: r.burst, at: now}
	}
	b = r.refilled(b, now)
	if b.tokens < 1 {
		r.buckets[key] = b
		return time.Duration((1-b.tokens)/r.perSecond*float64(time.Second)).Round(time.Millisecond) + time.Millisecond, false
	}
	b.tokens--
	r.buckets[key] = b
	return 0, true
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

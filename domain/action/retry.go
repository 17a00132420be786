package action

import (
	"math"
	"time"
)

// The kinds of Backoff.
const (
	BackoffFixed       = "fixed"
	BackoffExponential = "exponential"
)

// NextDelay tells how long after the end of an attempt the next one starts (actions 6.4). policyFailures counts the
// attempts of the activity that ended retryable or timeout, the present one included; factor is uniform in [0, 1). ok is
// false when the budget is used up or there is no policy: nothing follows. The delay is whole microseconds, because that
// is what history records.
func NextDelay(r *Retry, policyFailures int, factor float64) (delay time.Duration, ok bool) {
	if r == nil || policyFailures < 1 || policyFailures >= r.MaxAttempts {
		return 0, false
	}
	b := r.Backoff
	if b.Kind != BackoffExponential {
		return milliseconds(float64(max(b.DelayMS, 0))), true
	}
	ceiling := float64(max(b.MaxMS, 0))
	rising := float64(max(b.InitialMS, 0)) * math.Pow(max(b.Multiplier, 1), float64(policyFailures-1))
	spread := 0.8 + 0.4*min(max(factor, 0), 1)
	return milliseconds(min(min(ceiling, rising)*spread, ceiling)), true
}

// milliseconds turns a count into a duration, at most 292 years of them.
func milliseconds(ms float64) time.Duration {
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	if !(ms < most) {
		return time.Duration(math.MaxInt64).Truncate(time.Microsecond)
	}
	return time.Duration(ms * float64(time.Millisecond)).Truncate(time.Microsecond)
}

// Budgeted reports whether a failed attempt counts against the authored retries; lost ones do not (actions 6.4).
func (c Class) Budgeted() bool { return c == Retryable || c == Timeout }

package ports

import "time"

// Clock is the only source of time in the application.
type Clock interface {
	// Now is the present in UTC.
	Now() time.Time
	// After delivers once, no earlier than d from now on the monotonic clock.
	After(d time.Duration) <-chan time.Time
}

// IDs is the only source of identifiers and chance in the application.
type IDs interface {
	// UUIDv7 is a fresh time-ordered UUID in lower case.
	UUIDv7() string
	// Factor is uniform in [0, 1).
	Factor() float64
}

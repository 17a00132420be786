package fake

import (
	"slices"
	"sync"
	"time"

	"aion/ports"
)

// Epoch is where a clock stands that was given no start.
var Epoch = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// Clock stands until it is moved. It is safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	alarms []alarm // by time, then by order of asking
	asked  chan struct{}
}

type alarm struct {
	at   time.Time
	wake chan time.Time
}

var _ ports.Clock = (*Clock)(nil)

// NewClock gives a clock that stands at start, or at Epoch when start is zero.
func NewClock(start time.Time) *Clock {
	if start.IsZero() {
		start = Epoch
	}
	return &Clock{now: start.UTC(), asked: make(chan struct{}, 1)}
}

// Now implements ports.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After implements ports.Clock: the channel is written when the clock has been moved far enough, at once when d is not
// positive.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	wake := make(chan time.Time, 1)
	if d <= 0 {
		wake <- c.now
		return wake
	}
	at := c.now.Add(d)
	i, _ := slices.BinarySearchFunc(c.alarms, at, func(a alarm, t time.Time) int {
		if a.at.After(t) {
			return 1
		}
		return -1
	})
	c.alarms = slices.Insert(c.alarms, i, alarm{at: at, wake: wake})
	select {
	case c.asked <- struct{}{}:
	default:
	}
	return wake
}

// Advance moves the clock forward, alarm by alarm: whoever waits sees the time that it asked for, or a later one.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moveTo(c.now.Add(d))
}

// AdvanceTo moves the clock forward to t; an earlier t leaves it where it is.
func (c *Clock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moveTo(t.UTC())
}

// Jump sets the wall clock, also backwards, as an operator or a bad time server does. Alarms keep their distance: they
// run on the monotonic clock.
func (c *Clock) Jump(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shift := t.Sub(c.now)
	for i := range c.alarms {
		c.alarms[i].at = c.alarms[i].at.Add(shift)
	}
	c.now = t.UTC()
}

// Next gives the time of the earliest alarm; ok is false when nobody waits.
func (c *Clock) Next() (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.alarms) == 0 {
		return time.Time{}, false
	}
	return c.alarms[0].at, true
}

// Waiting gives the number of alarms that are set. An alarm that nobody reads any more counts until it is due.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.alarms)
}

// Asked is written after an alarm was set: a test waits on it before it moves the clock.
func (c *Clock) Asked() <-chan struct{} { return c.asked }

func (c *Clock) moveTo(t time.Time) {
	for len(c.alarms) > 0 && !c.alarms[0].at.After(t) {
		a := c.alarms[0]
		c.alarms = c.alarms[1:]
		if a.at.After(c.now) {
			c.now = a.at
		}
		a.wake <- c.now
	}
	if t.After(c.now) {
		c.now = t
	}
}

package gormstore

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"aion/ports"
)

// sqlNow is the database's time in microseconds.
const sqlNow = `CAST(floor(extract(epoch FROM clock_timestamp()) * 1000000) AS BIGINT)`

// databaseClock is the local clock set by the database's, which all servers share. Its monotonic reading stays.
type databaseClock struct {
	ports.Clock
	fixed bool // only measured, and not set

	mu      sync.Mutex
	offset  time.Duration
	samples [8]sample // the latest, in turn
	n       int
}

type sample struct{ offset, journey time.Duration }

// offsetStep is what the clock is not moved for.
const offsetStep = time.Millisecond

// Now implements ports.Clock.
func (c *databaseClock) Now() time.Time {
	if c.fixed {
		return c.Clock.Now()
	}
	return c.Clock.Now().Add(c.measured())
}

func (c *databaseClock) measured() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset
}

// add takes a measurement: the database's time, read between two local times, off by half of that journey at most. Of the
// latest ones, the one with the shortest journey counts; one that contradicts the newest was taken before a clock was set.
func (c *databaseClock) add(before, after, remote time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	journey := after.Sub(before)
	newest := sample{remote.Sub(before.Add(journey / 2)), journey}
	c.samples[c.n%len(c.samples)] = newest
	c.n++
	best := newest
	for _, s := range c.samples[:min(c.n, len(c.samples))] {
		if s.journey < best.journey && (s.offset-newest.offset).Abs() <= (s.journey+newest.journey)/2+offsetStep {
			best = s
		}
	}
	if c.n == 1 || (best.offset-c.offset).Abs() >= offsetStep {
		c.offset = best.offset
	}
}

// Clock is the time of the store: on Postgres the local clock set by the database's, so that all servers agree.
func (s *Store) Clock() ports.Clock { return s.clock }

// ClockOffset is how far the database's clock is ahead of the local one; 0 on SQLite.
func (s *Store) ClockOffset() time.Duration {
	if s.postgres == nil {
		return 0
	}
	return s.postgres.clock.measured()
}

// measure compares the clocks.
func (s *Store) measure(ctx context.Context) error {
	c := s.postgres.clock
	before := c.Clock.Now()
	var now int64
	err := s.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&now) }, `SELECT `+sqlNow)
	if err == nil {
		c.add(before, c.Clock.Now(), time.UnixMicro(now))
	}
	return err
}

package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// recovery kills a server that holds many open runs, some of them with a command under way, and measures from the kill
// until its successor is ready.
func (b *bench) recovery(ctx context.Context) error {
	home := b.place("home")
	s, err := b.serve(ctx, home)
	if err != nil {
		return err
	}
	defer func() { s.kill() }()
	open, inFlight := b.pick(5000, 300), b.pick(50, 5)
	sample, err := b.fill(ctx, s, open-inFlight, inFlight)
	if err != nil {
		return err
	}
	var took []float64
	for range b.pick(4, 1) { // fewer than the lost attempts that an activity may have
		began := time.Now()
		s.kill()
		next, err := b.serve(ctx, home)
		if err != nil {
			return err
		}
		s = next
		took = append(took, time.Since(began).Seconds())
		c := newClient(s.url, 1)
		status, err := c.status(ctx, sample)
		c.close()
		if err != nil {
			return err
		}
		if status != "Running" {
			return fmt.Errorf("a run that waited is %s after the restart", status)
		}
	}
	b.out.figure("open runs, of them with a command under way", "%d, %d", open, inFlight)
	b.out.atMost("seconds from kill -9 to ready", median(took), 5, " s")
	return nil
}

// fill starts runs over MCP and gives one that waits.
func (b *bench) fill(ctx context.Context, s *server, parked, inFlight int) (sample string, err error) {
	const connections = 16
	c := newClient(s.url, connections)
	defer c.close()
	for _, name := range []string{"parked", "in_flight"} {
		if err := c.deploy(ctx, name); err != nil {
			return "", err
		}
	}
	if sample, err = c.start(ctx, "parked", 0); err != nil {
		return "", err
	}
	var wait sync.WaitGroup
	var next atomic.Int64
	var failed atomic.Pointer[error]
	for range connections {
		wait.Go(func() {
			for n := int(next.Add(1)); n < parked+inFlight && failed.Load() == nil; n = int(next.Add(1)) {
				kind := "parked"
				if n >= parked {
					kind = "in_flight"
				}
				if _, err := c.start(ctx, kind, n); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return "", *err
	}
	return sample, nil
}

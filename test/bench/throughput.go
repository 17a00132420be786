package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	starters = 32
	steps    = 3
)

// throughput holds activities per second against single-row commits, round by round.
func (b *bench) throughput(ctx context.Context) error { return b.throughputOn(ctx, b.sqlite()) }

func (b *bench) throughputOn(ctx context.Context, db database) error {
	plain, err := db.plain(ctx)
	if err != nil {
		return err
	}
	defer plain.close()
	l := newLoad()
	w, err := b.open(ctx, nothing{last: "third", ended: l.ended}, db.tune)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.deploy(ctx, "three_steps"); err != nil {
		return err
	}
	round := time.Duration(b.pick(3000, 300)) * time.Millisecond
	if _, _, err := l.round(ctx, w, round/10); err != nil { // statements are prepared, caches are filled
		return err
	}
	var commits, activities, costs, ratios []float64
	for range b.pick(7, 1) {
		c, _, err := plain.commits(ctx, round/2)
		if err != nil {
			return err
		}
		a, cost, err := l.round(ctx, w, round)
		if err != nil {
			return err
		}
		commits, activities, costs, ratios = append(commits, c), append(activities, a), append(costs, cost), append(ratios, a/c)
	}
	b.out.figure("single-row commits, interleaved", "%.0f/s %s", median(commits), spread(commits))
	b.out.figure(fmt.Sprintf("activities, %d starters", starters), "%.0f/s %s", median(activities), spread(activities))
	b.out.figure("processor time per activity, starters included", "%.0f us", median(costs))
	runs, events, bytes, err := db.size(ctx, w.app.Config)
	if err != nil {
		return err
	}
	b.out.figure("store, indexes included", "%.0f bytes per run, %.0f per event, of %.0f runs", bytes/runs, bytes/events, runs)
	b.out.atLeast("activities / single-row commits", median(ratios), db.throughput, "x")
	return nil
}

// load starts 3-step runs: each starter has one run under way and begins its next when the last activity of the one before
// has been executed.
type load struct {
	next  [starters]chan struct{}
	count atomic.Int64
}

func newLoad() *load {
	l := &load{}
	for i := range l.next {
		l.next[i] = make(chan struct{}, 1)
	}
	return l
}

func (l *load) ended(input json.RawMessage) {
	var in struct{ N int }
	if json.Unmarshal(input, &in) == nil && in.N < starters {
		l.count.Add(steps)
		l.next[in.N] <- struct{}{}
	}
}

// round lets the starters work for a time and waits for the end of all runs.
func (l *load) round(ctx context.Context, w *world, limit time.Duration) (perSecond, cpuMicros float64, err error) {
	l.count.Store(0)
	var wait sync.WaitGroup
	var failed atomic.Pointer[error]
	busy, began := processorTime(), time.Now()
	for n := range starters {
		wait.Go(func() {
			for time.Since(began) < limit && failed.Load() == nil {
				if _, err := w.start(ctx, "three_steps", n); err != nil {
					failed.Store(&err)
					return
				}
				select {
				case <-l.next[n]:
				case <-time.After(time.Minute):
					err := fmt.Errorf("a run does not end")
					failed.Store(&err)
				}
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return 0, 0, *err
	}
	if err := w.idle(ctx); err != nil {
		return 0, 0, err
	}
	n := float64(l.count.Load())
	return n / time.Since(began).Seconds(), micros(processorTime()-busy) / n, nil
}

// processorTime is what this process has used of the processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

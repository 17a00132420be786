package main

import (
	"context"
	"fmt"
	"time"

	"aion/domain/history"
)

// latency alternates one plain commit and one whole run, so that both meet the same noise.
func (b *bench) latency(ctx context.Context) error { return b.latencyOn(ctx, b.sqlite()) }

func (b *bench) latencyOn(ctx context.Context, db database) error {
	plain, err := db.plain(ctx)
	if err != nil {
		return err
	}
	defer plain.close()
	w, err := b.open(ctx, nothing{}, db.tune)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.deploy(ctx, "one_step"); err != nil {
		return err
	}
	var commits, acknowledged, whole []float64
	n := b.pick(3000, 200)
	for i := range n + n/10 {
		began := time.Now()
		if err := plain.commit(ctx); err != nil {
			return err
		}
		committed := time.Now()
		started, err := w.oneRun(ctx, i)
		if err != nil {
			return err
		}
		if i < n/10 {
			continue // both warm up
		}
		commits = append(commits, micros(committed.Sub(began)))
		acknowledged, whole = append(acknowledged, micros(started.Sub(committed))), append(whole, micros(time.Since(committed)))
	}
	b.out.figure("single-row commit, alternating", "p50 %.0f us, p99 %.0f us", quantile(commits, 0.5), quantile(commits, 0.99))
	b.out.figure("start to its acknowledgement", "p50 %.0f us, p99 %.0f us", quantile(acknowledged, 0.5), quantile(acknowledged, 0.99))
	b.out.figure("start to WorkflowCompleted, as a follower sees it", "p50 %.0f us, p99 %.0f us", quantile(whole, 0.5), quantile(whole, 0.99))
	b.out.atMost("p50 of a run / p50 of a single-row commit", quantile(whole, 0.5)/quantile(commits, 0.5), db.latency, "x")
	return nil
}

// oneRun starts a run and follows it to its end; started is when the start was acknowledged.
func (w *world) oneRun(ctx context.Context, n int) (started time.Time, err error) {
	id, err := w.start(ctx, "one_step", n)
	if err != nil {
		return started, err
	}
	started = time.Now()
	last, err := w.follow(ctx, id)
	if err == nil && last.Type != (history.WorkflowCompleted{}).Type() {
		err = fmt.Errorf("the run ended with %s", last.Type)
	}
	return started, err
}

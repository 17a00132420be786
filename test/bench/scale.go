package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"aion/application/runs"
	"aion/domain"
)

// scale runs one fork and one loop of growing size: what an item costs must not depend on how many there are.
func (b *bench) scale(ctx context.Context) error {
	for _, kind := range []string{"fork_items", "loop_passes"} {
		var before, last cost
		sizes := []int{100, 1000, 10_000}
		if b.short {
			sizes = sizes[:2]
		}
		for _, n := range sizes {
			c, err := b.sized(ctx, kind, n)
			if err != nil {
				return fmt.Errorf("%s of %d: %w", kind, n, err)
			}
			b.out.figure(fmt.Sprintf("%s of %d", kind, n), "%.0f us, %.1f KiB allocated, %.2f KiB live at the peak per item", c.micros, c.allocated, c.peak)
			before, last = last, c
		}
		// A fork of 100 fits into the slots of the server and begins in the commit that forks; that is no measure for a large
		// one, whose items wait.
		large, small := sizes[len(sizes)-1], sizes[len(sizes)-2]
		b.out.atMost(fmt.Sprintf("%s: time per item, %d against %d", kind, large, small), last.micros/before.micros, 2, "x")
		b.out.atMost(fmt.Sprintf("%s: allocated per item, %d against %d", kind, large, small), last.allocated/before.allocated, 2, "x")
	}
	return nil
}

// cost is what one item takes; memory in KiB.
type cost struct{ micros, allocated, peak float64 }

// sized gives the cost per item of one run, the median of several for small ones.
func (b *bench) sized(ctx context.Context, kind string, n int) (cost, error) {
	w, err := b.open(ctx, nothing{}, nil)
	if err != nil {
		return cost{}, err
	}
	defer w.close()
	if err := w.deploy(ctx, kind); err != nil {
		return cost{}, err
	}
	input := fmt.Sprintf(`{"passes":%d}`, n)
	if kind == "fork_items" {
		input = `{"items":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`
	}
	var all [3][]float64
	for range max(1, min(b.pick(10, 3), 10_000/n)) {
		c, err := w.sizedOnce(ctx, kind, input, n)
		if err != nil {
			return cost{}, err
		}
		for i, v := range []float64{c.micros, c.allocated, c.peak} {
			all[i] = append(all[i], v)
		}
	}
	return cost{median(all[0]), median(all[1]), median(all[2])}, nil
}

func (w *world) sizedOnce(ctx context.Context, kind, input string, n int) (cost, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	peak := watchHeap()
	began := time.Now()
	_, err := w.app.Runs.Start(ctx, w.who, runs.StartRequest{Namespace: "default", WorkflowType: kind, Input: domain.Payload(input)})
	if err == nil {
		err = w.idle(ctx)
	}
	took := time.Since(began)
	highest := peak()
	if err != nil {
		return cost{}, err
	}
	runtime.ReadMemStats(&after)
	items := float64(n)
	return cost{
		micros: micros(took) / items, allocated: float64(after.TotalAlloc-before.TotalAlloc) / items / 1024,
		peak: max(0, float64(highest)-float64(before.HeapAlloc)) / items / 1024,
	}, nil
}

// watchHeap looks at the heap while something runs; stop gives the most that it held, garbage that was not collected yet
// included.
func watchHeap() (stop func() uint64) {
	done := make(chan struct{})
	var highest uint64
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapAlloc)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 { close(done); wait.Wait(); return highest }
}

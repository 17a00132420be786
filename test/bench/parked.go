package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
)

// parked holds the memory of a process before and after many runs began to wait.
func (b *bench) parked(ctx context.Context) error {
	w, err := b.open(ctx, nothing{}, nil)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.deploy(ctx, "parked"); err != nil {
		return err
	}
	// The first runs fill what does not grow with runs: page caches of SQLite, prepared statements, pools.
	oldest, err := w.park(ctx, b.pick(2000, 200))
	if err != nil {
		return err
	}
	before, err := weigh()
	if err != nil {
		return err
	}
	n := b.pick(20_000, 2000)
	began := time.Now()
	newest, err := w.park(ctx, n)
	if err != nil {
		return err
	}
	took := time.Since(began)
	after, err := weigh()
	if err != nil {
		return err
	}
	cached := w.app.Config.EngineCacheRuns
	b.out.figure(fmt.Sprintf("runs started, 64 starters (of them %d cached at most)", cached), "%d, %.0f/s", n, float64(n)/took.Seconds())
	b.out.figure("goroutines before and after", "%d, %d", before.goroutines, after.goroutines)
	b.out.atMost("live heap per parked run", (after.heap-before.heap)/float64(n)/1024, 2, " KiB")
	b.out.atMost("resident memory per parked run", (after.resident-before.resident)/float64(n)/1024, 2, " KiB")
	b.out.atMost("goroutines per parked run", float64(after.goroutines-before.goroutines)/float64(n), 0.01, "")
	return w.answer(ctx, oldest, newest)
}

// park starts runs until so many more wait, and gives one of them.
func (w *world) park(ctx context.Context, n int) (domain.WorkflowID, error) {
	var wait sync.WaitGroup
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var one atomic.Pointer[domain.WorkflowID]
	for range 64 {
		wait.Go(func() {
			for i := next.Add(1); i <= int64(n) && failed.Load() == nil; i = next.Add(1) {
				id, err := w.start(ctx, "parked", int(i))
				if err != nil {
					failed.Store(&err)
				}
				one.Store(&id)
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return "", *err
	}
	return *one.Load(), nil
}

// answer shows that what was parked is alive, in memory or not: a signal completes it.
func (w *world) answer(ctx context.Context, ids ...domain.WorkflowID) error {
	for _, id := range ids {
		_, err := w.app.Runs.Signal(ctx, w.who, runs.SignalRequest{
			Ref: runs.Ref{Namespace: "default", WorkflowID: string(id)}, Name: "go", Payload: []byte(`{"by":"bench"}`),
		})
		if err != nil {
			return err
		}
		last, err := w.follow(ctx, id)
		if err != nil {
			return err
		}
		if last.Type != (history.WorkflowCompleted{}).Type() {
			return fmt.Errorf("a parked run ended with %s", last.Type)
		}
	}
	return nil
}

// weight is what a process holds, in bytes.
type weight struct {
	heap, resident float64
	goroutines     int
}

func weigh() (weight, error) {
	time.Sleep(300 * time.Millisecond) // what was started last settles
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	resident, err := residentOf(os.Getpid())
	return weight{heap: float64(m.HeapAlloc), resident: resident, goroutines: runtime.NumGoroutine()}, err
}

// residentOf is the resident set of a process in bytes.
func residentOf(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kib); n == 1 {
			return kib * 1024, nil
		}
	}
	return 0, fmt.Errorf("no VmRSS of process %d", pid)
}

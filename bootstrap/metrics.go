package bootstrap

import (
	"context"
	"sync/atomic"
	"time"

	"aion/adapters/metrics"
	"aion/adapters/web"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// recovery is how the last start went. Requests read it while the process starts.
type recovery struct {
	took atomic.Int64 // nanoseconds
	runs atomic.Int64
}

func (r *recovery) over(took time.Duration, runs int64) {
	r.took.Store(int64(took))
	r.runs.Store(runs)
}

// process is what the metrics show of this server.
func (a *App) process(health *web.Health) metrics.Process {
	p, c := a.counted, a.Config
	p.Version, p.Commit = version, build().Commit
	p.Insecure = a.authInfo(&c).Insecure
	p.Ready = health.Ready
	p.Draining = func() bool { return text(&a.shown.state) == stateDraining }
	p.Recovery = func() (float64, int) {
		return time.Duration(a.recovery.took.Load()).Seconds(), int(a.recovery.runs.Load())
	}
	p.StoreBytes = func() (int64, bool) {
		if bytes := a.storeInfo(&c).Bytes; bytes != nil {
			return *bytes, true
		}
		return 0, false
	}
	return p
}

// openRuns counts the runs that have not ended. It is for a metric: what cannot be counted is not.
func (a *App) openRuns(ctx context.Context) (n int64) {
	const page = 500
	for after := domain.Namespace(""); ; {
		rows, err := a.counted.Namespaces.Namespaces(ctx, after, page)
		if err != nil {
			return n
		}
		for _, ns := range rows {
			after = ns.Name
			open, err := a.counted.Index.Count(ctx, ports.RunFilter{Namespace: ns.Name, Statuses: []history.Status{history.Running, history.Paused}})
			if err != nil {
				return n
			}
			n += open[history.Running] + open[history.Paused]
		}
		if len(rows) < page {
			return n
		}
	}
}

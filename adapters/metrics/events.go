package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// committed are the metrics of what becomes durable.
type committed struct {
	took      prometheus.Histogram
	batch     prometheus.Histogram
	events    prometheus.Counter
	errors    *prometheus.CounterVec
	runs      *prometheus.CounterVec
	durations *prometheus.HistogramVec
	differ    prometheus.Counter
	faults    prometheus.Counter

	namespaces, types *names
}

// The kinds of store errors.
const (
	storeConflict    = "conflict"
	storeBusy        = "busy"
	storeUnavailable = "unavailable"
	storeFull        = "full"
	storeCorrupt     = "corrupt"
)

func newCommitted(to prometheus.Registerer) *committed {
	c := &committed{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aion_append_seconds", Help: "How long one transaction of the store took.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aion_append_batch_commits", Help: "Commits in one transaction of the store.", Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
		events: prometheus.NewCounter(prometheus.CounterOpts{Name: "aion_events_total", Help: "Events that were appended to histories."}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_store_errors_total", Help: "Commits that the store refused: conflict, busy, unavailable, full, corrupt.",
		}, []string{"kind"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_runs_total", Help: "Runs that started (Running), and that ended by status.",
		}, []string{"namespace", "workflow_type", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "aion_run_duration_seconds", Help: "From the start of a workflow's first run to the end of its last one.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400, 604800},
		}, []string{"workflow_type", "status"}),
		differ: prometheus.NewCounter(prometheus.CounterOpts{Name: "aion_nondeterminism_total", Help: "Runs that were paused because their history differs from what their plan derives."}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{Name: "aion_engine_faults_total", Help: "Runs that were paused by a fault of the engine."}),

		namespaces: newNames(), types: newNames(),
	}
	to.MustRegister(c.took, c.batch, c.events, c.errors, c.runs, c.durations, c.differ, c.faults)
	for _, kind := range []string{storeConflict, storeBusy, storeUnavailable, storeFull, storeCorrupt} {
		c.errors.WithLabelValues(kind)
	}
	return c
}

// events is an EventStore whose appends are counted.
type events struct {
	ports.EventStore

	m *committed
}

// WatchEvents counts what becomes durable through a store.
func (r *Registry) WatchEvents(s ports.EventStore) ports.EventStore {
	return &events{EventStore: s, m: r.committed}
}

// Append implements ports.EventStore.
func (e *events) Append(ctx context.Context, commits []history.Commit) []error {
	began := time.Now()
	errs := e.EventStore.Append(ctx, commits)
	e.m.took.Observe(time.Since(began).Seconds())
	e.m.batch.Observe(float64(len(commits)))
	for i, err := range errs {
		if err != nil {
			e.m.refused(err)
			continue
		}
		e.m.events.Add(float64(len(commits[i].Events)))
		e.pauses(commits[i])
		for _, row := range commits[i].Rows {
			e.row(ctx, commits[i], row)
		}
	}
	return errs
}

// refused counts what a store could not do. A key that is taken is an answer.
func (c *committed) refused(err error) {
	switch code := domain.CodeOf(err); {
	case code == domain.CodeSequenceConflict:
		c.errors.WithLabelValues(storeConflict).Inc()
	case code == domain.CodeIdempotencyConflict:
	case domain.TypeOf(err) == "StoreReadOnly":
		c.errors.WithLabelValues(storeFull).Inc()
	case domain.TypeOf(err) == "StoreBusy":
		c.errors.WithLabelValues(storeBusy).Inc()
	case code == domain.CodeUnavailable:
		c.errors.WithLabelValues(storeUnavailable).Inc()
	default:
		c.errors.WithLabelValues(storeCorrupt).Inc()
	}
}

// pauses counts the runs that the engine holds because something is wrong with them.
func (e *events) pauses(c history.Commit) {
	for _, rec := range c.Events {
		if rec.Type != (history.WorkflowPaused{}).Type() {
			continue
		}
		event, err := rec.Event()
		paused, ok := event.(history.WorkflowPaused)
		switch {
		case err != nil || !ok:
		case strings.HasPrefix(paused.Reason, "nondeterminism:"):
			e.m.differ.Inc()
		case strings.HasPrefix(paused.Reason, "engine_fault:"):
			e.m.faults.Inc()
		}
	}
}

// row counts a run that began or ended with a commit.
func (e *events) row(ctx context.Context, c history.Commit, row history.RunRow) {
	ns, kind := e.m.namespaces.label(string(row.Namespace)), e.m.types.label(row.WorkflowType)
	if row.FirstSeq > c.ExpectedSeq {
		e.m.runs.WithLabelValues(ns, kind, string(history.Running)).Inc()
	}
	if !row.Status.Terminal() {
		return
	}
	e.m.runs.WithLabelValues(ns, kind, string(row.Status)).Inc()
	if row.Status == history.ContinuedAsNew {
		return
	}
	if began, ok := e.began(ctx, row); ok {
		e.m.durations.WithLabelValues(kind, string(row.Status)).Observe(row.EndedAt.Sub(began).Seconds())
	}
}

// began is when the chain of a run began.
func (e *events) began(ctx context.Context, row history.RunRow) (time.Time, bool) {
	if row.Generation <= 1 {
		return row.StartedAt, true
	}
	first, err := e.History(ctx, row.WorkflowID, 1, 1)
	if err != nil || len(first) == 0 {
		return time.Time{}, false
	}
	return first[0].At, true
}

package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"aion/domain/task"
)

// countTimeout bounds one count: a store that is away must not hold up the other metrics.
const countTimeout = 2 * time.Second

// tasks counts the stored tasks when it is asked.
type tasks struct {
	desc  *prometheus.Desc
	count func(context.Context) (map[task.State]int, error)
}

// Describe implements prometheus.Collector.
func (t *tasks) Describe(ch chan<- *prometheus.Desc) { ch <- t.desc }

// Collect implements prometheus.Collector. Every status is shown, so that none of them vanishes at zero.
func (t *tasks) Collect(ch chan<- prometheus.Metric) {
	// A collector is handed no context: the count is bounded by its own time alone.
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout) //nolint:forbidigo // see above
	defer cancel()
	counts, err := t.count(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(t.desc, err)
		return
	}
	for _, state := range []task.State{task.Working, task.Completed, task.Cancelled, task.Failed} {
		ch <- prometheus.MustNewConstMetric(t.desc, prometheus.GaugeValue, float64(counts[state]), string(state))
	}
}

package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"aion/ports"
)

// work are the metrics of what callers ask for.
type work struct {
	signals *prometheus.CounterVec
	queries *prometheus.CounterVec
	lag     prometheus.Histogram
	checks  prometheus.Histogram
	deploys *prometheus.CounterVec
}

var _ ports.WorkMeter = (*Registry)(nil)

func newWork(to prometheus.Registerer) work {
	w := work{
		signals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "aion_signals_total", Help: "Signals by ok or the code of the refusal."}, []string{"result"}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "aion_queries_total", Help: "Queries by ok or the code of the refusal."}, []string{"result"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aion_timer_lag_seconds", Help: "How long after their time timers fired.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600},
		}),
		checks: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aion_check_seconds", Help: "How long checks of documents took, and their compilations when they were deployed.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}),
		deploys: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_deploy_operations_total", Help: "Changes of deployed versions: load, route, unload, by ok or refused.",
		}, []string{"operation", "outcome"}),
	}
	to.MustRegister(w.signals, w.queries, w.lag, w.checks, w.deploys)
	return w
}

// Signalled implements ports.WorkMeter.
func (r *Registry) Signalled(result string) { r.work.signals.WithLabelValues(result).Inc() }

// Queried implements ports.WorkMeter.
func (r *Registry) Queried(result string) { r.work.queries.WithLabelValues(result).Inc() }

// TimerFired implements ports.WorkMeter.
func (r *Registry) TimerFired(lag time.Duration) { r.work.lag.Observe(max(lag, 0).Seconds()) }

// Checked counts one check of a document.
func (r *Registry) Checked(took time.Duration) { r.work.checks.Observe(took.Seconds()) }

// deployed counts an audit record that is one of a deployment.
func (w *work) deployed(action, outcome string) {
	if operation, ok := strings.CutPrefix(action, "deploy."); ok {
		w.deploys.WithLabelValues(operation, outcome).Inc()
	}
}

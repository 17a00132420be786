package metrics

import "github.com/prometheus/client_golang/prometheus"

// newRetention counts what retention removes.
func newRetention(registry *prometheus.Registry) prometheus.Counter {
	removed := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "aion_retention_removed_total", Help: "Closed workflows that were removed because their retention was over.",
	})
	registry.MustRegister(removed)
	return removed
}

// WorkflowsRemoved counts workflows that retention has removed.
func (r *Registry) WorkflowsRemoved(workflows int) { r.removed.Add(float64(workflows)) }

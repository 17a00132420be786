package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"aion/domain/schedule"
	"aion/ports"
)

// fires are the metrics of schedules.
type fires struct {
	count *prometheus.CounterVec
	lag   prometheus.Histogram
}

var _ ports.ScheduleMeter = (*Registry)(nil)

// newFires shows every action from the start, so that a rate over it begins at zero.
func newFires(to prometheus.Registerer) fires {
	f := fires{
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_schedule_fires_total", Help: "Fires of schedules by what became of them.",
		}, []string{"action"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aion_schedule_lag_seconds", Help: "How long after its due time a fire on time was decided.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2, 5, 10},
		}),
	}
	to.MustRegister(f.count, f.lag)
	for _, action := range schedule.Actions() {
		f.count.WithLabelValues(string(action))
	}
	return f
}

// ScheduleFired implements ports.ScheduleMeter.
func (r *Registry) ScheduleFired(action schedule.Action) {
	r.fires.count.WithLabelValues(string(action)).Inc()
}

// ScheduleLag implements ports.ScheduleMeter.
func (r *Registry) ScheduleLag(lag time.Duration) { r.fires.lag.Observe(lag.Seconds()) }

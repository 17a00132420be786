package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"aion/domain/action"
	"aion/ports"
)

// attempts are the metrics of actions that are told as things happen; what can be looked up is read by sources.
type attempts struct {
	ended *prometheus.CounterVec
	took  prometheus.Histogram
	spawn prometheus.Histogram
}

var _ ports.AttemptMeter = (*Registry)(nil)

// newAttempts shows every class from the start, so that a rate over it begins at zero.
func newAttempts(to prometheus.Registerer) attempts {
	a := attempts{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_attempts_total", Help: "Attempts that ended, by completed, the class of the failure, parked or dropped.",
		}, []string{"class"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aion_attempt_seconds", Help: "How long attempts ran on this server, from their start to the proof of their end.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 21600},
		}),
		spawn: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aion_spawn_seconds", Help: "How long it took from the order to a running program.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}),
	}
	to.MustRegister(a.ended, a.took, a.spawn)
	for _, end := range []ports.EndClass{ports.EndCompleted, ports.EndParked, ports.EndDropped} {
		a.ended.WithLabelValues(string(end))
	}
	for _, class := range []action.Class{action.Retryable, action.Timeout, action.Lost, action.Terminal, action.PolicyRefused} {
		a.ended.WithLabelValues(string(class))
	}
	return a
}

// AttemptEnded implements ports.AttemptMeter.
func (r *Registry) AttemptEnded(class ports.EndClass, took time.Duration) {
	r.attempts.ended.WithLabelValues(string(class)).Inc()
	if took > 0 {
		r.attempts.took.Observe(took.Seconds())
	}
}

// Spawned counts one start of a process.
func (r *Registry) Spawned(took time.Duration) { r.attempts.spawn.Observe(took.Seconds()) }

// Processes is what the executor knows of its own when it is asked.
type Processes struct {
	Idle, Busy, Stuck            int
	Escaped, ContainmentFailures uint64
}

// Transcripts is what became of transcript events, when it is asked.
type Transcripts struct{ Stored, Dropped, Queued int64 }

// Leases are those of remote workers, when they are asked for.
type Leases struct {
	Open    map[string]int // by state, of all servers
	Expired uint64
}

// Sources are asked whenever the metrics are read. All are required, and none but Queues may wait.
type Sources struct {
	Running     func() int
	Processes   func() Processes
	Transcripts func() Transcripts
	Leases      func() Leases
	Queues      func(ctx context.Context, now time.Time) ([]ports.QueueDepth, error)
	Now         func() time.Time
}

// WatchActions shows what the sources say. It is called once.
func (r *Registry) WatchActions(s Sources) {
	r.registry.MustRegister(&watched{Sources: s, desc: map[string]*prometheus.Desc{
		"running":   prometheus.NewDesc("aion_attempts_running", "Attempts that run now, by who executes them.", []string{"executor"}, nil),
		"processes": prometheus.NewDesc("aion_supervisors", "Supervisors of commands by state.", []string{"state"}, nil),
		"escaped": prometheus.NewDesc("aion_escaped_processes_total", "Processes that came to the server from a supervisor that died, and were ended.",
			nil, nil),
		"failures": prometheus.NewDesc("aion_containment_failures_total", "Commands whose processes could not be ended in time.", nil, nil),
		"stored":   prometheus.NewDesc("aion_transcript_events_total", "Transcript events that were stored.", nil, nil),
		"dropped":  prometheus.NewDesc("aion_transcript_dropped_total", "Transcript events that were not stored.", nil, nil),
		"queued":   prometheus.NewDesc("aion_transcript_queue_events", "Transcript events that wait for the store.", nil, nil),
		"leases":   prometheus.NewDesc("aion_leases", "Attempts that remote workers hold, by the state of their lease, of all servers.", []string{"state"}, nil),
		"expired":  prometheus.NewDesc("aion_lease_expired_total", "Leases of remote workers that this server ended without a verdict of theirs.", nil, nil),
		"depth":    prometheus.NewDesc("aion_queue_depth", "Tasks whose time has come and that nobody runs.", []string{"namespace", "task_queue"}, nil),
		"oldest":   prometheus.NewDesc("aion_queue_oldest_seconds", "How long the oldest of these tasks has waited.", nil, nil),
	}})
}

// maxQueues bounds the task queues with a series of their own; the others are one, of no namespace.
const maxQueues = 500

// watched asks the sources when it is read.
type watched struct {
	Sources
	desc map[string]*prometheus.Desc
}

// Describe implements prometheus.Collector.
func (w *watched) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range w.desc {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (w *watched) Collect(ch chan<- prometheus.Metric) {
	show := func(kind prometheus.ValueType, name string, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(w.desc[name], kind, value, labels...)
	}
	show(prometheus.GaugeValue, "running", float64(w.Running()), "server")
	leases := w.Leases()
	running := 0
	for _, state := range []string{"held", "ending"} {
		running += leases.Open[state]
		show(prometheus.GaugeValue, "leases", float64(leases.Open[state]), state)
	}
	show(prometheus.GaugeValue, "running", float64(running), "worker")
	show(prometheus.CounterValue, "expired", float64(leases.Expired))
	p := w.Processes()
	for state, n := range map[string]int{"idle": p.Idle, "busy": p.Busy, "stuck": p.Stuck} {
		show(prometheus.GaugeValue, "processes", float64(n), state)
	}
	show(prometheus.CounterValue, "escaped", float64(p.Escaped))
	show(prometheus.CounterValue, "failures", float64(p.ContainmentFailures))
	t := w.Transcripts()
	show(prometheus.CounterValue, "stored", float64(t.Stored))
	show(prometheus.CounterValue, "dropped", float64(t.Dropped))
	show(prometheus.GaugeValue, "queued", float64(t.Queued))
	w.queues(ch)
}

func (w *watched) queues(ch chan<- prometheus.Metric) {
	// A collector is handed no context: the count is bounded by its own time alone.
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout) //nolint:forbidigo // see above
	defer cancel()
	now := w.Now()
	depths, err := w.Queues(ctx, now)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(w.desc["depth"], err)
		ch <- prometheus.NewInvalidMetric(w.desc["oldest"], err)
		return
	}
	oldest, rest := time.Duration(0), int64(0)
	for i, d := range depths {
		oldest = max(oldest, now.Sub(d.Oldest))
		if i >= maxQueues {
			rest += d.Tasks
			continue
		}
		ch <- prometheus.MustNewConstMetric(w.desc["depth"], prometheus.GaugeValue, float64(d.Tasks),
			string(d.Namespace), strings.ToValidUTF8(d.TaskQueue, "\uFFFD"))
	}
	if rest > 0 {
		ch <- prometheus.MustNewConstMetric(w.desc["depth"], prometheus.GaugeValue, float64(rest), "", "other")
	}
	ch <- prometheus.MustNewConstMetric(w.desc["oldest"], prometheus.GaugeValue, oldest.Seconds())
}

// WatchLeases shows how many shards of a shared store this server looks after. It is called once at most.
func (r *Registry) WatchLeases(held func() int) {
	r.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "aion_leases_held", Help: "Shards of the store that this server looks after; all servers together have 64.",
	}, func() float64 { return float64(held()) }))
}

// Package metrics counts what operators watch and shows it as Prometheus text. It holds the names and labels of every
// metric; nothing else knows the library.
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"aion/domain/task"
	"aion/ports"
)

// Registry implements ports.Meter and serves what was counted. It is safe for concurrent use.
type Registry struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	reloads  *prometheus.CounterVec
	audited  *prometheus.CounterVec
	attempts attempts
	fires    fires
	auth     auth
	removed  prometheus.Counter
	work     work
	http     requests

	committed *committed
}

var (
	_ ports.Meter     = (*Registry)(nil)
	_ ports.HTTPMeter = (*Registry)(nil)
)

// New gives a registry of its own, with the metrics of the Go runtime and of the process.
func New() *Registry {
	r := &Registry{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_mcp_requests_total", Help: "MCP requests by method and by ok, the code of the protocol error or the status of a challenge.",
		}, []string{"method", "code"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_mcp_tool_calls_total", Help: "Tool calls by tool and by ok or the code of the refusal.",
		}, []string{"tool", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "aion_mcp_tool_seconds", Help: "How long tool calls took.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"tool"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_config_reload_total", Help: "Reloads of the configuration by applied or refused.",
		}, []string{"result"}),
	}
	r.audited = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "aion_audit_records_total", Help: "Audit records by what was done and by ok or refused.",
	}, []string{"action", "outcome"})
	r.registry.MustRegister(r.requests, r.calls, r.seconds, r.reloads, r.audited,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.attempts, r.auth, r.fires, r.removed = newAttempts(r.registry), newAuth(r.registry), newFires(r.registry), newRetention(r.registry)
	for _, result := range []string{"applied", "refused"} {
		r.reloads.WithLabelValues(result)
	}
	r.work, r.committed, r.http = newWork(r.registry), newCommitted(r.registry), newRequests(r.registry)
	return r
}

// MCPRequest implements ports.Meter.
func (r *Registry) MCPRequest(method, code string) { r.requests.WithLabelValues(method, code).Inc() }

// MCPToolCall implements ports.Meter.
func (r *Registry) MCPToolCall(tool, code string, took time.Duration) {
	r.calls.WithLabelValues(tool, code).Inc()
	r.seconds.WithLabelValues(tool).Observe(took.Seconds())
}

// ConfigReload counts a reload of the configuration by applied or refused.
func (r *Registry) ConfigReload(result string) { r.reloads.WithLabelValues(result).Inc() }

// Audited counts an audit record. Actions are few and fixed.
func (r *Registry) Audited(action, outcome string) {
	r.audited.WithLabelValues(action, outcome).Inc()
	r.work.deployed(action, outcome)
}

// WatchTasks shows the stored tasks by status whenever the metrics are read. It is called once.
func (r *Registry) WatchTasks(count func(context.Context) (map[task.State]int, error)) {
	desc := prometheus.NewDesc("aion_mcp_tasks", "Stored MCP tasks by status.", []string{"status"}, nil)
	r.registry.MustRegister(&tasks{desc: desc, count: count})
}

// Handler serves the metrics as text.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

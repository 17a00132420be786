package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requests are the metrics of HTTP.
type requests struct {
	total    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newRequests(to prometheus.Registerer) requests {
	r := requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_http_requests_total", Help: "HTTP requests by the pattern of their route, method and status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "aion_http_request_seconds", Help: "How long HTTP requests took; streams are not counted.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "aion_http_in_flight", Help: "HTTP requests that are served now, streams too."}),
	}
	to.MustRegister(r.total, r.seconds, r.inFlight)
	return r
}

// HTTPBegan implements ports.HTTPMeter.
func (r *Registry) HTTPBegan() { r.http.inFlight.Inc() }

// HTTPEnded implements ports.HTTPMeter.
func (r *Registry) HTTPEnded(route, method string, status int, took time.Duration) {
	r.http.inFlight.Dec()
	r.http.total.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	if took >= 0 {
		r.http.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	}
}

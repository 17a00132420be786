package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// auth are the metrics of credentials.
type auth struct {
	failures *prometheus.CounterVec
	fetches  *prometheus.CounterVec
}

func newAuth(to prometheus.Registerer) auth {
	a := auth{
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_auth_failures_total", Help: "Credentials that were refused, by the type of the refusal.",
		}, []string{"reason"}),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aion_jwks_fetch_total", Help: "Fetches of the token issuer's keys by ok or failed.",
		}, []string{"result"}),
	}
	to.MustRegister(a.failures, a.fetches)
	return a
}

// AuthFailure implements ports.Meter.
func (r *Registry) AuthFailure(reason string) { r.auth.failures.WithLabelValues(reason).Inc() }

// KeysFetched implements ports.Meter.
func (r *Registry) KeysFetched(ok bool) {
	result := "failed"
	if ok {
		result = "ok"
	}
	r.auth.fetches.WithLabelValues(result).Inc()
}

// WatchKeys shows how old the token issuer's keys are whenever the metrics are read; nothing while there are none. It is
// called once.
func (r *Registry) WatchKeys(age func() (time.Duration, bool)) {
	desc := prometheus.NewDesc("aion_jwks_age_seconds", "Time since the last good fetch of the token issuer's keys.", nil, nil)
	r.registry.MustRegister(&keys{desc: desc, age: age})
}

// keys asks for the age when it is read.
type keys struct {
	desc *prometheus.Desc
	age  func() (time.Duration, bool)
}

// Describe implements prometheus.Collector.
func (k *keys) Describe(ch chan<- *prometheus.Desc) { ch <- k.desc }

// Collect implements prometheus.Collector.
func (k *keys) Collect(ch chan<- prometheus.Metric) {
	if age, held := k.age(); held {
		ch <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, age.Seconds())
	}
}

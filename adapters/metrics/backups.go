package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// WatchBackups shows when the newest backup was made, whenever the metrics are read; the zero time: none was. It is called
// once.
func (r *Registry) WatchBackups(newest func() time.Time) {
	r.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "aion_backup_last_success_timestamp_seconds", Help: "When the newest backup of this server was made; 0: there is none.",
	}, func() float64 {
		at := newest()
		if at.IsZero() {
			return 0
		}
		return float64(at.UnixMicro()) / 1e6
	}))
}

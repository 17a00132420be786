package metrics

import (
	"context"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/ports"
)

// Process is what a server knows of itself whenever the metrics are read. Store members may wait for the store, the others
// must not.
type Process struct {
	Version, Commit string
	Insecure        bool // other machines reach it, and everyone is the operator
	Ready, Draining func() bool
	Recovery        func() (seconds float64, runs int) // of the last start; 0 and 0 before it is over
	StoreBytes      func() (bytes int64, known bool)

	Index      ports.RunIndex
	Namespaces ports.NamespaceStore
	Versions   func(ctx context.Context, workflowType string) ([]deployment.Version, error)
}

// WatchProcess shows what the server says of itself. It is called once.
func (r *Registry) WatchProcess(p Process) {
	r.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "aion_build_info", Help: "1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": p.Version, "commit": p.Commit, "go": runtime.Version()},
	}, func() float64 { return 1 }))
	gauge := func(name, help string, value func() float64) {
		r.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("aion_insecure_listener", "1 when other machines reach the server and every caller is the operator.", func() float64 { return flag(p.Insecure) })
	gauge("aion_ready", "1 when the readiness probe answers 200.", func() float64 { return flag(p.Ready()) })
	gauge("aion_draining", "1 while the server drains.", func() float64 { return flag(p.Draining()) })
	gauge("aion_recovery_seconds", "How long the last start took until the server served.", func() float64 { seconds, _ := p.Recovery(); return seconds })
	gauge("aion_recovered_runs", "Open runs that the last start found.", func() float64 { _, runs := p.Recovery(); return float64(runs) })
	r.registry.MustRegister(&stored{Process: p, namespaces: r.committed.namespaces, types: r.committed.types})
}

func flag(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

var (
	storeBytesDesc = prometheus.NewDesc("aion_store_bytes", "Size of the store's file and of what is not yet in it.", nil, nil)
	runsOpenDesc   = prometheus.NewDesc("aion_runs_open", "Runs that have not ended, by status.", []string{"namespace", "status"}, nil)
	versionsDesc   = prometheus.NewDesc("aion_loaded_workflow_versions", "Versions that are stored of a workflow type.", []string{"workflow_type"}, nil)
)

// stored asks the store when it is read.
type stored struct {
	Process

	namespaces, types *names
}

// Describe implements prometheus.Collector.
func (s *stored) Describe(ch chan<- *prometheus.Desc) {
	ch <- storeBytesDesc
	ch <- runsOpenDesc
	ch <- versionsDesc
}

// Collect implements prometheus.Collector.
func (s *stored) Collect(ch chan<- prometheus.Metric) {
	if bytes, known := s.StoreBytes(); known {
		ch <- prometheus.MustNewConstMetric(storeBytesDesc, prometheus.GaugeValue, float64(bytes))
	}
	// A collector is handed no context: the count is bounded by its own time alone.
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout) //nolint:forbidigo // see above
	defer cancel()
	if err := s.open(ctx, ch); err != nil {
		ch <- prometheus.NewInvalidMetric(runsOpenDesc, err)
	}
	versions, err := s.Versions(ctx, "")
	if err != nil {
		ch <- prometheus.NewInvalidMetric(versionsDesc, err)
		return
	}
	counts := map[string]float64{}
	for _, v := range versions {
		counts[s.types.label(v.WorkflowType)]++
	}
	for kind, n := range counts {
		ch <- prometheus.MustNewConstMetric(versionsDesc, prometheus.GaugeValue, n, kind)
	}
}

type openKey struct {
	namespace string
	status    history.Status
}

// open counts the open runs of every namespace; those beyond the bound are one.
func (s *stored) open(ctx context.Context, ch chan<- prometheus.Metric) error {
	counts := map[openKey]int64{}
	for after := domain.Namespace(""); ; {
		page, err := s.Namespaces.Namespaces(ctx, after, maxNames)
		if err != nil {
			return err
		}
		for _, ns := range page {
			after = ns.Name
			open := []history.Status{history.Running, history.Paused}
			found, err := s.Index.Count(ctx, ports.RunFilter{Namespace: ns.Name, Statuses: open})
			if err != nil {
				return err
			}
			for _, status := range open { // also those of which there are none
				counts[openKey{s.namespaces.label(string(ns.Name)), status}] += found[status]
			}
		}
		if len(page) < maxNames {
			break
		}
	}
	for key, n := range counts {
		ch <- prometheus.MustNewConstMetric(runsOpenDesc, prometheus.GaugeValue, float64(n), key.namespace, string(key.status))
	}
	return nil
}

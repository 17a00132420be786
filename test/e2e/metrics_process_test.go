package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// server 42: the metrics of runs, timers, signals, queries, checks and the store are fed from where it happens.
func TestMetricsTellWhatBecameOfRuns(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	c := connect(t, s)
	kind := c.deploy("wait.awl", fixture(t, "wait_signal.awl"))
	expires, signalled := c.start(kind, map[string]any{"change": "one"}), c.start(kind, map[string]any{"change": "two"})
	c.must("signal", map[string]any{"namespace": "default", "workflow_id": signalled, "signal_name": "decision", "payload": map[string]any{"approve": true, "reviewer": "ada"}})
	_, _ = c.call("signal", map[string]any{"namespace": "default", "workflow_id": expires, "signal_name": "nothing", "payload": nil})
	c.untilEnded(expires)
	c.untilEnded(signalled)
	at := s.samples(t)
	for series, want := range map[string]float64{
		`aion_ready`: 1, `aion_draining`: 0, `aion_insecure_listener`: 0, `aion_recovered_runs`: 0,
		`aion_runs_total{namespace="default",status="Running",workflow_type="wait_signal"}`:   2,
		`aion_runs_total{namespace="default",status="Completed",workflow_type="wait_signal"}`: 1,
		`aion_runs_total{namespace="default",status="Failed",workflow_type="wait_signal"}`:    1,
		`aion_run_duration_seconds_count{status="Completed",workflow_type="wait_signal"}`:     1,
		`aion_runs_open{namespace="default",status="Running"}`:                                0,
		`aion_signals_total{result="ok"}`:                                                     1, `aion_timer_lag_seconds_count`: 1,
		`aion_loaded_workflow_versions{workflow_type="wait_signal"}`: 1, `aion_deploy_operations_total{operation="load",outcome="ok"}`: 1,
		`aion_store_errors_total{kind="unavailable"}`: 0, `aion_nondeterminism_total`: 0, `aion_engine_faults_total`: 0,
	} {
		if got, ok := at[series]; !ok || got != want {
			t.Errorf("%s is %v (shown: %t), wanted %v", series, got, ok, want)
		}
	}
	for series, least := range map[string]float64{
		`aion_append_seconds_count`: 4, `aion_append_batch_commits_sum`: 4, `aion_events_total`: 8, `aion_store_bytes`: 4096,
		`aion_recovery_seconds`: 1e-6, `aion_check_seconds_count`: 2, `aion_run_duration_seconds_sum{status="Failed",workflow_type="wait_signal"}`: 1,
	} {
		if got, ok := at[series]; !ok || got < least {
			t.Errorf("%s is %v (shown: %t), wanted at least %v", series, got, ok, least)
		}
	}
	alerts(t, s.metrics(t))
}

// alerts holds that the shipped rules ask for metrics that exist.
func alerts(t *testing.T, metrics string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				For         string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	metrics += "# TYPE aion_jwks_age_seconds gauge\n" // of a server in another mode
	seen := map[string]bool{}
	for _, r := range file.Groups[0].Rules {
		if seen[r.Alert] || r.Expr == "" || r.Annotations["summary"] == "" {
			t.Errorf("%q is there twice, or says too little", r.Alert)
		}
		seen[r.Alert] = true
		for _, name := range regexp.MustCompile(`aion_[a-z_]+`).FindAllString(r.Expr, -1) {
			if !strings.Contains(metrics, "# TYPE "+strings.TrimSuffix(name, "_bucket")+" ") {
				t.Errorf("%s asks for %s, which does not exist", r.Alert, name)
			}
		}
	}
}

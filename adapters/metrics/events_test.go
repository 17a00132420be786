package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aion/adapters/metrics"
	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/ports"
)

// scripted is a store that answers as it is told.
type scripted struct {
	ports.EventStore
	errs  []error
	first time.Time
}

func (s scripted) Append(context.Context, []history.Commit) []error { return s.errs }

func (s scripted) History(context.Context, domain.WorkflowID, history.Seq, int) ([]history.Recorded, error) {
	return []history.Recorded{{At: s.first}}, nil
}

func shown(r *metrics.Registry) string {
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func holds(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is not shown", line)
		}
	}
}

// server 42: what becomes durable is counted by what it is, and what the store refuses by why.
func TestCommitsAreCountedByWhatTheyAre(t *testing.T) {
	t.Parallel()
	r, at := metrics.New(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	row := func(generation int, status history.Status, first history.Seq) history.RunRow {
		return history.RunRow{
			Namespace: "default", WorkflowID: "w", WorkflowType: "greet", Generation: generation, Status: status, FirstSeq: first, StartedAt: at, EndedAt: at.Add(2 * time.Second),
		}
	}
	paused := func(reason string) history.Recorded {
		return history.Record(7, at, "w", "r", history.WorkflowPaused{By: "engine", Reason: reason})
	}
	commits := []history.Commit{
		{Events: make([]history.Recorded, 3), Rows: []history.RunRow{row(1, history.Running, 1)}},
		{ExpectedSeq: 3, Events: make([]history.Recorded, 2), Rows: []history.RunRow{row(1, history.Completed, 1)}},
		{ExpectedSeq: 5, Rows: []history.RunRow{row(1, history.ContinuedAsNew, 1), row(2, history.Running, 6)}},
		{ExpectedSeq: 9, Rows: []history.RunRow{row(2, history.Failed, 6)}},
		{ExpectedSeq: 6, Events: []history.Recorded{paused("nondeterminism: event 7 differs"), paused("engine_fault: x"), paused("lunch")}},
		{Rows: []history.RunRow{row(1, history.Running, 1)}},
		{},
		{},
		{},
		{},
	}
	refused := func(code domain.Code, typ string) error { return &domain.Error{Code: code, Type: typ} }
	store := r.WatchEvents(scripted{first: at.Add(-time.Minute), errs: []error{
		nil, nil, nil, nil, nil, refused(domain.CodeSequenceConflict, "SequenceConflict"), refused(domain.CodeUnavailable, "StoreReadOnly"),
		refused(domain.CodeUnavailable, "StoreUnavailable"), refused(domain.CodeBackend, "StoreFault"), refused(domain.CodeIdempotencyConflict, "IdempotencyTaken"),
	}})
	if errs := store.Append(context.Background(), commits); len(errs) != len(commits) || errs[5] == nil {
		t.Errorf("the answer of the store is not passed on: %v", errs)
	}
	holds(t, shown(r),
		`aion_runs_total{namespace="default",status="Running",workflow_type="greet"} 2`, `aion_runs_total{namespace="default",status="Completed",workflow_type="greet"} 1`,
		`aion_runs_total{namespace="default",status="ContinuedAsNew",workflow_type="greet"} 1`, `aion_runs_total{namespace="default",status="Failed",workflow_type="greet"} 1`,
		`aion_run_duration_seconds_sum{status="Completed",workflow_type="greet"} 2`, `aion_run_duration_seconds_sum{status="Failed",workflow_type="greet"} 62`,
		`aion_events_total 8`, `aion_append_seconds_count 1`, `aion_append_batch_commits_sum 10`, `aion_nondeterminism_total 1`, `aion_engine_faults_total 1`,
		`aion_store_errors_total{kind="conflict"} 1`, `aion_store_errors_total{kind="full"} 1`, `aion_store_errors_total{kind="unavailable"} 1`,
		`aion_store_errors_total{kind="corrupt"} 1`, `aion_store_errors_total{kind="busy"} 0`,
	)
}

// server 42: names that callers choose do not grow the metrics without a bound.
func TestNamesOfCallersAreBounded(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	store := r.WatchEvents(scripted{errs: []error{nil}})
	for i := range 10_000 {
		name := fmt.Sprintf("type-%d-\xff", i)
		store.Append(context.Background(), []history.Commit{{Rows: []history.RunRow{
			{Namespace: domain.Namespace(fmt.Sprint("ns-", i)), WorkflowType: name, Status: history.Running, FirstSeq: 1},
		}}})
	}
	types, namespaces := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(shown(r)) {
		if rest, ok := strings.CutPrefix(line, `aion_runs_total{namespace="`); ok {
			ns, rest, _ := strings.Cut(rest, `"`)
			_, kind, _ := strings.Cut(rest, `workflow_type="`)
			namespaces[ns], types[kind] = true, true
		}
	}
	if len(namespaces) != 201 || !namespaces["other"] {
		t.Errorf("%d namespaces", len(namespaces))
	}
	kinds := map[string]bool{}
	for kind := range types {
		name, _, _ := strings.Cut(kind, `"`)
		kinds[name] = true
	}
	if len(kinds) != 201 || !kinds["other"] {
		t.Errorf("%d types", len(kinds))
	}
}

// counting is an index and a register of three namespaces.
type counting struct {
	ports.RunIndex
	ports.NamespaceStore
	err error
}

func (c counting) Namespaces(context.Context, domain.Namespace, int) ([]ports.NamespaceRow, error) {
	return []ports.NamespaceRow{{Name: "a"}, {Name: "b"}, {Name: "c"}}, c.err
}

func (c counting) Count(_ context.Context, f ports.RunFilter) (map[history.Status]int64, error) {
	return map[history.Status]int64{history.Running: map[domain.Namespace]int64{"a": 3, "b": 1}[f.Namespace]}, nil
}

// server 42: what a server is and holds is shown as it is when it is asked; a store that is away hides nothing else.
func TestAServerShowsWhatItIs(t *testing.T) {
	t.Parallel()
	process := func(c counting, holds bool) metrics.Process {
		return metrics.Process{
			Version: "1.2.3", Commit: "abc", Insecure: holds, Index: c, Namespaces: c,
			Ready: func() bool { return holds }, Draining: func() bool { return !holds },
			Recovery: func() (float64, int) { return 1.5, 12 }, StoreBytes: func() (int64, bool) { return 4096, holds },
			Versions: func(context.Context, string) ([]deployment.Version, error) {
				return []deployment.Version{{WorkflowType: "greet"}, {WorkflowType: "greet"}, {WorkflowType: "sweep"}}, nil
			},
		}
	}
	r := metrics.New()
	r.WatchProcess(process(counting{}, true))
	r.Signalled("ok")
	r.Queried("query_timeout")
	r.TimerFired(-time.Second)
	r.Checked(time.Millisecond)
	r.Audited("deploy.load", "ok")
	r.Audited("run.start", "ok")
	text := shown(r)
	holds(t, text, `aion_insecure_listener 1`, `aion_ready 1`, `aion_draining 0`, `aion_recovery_seconds 1.5`, `aion_recovered_runs 12`, `aion_store_bytes 4096`,
		`aion_runs_open{namespace="a",status="Running"} 3`, `aion_runs_open{namespace="c",status="Paused"} 0`,
		`aion_loaded_workflow_versions{workflow_type="greet"} 2`, `aion_signals_total{result="ok"} 1`, `aion_queries_total{result="query_timeout"} 1`,
		`aion_timer_lag_seconds_sum 0`, `aion_check_seconds_count 1`, `aion_deploy_operations_total{operation="load",outcome="ok"} 1`)
	if !strings.Contains(text, `aion_build_info{commit="abc",go="go`) || strings.Contains(text, "start\",outcome") && strings.Contains(text, `operation="run`) {
		t.Error("the build is not shown, or more than deployments count as such")
	}
	r = metrics.New()
	r.WatchProcess(process(counting{err: errors.New("away")}, false))
	if text := shown(r); !strings.Contains(text, "aion_draining 1\n") || strings.Contains(text, "aion_store_bytes ") || strings.Contains(text, "aion_runs_open{") {
		t.Error("with the store away")
	}
}
